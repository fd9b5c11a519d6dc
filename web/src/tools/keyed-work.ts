/**
 * Work by key: joined by all who ask for the same (`SingleFlight`), or done one after the other (`KeyedQueue`).
 * @module
 */
import { untilAborted } from "../core/abort.js";

interface SharedWork<T> {
  readonly outcome: Promise<T>;
  readonly over: AbortController;
  waiting: number;
}

/** Work by key, shared by all concurrent callers. */
export class SingleFlight<T> {
  readonly #work = new Map<string, SharedWork<T>>();

  /**
   * Joins the work under way for a key, or starts it. The work is aborted only when all of its callers have given up.
   *
   * @throws the signal's reason, or what the work throws.
   */
  async join(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const shared = this.#work.get(key) ?? this.#begin(key, start);
    shared.waiting += 1;
    try {
      return await untilAborted(shared.outcome, signal);
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) this.#end(key, shared, signal);
    }
  }

  /** Later callers start new work. Current callers still get their result. */
  close(): void {
    this.#work.clear();
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): SharedWork<T> {
    const over = new AbortController();
    const shared: SharedWork<T> = { outcome: start(over.signal), over, waiting: 0 };
    this.#work.set(key, shared);
    return shared;
  }

  #end(key: string, shared: SharedWork<T>, signal: AbortSignal | undefined): void {
    if (this.#work.get(key) === shared) this.#work.delete(key);
    if (signal?.aborted === true) shared.over.abort(signal.reason);
  }
}

/** Runs work for the same key one after the other. Different keys do not wait for each other. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs work when its turn comes. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    // The next one waits until this one settles, whether it succeeds or fails.
    const over = mine.catch(() => undefined);
    this.#last.set(key, over);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}
