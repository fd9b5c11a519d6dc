/**
 * Work of which only so much is done at a time.
 * @module
 */

/** Gives turns, in the order they were asked for. */
export class Turns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** So many turns are given at a time. */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when it is its turn. Throws what the work throws, and the signal's reason while it waits. */
  async do<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        this.#waiting.delete(begin);
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(signal.reason as Error);
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
