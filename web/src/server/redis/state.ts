/**
 * The state of `sluice serve` in a Redis server.
 * @module
 */
import { RateLimiterRedis } from "rate-limiter-flexible";
import { untilLate } from "../../core/abort.js";
import { checkOptions, type OptionTests, TEXT } from "../../errors/arguments.js";
import { wrongOption } from "../options.js";
import { OwnConnection } from "../../redis/connection.js";
import { checkRedisOptions } from "../../redis/options.js";
import { hashName, plainScript, RedisKeys, RedisServer, type Script, readReplyText } from "../../redis/server.js";
import type { Clock } from "../../artifacts/store.js";
import { RedisStateStore, type RedisStateStoreOptions } from "../../planner/redis-state-store.js";
import { parseStored } from "../../planner/state-store.js";
import { type RateLimit, type RateVerdict, readVerdict } from "../http/rate-limit.js";
import { MAX_RUNS, type ServeState } from "../state.js";
import { Sealing } from "../sealing.js";
import { RedisEventLog } from "./event-log.js";
import { RedisSessionRegister } from "./session-register.js";
import { RedisTokenStore } from "./token-store.js";
import { RedisUsageRegister } from "./usage-register.js";
import { RedisWorkRegister } from "./work-register.js";

/** The server, and the secret that encrypts users' tokens. */
export interface RedisStateOptions {
  /**
   * The server: `redis://user:password@host:port/database`, `rediss://…` for TLS, `unix:///path?db=database`. Install
   * the package `@redis/client` next to this one.
   */
  readonly url: string;
  /** Encrypts tokens, at least 32 characters. All processes need the same one. */
  readonly secret: string;
  /** Secrets that other processes still write with, or did: what they encrypted is found, and encrypted again. At most 8. */
  readonly oldSecrets?: readonly string[];
  /**
   * The prefix of all keys, in braces: 1 to 64 characters without braces.
   * @defaultValue `sluice`
   */
  readonly prefix?: string;
  /**
   * Seconds until a server that does not answer is given up.
   * @defaultValue `10`
   */
  readonly timeoutSeconds?: number;
}

const OPTIONS: OptionTests<RedisStateOptions> = {
  url: TEXT,
  secret: TEXT,
  oldSecrets: ["a list of strings", (value) => Array.isArray(value)],
  prefix: TEXT,
  timeoutSeconds: ["a number", (value) => typeof value === "number"],
};

/**
 * State for all processes with the same server, prefix and secret. Each process makes two connections when needed,
 * for commands and for messages, and renews them.
 *
 * The state survives the server's end as far as the server writes it to disk: completely with `appendonly yes` and
 * `appendfsync always`. Everything expires when it is too old. A server with a `maxmemory-policy` other than
 * `noeviction` may drop sessions and runs. A user with limited rights needs scripts, the keys `~{sluice}*` and the
 * channel `&{sluice}*`.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the wrong option.
 *
 * @example
 * const state = redisState({ url: "redis://localhost:6379", secret });
 * const server = new SluiceServer({ store, state, secret, authenticate });
 * // When the process ends:
 * await server[Symbol.asyncDispose]();
 * await state[Symbol.asyncDispose]();
 */
export function redisState(options: RedisStateOptions): ServeState {
  checkOptions(options, OPTIONS, "redisState", wrongOption, ["url", "secret"]);
  const { url, secret, oldSecrets, prefix, timeoutSeconds } = options;
  const given = { ...(prefix !== undefined && { prefix }), ...(timeoutSeconds !== undefined && { timeoutSeconds }) };
  const { stem, timeout } = checkRedisOptions({ url, ...given });
  const connection = new OwnConnection(url, timeout);
  const keys = new RedisKeys(stem);
  const server = new RedisServer(connection, timeout, keys);
  const tokens = new RedisTokenStore({ server, keys, secret, oldSecrets });
  const sealing = new Sealing({ secret, oldSecrets }, "OAuth states");
  const runs = new SealedStateStore({ client: connection, maxKept: MAX_RUNS, ...given }, sealing);
  const events = new RedisEventLog({ server, keys, url, timeout });
  return {
    runs,
    tokens,
    sessions: new RedisSessionRegister({ server, keys }),
    events,
    rates: new RedisRateLimit({ server, keys }),
    usage: new RedisUsageRegister({ server, keys }),
    work: new RedisWorkRegister({ server, keys }),
    isShared: true,
    clock: createSharedClock(server),
    async [Symbol.asyncDispose](): Promise<void> {
      await events[Symbol.asyncDispose]();
      await Promise.all([runs[Symbol.asyncDispose](), server.close()]);
      connection.close();
    },
  };
}

/** Stores runs as they are. What OAuth has to remember is encrypted: it may be the secret of a client at its provider. */
class SealedStateStore extends RedisStateStore {
  readonly #sealing: Sealing;

