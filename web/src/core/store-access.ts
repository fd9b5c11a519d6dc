/**
 * The store as one message meets it: every call coded, ended by the caller's signal or when it hangs, and survived.
 * @module
 */
import type { ArtifactInfo, ArtifactRef, ArtifactScope, ArtifactStore, ArtifactWriter } from "../artifacts/store.js";
import { insteadOf, isTruncated, warningOf } from "../artifacts/unstored.js";
import { SluiceError } from "../errors/error.js";
import { guarded, type StorageAct } from "../errors/storage.js";
import { onAbort, untilAborted } from "./abort.js";
import { writerOf } from "../artifacts/writer.js";
import { isBytes } from "../errors/arguments.js";
import type { AnswerRef, TransformOptions } from "./sluice.js";

/** What is done about a store that fails: the answer comes without it, or there is none. */
export type OnStoreFailure = "answer" | "throw";

/** Different failures that one answer lists. */
const MAX_FAILURES = 32;

/**
 * How long, in milliseconds, a store may take for one call: for one that moves bytes, which may be slow for a good reason, such as
 * the last part of a large upload, and for one that looks something up or clears up. One that takes longer hangs, as far as anybody
 * can tell, and is given up for the message. Tests make it shorter.
 */
export const STORE_SILENCE = { bytes: 60_000, look: 10_000 };

/** The same for what an aborted message left half-written: how long it may take to go away. */
const GRACE = 500;

/** What a store fails with that does not answer in time. */
export class StoreSilentError extends SluiceError {
  constructor(act: StorageAct) {
    super(
      act === "read" ? "E_STORE_READ" : "E_STORE_WRITE",
      "The store did not answer in time: check that it can be reached, then try again.",
    );
  }
}

/** A store, and what is done when it fails. */
export interface StoreDeps {
  readonly store: ArtifactStore;
  readonly onFailure: OnStoreFailure;
}

/** All calls that one message, and what it reads, makes on its store. */
export class StoreAccess {
  readonly #deps: StoreDeps;
  readonly #signal: AbortSignal | undefined;
  readonly #failures: SluiceError[] = [];
  /** What the store threw; made when it does. */
  #thrown: WeakSet<SluiceError> | undefined;
  #abandoned = false;
  /** Set when a call took too long: no other one is waited for. */
  #givenUp: SluiceError | undefined;

