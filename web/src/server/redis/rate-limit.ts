/**
 * Rate limits in Redis.
 * @module
 */
import { RateLimiterRedis } from "rate-limiter-flexible";
import { untilLate } from "../../core/abort.js";
import { plainScript, type Script, hashOf, type RedisKeys, type RedisServer } from "../../redis/server.js";
import { verdictOf, type RateLimit, type RateVerdict } from "../state.js";

interface RedisRateLimitParts {
  readonly server: Pick<RedisServer, "run">;
  readonly keys: RedisKeys;
  /** Receives failures to count. Must not throw. */
  readonly report?: (error: unknown) => void;
}

/** Milliseconds that a request waits to be counted. */
const TIMEOUT = 1000;

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
      const counted = (): Promise<unknown> => this.#limiter(most, seconds).consume(hashOf(key));
      await untilLate(counted, { most: TIMEOUT, late, signal: undefined });
      return { ok: true };
    } catch (rejected) {
      const verdict = verdictOf(rejected);
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
