/**
 * Values kept for a time, bounded in number and in size.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";

/** How much is kept. */
export interface ShelfLimits {
  /** Values. */
  readonly count: number;
  /** Sum of what `set` is told of their sizes. */
  readonly size: number;
}

interface Kept<T> {
  readonly value: T;
  readonly size: number;
  readonly expires: number;
}

/** Values by key; the one unused for longest makes room. */
export class Shelf<T> {
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept<T>>();
  readonly #limits: ShelfLimits;
  readonly #clock: Clock;
  #size = 0;

  constructor(limits: ShelfLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The value, if its time is not over. Counts as use. */
  get(key: string): T | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.delete(key);
    if (this.#clock() >= kept.expires) return undefined;
    this.#put(key, kept);
    return kept.value;
  }

  /** Whether exactly this value is kept. Does not count as use. */
  has(key: string, value: T): boolean {
    return this.#kept.get(key)?.value === value;
  }

  /** Keeps a value for `ttl` milliseconds; no time at all, or a size above the limit, and it is not kept. */
  set(key: string, value: T, { size, ttl }: { readonly size: number; readonly ttl: number }): void {
    this.delete(key);
    if (!(ttl > 0) || size > this.#limits.size) return;
    this.#put(key, { value, size, expires: this.#clock() + ttl });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.count && this.#size <= this.#limits.size) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }

  /** Forgets what a test holds for. */
  forget(test: (value: T) => boolean): void {
    for (const [key, { value }] of this.#kept) if (test(value)) this.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#size = 0;
  }

  #put(key: string, kept: Kept<T>): void {
    this.#kept.set(key, kept);
    this.#size += kept.size;
  }
}
