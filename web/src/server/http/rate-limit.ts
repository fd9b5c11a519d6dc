/**
 * How much one session may ask for.
 * @module
 */

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
