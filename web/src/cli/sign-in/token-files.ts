/**
 * Tokens of the person who runs the command, in files that nobody else can read.
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import type { StoredToken, TokenStore } from "../../tools/auth/token-store.js";
import { CommandError, Exit, systemReason } from "../exit.js";
import { printable } from "../terminal/terminal.js";
import { parsedOr } from "../../jsonrpc/rpc.js";

/** Milliseconds that a process may hold the lock of a token: longer than it waits for a provider. */
const LOCK_AGE = 90_000;

/** Milliseconds between two attempts to get a lock that another process holds. */
const LOCK_EVERY = 50;

/** Largest file that is read, in bytes. */
const MAX_BYTES = 256 * 1024;

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

  constructor(folder: string) {
    this.#folder = folder;
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
    const lock = `${this.#file("token", user, provider)}.lock`;
    await this.#changing(() => this.#lock(lock));
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }

  /** This program's registration with a source's provider. */
  async client(source: string): Promise<OAuthProviderConfig | undefined> {
    const config = await this.#read(this.#file("client", source));
    return typeof config === "object" && config !== null ? (config as OAuthProviderConfig) : undefined;
  }

  /** Keeps this program's registration with a provider: only that client can renew its tokens. */
  async keepClient(source: string, config: OAuthProviderConfig): Promise<void> {
    await this.#write(this.#file("client", source), config);
  }

  async forgetClient(source: string): Promise<void> {
    await this.#changing(() => rm(this.#file("client", source), { force: true }));
  }

  #file(kind: "token" | "client", ...names: readonly string[]): string {
    const hash = createHash("sha256").update(JSON.stringify([kind, ...names]));
    return join(this.#folder, `${hash.digest("hex").slice(0, 32)}.${kind}.json`);
  }

  async #lock(lock: string): Promise<void> {
    await this.#ready();
    for (;;) {
      try {
        await (await open(lock, "wx", 0o600)).close();
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      const { mtimeMs = Date.now() } = (await stat(lock).catch(() => undefined)) ?? {};
      // Its holder was killed: no request to a provider takes that long.
      if (Date.now() - mtimeMs > LOCK_AGE) await rm(lock, { force: true });
      else await wait(LOCK_EVERY);
    }
  }

  async #write(file: string, value: unknown): Promise<void> {
    await this.#changing(async () => {
      await this.#ready();
      const temporary = `${file}.${randomUUID()}.tmp`;
      try {
        const handle = await open(temporary, "wx", 0o600);
        try {
          await handle.writeFile(JSON.stringify(value));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(temporary, file);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    });
  }

  async #read(file: string): Promise<unknown> {
    let handle;
    try {
      handle = await open(file, "r");
      const { mode, size } = await handle.stat();
      if (process.platform !== "win32" && (mode & OTHERS) !== 0) throw exposed(file, "chmod 600");
      return size > MAX_BYTES ? undefined : parsedOr(await handle.readFile("utf8"));
    } catch (error) {
      if (error instanceof CommandError) throw error;
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new CommandError(Exit.read, `cannot read tokens in ${printable(this.#folder)}: ${systemReason(error)}`);
    } finally {
      await handle?.close();
    }
  }

  /** Creates the folder, and checks that nobody else may write to it. */
  async #ready(): Promise<void> {
    await mkdir(dirname(this.#folder), { recursive: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (process.platform === "win32") return;
    const { mode } = await stat(this.#folder);
    if ((mode & OTHERS_WRITE) !== 0) throw exposed(this.#folder, "chmod 700");
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

function isToken(value: unknown): value is StoredToken {
  if (typeof value !== "object" || value === null) return false;
  const { access_token, refresh_token, issued_by, expires_at } = value as Partial<StoredToken>;
  const isText = typeof access_token === "string" && typeof issued_by === "string";
  const isOptional = refresh_token === null || typeof refresh_token === "string";
  return isText && isOptional && (expires_at === null || typeof expires_at === "number");
}

function exposed(path: string, remedy: string): CommandError {
  return new CommandError(
    Exit.refused,
    `other users can open ${printable(path)}, which holds your tokens: run ${remedy} ${printable(path)}, and sign in again if somebody may have read it`,
  );
}
