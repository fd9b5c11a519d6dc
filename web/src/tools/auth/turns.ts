/**
 * One after the other, for each key.
 * @module
 */

/** Work for one key waits for the work before it; that for different keys does not. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs work when it is its turn; settles as it does. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    // Whoever comes next waits for the end, whichever it is.
    const over = mine.catch(() => undefined);
    this.#last.set(key, over);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}
