/**
 * Stores that take their time: whoever asks them is answered all the same.
 * @module
 */
import type { ArtifactScope, ArtifactStore, ByteRange } from "../../artifacts/store.js";
import { guarded } from "../../errors/storage.js";
import type { ServeTerms } from "../terms.js";
import { inTime, StoreLate } from "./in-time.js";

/** How long a store is waited for. */
export type StorePatience = Pick<ServeTerms, "limits">;

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
