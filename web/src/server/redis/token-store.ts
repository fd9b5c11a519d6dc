/**
 * Users' tokens in Redis.
 * @module
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SluiceError } from "../../errors/error.js";
import { plainScript, isDone, textOf, type RedisKeys, type RedisServer } from "../../redis/server.js";
import { valueOf } from "../../planner/state-store.js";
import { tokenKey, type StoredToken, type TokenStore } from "../../tools/auth/token-store.js";
import { KeyedQueue } from "../../core/keyed-work.js";
import { checkSecret } from "../sessions/credentials.js";

interface RedisTokenStoreParts {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  /** Encrypts tokens and their names, at least 32 characters. With another secret they are not found. */
  readonly secret: string;
  /** The times of leases. */
  readonly times?: LeaseTimes;
}

/** Most characters of JSON of a token. */
const MAX_TOKEN = 256 * 1024;

/** Milliseconds until a token is deleted. Most that are unused for so long have expired. */
const AGE = 180 * 24 * 60 * 60 * 1000;

/** ARGV: the token, its milliseconds to live. */
const STORE = plainScript("write", "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1", {
  isRepeatable: true,
});
const GET = plainScript("read", "return redis.call('GET', KEYS[1])", { isRepeatable: true });
const DELETE = plainScript("write", "return redis.call('UNLINK', KEYS[1])", { isRepeatable: true });

/**
 * Stores tokens for all processes with the same server, prefix and secret. The server sees neither tokens nor users.
 */
export class RedisTokenStore implements TokenStore {
  readonly #server: RedisServer;
  readonly #keys: RedisKeys;
  readonly #sealing: Sealing;
  readonly #times: LeaseTimes;
  readonly #turns = new KeyedQueue();

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor({ server, keys, secret, times = {} }: RedisTokenStoreParts) {
    this.#server = server;
    this.#keys = keys;
    this.#sealing = new Sealing(secret, "users' tokens");
    this.#times = times;
  }

  /** Throws SluiceError E_TOO_LARGE, E_STORE_…. */
  async store(user: string, provider: string, token: StoredToken): Promise<void> {
    const name = tokenKey(user, provider);
    const text = JSON.stringify(token);
    if (text.length > MAX_TOKEN) throw tooLarge();
    const words = [this.#sealing.seal(text, name), String(AGE)];
    isDone(await this.#server.run(STORE, [this.#key("tokens", name)], words));
  }

  /** Throws SluiceError E_STORE_CORRUPT for a value that was not stored here, E_STORE_…. */
  async get(user: string, provider: string): Promise<StoredToken | null> {
    const name = tokenKey(user, provider);
    const sealed = textOf(await this.#server.run(GET, [this.#key("tokens", name)], []));
    return sealed === null ? null : (valueOf(this.#sealing.open(sealed, name)) as StoredToken);
  }

  /** Throws SluiceError E_STORE_…. */
  async delete(user: string, provider: string): Promise<void> {
    isDone(await this.#server.run(DELETE, [this.#key("tokens", tokenKey(user, provider))], []));
  }

  /** Throws what the work throws, and SluiceError E_STORE_WRITE if it gets no lease. */
  exclusively<T>(user: string, provider: string, work: () => Promise<T>): Promise<T> {
    const key = this.#key("leases", tokenKey(user, provider));
    // Work of this process queues here, so that one at a time asks the server.
    return this.#turns.take(key, () => alone(this.#server, key, work, this.#times));
  }

  #key(kind: string, name: string): string {
    return this.#keys.one(kind, this.#sealing.name(name));
  }
}

function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `A token has more than ${MAX_TOKEN} characters: ask the provider for a smaller one.`,
  );
}

/** Times of a lease, in milliseconds. */
interface LeaseTimes {
  /** When the lease of a dead process ends. Defaults to 10 s. */
  readonly lease?: number;
  /** How long to wait for the lease. Defaults to 60 s. */
  readonly timeout?: number;
}

/** ARGV: the owner, milliseconds. 0 if another owner has the lease. */
const TAKE = plainScript(
  "write",
  `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`,
  { isRepeatable: true },
);

/** ARGV: the owner. */
const GIVE = plainScript(
  "write",
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
`,
  { isRepeatable: true },
);

const LEASE = 10_000;
const TIMEOUT = 60_000;

/** Milliseconds between two attempts to take the lease: at first, and at most. */
const PAUSE = 20;
const LONGEST_PAUSE = 250;

/**
 * Works while this process holds the lease on a key. The lease is renewed until the work is over, and ends by itself
 * if the process dies. If the server cannot be reached for the time of a lease, another process may work at the same
 * time.
 *
 * @throws what the work throws; SluiceError E_STORE_WRITE if others hold the lease for too long, or it cannot be
 * taken.
 */
async function alone<T>(
  server: RedisServer,
  key: string,
  work: () => Promise<T>,
  { lease = LEASE, timeout = TIMEOUT }: LeaseTimes = {},
): Promise<T> {
  const owner = randomUUID();
  const take = async (): Promise<boolean> => isDone(await server.run(TAKE, [key], [owner, String(lease)]));
  const until = performance.now() + timeout;
  for (let pause = PAUSE; !(await take()); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    if (performance.now() > until) throw tooLong();
    // Random, so that waiting processes do not ask in step.
    await sleep(pause * (0.5 + Math.random()));
  }
  const renewing = setInterval(() => void take().catch(() => undefined), lease / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    // A lease that cannot be released ends by itself.
    await server.run(GIVE, [key], [owner]).catch(() => undefined);
  }
}

function tooLong(): SluiceError {
  return new SluiceError("E_STORE_WRITE", "Another process has held this for too long: try again.");
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The version of the format, in front of each sealed text. */
const VERSION = "1.";

/** Encrypts with keys derived from a secret. Logs show nothing of them. */
class Sealing {
  readonly #naming: Buffer;
  readonly #sealing: Buffer;

  /**
   * `purpose` separates uses of the same secret. Throws SluiceError E_INVALID_ARGUMENT for a secret that is too
   * short.
   */
  constructor(secret: string, purpose: string) {
    checkSecret(secret);
    this.#naming = keyOf(secret, `${purpose}: names`);
    this.#sealing = keyOf(secret, `${purpose}: contents`);
  }

  /** 64 hexadecimal digits that only the secret's owner can make of a name. */
  name(name: string): string {
    return createHmac("sha256", this.#naming).update(name).digest("hex");
  }

  /** Encrypts a text, for this name only. */
  seal(text: string, name: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  }

  /** Decrypts a text. Throws SluiceError E_STORE_CORRUPT for anything else, and for another name's text. */
  open(sealed: string, name: string): string {
    const bytes = Buffer.from(sealed.slice(VERSION.length), "base64");
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const cipher = createDecipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(name)).setAuthTag(tag);
      const rest = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      if (sealed.startsWith(VERSION)) return cipher.update(rest, undefined, "utf8") + cipher.final("utf8");
    } catch {
      // The cipher's error helps nobody.
    }
    throw new SluiceError(
      "E_STORE_CORRUPT",
      "The stored token is damaged or was encrypted with another secret: ask the user to give access again.",
    );
  }
}

function keyOf(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `mcp-sluice ${purpose}`, KEY_BYTES));
}
