/**
 * One attempt at a call: given up when its source is silent for too long.
 * @module
 */
import { remediesOf, subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolTimeoutError } from "../errors.js";
import { onAbort, untilAborted } from "../../core/abort.js";
import type { Clock } from "./clock.js";

/** What work is told of the attempt that it is. */
export interface Attempt {
  /** Ends the work: when the caller gives up, or the source took too long. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly number: number;
  /** The source is alive: the time limit begins anew. */
  progressed(): void;
  /**
   * Does what the source is not to blame for, such as asking a person: the time limit stands still meanwhile, and begins anew
   * behind it. What the work throws ends the attempt, and is thrown by it as it is.
   */
  unhurried<U>(work: () => Promise<U>): Promise<U>;
}

/** Told how long nothing was heard. Must not throw. */
export interface SilenceListener {
  /** Seconds of silence that it is told of, rising; those that are not below the limit are passed over. */
  readonly after: readonly number[];
  /** Called with the index of the moment; after something was heard the first one comes first again. */
  readonly onSilence: (index: number) => void;
  /** The attempt is given up, after so many seconds. */
  readonly onOver: (seconds: number) => void;
}

/** What an attempt is made with. */
export interface AttemptTerms {
  readonly number: number;
  readonly place: ToolPlace;
  /** Of silence. */
  readonly timeoutSeconds: number;
  readonly clock: Clock;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  readonly silence?: SilenceListener | undefined;
}

/** The error of an attempt that was given up. */
export class OutOfTime extends ToolTimeoutError {
  /** Of silence; of the whole attempt, where it was given up in spite of what was heard. */
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/** However much progress a source reports: an hour is longer than any host waits, and a report costs a source nothing. */
const LONGEST_ATTEMPT_S = 3600;

/**
 * Does the work once. It is not waited for any longer when its signal is aborted, whether it heeds that or not.
 *
 * @throws what the work throws; the reason of the caller's signal; a ToolTimeoutError.
 */
export async function attempted<T>(work: (attempt: Attempt) => Promise<T>, terms: AttemptTerms): Promise<T> {
  const { number, signal } = terms;
  signal?.throwIfAborted();
  const end = new AbortController();
  const forget = signal && onAbort(signal, () => end.abort(signal.reason));
  const limit = new SilenceLimit(terms, (error) => end.abort(error));
  const unhurried = async <U>(aside: () => Promise<U>): Promise<U> => {
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
  const run = async (): Promise<T> => work({ signal: end.signal, number, progressed: () => limit.begin(), unhurried });
  try {
    return await untilAborted(run(), end.signal);
  } catch (error) {
    // Work that heeds its signal says in its own words that it was ended.
    end.signal.throwIfAborted();
    throw error;
  } finally {
    limit.stop();
    forget?.();
  }
}

/** Tells when nothing was heard for too long. */
class SilenceLimit {
  readonly #terms: AttemptTerms;
  readonly #onOver: (error: ToolTimeoutError) => void;
  /** Seconds of silence that are told of. */
  readonly #moments: readonly number[];
  #told = 0;
  #lastMoment: number;
  #heard: number;
  #stop: () => void;
  /** How many want it to stand still, and since when it does. */
  #holds = 0;
  #heldSince = 0;
  #isOver = false;

  constructor(terms: AttemptTerms, onOver: (error: ToolTimeoutError) => void) {
    this.#terms = terms;
    this.#onOver = onOver;
    this.#moments = (terms.silence?.after ?? []).filter((seconds) => seconds < terms.timeoutSeconds);
    this.#heard = terms.clock.now();
    this.#lastMoment = this.#heard + LONGEST_ATTEMPT_S * 1000;
    this.#stop = this.#wait();
  }

  /** Something was heard. No timer is set anew for it, unless silence was told of: there may be thousands. */
  begin(): void {
    this.#heard = this.#terms.clock.now();
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

  /** Stands still until `release` was called as often. */
  hold(): void {
    this.#holds += 1;
    if (this.#holds > 1) return;
    this.#heldSince = this.#terms.clock.now();
    this.#stop();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#heard = this.#terms.clock.now();
    this.#told = 0;
    this.#lastMoment += this.#heard - this.#heldSince;
    if (!this.#isOver) this.#stop = this.#wait();
  }

  #wait(): () => void {
    const { clock, timeoutSeconds } = this.#terms;
    const seconds = this.#moments[this.#told] ?? timeoutSeconds;
    const end = Math.min(this.#heard + seconds * 1000, this.#lastMoment);
    return clock.after(Math.max(0, end - clock.now()), () => this.#look());
  }

  #look(): void {
    const { clock, timeoutSeconds, place } = this.#terms;
    const subject = subjectOf(place);
    const now = clock.now();
    if (now >= this.#lastMoment) {
      const remedy = "ask for less at a time";
      this.#end(`${subject} did not end within ${LONGEST_ATTEMPT_S} s: ${remedy}.`, LONGEST_ATTEMPT_S);
    } else if (now >= this.#heard + timeoutSeconds * 1000) {
      const remedy = `what was asked for may be done all the same; ${remediesOf(place).moreTime}`;
      this.#end(`${subject} showed no progress for ${timeoutSeconds} s: ${remedy}.`, timeoutSeconds);
    } else {
      this.#tell(now);
      this.#stop = this.#wait();
    }
  }

  /** Where the machine slept through several moments, the last of them is told of alone. */
  #tell(now: number): void {
    const passed = this.#moments.filter((seconds) => now >= this.#heard + seconds * 1000).length;
    if (passed <= this.#told) return;
    this.#told = passed;
    this.#terms.silence?.onSilence(passed - 1);
  }

  #end(sentence: string, seconds: number): void {
    this.#terms.silence?.onOver(seconds);
    this.#onOver(new OutOfTime(sentence, seconds));
  }
}
