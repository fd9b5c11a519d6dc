/**
 * Refs by scope, in memory: what a store knows of its artifacts beside their bytes; and the store over them, wherever it keeps
 * bytes.
 * @module
 */
import { sha256 } from "#hash";
import { SluiceError } from "../errors/error.js";
import { toSpan, checkBytes, encodeText, toStream } from "./bytes.js";
import { checkObject } from "../errors/arguments.js";
import type { Hashing } from "./hash.js";
import {
  idsFor,
  toClaim,
  infoOfText,
  applyPatch,
  toRef,
  compareClaim,
  type Claim,
  checkFilter,
  isWanted,
  inMilliseconds,
  Stamps,
} from "./reference.js";
import { scopeKey } from "./scope.js";
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
import { SinkWriter } from "./writer.js";

interface Entry {
  /** Callers get copies: theirs to change. */
  ref: ArtifactRef;
  /** Where its bytes are kept. */
  key: string;
  /** Stamps: when it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  stored: number;
  used: number;
}

/** Where a content is kept, and what a ref to it may be called. */
export interface KeptContent {
  /** The same for all refs that share its bytes. */
  readonly key: string;
  /** Ids, of which the first is taken that no other content in the scope has. */
  readonly ids: Iterable<string>;
  /** The record of the ref, where it says more than what was given. */
  readonly claim?: Claim;
}

/** Where a {@link RefTableStore} keeps bytes. */
export interface Contents {
  /** Null or undefined where they are not there any more. */
  get(key: string): Promise<Uint8Array | null> | Uint8Array | undefined;
  /** Keeps bytes of this hash, which it takes ownership of, unless they are there. */
  put(hash: string, bytes: Uint8Array, claim: Claim): Promise<KeptContent> | KeptContent;
  delete(key: string): unknown;
  has(key: string): Promise<boolean> | boolean;
}

/** Contents in memory, by their hashes. */
export class MemoryContents implements Contents {
  readonly #bytes = new Map<string, Uint8Array>();

  get(hash: string): Uint8Array | undefined {
    return this.#bytes.get(hash);
  }

