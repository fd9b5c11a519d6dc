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
import { KeyedQueue } from "../../tools/keyed-work.js";
import { checkSecret } from "../sessions/entry.js";

/** What a token store in Redis is made of. */
interface RedisTokenStoreParts {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  /** Names and seals tokens; at least 32 characters. With another one they are not found. */
  readonly secret: string;
  /** Of the lease for work that one process does. */
  readonly times?: LeaseTimes;
}

/** Characters of JSON that a token may have. */
const MAX_TOKEN = 256 * 1024;

/** Milliseconds that a token is kept since it was stored: most that are not used for so long are over. */
const AGE = 180 * 24 * 60 * 60 * 1000;

/** ARGV: the token, how many milliseconds. */
const STORE = plainScript("write", "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1", {
  isRepeatable: true,
});
const GET = plainScript("read", "return redis.call('GET', KEYS[1])", { isRepeatable: true });
const DELETE = plainScript("write", "return redis.call('UNLINK', KEYS[1])", { isRepeatable: true });

/** Keeps tokens for all processes with the same server, prefix and secret; the server sees neither tokens nor whose they are. */
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

  /** Throws SluiceError E_STORE_CORRUPT for what was not stored here, E_STORE_…. */
  async get(user: string, provider: string): Promise<StoredToken | null> {
    const name = tokenKey(user, provider);
    const sealed = textOf(await this.#server.run(GET, [this.#key("tokens", name)], []));
    return sealed === null ? null : (valueOf(this.#sealing.open(sealed, name)) as StoredToken);
  }

  /** Throws SluiceError E_STORE_…. */
  async delete(user: string, provider: string): Promise<void> {
    isDone(await this.#server.run(DELETE, [this.#key("tokens", tokenKey(user, provider))], []));
  }

  /** Throws what the work throws, and SluiceError E_STORE_WRITE where it cannot be alone. */
  exclusively<T>(user: string, provider: string, work: () => Promise<T>): Promise<T> {
    const key = this.#key("leases", tokenKey(user, provider));
    // Those of this process wait for each other here, and ask the server one at a time.
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

/** How long things take, all in milliseconds. */
interface LeaseTimes {
  /** After so long others take it for dead that a process held the lease; 10 s when left out. */
  readonly lease?: number;
  /** So long somebody waits; 60 s when left out. */
  readonly patience?: number;
}

/** ARGV: who, and for how many milliseconds. 0 where it is another's. */
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

/** ARGV: who. */
const GIVE = plainScript(
  "write",
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
`,
  { isRepeatable: true },
);

const LEASE = 10_000;
const PATIENCE = 60_000;

/** Milliseconds between two looks whether it is free: at first, and at most. */
const PAUSE = 20;
const LONGEST_PAUSE = 250;

/**
 * Does the work while the key is this process's; throws what it throws. The lease is renewed until the work is over: of a process
 * that was killed it ends by itself. One that the server cannot be reached from for as long as a lease works on, and may not be
 * alone any more.
 *
 * @throws SluiceError E_STORE_WRITE where others hold it for too long, and where it cannot be taken.
 */
async function alone<T>(
  server: RedisServer,
  key: string,
  work: () => Promise<T>,
  { lease = LEASE, patience = PATIENCE }: LeaseTimes = {},
): Promise<T> {
  const owner = randomUUID();
  const take = async (): Promise<boolean> => isDone(await server.run(TAKE, [key], [owner, String(lease)]));
  const until = performance.now() + patience;
  for (let pause = PAUSE; !(await take()); pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    if (performance.now() > until) throw tooLong();
    // Those who wait for the same do not ask in step.
    await sleep(pause * (0.5 + Math.random()));
  }
  const renewing = setInterval(() => void take().catch(() => undefined), lease / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    // One that cannot be given back ends by itself.
    await server.run(GIVE, [key], [owner]).catch(() => undefined);
  }
}

function tooLong(): SluiceError {
  return new SluiceError("E_STORE_WRITE", "Another process has been at this for too long: try again.");
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What stands before what is sealed: how it is. */
const VERSION = "1.";

/** Seals with keys of its own, made of a secret. Nothing of them shows in logs. */
class Sealing {
  readonly #naming: Buffer;
  readonly #sealing: Buffer;

  /** `purpose` keeps apart what has the same secret. Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor(secret: string, purpose: string) {
    checkSecret(secret);
    this.#naming = keyOf(secret, `${purpose}: names`);
    this.#sealing = keyOf(secret, `${purpose}: contents`);
  }

  /** 64 hexadecimal digits that only whoever has the secret can make of a name. */
  name(name: string): string {
    return createHmac("sha256", this.#naming).update(name).digest("hex");
  }

  /** A text that can be opened under this name alone. */
  seal(text: string, name: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#sealing, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  }

  /** What was sealed. Throws SluiceError E_STORE_CORRUPT for anything else, and for what is another name's. */
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
      // What the cipher says helps nobody.
    }
    throw new SluiceError(
      "E_STORE_CORRUPT",
      "What is kept here is damaged, or another's: let the user give access anew.",
    );
  }
}

function keyOf(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `mcp-sluice ${purpose}`, KEY_BYTES));
}
