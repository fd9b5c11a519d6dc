/**
 * Rates of one process.
 * @module
 */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { RateLimit, RateVerdict } from "./rate-limit.js";

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
