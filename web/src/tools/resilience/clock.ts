/**
 * Time, as it can be replaced in tests.
 * @module
 */
import { untilAborted } from "../../core/abort.js";

/** What resilience needs of time. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls back once, after so many milliseconds, unless what is returned was called before. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** More than that a timer takes for none. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The machine's. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

/** Settles after so many milliseconds; throws the signal's reason when that is aborted before. */
export async function sleep(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  let stop: (() => void) | undefined;
  try {
    await untilAborted(new Promise<void>((resolve) => (stop = clock.after(milliseconds, resolve))), signal);
  } finally {
    stop?.();
  }
}
