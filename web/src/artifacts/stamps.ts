/**
 * Times that order what happened.
 * @module
 */
import type { Clock } from "./store.js";

/** Microseconds since 1970, later at each call even where the clock stands still or goes back. */
export class Stamps {
  readonly #clock: Clock;
  #last = 0;

  /** `clock` is in milliseconds. */
  constructor(clock: Clock = Date.now) {
    this.#clock = clock;
  }

  /** What the clock says, in milliseconds; NaN where that is no time of these centuries. */
  now(): number {
    const now = this.#clock();
    return Number.isSafeInteger(stampOf(now)) ? now : Number.NaN;
  }

  next(): number {
    // A clock that gives no time stands still: one of its readings must not spoil all that come after.
    const now = Math.floor(this.now() * 1000);
    this.#last = Math.max(this.#last + 1, Number.isNaN(now) ? 0 : now);
    return this.#last;
  }

  /** Lets every later stamp be later than this one, which is someone else's. */
  after(stamp: number): void {
    if (Number.isSafeInteger(stamp)) this.#last = Math.max(this.#last, stamp);
  }
}

/** A stamp in the milliseconds of a stored artifact, its microseconds behind the point. */
export function inMilliseconds(stamp: number): number {
  return stamp / 1000;
}

/** The stamp behind such a time. */
export function stampOf(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}
