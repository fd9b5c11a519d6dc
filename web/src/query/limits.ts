/**
 * What one query may take of time and memory.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { QueryOptions } from "./types.js";
import { owned, sizeOf } from "./values.js";

const TIMEOUT_MS = 20_000;
const KEPT_ROWS = 200_000;
const KEPT_BYTES = 64 * 1024 * 1024;
const GROUPS = 100_000;

/** How long a query computes before others have their turn, in milliseconds. */
const TURN_MS = 50;

/** The limits of one query, and what it has used. */
export class Limits {
  readonly maxRows: number;
  readonly maxGroups: number;
  readonly #signal: AbortSignal | undefined;
  readonly #timeout: number;
  readonly #deadline: number;
  readonly #maxBytes: number;
  #bytes = 0;
  #turn = performance.now();
  /** While others have their turn. */
  #rest: Promise<void> | undefined;

  constructor({ signal, timeoutMs, maxKeptRows, maxKeptBytes, maxGroups }: QueryOptions) {
    this.#signal = signal;
    this.#timeout = timeoutMs ?? TIMEOUT_MS;
    this.#deadline = this.#turn + this.#timeout;
    this.#maxBytes = maxKeptBytes ?? KEPT_BYTES;
    this.maxRows = maxKeptRows ?? KEPT_ROWS;
    this.maxGroups = maxGroups ?? GROUPS;
  }

  /** Throws if the query was aborted or has run too long. */
  check(): void {
    this.#signal?.throwIfAborted();
    if (performance.now() < this.#deadline) return;
    throw tooLarge(
      `The query took longer than ${this.#timeout / 1000} s: ask for less, with LIMIT, a simpler condition or fewer columns.`,
    );
  }

  /** The same, and lets others have their turn when it is time. */
  async pause(): Promise<void> {
    this.check();
    // Many may wait at once. The first ones that go on may take the whole turn.
    while (this.isLong) {
      this.#rest ??= new Promise((resolve) => {
        setTimeout(() => {
          this.#turn = performance.now();
          this.#rest = undefined;
          resolve();
        }, 0);
      });
      await this.#rest;
      this.check();
    }
  }

  /** Whether others should have their turn. */
  get isLong(): boolean {
    return performance.now() - this.#turn >= TURN_MS;
  }

  /** Adds values that are kept, and gives them as they can be kept: see `owned`. */
  keep(values: readonly unknown[]): readonly unknown[] {
    this.#bytes += values.reduce<number>((sum, value) => sum + sizeOf(value), 64);
    if (this.#bytes <= this.#maxBytes) return values.map(owned);
    throw tooLarge(
      `The query would keep more than ${Math.round(this.#maxBytes / 1024 / 1024)} MB in memory: filter the rows first, pick fewer columns, or add LIMIT.`,
    );
  }

  /** Takes back values that are no longer kept. */
  release(values: readonly unknown[]): void {
    this.#bytes -= values.reduce<number>((sum, value) => sum + sizeOf(value), 64);
  }
}

/** The error for what is too much to answer. The sentence names the remedy. */
export function tooLarge(sentence: string): SluiceError {
  return new SluiceError("E_TOO_LARGE", sentence, { path: "query" });
}
