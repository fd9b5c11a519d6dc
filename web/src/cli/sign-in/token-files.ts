/**
 * Tokens of the person who runs the command, in files that only they can read.
 * @module
 */
import { createHash } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createFile, FOLDER_MODE, isOpenToOthers, openPlain, replaceFile } from "../../artifacts/file/plain-file.js";
import type { OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import type { StoredToken, TokenStore } from "../../tools/auth/token-store.js";
import { SHORTEST_SECRET, Sealing } from "../../server/sealing.js";
import { readSecret, readSecrets } from "../configuration.js";
import { CommandError, Exit, systemReason } from "../exit.js";
import { printable } from "../terminal/terminal.js";
import { objectOr, tryParse } from "../../jsonrpc/rpc.js";

/** Milliseconds that a process may hold the lock of a token: longer than it waits for a provider. */
const LOCK_AGE = 90_000;

/** Milliseconds between two attempts to get a lock that another process holds. */
const LOCK_EVERY = 50;

/** Largest file that is read, in bytes. Encrypted ones are a third longer. */
const MAX_BYTES = 512 * 1024;

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * Keeps tokens, and the OAuth clients that they were issued to, in a folder of mode 0700, each in a file of mode 0600.
 * Files are replaced atomically, so several processes can share the folder.
 *
 * @throws CommandError 77 if a file or the folder is open to others, 73 or 74 if it cannot be written or read.
 */
export class TokenFiles implements TokenStore {
  readonly #folder: string;
  readonly #sealing: Sealing | undefined;

  /** @param sealing encrypts what the files hold. Without it they are as readable as their mode lets them be. */
  constructor(folder: string, sealing?: Sealing) {
    this.#folder = folder;
    this.#sealing = sealing;
  }

  async store(user: string, provider: string, token: StoredToken): Promise<void> {
    await this.#write(this.#file("token", user, provider), token);
  }

  async get(user: string, provider: string): Promise<StoredToken | null> {
    const token = await this.#read(this.#file("token", user, provider));
    return isToken(token) ? token : null;
  }

  async delete(user: string, provider: string): Promise<void> {
    await this.#changing(() => rm(this.#file("token", user, provider), { force: true }));
  }

  async exclusively<T>(user: string, provider: string, work: () => Promise<T>): Promise<T> {
    return this.#alone(this.#file("token", user, provider), work);
  }

  /** This program's registration with a source's provider. */
  async client(source: string): Promise<OAuthProviderConfig | undefined> {
    const config = await this.#read(this.#file("client", source));
    return typeof config === "object" && config !== null ? (config as OAuthProviderConfig) : undefined;
  }

  /** Keeps this program's registration with a provider: only that client can renew its tokens. */
  async keepClient(source: string, config: OAuthProviderConfig): Promise<void> {
    const file = this.#file("client", source);
    await this.#alone(file, () => this.#write(file, config));
  }

  async forgetClient(source: string): Promise<void> {
    await this.#changing(() => rm(this.#file("client", source), { force: true }));
  }

  #file(kind: "token" | "client", ...names: readonly string[]): string {
    const hash = createHash("sha256").update(JSON.stringify([kind, ...names]));
    return join(this.#folder, `${hash.digest("hex").slice(0, 32)}.${kind}.json`);
  }

  async #alone<T>(file: string, work: () => Promise<T>): Promise<T> {
    const lock = toLockPath(file);
    await this.#changing(() => this.#lock(lock));
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }

  async #lock(lock: string): Promise<void> {
    await this.#ready();
    for (;;) {
      if (await createFile(lock, "")) return;
      const { mtimeMs = Date.now() } = (await stat(lock).catch(() => undefined)) ?? {};
      // Its holder was killed: no request to a provider takes that long.
      if (Date.now() - mtimeMs > LOCK_AGE) await rm(lock, { force: true });
      else await wait(LOCK_EVERY);
    }
  }

  async #write(file: string, value: unknown): Promise<void> {
    await this.#changing(async () => {
      await this.#ready();
      await replaceFile(file, this.#seal(JSON.stringify(value), file));
    });
  }

  #seal(text: string, file: string): string {
    return this.#sealing === undefined ? text : JSON.stringify({ sealed: this.#sealing.seal(text, basename(file)) });
  }

  /** What a file holds, which is encrypted again if it was with another secret, or not at all. */
  async #read(file: string): Promise<unknown> {
    const { value, isCurrent } = this.#unseal(await this.#content(file), file);
    if (value !== undefined && !isCurrent) await this.#renew(file);
    return value;
  }

  /** Encrypts a file with the current secret, unless another process is about to change it: then the next reader does. */
  async #renew(file: string): Promise<void> {
    const lock = toLockPath(file);
    if (!(await createFile(lock, "").catch(() => false))) return;
    try {
      const { value, isCurrent } = this.#unseal(await this.#content(file), file);
      if (value !== undefined && !isCurrent) await this.#write(file, value);
    } catch {
      // It can be read as it is.
    } finally {
      await rm(lock, { force: true });
    }
  }

  #unseal(content: unknown, file: string): { readonly value: unknown; readonly isCurrent: boolean } {
    const { sealed } = objectOr(content) as { readonly sealed?: unknown };
    if (typeof sealed !== "string") return { value: content, isCurrent: this.#sealing === undefined };
    if (this.#sealing === undefined) throw toSealedError(this.#folder, `set ${SECRET_VARIABLE} to that secret`);
    try {
      const { text, isCurrent } = this.#sealing.open(sealed, basename(file));
      return { value: tryParse(text), isCurrent };
    } catch {
      throw toSealedError(this.#folder, `add that secret to ${OLD_SECRETS_VARIABLE}, or sign in again`);
    }
  }

  async #content(file: string): Promise<unknown> {
    let opened;
    try {
      opened = await openPlain(file);
      if (isOpenToOthers(opened.mode, OTHERS)) throw toExposedError(file, "chmod 600");
      return opened.size > MAX_BYTES ? undefined : tryParse(await opened.file.readFile("utf8"));
    } catch (error) {
      if (error instanceof CommandError) throw error;
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new CommandError(Exit.read, `cannot read tokens in ${printable(this.#folder)}: ${systemReason(error)}`);
    } finally {
      await opened?.file.close();
    }
  }

  /** Creates the folder, and checks that no other user may write to it. */
  async #ready(): Promise<void> {
    await mkdir(dirname(this.#folder), { recursive: true });
    await mkdir(this.#folder, { recursive: true, mode: FOLDER_MODE });
    const { mode } = await stat(this.#folder);
    if (isOpenToOthers(mode, OTHERS_WRITE)) throw toExposedError(this.#folder, "chmod 700");
  }

  async #changing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CommandError) throw error;
      throw new CommandError(Exit.create, `cannot keep tokens in ${printable(this.#folder)}: ${systemReason(error)}`);
    }
  }
}

function toLockPath(file: string): string {
  return `${file}.lock`;
}

/** The secret that encrypts token files, and others that encrypted some, one a line. */
const SECRET_VARIABLE = "SLUICE_TOKEN_SECRET";
const OLD_SECRETS_VARIABLE = "SLUICE_TOKEN_OLD_SECRETS";

/** What encrypts token files, if the environment has a secret for it. Throws UsageError for one that is too short. */
export function fileSealing(env: NodeJS.ProcessEnv): Sealing | undefined {
  const secret = readSecret(env, SECRET_VARIABLE, SHORTEST_SECRET, "tools");
  const oldSecrets = readSecrets(env, OLD_SECRETS_VARIABLE, SHORTEST_SECRET, "tools");
  return secret === undefined ? undefined : new Sealing({ secret, oldSecrets }, "token files");
}

function toSealedError(folder: string, remedy: string): CommandError {
  return new CommandError(
    Exit.refused,
    `the tokens in ${printable(folder)} are encrypted with a secret that is not known here: ${remedy}`,
  );
}

function isToken(value: unknown): value is StoredToken {
  if (typeof value !== "object" || value === null) return false;
  const { access_token, refresh_token, issued_by, expires_at } = value as Partial<StoredToken>;
  const isText = typeof access_token === "string" && typeof issued_by === "string";
  const isOptional = refresh_token === null || typeof refresh_token === "string";
  return isText && isOptional && (expires_at === null || typeof expires_at === "number");
}

function toExposedError(path: string, remedy: string): CommandError {
  return new CommandError(
    Exit.refused,
    `other users can open ${printable(path)}, which holds your tokens: run ${remedy} ${printable(path)}, and sign in again if it may have been read`,
  );
}
