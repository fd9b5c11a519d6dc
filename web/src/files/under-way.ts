/**
 * A user's calls that are under way, and what must not be done meanwhile: a folder is not emptied under a tool.
 * @module
 */

/** Any number of calls at once, or one piece of work alone. */
export class UnderWay {
  #calls = 0;
  #alone = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Set<() => void>();

  /** Whether anybody calls, works alone, or waits to. */
  get isBusy(): boolean {
    return this.#calls > 0 || this.#alone > 0;
  }

  /** A call begins, once what is done alone is done; gives what ends it. */
  async begin(): Promise<() => void> {
    this.#calls += 1;
    let isOver = false;
    const before = this.#last;
    await before;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#calls -= 1;
      if (this.#calls > 0) return;
      for (const resume of this.#waiting) resume();
      this.#waiting.clear();
    };
  }

  /** Works once no call is under way; calls that begin meanwhile wait for it. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#alone += 1;
    try {
      while (this.#calls > 0) await new Promise<void>((resume) => void this.#waiting.add(resume));
      // Nothing may be awaited between that look and this line: a call would begin.
      const mine = this.#last.then(work);
      this.#last = mine.catch(() => undefined);
      return await mine;
    } finally {
      this.#alone -= 1;
    }
  }
}