  constructor(deps: StoreDeps, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** The same store with the failures so far, for work that another signal gives up. */
  with(signal: AbortSignal): StoreAccess {
    const access = new StoreAccess(this.#deps, signal);
    access.#failures.push(...this.#failures);
    access.#givenUp = this.#givenUp;
    return access;
  }

  /** What the store failed at, each sentence once; grows until the message is answered. */
  get failures(): readonly SluiceError[] {
    return this.#failures;
  }

  /** Whether a call was left under way: it may still look at bytes that it was given. */
  get abandoned(): boolean {
    return this.#abandoned;
  }

  /**
   * Calls the store. Throws the signal's reason, else what `storageError` makes of it, and E_STORE_… where it does not answer
   * within so many milliseconds, or did not before.
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
      return await this.ended(Promise.race([guarded(act, () => work(this.#deps.store)), late]));
    } catch (error) {
      this.#signal?.throwIfAborted();
      (this.#thrown ??= new WeakSet()).add(error as SluiceError);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A writer of the store's; one that comes too late is aborted. */
  openWriter(info: ArtifactInfo): Promise<ArtifactWriter> {
    return this.call("write", async (store) => {
      const writer = await writerOf(store, info);
      if (this.#abandoned) await writer.abort();
      return writer;
    });
  }

  /** The chunks of an artifact, or null when there is none; one that comes too late is let go of. */
  openChunks(id: string, scope: ArtifactScope | undefined): Promise<AsyncGenerator<Uint8Array> | null> {
    return this.call("read", async (store) => {
      const stream = await store.openReader(id, scope === undefined ? {} : { scope });
      if (stream === null) return null;
      if (typeof (stream as Partial<typeof stream> | undefined)?.getReader !== "function") throw noBytes();
      if (this.#abandoned) await stream.cancel();
      return this.#chunks(stream);
    });
  }

  /**
   * Does what needs the store, or, when that fails, without: `otherwise` gets the failure, which is noted. Where
   * failures are to be thrown it throws. Any other error is thrown as it is.
   */
  async attempt<T>(work: () => Promise<T>, otherwise: (failure: SluiceError) => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.caused(error)) throw error;
      return this.#without(error, otherwise);
    }
  }

  /** Whether an error is one of the store's. */
  caused(error: unknown): error is SluiceError {
    return this.#thrown?.has(error as SluiceError) ?? false;
  }

  /** Waits for work, but no longer than until the signal is aborted; then throws its reason. */
  ended<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (signal === undefined) return work;
    const abandon = (): void => void (this.#abandoned = true);
    if (signal.aborted) abandon();
    const forget = onAbort(signal, abandon);
    return untilAborted(work, signal).finally(forget);
  }

  /** Clears up. What fails is left to the store's own clean-up; what hangs is not waited for long, or at all once it did. */
  async clear(work: () => Promise<unknown>): Promise<void> {
    const clearing = guarded("write", work).catch(() => undefined);
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
   * The ref itself, or one that says that nothing is kept: in a store with limits, the last artifacts of a result may
   * take the room of its first. That a store cannot be looked into now does not say that something is gone.
   */
  async storedOrTruncated(ref: AnswerRef): Promise<AnswerRef> {
    if (isTruncated(ref)) return ref;
    const stat = (store: ArtifactStore): Promise<unknown> => unlessExpired(() => store.stat(ref.id, ref.scope));
    const found = await this.call("read", stat, STORE_SILENCE.look).catch((error: unknown) => {
      if (this.caused(error)) return ref;
      throw error;
    });
    return found === null ? this.#without(crowdedOut(), (failure) => insteadOf(ref, warningOf(failure))) : ref;
  }

  /** Notes a failure, then does without the store, unless failures are to be thrown. */
  #without<T>(failure: SluiceError, otherwise: (failure: SluiceError) => T): T {
    (this.#thrown ??= new WeakSet()).add(failure);
    const { code, message } = failure;
    const isKnown = this.#failures.some((known) => code === known.code && message === known.message);
    if (!isKnown && this.#failures.length < MAX_FAILURES) this.#failures.push(failure);
    if (this.#deps.onFailure === "throw") throw failure;
    return otherwise(failure);
  }

  #giveUp(act: StorageAct): SluiceError {
    this.#abandoned = true;
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

/** What is said of what is stored of a result. */
export function infoOf(
  { namespace, scope, tool }: TransformOptions,
  source: Readonly<Record<string, unknown>> = tool === undefined ? {} : { tool },
): ArtifactInfo {
  return { ...(namespace !== undefined && { namespace }), ...(scope !== undefined && { scope }), source };
}

/** A store may be anybody's: what is no ref would break the answer later on. */
export function checked(ref: ArtifactRef | null): ArtifactRef {
  const { id, source } = (ref ?? {}) as Readonly<Record<keyof ArtifactRef, unknown>>;
  if (typeof id === "string" && id !== "" && typeof source === "object" && source !== null) return ref as ArtifactRef;
  throw new SluiceError("E_STORE_WRITE", "The store took the content but gave no ref: repair the store.");
}

function noBytes(): SluiceError {
  return new SluiceError(
    "E_STORE_READ",
    "The store gave something else than the bytes of an artifact: repair the store.",
  );
}

/** Null for what retention has taken away. */
export async function unlessExpired<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_EXPIRED") return null;
    throw error;
  }
}

function crowdedOut(): SluiceError {
  return new SluiceError(
    "E_STORE_FULL",
    "The store did not keep this artifact until the result was complete, where the last may take the room of the first: " +
      "raise the limits of retention, or ask the tool for less.",
  );
}
