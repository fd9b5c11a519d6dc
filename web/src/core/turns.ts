/**
 * Limits how much work runs at a time.
 * @module
 */
import { onAbort } from "./abort.js";

/** Runs work in the order it was requested, a limited number at a time. */
export class Turns {
  readonly #most: number;
  #underWay = 0;
  /** Each starts work whose turn has come. */
  readonly #line = new Set<() => void>();

  /** Runs at most `most` at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many are running. */
  get underWay(): number {
    return this.#underWay;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Whether the next one has to wait. */
  get isFull(): boolean {
    return this.#underWay >= this.#most;
  }

  /** Runs work when its turn comes. Throws what the work throws, and the signal's reason while it waits. */
  async do<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.isFull) await this.#turn(signal);
    else this.#underWay += 1;
    try {
      // The turn may have come in the moment of the abort; then it passes to the next one.
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#next();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        forget?.();
        resolve();
      };
      const leave = (): void => {
        this.#line.delete(begin);
        reject(signal?.reason as Error);
      };
      this.#line.add(begin);
      const forget = signal && onAbort(signal, leave);
    });
  }

  /** A turn is handed to the next one in line, so nobody overtakes. */
  #next(): void {
    const [begin] = this.#line;
    if (begin === undefined) {
      this.#underWay -= 1;
      return;
    }
    this.#line.delete(begin);
    begin();
  }
}
