/**
 * Limits how much work runs at a time.
 * @module
 */
import { onAbort } from "./abort.js";

/** Runs work in the order it was requested, a limited number at a time. */
export class Semaphore {
  readonly #most: number;
  #running = 0;
  /** Each starts work whose turn has come. */
  readonly #queue = new Set<() => void>();

  /** Runs at most `most` at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many are running. */
  get running(): number {
    return this.#running;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Whether the next one has to wait. */
  get isFull(): boolean {
    return this.#running >= this.#most;
  }

  /** Runs work when its turn comes. Throws what the work throws, and the signal's reason while it waits. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.isFull) await this.#wait(signal);
    else this.#running += 1;
    try {
      // The turn may have come in the moment of the abort; then it passes to the next one.
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#next();
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        forget?.();
        resolve();
      };
      const leave = (): void => {
        this.#queue.delete(begin);
        reject(signal?.reason as Error);
      };
      this.#queue.add(begin);
      const forget = signal && onAbort(signal, leave);
    });
  }

  /** A turn is handed to the next one in line, so no caller overtakes another. */
  #next(): void {
    const [begin] = this.#queue;
    if (begin === undefined) {
      this.#running -= 1;
      return;
    }
    this.#queue.delete(begin);
    begin();
  }
}