  put(hash: string, bytes: Uint8Array, { namespace }: Claim): KeptContent {
    if (!this.#bytes.has(hash)) this.#bytes.set(hash, bytes);
    return { key: hash, ids: idsFor(namespace, hash) };
  }

  delete(hash: string): void {
    this.#bytes.delete(hash);
  }

  has(hash: string): boolean {
    return this.#bytes.has(hash);
  }
}

/** Keeps refs in memory, and one copy of each content, which is deleted with its last ref. */
export class RefTableStore implements ArtifactStore {
  readonly #contents: Contents;
  readonly #hashing: Hashing;
  readonly #stamps: Stamps;
  /** By scope, then by id. */
  readonly #scopes = new Map<string, Map<string, Entry>>();
  /** How many refs name a content, by its key. */
  readonly #names = new Map<string, number>();
  /** The last change of a content, by its hash, until it settles. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(contents: Contents, { hashing = sha256, clock }: { readonly hashing?: Hashing; readonly clock?: Clock }) {
    this.#contents = contents;
    this.#hashing = hashing;
    this.#stamps = new Stamps(clock);
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(new Uint8Array(checkBytes(data, "data")), toClaim(info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.#put(encodeText(text), toClaim(infoOfText(info)));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return (await this.#read(id, scope))?.slice() ?? null;
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#delete(id, scope, () => true);
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    const entry = this.#entry(id, scope);
    return entry !== undefined && this.#contents.has(entry.key);
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    if (!(await this.exists(id, scope))) return null;
    // It may have been deleted meanwhile.
    const entry = this.#entry(id, scope);
    return entry ? toStored(entry) : null;
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    const entry = this.#entry(id, scope);
    if (!entry) return null;
    entry.ref = applyPatch(entry.ref, patch);
    return structuredClone(entry.ref);
  }

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    const filter = checkFilter(only);
    const chosen = scope === undefined ? [...this.#scopes.values()] : [this.#scopes.get(scopeKey(scope))];
    const entries = chosen.flatMap((one) => [...(one?.values() ?? [])]).filter(({ ref }) => isWanted(ref, filter));
    entries.sort((left, right) => left.created - right.created);
    for (const entry of entries) yield toStored(entry);
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    const { id, scope, used_at } = checkObject(seen, "seen");
    return this.#delete(id, scope, ({ used }) => inMilliseconds(used) === used_at);
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = toClaim(info);
    let chunks: Uint8Array[] = [];
    let size = 0;
    return new SinkWriter({
      write: (chunk) => {
        chunks.push(new Uint8Array(chunk));
        size += chunk.byteLength;
        return undefined;
      },
      commit: (patch) => {
        const bytes = new Uint8Array(size);
        let at = 0;
        for (const chunk of chunks) {
          bytes.set(chunk, at);
          at += chunk.byteLength;
        }
        chunks = [];
        return this.#put(bytes, applyPatch(claim, patch));
      },
      discard: async () => void (chunks = []),
    });
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    toSpan(checkObject(options, "options").range, 0);
    const bytes = await this.#read(id, options.scope);
    const { start, end } = toSpan(options.range, bytes?.byteLength ?? 0);
    return bytes ? toStream(bytes.subarray(start, end)) : null;
  }

  async #read(id: string, scope: ArtifactScope | undefined): Promise<Uint8Array | null | undefined> {
    const entry = this.#entry(id, scope);
    if (!entry) return null;
    entry.used = this.#stamps.next();
    return this.#contents.get(entry.key);
  }

  #entry(id: string, scope: ArtifactScope | undefined): Entry | undefined {
    return this.#scopes.get(scopeKey(scope))?.get(id);
  }

  /** Stores bytes, which it takes ownership of, and names them in a scope; or restates the ref that names them. */
  async #put(bytes: Uint8Array, claim: Claim): Promise<ArtifactRef> {
    const hash = await this.#hashing.whole(bytes);
    return this.#change(hash, async () => {
      const { key, ids, claim: full = claim } = await this.#contents.put(hash, bytes, claim);
      const place = scopeKey(claim.scope);
      const entries = this.#scopes.get(place) ?? new Map<string, Entry>();
      this.#scopes.set(place, entries);
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry && entry.ref.sha256 !== hash) continue;
        const now = this.#stamps.next();
        if (entry?.key !== key) this.#count(key, 1);
        if (entry) {
          // It was lost, and is kept elsewhere now.
          if (entry.key !== key) this.#count(entry.key, -1);
          entry.key = key;
          entry.ref = { ...entry.ref, ...compareClaim(entry.ref, full), namespace: full.namespace };
          entry.used = entry.stored = now;
          return structuredClone(entry.ref);
        }
        const ref = toRef(full, id, hash, bytes.byteLength);
        entries.set(id, { ref, key, created: now, stored: now, used: now });
        return structuredClone(ref);
      }
      throw new SluiceError(
        "E_STORE_CORRUPT",
        "Every id of this content is already used by other content: use a stronger hash.",
      );
    });
  }

  async #delete(id: string, scope: ArtifactScope | undefined, may: (entry: Entry) => boolean): Promise<boolean> {
    const hash = this.#entry(id, scope)?.ref.sha256;
    if (hash === undefined) return false;
    return this.#change(hash, async () => {
      // While it was waited for, another may have deleted it.
      const entry = this.#entry(id, scope);
      if (entry === undefined || entry.ref.sha256 !== hash || !may(entry)) return false;
      if (this.#names.get(entry.key) === 1) await this.#contents.delete(entry.key);
      this.#forget(entry);
      return true;
    });
  }

  #forget({ ref, key }: Entry): void {
    const place = scopeKey(ref.scope);
    const entries = this.#scopes.get(place);
    entries?.delete(ref.id);
    if (entries?.size === 0) this.#scopes.delete(place);
    this.#count(key, -1);
  }

  /** Counts the refs to a content. */
  #count(key: string, more: 1 | -1): void {
    const names = (this.#names.get(key) ?? 0) + more;
    if (names > 0) this.#names.set(key, names);
    else this.#names.delete(key);
  }

  /** Changes a content, or what names it, when earlier changes of it have settled. */
  async #change<T>(hash: string, work: () => Promise<T>): Promise<T> {
    const changed = (this.#changes.get(hash) ?? Promise.resolve()).then(work);
    const settled = changed.catch(() => undefined);
    this.#changes.set(hash, settled);
    try {
      return await changed;
    } finally {
      if (this.#changes.get(hash) === settled) this.#changes.delete(hash);
    }
  }
}

function toStored({ ref, stored, used }: Entry): StoredArtifact {
  return { ...structuredClone(ref), stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}
