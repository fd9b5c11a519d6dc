/**
 * SHA-256 behind one interface, and stored bytes checked by it. `#hash` is `hash-node.ts` in Node and `hash-web.ts` elsewhere.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { getByteReader, streamFrom, type ByteReader } from "./byte-reader.js";
import type { ArtifactRef } from "./store.js";

/** A hash that is fed in pieces. */
export interface StreamHash {
  /** Takes the bytes before it returns; the caller may reuse the buffer. */
  update(chunk: Uint8Array): void;
  /** Lower-case hex. Ends the hash; call it once. */
  digest(): string;
}

/** A hash that is computed beside the caller's work. Calls need not be awaited one by one: they run in order. */
export interface ParallelHash {
  /** Takes the memory of a piece, and gives it back when it may be reused. */
  update(piece: Uint8Array): Promise<Uint8Array>;
  /** Lower-case hex. Ends the hash; call it once. */
  digest(): Promise<string>;
  /** Ends the hash without a digest. */
  discard(): void;
}

/** A way to hash. Stores take one as an option; the digest names the content, so it must be collision-free. */
export interface Hashing {
  /** The lower-case hex digest of bytes that are there as a whole. */
  whole(data: Uint8Array): Promise<string>;
  /** Begins a hash of bytes that come in pieces. */
  stream(): Promise<StreamHash>;
  /** Begins a hash of much content in another thread. Undefined, or left out, where there are none. */
  parallel?(): Promise<ParallelHash | undefined>;
}

/** A hash in this thread, to use like one in another. */
export async function serialHash(hashing: Hashing): Promise<ParallelHash> {
  const hash = await hashing.stream();
  return {
    update: async (piece) => {
      hash.update(piece);
      return piece;
    },
    digest: async () => hash.digest(),
    discard: () => undefined,
  };
}

/** What the bytes of an artifact must be. */
type Expected = Pick<ArtifactRef, "sha256" | "size_bytes">;

/** Takes the pieces of a whole content in order, and says when they are not what was stored. */
class Verifier {
  readonly #expected: Expected;
  readonly #hash: StreamHash;
  #size = 0;
  #done = false;

  constructor(expected: Expected, hash: StreamHash) {
    this.#expected = expected;
    this.#hash = hash;
  }

  /** Whether all have come. Throws E_STORE_CORRUPT with the piece that is too much, or is the last and the hash is another. */
  take(piece: Uint8Array): boolean {
    if (piece.byteLength === 0) return this.#done;
    this.#size += piece.byteLength;
    if (this.#size > this.#expected.size_bytes) throw toDamagedError();
    this.#hash.update(piece);
    if (this.#size === this.#expected.size_bytes) this.#check();
    return this.#done;
  }

  /** Whether all bytes have come, and are those that were stored. */
  get complete(): boolean {
    return this.#done;
  }

  /** Throws E_STORE_CORRUPT when there should have been more. */
  end(): void {
    if (this.#size === 0 && this.#expected.size_bytes === 0) this.#check();
    if (!this.#done) throw toDamagedError();
  }

  #check(): void {
    if (this.#done) return;
    if (this.#hash.digest() !== this.#expected.sha256) throw toDamagedError();
    this.#done = true;
  }
}

/**
 * The same stream, checked. Its last piece comes only when all of them are what was stored, so a reader that has the end
 * has the whole; until then the stream fails with E_STORE_CORRUPT. `onDamage` is told before.
 */
export async function verifyStream(
  stream: ReadableStream<Uint8Array>,
  expected: Expected,
  hashing: Hashing,
  onDamage: () => Promise<void> = () => Promise.resolve(),
): Promise<ReadableStream<Uint8Array>> {
  const verifier = new Verifier(expected, await hashing.stream());
  const reader = getByteReader(stream);
  let isCancelled = false;
  return streamFrom({
    async next(reuse): Promise<Uint8Array | null> {
      if (verifier.complete) return null;
      const piece = await reader.next(reuse);
      // A reader that is given up ends early, which says nothing of what is stored.
      if (isCancelled) return null;
      try {
        if (piece === null) verifier.end();
        // What looks whole is held back until the reader has ended as well.
        else if (verifier.take(piece)) await readEnd(reader, verifier);
      } catch (error) {
        await Promise.allSettled([onDamage(), reader.cancel()]);
        throw error;
      }
      return piece;
    },
    cancel(reason): Promise<void> {
      isCancelled = true;
      return reader.cancel(reason);
    },
  });
}

async function readEnd(reader: ByteReader, verifier: Verifier): Promise<void> {
  for (let piece = await reader.next(false); piece !== null; piece = await reader.next(false)) verifier.take(piece);
}

/** The error for stored bytes that are not those that were stored. */
export function toDamagedError(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "The stored bytes are damaged: delete the artifact and store it again.");
}
