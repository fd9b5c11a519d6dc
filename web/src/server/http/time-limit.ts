/**
 * Time limits for stores and clients that hang.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { onAbort, untilLate } from "../../core/abort.js";
import { limitStoreTime } from "../../core/store-access.js";
import { SluiceError } from "../../errors/error.js";
import { guardStorage } from "../../errors/storage.js";

/** The longest time of a timer, in milliseconds. */
export const MAX_TIMER = 2 ** 31 - 1;

/** Milliseconds for work to end after its signal. */
const GRACE = 500;

/** The error for a store that does not answer in time. Answered with 504. */
export class StoreLate extends SluiceError {
  constructor() {
    super("E_STORE_READ", "The store did not answer in time: try again.");
  }
}

/** The result of work. After so many milliseconds throws what `late` makes, and the work goes on alone. */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  const most = Math.max(0, Math.min(milliseconds, MAX_TIMER));
  return untilLate(() => work, { most, late, signal: undefined });
}

/** The result of work, or "late" after so many milliseconds. After the signal it has half a second to end. */
export async function within<T>(work: Promise<T>, milliseconds: number, signal?: AbortSignal): Promise<T | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let forget: (() => void) | undefined;
  const late = new Promise<"late">((resolve) => {
    const wait = (most: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => resolve("late"), most);
    };
    wait(signal?.aborted === true ? GRACE : milliseconds);
    forget = signal && onAbort(signal, () => wait(GRACE));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    forget?.();
  }
}

/**
 * Passes pieces to work that has so many milliseconds for each, and after the last. Waiting for the next piece does
 * not count. Work that is late is left alone, and gets no more pieces.
 *
 * @throws StoreLate
 */
export async function inSteps<P, T>(
  pieces: AsyncIterable<P>,
  work: (pieces: AsyncIterable<P>) => Promise<T>,
  milliseconds: number,
): Promise<T> {
  const watch = new Watch(milliseconds);
  async function* watchPieces(): AsyncGenerator<P> {
    watch.pause();
    for await (const piece of pieces) {
      watch.restart();
      yield piece;
      watch.pause();
    }
    watch.restart();
  }
  watch.restart();
  const done = work(watchPieces());
  done.catch(() => undefined);
  try {
    return await Promise.race([done, watch.late]);
  } finally {
    watch.pause();
  }
}

/** A time limit that pauses. `late` rejects with StoreLate when it has run for so many milliseconds at a stretch. */
class Watch {
  readonly late: Promise<never>;
  readonly #milliseconds: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.late = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    this.late.catch(() => undefined);
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#reject(new StoreLate()), this.#milliseconds);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

/** Where the time limit of stores comes from. */
export interface StoreTimeouts {
  readonly limits: { readonly storeSeconds: number };
}

/** Waits for a store. Throws StoreLate if it takes too long, and E_STORE_… if it fails. */
export function inStoreTime<T>({ limits }: StoreTimeouts, work: Promise<T>): Promise<T> {
  return guardStorage("read", () => inTime(work, limits.storeSeconds * 1000, () => new StoreLate()));
}

/** The same store, with a time limit for every answer and every piece of a stream. It throws StoreLate. */
export function limitStore({ limits }: StoreTimeouts, store: ArtifactStore): ArtifactStore {
  const milliseconds = limits.storeSeconds * 1000;
  return limitStoreTime(store, { bytes: milliseconds, look: milliseconds, late: () => new StoreLate() });
}
