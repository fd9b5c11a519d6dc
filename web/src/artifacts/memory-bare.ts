/**
 * What a memory store keeps, without limits.
 * @module
 */
import { sha256 } from "#hash";
import type { Hashing } from "./hash.js";
import { bytesOf, encoded, objectOf, spanOf, streamOf } from "./bytes.js";
import { claimOf, infoOfText, patched, type Claim } from "./record.js";
import { RefTable } from "./ref-table.js";
import { SinkWriter, type Sink } from "./writer.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  Clock,
  StoredArtifact,
} from "./store.js";

interface Blob {
  readonly bytes: Uint8Array;
  /** How many refs name it; the last to go takes it along. */
  refs: number;
}

/** Keeps everything in memory until it is deleted, one copy of each content. */
export class BareMemoryStore implements ArtifactStore {
  readonly #hashing: Hashing;
  readonly #refs: RefTable;
  readonly #blobs = new Map<string, Blob>();

  constructor(options: { readonly hashing?: Hashing; readonly clock?: Clock } = {}) {
    this.#hashing = options.hashing ?? sha256;
    this.#refs = new RefTable(options.clock);
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(new Uint8Array(bytesOf(data, "data")), claimOf(info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(encoded(text), claimOf(infoOfText(info)));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#read(id, scope)?.slice() ?? null;
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const hash = this.#refs.find(id, scope);
    if (hash === undefined) return false;
    this.#refs.remove(id, scope);
    const blob = this.#blobs.get(hash);
    if (blob && --blob.refs === 0) this.#blobs.delete(hash);
    return true;
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#refs.find(id, scope) !== undefined;
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#refs.stat(id, scope);
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#refs.update(id, patch, scope);
  }

  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    yield* this.#refs.list(scope);
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#refs.isUnused(seen) && this.delete(seen.id, seen.scope);
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = claimOf(info);
    return new SinkWriter(new MemorySink((bytes, patch) => this.#put(bytes, patched(claim, patch))));
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    spanOf(objectOf(options, "options").range, 0);
    const bytes = this.#read(id, options.scope);
    const { start, end } = spanOf(options.range, bytes?.byteLength ?? 0);
    return bytes ? streamOf(bytes.subarray(start, end)) : null;
  }

  #read(id: string, scope: ArtifactScope | undefined): Uint8Array | undefined {
    return this.#blobs.get(this.#refs.read(id, scope) ?? "")?.bytes;
  }

  /** Takes ownership of `bytes`. Everything after the hash happens in one turn, so puts cannot mix. */
  async #put(bytes: Uint8Array, claim: Claim): Promise<ArtifactRef> {
    const hash = await this.#hashing.whole(bytes);
    const { ref, isNew } = this.#refs.put(claim, hash, bytes.byteLength);
    const blob = this.#blobs.get(hash) ?? { bytes, refs: 0 };
    this.#blobs.set(hash, blob);
    if (isNew) blob.refs += 1;
    return ref;
  }
}

/** Collects chunks until they are put as one. */
export class MemorySink implements Sink {
  readonly #put: (bytes: Uint8Array, patch: ArtifactPatch) => Promise<ArtifactRef>;
  #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(put: (bytes: Uint8Array, patch: ArtifactPatch) => Promise<ArtifactRef>) {
    this.#put = put;
  }

  write(chunk: Uint8Array): undefined {
    this.#chunks.push(new Uint8Array(chunk));
    this.#size += chunk.byteLength;
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    await this.discard();
    return this.#put(bytes, patch);
  }

  discard(): Promise<void> {
    this.#chunks = [];
    this.#size = 0;
    return Promise.resolve();
  }
}
