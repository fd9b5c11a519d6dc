/**
 * Users' tokens in Redis.
 * @module
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { SluiceError } from "../../errors/error.js";
import { plainScript, isDone, readReplyTexts, type RedisKeys, type RedisServer } from "../../redis/server.js";
import { parseStored } from "../../planner/state-store.js";
import { tokenKey, type StoredToken, type TokenStore } from "../../tools/auth/token-store.js";
import { KeyedQueue } from "../../core/keyed-work.js";
import { Sealing, type Secrets } from "../sealing.js";

interface RedisTokenStoreParts extends Secrets {
  readonly server: RedisServer;
  readonly keys: RedisKeys;
  /** The times of leases. */
  readonly times?: LeaseTimes;
}

/** Most characters of JSON of a token. */
const MAX_TOKEN = 256 * 1024;

/** Milliseconds until a token is deleted. Most that are unused for so long have expired. */
const AGE = 180 * 24 * 60 * 60 * 1000;

// KEYS of all: the names of one token, by each secret, that of the current one first.

/** ARGV: the token, its milliseconds to live. */
const STORE = plainScript(
  "write",
  `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
for at = 2, #KEYS do redis.call('UNLINK', KEYS[at]) end
return 1
`,
  { isRepeatable: true },
);

/** The first that there is, and which. */
const GET = plainScript(
  "read",
  `
for at, key in ipairs(KEYS) do
  local sealed = redis.call('GET', key)
  if sealed then return { sealed, tostring(at) } end
end
return {}
`,
  { isRepeatable: true },
);

const DELETE = plainScript("write", "return redis.call('UNLINK', unpack(KEYS))", { isRepeatable: true });

/** KEYS: the current name, and the one that the token was found by. ARGV: what was found, and the same encrypted again. */
const MOVE = plainScript(
  "write",
  `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local left = redis.call('PTTL', KEYS[2])
if left <= 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', left)
if KEYS[1] ~= KEYS[2] then redis.call('UNLINK', KEYS[2]) end
return 1
`,
  { isRepeatable: true },
);

/**
 * Stores tokens for all processes with the same server, prefix and secret. The server sees neither tokens nor users.
 * What another of the secrets encrypted is found too, and encrypted with the current one.
 */
export class RedisTokenStore implements TokenStore {
  readonly #server: RedisServer;
  readonly #keys: RedisKeys;
  readonly #sealing: Sealing;
  readonly #times: LeaseTimes;
  readonly #turns = new KeyedQueue();

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor({ server, keys, secret, oldSecrets, times = {} }: RedisTokenStoreParts) {
    this.#server = server;
    this.#keys = keys;
    this.#sealing = new Sealing({ secret, oldSecrets }, "users' tokens");
    this.#times = times;
  }

  /** Throws SluiceError E_TOO_LARGE, E_STORE_…. */
  async store(user: string, provider: string, token: StoredToken): Promise<void> {
    const name = tokenKey(user, provider);
    const text = JSON.stringify(token);
    if (text.length > MAX_TOKEN) throw tooLarge();
    const words = [this.#sealing.seal(text, name), String(AGE)];
    isDone(await this.#server.run(STORE, this.#all("tokens", name), words));
  }

  /** Throws SluiceError E_STORE_CORRUPT for a value that was not stored here, E_STORE_…. */
  async get(user: string, provider: string): Promise<StoredToken | null> {
    const name = tokenKey(user, provider);
    const names = this.#all("tokens", name);
    const [sealed, at] = readReplyTexts(await this.#server.run(GET, names, []));
    if (sealed === undefined) return null;
    const { text, isCurrent } = this.#sealing.open(sealed, name);
    const place = names[Number(at) - 1];
    if (!isCurrent && place !== undefined) {
      // The next reader does it if this fails.
      const words = [sealed, this.#sealing.seal(text, name)];
      await this.#server.run(MOVE, [names[0], place], words).catch(() => undefined);
    }
    return parseStored(text) as StoredToken;
  }

  /** Throws SluiceError E_STORE_…. */
  async delete(user: string, provider: string): Promise<void> {
    isDone(await this.#server.run(DELETE, this.#all("tokens", tokenKey(user, provider)), []));
  }

  /** Throws what the work throws, and SluiceError E_STORE_WRITE if it gets no lease. */
  exclusively<T>(user: string, provider: string, work: () => Promise<T>): Promise<T> {
    const names = this.#all("leases", tokenKey(user, provider));
    // Processes that write with different secrets share at least one name. In the same order, so that none waits for another's.
    const leased = names
      .toSorted()
      .reduce((inner: () => Promise<T>, key) => () => alone(this.#server, key, inner, this.#times), work);
    // Work of this process queues here, so that one at a time asks the server.
    return this.#turns.take(names[0], leased);
  }

  #all(kind: string, name: string): readonly [string, ...string[]] {
    const [current, ...others] = this.#sealing.names(name).map((each) => this.#keys.one(kind, each));
    return [current as string, ...others];
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
