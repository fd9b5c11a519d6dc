/**
 * What a memory store keeps, without limits.
 * @module
 */
import { sha256 } from "#hash";
import { SluiceError } from "../errors/error.js";
import type { Hashing } from "./hash.js";
import { bytesOf, encoded, objectOf } from "./given.js";
import { idsFor } from "./ids.js";
import { spanOf } from "./range.js";
import { streamOf } from "./reader.js";
import { claimOf, copyOf, infoOfText, patched, refOf, restated, type Claim } from "./record.js";
import { scopeKey } from "./scope.js";
import { inMilliseconds, Stamps } from "./stamps.js";
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

interface Entry {
  ref: ArtifactRef;
  /** Stamps: when it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  stored: number;
  used: number;
}

/** Keeps everything in memory until it is deleted, one copy of each content. */
export class BareMemoryStore implements ArtifactStore {
  readonly #hashing: Hashing;
  readonly #stamps: Stamps;
  readonly #blobs = new Map<string, Blob>();
  readonly #scopes = new Map<string, Map<string, Entry>>();

  constructor(options: { readonly hashing?: Hashing; readonly clock?: Clock } = {}) {
    this.#hashing = options.hashing ?? sha256;
    this.#stamps = new Stamps(options.clock);
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
    const key = scopeKey(scope);
    const entries = this.#scopes.get(key);
    const entry = entries?.get(id);
    if (!entries || !entry) return false;
    entries.delete(id);
    if (entries.size === 0) this.#scopes.delete(key);
    const blob = this.#blobs.get(entry.ref.sha256);
    if (blob && --blob.refs === 0) this.#blobs.delete(entry.ref.sha256);
    return true;
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#entry(id, scope) !== undefined;
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    const entry = this.#entry(id, scope);
    return entry ? storedOf(entry) : null;
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    const entry = this.#entry(id, scope);
    if (!entry) return null;
    entry.ref = patched(entry.ref, patch);
    return copyOf(entry.ref);
  }

  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    const chosen = scope === undefined ? [...this.#scopes.values()] : [this.#scopes.get(scopeKey(scope))];
    const entries = chosen.flatMap((entriesOfOne) => [...(entriesOfOne?.values() ?? [])]);
    entries.sort((left, right) => left.created - right.created);
    for (const entry of entries) yield storedOf(entry);
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    const entry = this.#entry(objectOf(seen, "seen").id, seen.scope);
    if (!entry || inMilliseconds(entry.used) !== seen.used_at) return false;
    return this.delete(seen.id, seen.scope);
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

  #entry(id: string, scope: ArtifactScope | undefined): Entry | undefined {
    return this.#scopes.get(scopeKey(scope))?.get(id);
  }

  #read(id: string, scope: ArtifactScope | undefined): Uint8Array | undefined {
    const entry = this.#entry(id, scope);
    if (!entry) return undefined;
    entry.used = this.#stamps.next();
    return this.#blobs.get(entry.ref.sha256)?.bytes;
  }

  /** Takes ownership of `bytes`. Everything after the hash happens in one turn, so puts cannot mix. */
  async #put(bytes: Uint8Array, claim: Claim): Promise<ArtifactRef> {
    const hash = await this.#hashing.whole(bytes);
    const key = scopeKey(claim.scope);
    const entries = this.#scopes.get(key) ?? new Map<string, Entry>();
    this.#scopes.set(key, entries);
    for (const id of idsFor(claim.namespace, hash)) {
      const entry = entries.get(id);
      if (entry && entry.ref.sha256 !== hash) continue;
      if (entry) {
        entry.ref = patched(entry.ref, restated(entry.ref, claim) ?? {});
        entry.used = entry.stored = this.#stamps.next();
        return copyOf(entry.ref);
      }
      const blob = this.#blobs.get(hash) ?? { bytes, refs: 0 };
      blob.refs += 1;
      this.#blobs.set(hash, blob);
      const ref = refOf(claim, id, hash, blob.bytes.byteLength);
      const now = this.#stamps.next();
      entries.set(id, { ref, created: now, stored: now, used: now });
      return copyOf(ref);
    }
    throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
  }
}

function storedOf({ ref, stored, used }: Entry): StoredArtifact {
  return { ...copyOf(ref), stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}

/** Collects chunks until they are put as one. */
class MemorySink implements Sink {
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
