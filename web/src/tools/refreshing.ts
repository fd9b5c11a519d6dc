/**
 * Work that is done again when something has changed, however often that is said.
 * @module
 */
import { sleep, systemClock, type Clock } from "./resilience/clock.js";

/** Milliseconds between the end of one and the beginning of the next. */
const PAUSE = 1000;

/** Does work one at a time, and once more at most behind it: a source that changes without end is no storm of requests. */
export class Refreshing {
  readonly #work: () => Promise<void>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #isUnderWay = false;
  #isAsked = false;

  /**
   * @param work must not throw.
   * @param signal ends it.
   */
  constructor(work: () => Promise<void>, signal: AbortSignal, clock: Clock = systemClock) {
    this.#work = work;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** Something has changed: the work is done now, or once more when what is under way is over. */
  ask(): void {
    this.#isAsked = true;
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAsked && !this.#signal.aborted) {
        this.#isAsked = false;
        await this.#work();
        await sleep(this.#clock, PAUSE, this.#signal);
      }
    } catch {
      // It was ended.
    } finally {
      this.#isUnderWay = false;
    }
  }
}
