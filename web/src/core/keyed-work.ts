/**
 * Work by key: joined by all who ask for the same (`SingleFlight`), done one after the other (`KeyedQueue`), or told now
 * and then (`Changes`).
 * @module
 */
import { untilAborted } from "./abort.js";

interface SharedWork<T, L> {
  readonly outcome: Promise<T>;
  readonly over: AbortController;
  readonly listeners: Set<L>;
  waiting: number;
}

/** Work by key, shared by all concurrent callers. A caller may bring a listener of type `L`. */
export class SingleFlight<T, L = never> {
  readonly #work = new Map<string, SharedWork<T, L>>();

  /**
   * Joins the work under way for a key, or starts it. The work is aborted only when all of its callers have given up.
   * It sees the listeners of those who wait at the time.
   *
   * @throws the signal's reason, or what the work throws.
   */
  async join(
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal, listeners: ReadonlySet<L>) => Promise<T>,
    listener?: L,
  ): Promise<T> {
    signal?.throwIfAborted();
    const shared = this.#work.get(key) ?? this.#begin(key, start, new Set(listener === undefined ? [] : [listener]));
    shared.waiting += 1;
    if (listener !== undefined) shared.listeners.add(listener);
    try {
      return await untilAborted(shared.outcome, signal);
    } finally {
      shared.waiting -= 1;
      if (listener !== undefined) shared.listeners.delete(listener);
      if (shared.waiting === 0) this.#end(key, shared, signal);
    }
  }

  /** Later callers start new work. Current callers still get their result. */
  close(): void {
    this.#work.clear();
  }

  #begin(
    key: string,
    start: (signal: AbortSignal, listeners: ReadonlySet<L>) => Promise<T>,
    listeners: Set<L>,
  ): SharedWork<T, L> {
    const over = new AbortController();
    const shared: SharedWork<T, L> = { outcome: start(over.signal, listeners), over, listeners, waiting: 0 };
    this.#work.set(key, shared);
    return shared;
  }

  #end(key: string, shared: SharedWork<T, L>, signal: AbortSignal | undefined): void {
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

/** Milliseconds in which repeated changes are reported once. */
const PAUSE = 100;

/** Reports a change at once, and equal ones that follow once at the end of a short interval. */
export class Changes<T> {
  readonly #tell: (change: T) => void;
  /** Changes reported in this interval, and those to report at its end. */
  #told = new Map<string, T | undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (change: T) => void) {
    this.#tell = tell;
  }

  tell(change: T): void {
    const key = JSON.stringify(change);
    if (this.#told.has(key)) {
      this.#told.set(key, change);
      return;
    }
    this.#told.set(key, undefined);
    this.#wait();
    this.#tell(change);
  }

  /** Drops pending reports. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
  }

  #wait(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#over(), PAUSE);
    // The timer must not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #over(): void {
    this.#timer = undefined;
    const told = this.#told;
    this.#told = new Map();
    for (const change of told.values()) if (change !== undefined) this.tell(change);
  }
}
