/**
 * Waiting that comes to an end: for stores that hang, and for clients that do.
 * @module
 */
import type { ArtifactScope, ArtifactStore, ByteRange } from "../../artifacts/store.js";
import { untilLate } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { guarded } from "../../errors/storage.js";
import type { ServeTerms } from "../terms.js";

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
type StorePatience = Pick<ServeTerms, "limits">;

/** Waits for what a store was asked. Throws StoreLate, and E_STORE_… for what the store failed at. */
export function inStoreTime<T>({ limits }: StorePatience, work: Promise<T>): Promise<T> {
  return guarded("read", () => inTime(work, limits.storeSeconds * 1000, () => new StoreLate()));
}

/** The same store to read from, of which every answer, and every piece of a stream, comes in time or fails with StoreLate. */
export function readInTime(terms: StorePatience, store: ArtifactStore): ArtifactStore {
  return new Proxy(store, {
    get(target, name): unknown {
      if (name === "stat") return (id: string, scope?: ArtifactScope) => inStoreTime(terms, target.stat(id, scope));
      if (name === "openReader") return (id: string, options?: ReaderOptions) => opened(terms, target, id, options);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

interface ReaderOptions {
  readonly scope?: ArtifactScope;
  readonly range?: ByteRange;
}

async function opened(
  terms: StorePatience,
  store: ArtifactStore,
  id: string,
  options?: ReaderOptions,
): Promise<ReadableStream<Uint8Array> | null> {
  const opening = store.openReader(id, options);
  try {
    const stream = await inStoreTime(terms, opening);
    return stream && patient(terms, stream);
  } catch (error) {
    // Whatever comes too late is let go.
    if (error instanceof StoreLate) opening.then((stream) => stream?.cancel()).catch(() => undefined);
    throw error;
  }
}

function patient(terms: StorePatience, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        try {
          const { done, value } = await inStoreTime(terms, reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          reader.cancel(error).catch(() => undefined);
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
