/**
 * Work of which only so much is done at a time.
 * @module
 */
import { onAbort } from "../../core/abort.js";

/** Gives turns, in the order they were asked for. */
export class Turns {
  readonly #most: number;
  #underWay = 0;
  /** Each begins work whose turn it is. */
  readonly #line = new Set<() => void>();

  /** So many turns are given at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Turns that are given and not over. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Those who wait for one. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Whether the next who comes has to wait. */
  get isFull(): boolean {
    return this.#underWay >= this.#most;
  }

  /** Does the work when it is its turn. Throws what the work throws, and the signal's reason while it waits. */
  async do<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.isFull) await this.#turn(signal);
    else this.#underWay += 1;
    try {
      // The turn may have come in the moment in which it was given up: then it is the next one's.
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

  /** A turn is handed on, never up for grabs: nobody overtakes. */
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
