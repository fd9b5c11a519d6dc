/**
 * The ArtifactWriter of all stores, over a sink for each: writes in order, ends once, keeps the first error.
 * @module
 */
import { isBytes, noBytes } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { storageError } from "../errors/storage.js";

import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactStore, ArtifactWriter } from "./store.js";

/** The destination of a writer's bytes. Calls never overlap; none follows `commit` or `discard`. */
export interface ByteSink {
  /** Takes the bytes before it returns, or before its promise settles. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  commit(patch: ArtifactPatch): Promise<ArtifactRef>;
  /** Discards what was written. Also called after a failure. */
  discard(): Promise<void>;
}

/** Bytes that open writers of one store took and that are not yet in their final place. */
export interface Unwritten {
  bytes: number;
}

/**
 * Feeds a sink. Calls that are not awaited run in order. The first failure ends the writer and discards what was written; every later
 * call throws it again.
 */
export class SinkWriter implements ArtifactWriter {
  readonly #sink: ByteSink;
  /** The last call. Never rejects. */
  #turn: Promise<unknown> = Promise.resolve();
  #failure: SluiceError | undefined;
  #isEnded = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#isEnded) return Promise.reject(this.#failure ?? toClosedError());
    const writing = this.#write(chunk);
    this.#turn = writing.catch(noMatter);
    return writing;
  }

  close(info: ArtifactPatch = {}): Promise<ArtifactRef> {
    if (this.#isEnded) return Promise.reject(this.#failure ?? toClosedError());
    const closing = this.#commit(info);
    this.#turn = closing.catch(noMatter);
    this.#isEnded = true;
    return closing;
  }

  async abort(): Promise<void> {
    if (!this.#isEnded) {
      // A failure has discarded it already.
      const discarding = this.#turn.then(() => (this.#failure ? undefined : this.#sink.discard()));
      this.#turn = discarding.catch(noMatter);
      this.#isEnded = true;
    }
    await this.#turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }

  async #write(chunk: Uint8Array): Promise<void> {
    await this.#turn;
    if (this.#failure) throw this.#failure;
    try {
      if (!isBytes(chunk)) throw noBytes("chunk");
      await this.#sink.write(chunk);
    } catch (error) {
      throw await this.#fail(error);
    }
  }

  async #commit(info: ArtifactPatch): Promise<ArtifactRef> {
    await this.#turn;
    if (this.#failure) throw this.#failure;
    try {
      return await this.#sink.commit(info);
    } catch (error) {
      throw await this.#fail(error);
    }
  }

  async #fail(error: unknown): Promise<SluiceError> {
    const failure = storageError(error, "write");
    this.#failure = failure;
    await this.#sink.discard();
    return failure;
  }
}

function noMatter(): void {
  // The caller of the failed call got its error, and later calls throw the one that was kept.
}

const SMALLEST = 4096;

/** Collects bytes for a store that takes pieces of one size. Grows as needed, up to one piece. */
export class PieceBuffer {
  readonly #most: number;
  #memory: Uint8Array = new Uint8Array(0);
  #filled = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The bytes so far, not copied. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#filled);
  }

  /**
   * Copies a chunk. `send` gets each full piece once more bytes follow, so that the last piece is never empty. It may give back memory
   * for the next piece.
   */
  write(chunk: Uint8Array, send: (piece: Uint8Array) => Promise<Uint8Array | void>): Promise<void> | undefined {
    if (this.#filled + chunk.byteLength > this.#most) return this.#overflow(chunk, send);
    this.#take(chunk);
    return undefined;
  }

  /** Frees the memory. */
  clear(): void {
    this.#memory = new Uint8Array(0);
    this.#filled = 0;
  }

  async #overflow(chunk: Uint8Array, send: (piece: Uint8Array) => Promise<Uint8Array | void>): Promise<void> {
    for (let at = 0; at < chunk.byteLength;) {
      if (this.#filled === this.#most) {
        this.#memory = (await send(this.#memory)) ?? new Uint8Array(this.#most);
        this.#filled = 0;
      }
      const piece = chunk.subarray(at, at + this.#most - this.#filled);
      this.#take(piece);
      at += piece.byteLength;
    }
  }

  #take(bytes: Uint8Array): void {
    const wanted = this.#filled + bytes.byteLength;
    if (wanted > this.#memory.byteLength) {
      const larger = new Uint8Array(Math.min(this.#most, Math.max(SMALLEST, 2 * this.#memory.byteLength, wanted)));
      larger.set(this.bytes);
      this.#memory = larger;
    }
    this.#memory.set(bytes, this.#filled);
    this.#filled = wanted;
  }
}

/** Opens a writer of any store, also a host's own. Its errors are SluiceErrors E_STORE_…. */
export async function openAnyWriter(
  store: Pick<ArtifactStore, "openWriter">,
  info: ArtifactInfo,
): Promise<ArtifactWriter> {
  const writer = await openWriter(store, info);
  return new SinkWriter({
    write: (chunk) => writer.write(chunk),
    commit: (patch) => writer.close(patch),
    discard: () => writer.abort(),
  });
}

/** Writes chunks and closes. A failure of either side leaves nothing behind. */
export async function writeWhole(
  writer: ArtifactWriter,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<ArtifactRef> {
  try {
    for await (const chunk of chunks) await writer.write(chunk);
    return await writer.close();
  } finally {
    await writer.abort();
  }
}

function toClosedError(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "This writer is closed or was aborted: open another one.");
}

/**
 * Opens a writer of a store.
 *
 * @throws SluiceError E_STORE_… if the store fails, E_STORE_WRITE if it gives no writer.
 */
export async function openWriter(
  store: Pick<ArtifactStore, "openWriter">,
  info: ArtifactInfo = {},
): Promise<ArtifactWriter> {
  try {
    const given: unknown = await store.openWriter(info);
    const { write, close, abort } = (given ?? {}) as Partial<ArtifactWriter>;
    const isWriter = typeof write === "function" && typeof close === "function" && typeof abort === "function";
    if (isWriter) return given as ArtifactWriter;
  } catch (error) {
    throw storageError(error, "write");
  }
  throw new SluiceError("E_STORE_WRITE", "The store returned no writer: fix the store.");
}
