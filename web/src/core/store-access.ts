/**
 * Access to a store for one message: errors are coded, calls end with the caller's signal or a time limit, and the message survives
 * failures. `limitStoreTime` is a store with the same time limits for other callers.
 * @module
 */
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  StoredArtifact,
} from "../artifacts/store.js";
import { getByteReader, streamFrom, type ByteReader } from "../artifacts/byte-reader.js";
import { toTruncatedRef, isTruncated, toWarning } from "../artifacts/reference.js";
import { SluiceError } from "../errors/error.js";
import { guardStorage, storageError, type StorageAct } from "../errors/storage.js";
import { onAbort, untilAborted, untilLate } from "./abort.js";
import { isBytes } from "../errors/arguments.js";
import type { DocumentModules, WasmSource } from "./engine.js";
import type {
  AnswerRef,
  ArtifactTool,
  ArtifactToolsOptions,
  OnStoreFailure,
  ShowContent,
  Sluice,
  Transformed,
  TransformOptions,
} from "./types.js";

/** Most failures that one answer lists. */
const MAX_FAILURES = 32;

/**
 * Time limits in milliseconds for one call of a store: for calls that move bytes, which may be slow for good reason, such as the last
 * part of a large upload, and for calls that look something up or clean up. A store that takes longer is given up for the message.
 * Tests set them lower.
 */
export const STORE_SILENCE = { bytes: 60_000, look: 10_000 };

/** The time limit for discarding what an aborted message left half written. */
const GRACE = 500;

/** The error for a store that does not answer in time. */
export class StoreSilentError extends SluiceError {
  constructor(act: StorageAct) {
    super(
      act === "read" ? "E_STORE_READ" : "E_STORE_WRITE",
      "The store did not answer in time: check that it can be reached, then try again.",
    );
  }
}

/** A store, and what happens if it fails. */
export interface StoreDeps {
  readonly store: ArtifactStore;
  readonly onFailure: OnStoreFailure;
  /** The name of the tool that reads artifacts of a namespace, as sentences give it. Undefined if the model has none. */
  readonly readTool?: (namespace: string) => string;
  /** Chooses what comes back of what was taken out, which is written above this room. Left out: nothing. */
  readonly show?: ShowContent;
  /** The modules that read documents, where some were handed in. */
  readonly documents?: DocumentModules | undefined;
  /** The module that tells facts of files, where one was handed in. */
  readonly facts?: WasmSource | undefined;
  /** The module that answers queries, where one was handed in. */
  readonly tables?: WasmSource | undefined;
  /** Makes the tools over the store, which are written above this room. The first one reads. */
  readonly tools?: (
    store: ArtifactStore,
    options: ArtifactToolsOptions,
    sluice: Pick<Sluice, "look" | "documents" | "tables">,
  ) => readonly ArtifactTool[];
}

/** Failures that were thrown where failures are to be thrown. */
const thrownFailures = new WeakSet<object>();

/** Whether an error is a failure of the store that a host asked to be thrown: it keeps its code wherever it passes. */
export function isThrownFailure(error: unknown): error is SluiceError {
  return error instanceof SluiceError && thrownFailures.has(error);
}

/** All store calls of one message and of the links that it reads. */
export class StoreAccess {
  readonly #deps: StoreDeps;
  readonly #signal: AbortSignal | undefined;
  /** The store's errors so far, each message once. */
  readonly failures: SluiceError[] = [];
  /** Whether a call was left running: it may still read bytes that it was given. */
  isAbandoned = false;
  /** The errors that the store threw. */
  #thrown: WeakSet<SluiceError> | undefined;
  /** Set once a call took too long. No later call is waited for. */
  #givenUp: SluiceError | undefined;

