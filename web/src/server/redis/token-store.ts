/**
 * Users' tokens in Redis.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { plainScript, isDone, textOf } from "../../planner/redis-state/server.js";
import { valueOf } from "../../planner/state-store.js";
import { tokenKey, type StoredToken, type TokenStore } from "../../tools/auth/token-store.js";
import { Turns } from "../../tools/auth/turns.js";
import { alone, type LeaseTimes } from "./lease.js";
import type { Place, ScriptRunner } from "./place.js";
import { Sealing } from "./sealing.js";

/** What a token store in Redis is made of. */
export interface RedisTokenStoreParts {
  readonly server: ScriptRunner;
  readonly place: Place;
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
  readonly #server: ScriptRunner;
  readonly #place: Place;
  readonly #sealing: Sealing;
  readonly #times: LeaseTimes;
  readonly #turns = new Turns();

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor({ server, place, secret, times = {} }: RedisTokenStoreParts) {
    this.#server = server;
    this.#place = place;
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
    return this.#place.one(kind, this.#sealing.name(name));
  }
}

function tooLarge(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `A token has more than ${MAX_TOKEN} characters: ask the provider for a smaller one.`,
  );
}
