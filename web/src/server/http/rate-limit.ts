/**
 * Limits of requests per time, and how they are counted in memory.
 * @module
 */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** The result of taking from a limit. */
export type RateVerdict =
  | {
      /** The request may proceed. */
      readonly ok: true;
    }
  | {
      /** The limit is reached. */
      readonly ok: false;
      /** Seconds until the next request may proceed, rounded up. */
      readonly retryAfterSeconds: number;
    };

/** Counts requests, over all processes that share it. */
export interface RateLimit {
  /**
   * Takes one of `most` per `seconds`, counted from the first. A limit that cannot be counted lets the request pass:
   * it protects the services behind it and is no lock.
   * @param key whose limit, and of what.
   */
  take(key: string, most: number, seconds: number): Promise<RateVerdict>;
}

/** Counts in memory. */
export class MemoryRateLimit implements RateLimit {
  /** One limiter for each kind of limit. There are few. */
  readonly #limiters = new Map<string, RateLimiterMemory>();

  async take(key: string, most: number, seconds: number): Promise<RateVerdict> {
    try {
      await this.#limiter(most, seconds).consume(key);
      return { ok: true };
    } catch (refused) {
      return readVerdict(refused);
    }
  }

  #limiter(points: number, duration: number): RateLimiterMemory {
    const name = `${points}/${duration}`;
    const limiter = this.#limiters.get(name) ?? new RateLimiterMemory({ points, duration, keyPrefix: name });
    this.#limiters.set(name, limiter);
    return limiter;
  }
}

/** The verdict for what a limiter rejected with. Anything but a refusal lets the request pass. */
export function readVerdict(rejected: unknown): RateVerdict {
  if (!(rejected instanceof RateLimiterRes)) return { ok: true };
  return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(rejected.msBeforeNext / 1000)) };
}
