/**
 * Refs by scope, in memory: what a store knows of its artifacts beside their bytes; and the store over them, wherever it keeps
 * bytes.
 * @module
 */
import { sha256 } from "#hash";
import { SluiceError } from "../errors/error.js";
import { spanOf } from "./byte-range.js";
import { bytesOf, encoded, objectOf, streamOf } from "./bytes.js";
import type { Hashing } from "./hash.js";
import {
  idsFor,
  claimOf,
  copyOf,
  infoOfText,
  patched,
  refOf,
  restated,
  type Claim,
  filterOf,
  isWanted,
} from "./reference.js";
import { LocalLocks } from "./local-locks.js";
import { scopeKey } from "./scope.js";
import { inMilliseconds, Stamps } from "./stamps.js";
import type {
  ArtifactFilter,
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
import { SinkWriter, type ByteSink } from "./writer.js";

interface Entry {
  ref: ArtifactRef;
  /** Stamps: when it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  stored: number;
  used: number;
}

/** Refs of one store. Nothing in it waits, so changes cannot mix. */
class RefTable {
  readonly #stamps: Stamps;
  readonly #scopes = new Map<string, Map<string, Entry>>();
  /** How many refs name a content, by its hash. */
  readonly #names = new Map<string, number>();

  constructor(clock?: Clock) {
    this.#stamps = new Stamps(clock);
  }

  /** Names a content in a scope, or says anew what is said of it. */
  put(claim: Claim, hash: string, size: number): ArtifactRef {
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
      const ref = refOf(claim, id, hash, size);
      const now = this.#stamps.next();
      entries.set(id, { ref, created: now, stored: now, used: now });
      this.#names.set(hash, (this.#names.get(hash) ?? 0) + 1);
      return copyOf(ref);
    }
    throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
  }

  /** The hash of an artifact's content; undefined when there is none in the scope. */
  find(id: string, scope: ArtifactScope | undefined): string | undefined {
    return this.#entry(id, scope)?.ref.sha256;
  }

  /** The same, and counts as reading. */
  read(id: string, scope: ArtifactScope | undefined): string | undefined {
    const entry = this.#entry(id, scope);
    if (entry) entry.used = this.#stamps.next();
    return entry?.ref.sha256;
  }

  stat(id: string, scope: ArtifactScope | undefined): StoredArtifact | null {
    const entry = this.#entry(id, scope);
    return entry ? storedOf(entry) : null;
  }

  update(id: string, patch: ArtifactPatch, scope: ArtifactScope | undefined): ArtifactRef | null {
    const entry = this.#entry(id, scope);
    if (!entry) return null;
    entry.ref = patched(entry.ref, patch);
    return copyOf(entry.ref);
  }

  /** What one scope holds, in the order of being stored first; what all do when it is left out. */
  *list(scope: ArtifactScope | undefined, only: ArtifactFilter): Iterable<StoredArtifact> {
    const chosen = scope === undefined ? [...this.#scopes.values()] : [this.#scopes.get(scopeKey(scope))];
    const entries: Entry[] = [];
    for (const entriesOfOne of chosen) {
      for (const entry of entriesOfOne?.values() ?? []) if (isWanted(entry.ref, only)) entries.push(entry);
    }
    entries.sort((left, right) => left.created - right.created);
    for (const entry of entries) yield storedOf(entry);
  }

  /** Whether nobody used an artifact since it was seen. */
  isUnused(seen: StoredArtifact): boolean {
    const entry = this.#entry(objectOf(seen, "seen").id, seen.scope);
    return entry !== undefined && inMilliseconds(entry.used) === seen.used_at;
  }

  /** Whether one ref alone names a content. */
  isLastOf(hash: string): boolean {
    return this.#names.get(hash) === 1;
  }

  /** Forgets the ref of a content. */
  remove(id: string, scope: ArtifactScope | undefined, hash: string): void {
    const key = scopeKey(scope);
    const entries = this.#scopes.get(key);
    entries?.delete(id);
    if (entries?.size === 0) this.#scopes.delete(key);
    if (this.isLastOf(hash)) this.#names.delete(hash);
    else this.#names.set(hash, (this.#names.get(hash) ?? 0) - 1);
  }

  #entry(id: string, scope: ArtifactScope | undefined): Entry | undefined {
    return this.#scopes.get(scopeKey(scope))?.get(id);
  }
}

function storedOf({ ref, stored, used }: Entry): StoredArtifact {
  return { ...copyOf(ref), stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}

/** Where a {@link RefTableStore} keeps bytes, by their hashes: a map, or what does as one. */
export interface Contents {
  /** Null or undefined where they are not there any more. */
  get(hash: string): Promise<Uint8Array | null> | Uint8Array | undefined;
  /** Takes ownership of `bytes`. */
  set(hash: string, bytes: Uint8Array, claim: Claim): unknown;
  delete(hash: string): unknown;
  has(hash: string): Promise<boolean> | boolean;
}

/** Keeps refs in memory, and one copy of each content, which is deleted with its last ref. */
export class RefTableStore implements ArtifactStore {
  readonly #contents: Contents;
  readonly #hashing: Hashing;
  readonly #refs: RefTable;
  /** By a content's hash: what names it must not change while it is put or deleted. */
  readonly #locks = new LocalLocks();

  constructor(contents: Contents, { hashing = sha256, clock }: { readonly hashing?: Hashing; readonly clock?: Clock }) {
    this.#contents = contents;
    this.#hashing = hashing;
    this.#refs = new RefTable(clock);
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(new Uint8Array(bytesOf(data, "data")), claimOf(info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(encoded(text), claimOf(infoOfText(info)));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return (await this.#read(id, scope))?.slice() ?? null;
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#deleted(id, scope, () => true);
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    const hash = this.#refs.find(id, scope);
    return hash !== undefined && this.#contents.has(hash);
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    const hash = this.#refs.find(id, scope);
    return hash !== undefined && (await this.#contents.has(hash)) ? this.#refs.stat(id, scope) : null;
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#refs.update(id, patch, scope);
  }

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    yield* this.#refs.list(scope, filterOf(only));
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#deleted(objectOf(seen, "seen").id, seen.scope, () => this.#refs.isUnused(seen));
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
    const bytes = await this.#read(id, options.scope);
    const { start, end } = spanOf(options.range, bytes?.byteLength ?? 0);
    return bytes ? streamOf(bytes.subarray(start, end)) : null;
  }

  async #read(id: string, scope: ArtifactScope | undefined): Promise<Uint8Array | null | undefined> {
    const hash = this.#refs.read(id, scope);
    return hash === undefined ? null : this.#contents.get(hash);
  }

  /** Takes ownership of `bytes`. */
  async #put(bytes: Uint8Array, claim: Claim): Promise<ArtifactRef> {
    const hash = await this.#hashing.whole(bytes);
    return this.#locks.request(hash, {}, async () => {
      // Where they are kept there may be limits too, by which they got lost.
      if (!(await this.#contents.has(hash))) await this.#contents.set(hash, bytes, claim);
      return this.#refs.put(claim, hash, bytes.byteLength);
    });
  }

  async #deleted(id: string, scope: ArtifactScope | undefined, may: () => boolean): Promise<boolean> {
    const hash = this.#refs.find(id, scope);
    if (hash === undefined) return false;
    return this.#locks.request(hash, {}, async () => {
      // While it was waited for, another may have deleted it.
      if (this.#refs.find(id, scope) !== hash || !may()) return false;
      if (this.#refs.isLastOf(hash)) await this.#contents.delete(hash);
      this.#refs.remove(id, scope, hash);
      return true;
    });
  }
}

/** Collects chunks until they are put as one. */
class MemorySink implements ByteSink {
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
    this.#chunks = [];
    return this.#put(bytes, patch);
  }

  discard(): Promise<void> {
    this.#chunks = [];
    this.#size = 0;
    return Promise.resolve();
  }
}
