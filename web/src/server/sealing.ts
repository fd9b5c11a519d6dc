/**
 * Encrypts what is secret and stored, with keys derived from a secret that can be changed while it is in use.
 * @module
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";

/** Least characters of a secret. */
export const SHORTEST_SECRET = 32;

/** Most earlier secrets. */
const MAX_OLD = 8;

/** A secret, and others that are still, or will soon be, in use elsewhere. */
export interface Secrets {
  /** What is written is written with it. */
  readonly secret: string;
  /** What they wrote can be read. */
  readonly oldSecrets?: readonly string[] | undefined;
}

/** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short, and for too many. */
export function checkSecrets({ secret, oldSecrets = [] }: Secrets): void {
  const isLong = (each: unknown): boolean => typeof each === "string" && each.length >= SHORTEST_SECRET;
  if (!isLong(secret)) throw wrong("secret", `a string of at least ${SHORTEST_SECRET} characters`);
  if (!Array.isArray(oldSecrets) || oldSecrets.length > MAX_OLD || !oldSecrets.every(isLong)) {
    throw wrong("oldSecrets", `a list of at most ${MAX_OLD} strings, each of at least ${SHORTEST_SECRET} characters`);
  }
}

/** All secrets, each once, the one that writes first. Throws like {@link checkSecrets}. */
export function listSecrets(secrets: Secrets): readonly [string, ...string[]] {
  checkSecrets(secrets);
  const { secret, oldSecrets = [] } = secrets;
  return [secret, ...new Set(oldSecrets.filter((each) => each !== secret))];
}

/** Names a secret without revealing it: 11 characters of base64url. */
export function secretId(secret: string): string {
  return deriveKey(secret, "key id", 8).toString("base64url");
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The format: a version, the secret's id and the bytes. */
const FORMAT = /^2\.([\w-]{11})\.([A-Za-z0-9+/]+={0,2})$/;

interface Keys {
  readonly id: string;
  readonly naming: Buffer;
  readonly sealing: Buffer;
}

/** A text that was encrypted. */
export interface OpenedText {
  readonly text: string;
  /** Whether the secret that writes encrypted it. If not, write it again. */
  readonly isCurrent: boolean;
}

/** Encrypts texts and their names. Logs show nothing of the keys. */
export class Sealing {
  readonly #current: Keys;
  /** By the ids of their secrets. */
  readonly #keys: ReadonlyMap<string, Keys>;

  /**
   * `purpose` separates uses of the same secret. Throws SluiceError E_INVALID_ARGUMENT for a secret that is too
   * short.
   */
  constructor(secrets: Secrets, purpose: string) {
    const [current, ...others] = listSecrets(secrets);
    this.#current = deriveKeys(current, purpose);
    const all = [this.#current, ...others.map((secret) => deriveKeys(secret, purpose))];
    this.#keys = new Map(all.map((keys) => [keys.id, keys]));
  }

  /** For each secret 64 hexadecimal digits that only its owner can make of a name; those of the current one first. */
  names(name: string): readonly [string, ...string[]] {
    const hashName = ({ naming }: Keys): string => createHmac("sha256", naming).update(name).digest("hex");
    const others = [...this.#keys.values()].filter((keys) => keys !== this.#current);
    return [hashName(this.#current), ...others.map(hashName)];
  }

  /** Encrypts a text, for this name only. */
  seal(text: string, name: string): string {
    const { id, sealing } = this.#current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return `2.${id}.${Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64")}`;
  }

  /** Decrypts a text. Throws SluiceError E_STORE_CORRUPT for anything else, and for another name's text. */
  open(sealed: string, name: string): OpenedText {
    const [, id = "", encoded = ""] = FORMAT.exec(sealed) ?? [];
    const keys = this.#keys.get(id);
    const bytes = Buffer.from(encoded, "base64");
    if (keys !== undefined && bytes.length >= NONCE_BYTES + TAG_BYTES) {
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const cipher = createDecipheriv(CIPHER, keys.sealing, nonce, { authTagLength: TAG_BYTES });
        cipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + cipher.final("utf8");
        return { text, isCurrent: keys === this.#current };
      } catch {
        // The cipher's error helps no caller.
      }
    }
    throw new SluiceError(
      "E_STORE_CORRUPT",
      "The stored token is damaged or was encrypted with another secret: ask the user to give access again.",
    );
  }
}

function deriveKeys(secret: string, purpose: string): Keys {
  return {
    id: secretId(secret),
    naming: deriveKey(secret, `${purpose}: names`, KEY_BYTES),
    sealing: deriveKey(secret, `${purpose}: contents`, KEY_BYTES),
  };
}

function deriveKey(secret: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `mcp-sluice ${purpose}`, bytes));
}
