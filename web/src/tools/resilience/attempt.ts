/**
 * One attempt at a call, with a limit of silence, and the clock that it uses.
 * @module
 */
import { onAbort, untilAborted } from "../../core/abort.js";
import { toRemedies, toSubject, type ToolPlace, ToolTimeoutError } from "../errors.js";

/** What the work of an attempt gets. */
export interface Attempt {
  /** Aborted when the caller cancels or the source times out. */
  readonly signal: AbortSignal;
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The source is alive. Restarts the time limit. */
  progressed(): void;
  /**
   * Runs work that the source is not responsible for, such as asking a person. The time limit is paused meanwhile and
   * restarts afterwards. An error ends the attempt and is rethrown.
   */
  unhurried<U>(work: () => Promise<U>): Promise<U>;
}

/** Called when nothing is heard for a while. Methods must not throw. */
export interface SilenceListener {
  /** Seconds of silence to report, in rising order. Values at or above the limit are skipped. */
  readonly after: readonly number[];
  /** Called with an index of `after`. Starts over when something is heard. */
  readonly onSilence: (index: number) => void;
  /** Called with the seconds when the attempt is given up. */
  readonly onOver: (seconds: number) => void;
}

interface AttemptDeps {
  readonly number: number;
  readonly place: ToolPlace;
  /** Limit of silence. */
  readonly timeoutSeconds: number;
  readonly clock: Clock;
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined;
  readonly silence?: SilenceListener | undefined;
}

/** The error of an attempt that timed out. */
export class OutOfTime extends ToolTimeoutError {
  /** Seconds of silence, or of the whole attempt if that reached its limit. */
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/** The error for so many seconds of silence. */
export function outOfTime(place: ToolPlace, seconds: number): OutOfTime {
  const remedy = `it may still finish; ${toRemedies(place).moreTime}`;
  return new OutOfTime(`${toSubject(place)} showed no progress for ${seconds} s: ${remedy}.`, seconds);
}

/** Limit of an attempt, however much progress the source reports. Longer than any host waits. */
const LONGEST_ATTEMPT_S = 3600;

/**
 * Makes one attempt. Stops waiting when the signal is aborted, even if the work does not.
 *
 * @throws what the work throws; the reason of the caller's signal; a ToolTimeoutError.
 */
export async function runAttempt<T>(work: (attempt: Attempt) => Promise<T>, deps: AttemptDeps): Promise<T> {
  const { number, signal } = deps;
  signal?.throwIfAborted();
  const end = new AbortController();
  const forget = signal && onAbort(signal, () => end.abort(signal.reason));
  const limit = new SilenceLimit(deps, (error) => end.abort(error));
  const holdLimit = async <U>(aside: () => Promise<U>): Promise<U> => {
    limit.hold();
    try {
      return await aside();
    } catch (error) {
      end.abort(error);
      throw error;
    } finally {
      limit.release();
    }
  };
  const run = async (): Promise<T> =>
    work({ signal: end.signal, number, progressed: () => limit.begin(), unhurried: holdLimit });
  try {
    return await untilAborted(run(), end.signal);
  } catch (error) {
    // The work may wrap the signal's reason in an error of its own.
    end.signal.throwIfAborted();
    throw error;
  } finally {
    limit.stop();
    forget?.();
  }
}

/** Calls back after too much silence. */
class SilenceLimit {
  readonly #deps: AttemptDeps;
  readonly #onOver: (error: ToolTimeoutError) => void;
  /** Seconds of silence to report. */
  readonly #moments: readonly number[];
  #told = 0;
  #lastMoment: number;
  #heard: number;
  #stop: () => void;
  /** Number of holds, and the start of the first. */
  #holds = 0;
  #heldSince = 0;
  #isOver = false;

  constructor(deps: AttemptDeps, onOver: (error: ToolTimeoutError) => void) {
    this.#deps = deps;
    this.#onOver = onOver;
    this.#moments = (deps.silence?.after ?? []).filter((seconds) => seconds < deps.timeoutSeconds);
    this.#heard = deps.clock.now();
    this.#lastMoment = this.#heard + LONGEST_ATTEMPT_S * 1000;
    this.#stop = this.#wait();
  }

  /**
   * Something was heard. Sets no new timer unless silence was reported, since this may be called thousands of times.
   */
  begin(): void {
    this.#heard = this.#deps.clock.now();
    if (this.#told === 0) return;
    this.#told = 0;
    if (this.#holds > 0 || this.#isOver) return;
    this.#stop();
    this.#stop = this.#wait();
  }

  stop(): void {
    this.#isOver = true;
    this.#stop();
  }

  /** Pauses until `release` has been called as often. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#heldSince = this.#deps.clock.now();
    this.#stop();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#heard = this.#deps.clock.now();
    this.#told = 0;
    this.#lastMoment += this.#heard - this.#heldSince;
    if (!this.#isOver) this.#stop = this.#wait();
  }

  #wait(): () => void {
    const { clock, timeoutSeconds } = this.#deps;
    const seconds = this.#moments[this.#told] ?? timeoutSeconds;
    const end = Math.min(this.#heard + seconds * 1000, this.#lastMoment);
    return clock.after(Math.max(0, end - clock.now()), () => this.#look());
  }

  #look(): void {
    const { clock, timeoutSeconds, place } = this.#deps;
    const now = clock.now();
    if (now >= this.#lastMoment) {
      const sentence = `${toSubject(place)} did not finish within ${LONGEST_ATTEMPT_S} s: ask for less at a time.`;
      this.#end(new OutOfTime(sentence, LONGEST_ATTEMPT_S));
    } else if (now >= this.#heard + timeoutSeconds * 1000) {
      this.#end(outOfTime(place, timeoutSeconds));
    } else {
      this.#tell(now);
      this.#stop = this.#wait();
    }
  }

  /** After the machine slept through several moments, reports only the last. */
  #tell(now: number): void {
    const passed = this.#moments.filter((seconds) => now >= this.#heard + seconds * 1000).length;
    if (passed <= this.#told) return;
    this.#told = passed;
    this.#deps.silence?.onSilence(passed - 1);
  }

  #end(error: OutOfTime): void {
    this.#deps.silence?.onOver(error.seconds);
    this.#onOver(error);
  }
}

/** A clock that tests can replace. */
export interface Clock {
  /** Milliseconds since some moment. Never decreases. */
  now(): number;
  /** Calls back once after some milliseconds. Call the returned function to cancel. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Timers fire at once for longer delays. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};

/** Waits. Throws the signal's reason if it is aborted before. */
export async function sleep(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  let stop: (() => void) | undefined;
  try {
    await untilAborted(new Promise<void>((resolve) => (stop = clock.after(milliseconds, resolve))), signal);
  } finally {
    stop?.();
  }
}