  constructor(deps: StoreDeps, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** The same store with the failures so far, for work under another signal. */
  with(signal: AbortSignal): StoreAccess {
    const access = new StoreAccess(this.#deps, signal);
    access.failures.push(...this.failures);
    access.#givenUp = this.#givenUp;
    return access;
  }

  /**
   * Calls the store. Throws the signal's reason, else the coded error, or E_STORE_… if the store does not answer within `most`
   * milliseconds or failed to do so before.
   */
  async call<T>(
    act: StorageAct,
    work: (store: ArtifactStore) => Promise<T>,
    most: number = STORE_SILENCE.bytes,
  ): Promise<T> {
    this.#signal?.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      if (this.#givenUp !== undefined) throw this.#givenUp;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(this.#giveUp(act)), most);
      });
      const called = Promise.race([work(this.#deps.store), late]);
      return await (this.#signal === undefined ? called : this.ended(called));
    } catch (error) {
      this.#signal?.throwIfAborted();
      const failure = storageError(error, act);
      (this.#thrown ??= new WeakSet()).add(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Changes the record of an artifact. Null if it is gone. */
  update({ id, scope }: AnswerRef, patch: ArtifactPatch): Promise<ArtifactRef | null> {
    return this.call(
      "write",
      async (store) => {
        try {
          const updated = await store.update(id, patch, scope);
          return updated && checkRef(updated);
        } catch (error) {
          return nullIfExpired(error);
        }
      },
      STORE_SILENCE.look,
    );
  }

  /** The chunks of an artifact, or null if there is none. A stream that comes too late is cancelled. */
  openChunks(id: string, scope: ArtifactScope | undefined): Promise<AsyncGenerator<Uint8Array> | null> {
    return this.call("read", async (store) => {
      const stream = await store.openReader(id, scope === undefined ? {} : { scope });
      if (stream === null) return null;
      if (typeof (stream as Partial<typeof stream> | undefined)?.getReader !== "function") throw noBytes();
      if (this.isAbandoned) await stream.cancel();
      return this.#chunks(stream);
    });
  }

  /**
   * Does work that needs the store. If the store fails, the failure is noted and `otherwise` gets it, or it is thrown if failures are
   * to be thrown. Any other error is thrown as it is.
   */
  async attempt<T>(work: () => Promise<T>, otherwise: (failure: SluiceError) => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      return otherwise(this.survived(error));
    }
  }

  /** Notes a failure of the store and gives it back. Throws it if failures are to be thrown; throws any other error. */
  survived(error: unknown): SluiceError {
    if (!this.caused(error)) throw error;
    const { code, message } = error;
    const isKnown = this.failures.some((known) => code === known.code && message === known.message);
    if (!isKnown && this.failures.length < MAX_FAILURES) this.failures.push(error);
    if (this.#deps.onFailure === "throw") {
      thrownFailures.add(error);
      throw error;
    }
    return error;
  }

  /** Whether the store threw this error. */
  caused(error: unknown): error is SluiceError {
    return this.#thrown?.has(error as SluiceError) ?? false;
  }

  /** Waits for work until the signal is aborted; then throws its reason. */
  ended<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (signal === undefined) return work;
    const abandon = (): void => void (this.isAbandoned = true);
    if (signal.aborted) abandon();
    const forget = onAbort(signal, abandon);
    return untilAborted(work, signal).finally(forget);
  }

  /** Cleans up. Failures are left to the store's own clean-up. A store that hangs is not waited for long, or at all after the first time. */
  async clear(work: () => Promise<unknown>): Promise<void> {
    const clearing = guardStorage("write", work).catch(() => undefined);
    if (this.#givenUp !== undefined) return;
    const signal = this.#signal;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        forget?.();
        resolve();
      };
      const leave = (): void => {
        this.#giveUp("write");
        end();
      };
      let timer = setTimeout(leave, signal?.aborted === true ? GRACE : STORE_SILENCE.look);
      const forget =
        signal &&
        onAbort(signal, () => {
          clearTimeout(timer);
          timer = setTimeout(leave, GRACE);
        });
      void clearing.then(end);
    });
  }

  /**
   * The ref, or a truncated one if the artifact is gone: in a store with limits, the last artifacts of a result may evict its first.
   * If the store cannot be asked now, the ref stays.
   */
  async storedOrTruncated(ref: AnswerRef): Promise<AnswerRef> {
    if (isTruncated(ref)) return ref;
    const stat = async (store: ArtifactStore): Promise<unknown> => {
      try {
        return await store.stat(ref.id, ref.scope);
      } catch (error) {
        return nullIfExpired(error);
      }
    };
    const found = await this.call("read", stat, STORE_SILENCE.look).catch((error: unknown) => {
      if (this.caused(error)) return ref;
      throw error;
    });
    if (found !== null) return ref;
    const failure = toCrowdedOutError();
    (this.#thrown ??= new WeakSet()).add(failure);
    return toTruncatedRef(ref, toWarning(this.survived(failure)));
  }

  #giveUp(act: StorageAct): SluiceError {
    this.isAbandoned = true;
    return (this.#givenUp ??= new StoreSilentError(act));
  }

  async *#chunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = stream.getReader();
    try {
      for (;;) {
        const { done, value } = await this.call("read", async () => {
          const read = await reader.read();
          if (!read.done && !isBytes(read.value)) throw noBytes();
          return read;
        });
        if (done) return;
        yield value;
      }
    } finally {
      await this.clear(() => reader.cancel());
    }
  }
}

/** What a message needs besides an engine. */
export interface MessageDeps {
  readonly access: StoreAccess;
  readonly options: TransformOptions;
  /** The name of the tool that reads what is stored. Undefined if the model has none. */
  readonly readTool: string | undefined;
  /** Reduces another result over the same store, such as a resource that was read from a link. */
  readonly reduce: (result: unknown, options: TransformOptions, access: StoreAccess) => Promise<Transformed>;
  readonly resources: { readonly inlineTextUnderChars: number; readonly cacheReads: boolean };
  /** Chooses what comes back of what was taken out, where the options do not. */
  readonly show: ShowContent | undefined;
  /** The modules that scale pictures, where some were handed in. */
  readonly documents: DocumentModules | undefined;
  /** The module that tells facts of files, where one was handed in. */
  readonly facts: WasmSource | undefined;
}

/** The record of what is stored of a result. */
export function toInfo(
  { namespace, scope, tool }: TransformOptions,
  source: ArtifactRef["source"] = tool === undefined ? {} : { tool },
): ArtifactInfo {
  return { ...(namespace !== undefined && { namespace }), ...(scope !== undefined && { scope }), source };
}

/** Checks the ref that a foreign store gave: anything else would break the answer later on. */
export function checkRef(ref: ArtifactRef | null): ArtifactRef {
  const { id, source } = (ref ?? {}) as Readonly<Record<keyof ArtifactRef, unknown>>;
  if (typeof id === "string" && id !== "" && typeof source === "object" && source !== null) return ref as ArtifactRef;
  throw new SluiceError("E_STORE_WRITE", "The store accepted the content but returned no reference: fix the store.");
}

function noBytes(): SluiceError {
  return new SluiceError(
    "E_STORE_READ",
    "The store returned something other than the artifact's bytes: fix the store.",
  );
}

/** Null if retention has removed the artifact. Throws any other error. */
function nullIfExpired(error: unknown): null {
  if (error instanceof SluiceError && error.code === "E_EXPIRED") return null;
  throw error;
}

function toCrowdedOutError(): SluiceError {
  return new SluiceError(
    "E_STORE_FULL",
    "The store removed this artifact before the result was complete, to make room for a later one: " +
      "raise the retention limits, or ask the tool for less.",
  );
}

/** Time limits of a store. */
interface StoreTimeLimits {
  /** Milliseconds for a call that moves bytes. Defaults to a minute. */
  readonly bytes?: number;
  /** Milliseconds for a call that looks something up or deletes it. Defaults to ten seconds. */
  readonly look?: number;
  /** Makes the error for a call that took longer. Defaults to {@link StoreSilentError}. */
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
 * The same store with time limits: each call, each piece of a stream and each entry of a list comes in time or fails. What comes too
 * late is released.
 */
export function limitStoreTime(store: ArtifactStore, limits: StoreTimeLimits = {}): ArtifactStore {
  const time = new Time(limits);
  // The target is an object of its own: a proxy may not replace the members of a frozen store.
  return new Proxy(Object.create(store) as ArtifactStore, {
    get(_, name): unknown {
      if (name === "openWriter") return (info?: ArtifactInfo) => openWriter(store, info, time);
      if (name === "openReader") return (...args: ReaderArguments) => openReader(store, args, time);
      if (name === "list") return (...args: ListArguments) => listInTime(store, args, time);
      const value: unknown = Reflect.get(store, name, store);
      if (typeof value !== "function") return value;
      const method = value.bind(store) as (...args: unknown[]) => Promise<unknown>;
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
    return guardStorage(act, () => untilLate(work, { most, late: () => late(act), signal: undefined }));
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
  return stream && streamFrom(limitReaderTime(getByteReader(stream), time));
}

function limitReaderTime(reader: ByteReader, time: Time): ByteReader {
  return {
    async next(reuse): Promise<Uint8Array | null> {
      try {
        return await time.within("read", "bytes", () => reader.next(reuse));
      } catch (error) {
        reader.cancel(error).catch(() => undefined);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

async function* listInTime(store: ArtifactStore, args: ListArguments, time: Time): AsyncGenerator<StoredArtifact> {
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
    // Not awaited: it may hang.
    if (!isOver) void entries.return?.().catch(() => undefined);
  }
}
