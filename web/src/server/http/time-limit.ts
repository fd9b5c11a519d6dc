/**
 * Waiting that comes to an end: for stores that hang, and for clients that do.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { timedStore } from "../../core/store-access.js";
import { SluiceError } from "../../errors/error.js";
import { guarded } from "../../errors/storage.js";
import type { ServeDeps } from "../deps.js";

/** A store, or what stands behind one, that does not answer. Answered with 504. */
export class StoreLate extends SluiceError {
  constructor() {
    super("E_STORE_READ", "The store does not answer in time: try again.");
  }
}

/** Waits for work, but no longer than so many milliseconds; then the work goes on alone. Throws what `late` makes. */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  const most = Math.max(0, Math.min(milliseconds, LONGEST));
  return untilLate(() => work, { most, late, signal: undefined });
}

/** What timers take, in milliseconds: of more they make none. */
export const LONGEST = 2 ** 31 - 1;

/**
 * Has somebody take pieces who may take so many milliseconds for each, and for what comes behind the last. How long pieces are
 * waited for is for whoever makes them to say. Work that is late is left alone: its pieces have come to an end.
 */
export async function inSteps<P, T>(
  pieces: AsyncIterable<P>,
  work: (pieces: AsyncIterable<P>) => Promise<T>,
  milliseconds: number,
): Promise<T> {
  const watch = new Watch(milliseconds);
  async function* watched(): AsyncGenerator<P> {
    watch.pause();
    for await (const piece of pieces) {
      watch.restart();
      yield piece;
      watch.pause();
    }
    watch.restart();
  }
  watch.restart();
  const done = work(watched());
  done.catch(() => undefined);
  try {
    return await Promise.race([done, watch.late]);
  } finally {
    watch.pause();
  }
}

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

/** How long a store is waited for. */
type StoreTimeouts = Pick<ServeDeps, "limits">;

/** Waits for what a store was asked. Throws StoreLate, and E_STORE_… for what the store failed at. */
export function inStoreTime<T>({ limits }: StoreTimeouts, work: Promise<T>): Promise<T> {
  return guarded("read", () => inTime(work, limits.storeSeconds * 1000, () => new StoreLate()));
}

/** The same store, of which every answer, and every piece of a stream, comes in time or fails with StoreLate. */
export function inStoreTimes({ limits }: StoreTimeouts, store: ArtifactStore): ArtifactStore {
  const milliseconds = limits.storeSeconds * 1000;
  return timedStore(store, { bytes: milliseconds, look: milliseconds, late: () => new StoreLate() });
}