  constructor(options: RedisStateStoreOptions, sealing: Sealing) {
    super(options);
    this.#sealing = sealing;
  }

  override async saveOAuthState(state: string, payload: unknown, seconds: number): Promise<void> {
    const sealed = this.#sealing.seal(JSON.stringify(payload), state);
    return super.saveOAuthState(state, { sealed }, seconds);
  }

  override async loadOAuthState(state: string): Promise<unknown> {
    return this.#unseal(await super.loadOAuthState(state), state);
  }

  override async takeOAuthState(state: string): Promise<unknown> {
    return this.#unseal(await super.takeOAuthState(state), state);
  }

  /** Null for what was encrypted with a secret that is not known here: it cannot be answered here. */
  #unseal(payload: unknown, state: string): unknown {
    const { sealed } = (payload ?? {}) as { readonly sealed?: unknown };
    if (typeof sealed !== "string") return null;
    try {
      return parseStored(this.#sealing.open(sealed, state).text);
    } catch {
      return null;
    }
  }
}

/** Milliseconds until the server is asked again. Clocks of machines drift by far less in that time. */
const EVERY = 30_000;

/** Most milliseconds of a reply that is believed: it may be off by half of that. */
const LATE = 2000;

/** The server's time, in milliseconds since 1970. */
const TIME = plainScript(
  "read",
  "local time = redis.call('TIME') return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))",
  { isRepeatable: true },
);

/**
 * A clock by the server's time and this machine's monotonic clock: it is the same in all processes, also where the clock of one is
 * wrong or jumps. So no process ends sessions or takes artifacts away that are young for the others. It is this machine's clock
 * until the server has answered once.
 *
 * @param server asked at the first reading and then each half minute, in the background, while the clock is read.
 */
function createSharedClock(server: Pick<RedisServer, "run">): Clock {
  /** What to add to `performance.now`. */
  let ahead: number | undefined;
  let askedAt = -Infinity;
  const ask = async (): Promise<void> => {
    askedAt = performance.now();
    const time = Number(readReplyText(await server.run(TIME, [], [])));
    const took = performance.now() - askedAt;
    if (Number.isFinite(time) && took <= LATE) ahead = time + took / 2 - performance.now();
  };
  return () => {
    // A server that is away has its time asked for later.
    if (performance.now() - askedAt >= EVERY) ask().catch(() => undefined);
    return ahead === undefined ? Date.now() : Math.round(performance.now() + ahead);
  };
}

interface RedisRateLimitParts {
  readonly server: Pick<RedisServer, "run">;
  readonly keys: RedisKeys;
  /** Receives failures to count. Must not throw. */
  readonly report?: (error: unknown) => void;
  /** Milliseconds that a request waits to be counted: 1,000 by default. */
  readonly timeout?: number;
}

/**
 * Counts for all processes with the same server and prefix. A refusal holds until the limit is free again, without
 * asking the server.
 */
export class RedisRateLimit implements RateLimit {
  readonly #parts: RedisRateLimitParts;
  readonly #scripts = new Map<string, Script>();
  /** One limiter for each kind of limit. There are few. */
  readonly #limiters = new Map<string, RateLimiterRedis>();

  constructor(parts: RedisRateLimitParts) {
    this.#parts = parts;
  }

  async take(key: string, most: number, seconds: number): Promise<RateVerdict> {
    try {
      const countRequest = (): Promise<unknown> => this.#limiter(most, seconds).consume(hashName(key));
      await untilLate(countRequest, { most: this.#parts.timeout ?? 1000, late, signal: undefined });
      return { ok: true };
    } catch (rejected) {
      const verdict = readVerdict(rejected);
      if (verdict.ok) this.#parts.report?.(rejected);
      return verdict;
    }
  }

  #limiter(points: number, duration: number): RateLimiterRedis {
    const name = `${points}/${duration}`;
    const known = this.#limiters.get(name);
    if (known !== undefined) return known;
    const limiter = new RateLimiterRedis({
      storeClient: { eval: (text: string, words: ScriptWords) => this.#run(text, words) },
      useRedisPackage: true,
      keyPrefix: this.#parts.keys.one("rates", name),
      points,
      duration,
      inMemoryBlockOnConsumed: points,
    });
    this.#limiters.set(name, limiter);
    return limiter;
  }

  /** Runs a script as node-redis would. */
  #run(text: string, { keys, arguments: words }: ScriptWords): Promise<unknown> {
    const script = this.#scripts.get(text) ?? plainScript("write", text, { isRepeatable: false });
    this.#scripts.set(text, script);
    return this.#parts.server.run(script, keys, words);
  }
}

function late(): Error {
  return new Error("The Redis server did not answer in time.");
}

interface ScriptWords {
  readonly keys: readonly string[];
  readonly arguments: readonly string[];
}
