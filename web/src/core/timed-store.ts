/**
 * A store whose calls come to an end: one that hangs fails, and nobody waits for it for ever.
 * @module
 */
import type { ArtifactInfo, ArtifactStore, ArtifactWriter, StoredArtifact } from "../artifacts/store.js";
import { guarded, type StorageAct } from "../errors/storage.js";
import { untilLate } from "./abort.js";
import { STORE_SILENCE, StoreSilentError } from "./store-access.js";

/** How long a store may be silent. */
interface StoreTimeLimits {
  /** Milliseconds for a call that moves bytes; a minute when left out. */
  readonly bytes?: number;
  /** Milliseconds for a call that looks something up or deletes it; ten seconds when left out. */
  readonly look?: number;
  /** The error for a call that took longer; {@link StoreSilentError} when left out. */
  readonly late?: (act: StorageAct) => Error;
}

type Kind = "bytes" | "look";

/** Methods whose answer is a promise of one value. */
const METHODS: Readonly<Record<string, readonly [act: StorageAct, kind: Kind]>> = {
  putBytes: ["write", "bytes"],
  putText: ["write", "bytes"],
  get: ["read", "bytes"],
  stat: ["read", "look"],
  exists: ["read", "look"],
  update: ["write", "look"],
  delete: ["write", "look"],
  evict: ["write", "look"],
};

/**
 * The same store, of which each call, each piece of a stream and each entry of a list comes in time or fails. What comes too late is
 * let go.
 */
export function timedStore(store: ArtifactStore, limits: StoreTimeLimits = {}): ArtifactStore {
  const time = new Time(limits);
  return new Proxy(store, {
    get(target, name): unknown {
      if (name === "openWriter") return (info?: ArtifactInfo) => openWriter(target, info, time);
      if (name === "openReader") return (...args: ReaderArguments) => openReader(target, args, time);
      if (name === "list") return (...args: ListArguments) => listed(target, args, time);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      const [act, kind] = METHODS[String(name)] ?? [];
      return act === undefined || kind === undefined
        ? method
        : (...args: unknown[]) => time.within(act, kind, () => method(...args));
    },
  });
}

type ReaderArguments = Parameters<ArtifactStore["openReader"]>;
type ListArguments = Parameters<ArtifactStore["list"]>;

class Time {
  readonly #limits: StoreTimeLimits;

  constructor(limits: StoreTimeLimits) {
    this.#limits = limits;
  }

  within<T>(act: StorageAct, kind: Kind, work: () => Promise<T>): Promise<T> {
    const { late = (silent: StorageAct) => new StoreSilentError(silent) } = this.#limits;
    const most = this.#limits[kind] ?? STORE_SILENCE[kind];
    return guarded(act, () => untilLate(work, { most, late: () => late(act), signal: undefined }));
  }
}

async function openWriter(store: ArtifactStore, info: ArtifactInfo | undefined, time: Time): Promise<ArtifactWriter> {
  let isLate = false;
  const opening = async (): Promise<ArtifactWriter> => {
    const writer = await store.openWriter(info);
    if (isLate) await writer.abort();
    return writer;
  };
  const writer = await time.within("write", "bytes", opening).catch((error: unknown) => {
    isLate = true;
    throw error;
  });
  const abort = (): Promise<void> => time.within("write", "look", () => writer.abort());
  return {
    write: (chunk) => time.within("write", "bytes", () => writer.write(chunk)),
    close: (patch) => time.within("write", "bytes", () => writer.close(patch)),
    abort,
    [Symbol.asyncDispose]: abort,
  };
}

async function openReader(
  store: ArtifactStore,
  args: ReaderArguments,
  time: Time,
): Promise<ReadableStream<Uint8Array> | null> {
  let isLate = false;
  const opening = async (): Promise<ReadableStream<Uint8Array> | null> => {
    const stream = await store.openReader(...args);
    if (isLate) await stream?.cancel();
    return stream;
  };
  const stream = await time.within("read", "bytes", opening).catch((error: unknown) => {
    isLate = true;
    throw error;
  });
  return stream && timedStream(stream, time);
}

function timedStream(stream: ReadableStream<Uint8Array>, time: Time): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<void> {
        try {
          const { done, value } = await time.within("read", "bytes", () => reader.read());
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

async function* listed(store: ArtifactStore, args: ListArguments, time: Time): AsyncGenerator<StoredArtifact> {
  const entries = store.list(...args)[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await time.within("read", "look", () => entries.next());
      isOver = done === true;
      if (isOver) return;
      yield value as StoredArtifact;
    }
  } finally {
    // One that hangs ends when it can.
    if (!isOver) void entries.return?.().catch(() => undefined);
  }
}
