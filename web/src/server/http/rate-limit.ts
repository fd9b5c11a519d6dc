/**
 * How much one session may ask for.
 * @module
 */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** What came of asking. */
export type RateVerdict =
  | {
      /** There was room. */
      readonly ok: true;
    }
  | {
      /** There was none. */
      readonly ok: false;
      /** Until there is room again, rounded up. */
      readonly retryAfterSeconds: number;
    };

/** Counts what is asked for, over all processes that share it. */
export interface RateLimit {
  /**
   * Takes one of `most` in `seconds` from the first on. A limit that cannot be counted lets pass: it protects what is behind
   * it, and is no lock.
   *
   * @param key whose, and of what.
   */
  take(key: string, most: number, seconds: number): Promise<RateVerdict>;
}

/** Counts as long as the object lives. */
export class MemoryRateLimit implements RateLimit {
  /** One for each kind of limit, of which there are few. */
  readonly #limiters = new Map<string, RateLimiterMemory>();

  async take(key: string, most: number, seconds: number): Promise<RateVerdict> {
    try {
      await this.#limiter(most, seconds).consume(key);
      return { ok: true };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) return { ok: true };
      return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(refused.msBeforeNext / 1000)) };
    }
  }

  #limiter(points: number, duration: number): RateLimiterMemory {
    const name = `${points}/${duration}`;
    const limiter = this.#limiters.get(name) ?? new RateLimiterMemory({ points, duration, keyPrefix: name });
    this.#limiters.set(name, limiter);
    return limiter;
  }
}
