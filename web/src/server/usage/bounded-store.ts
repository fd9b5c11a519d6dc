/**
 * Stores that hold each user to the limits of what may be stored.
 * @module
 */
import type { RetainingArtifactStore } from "../../artifacts/retention/retaining-store.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
  StoreSpace,
} from "../../artifacts/store.js";
import { checkBytes, encodeText } from "../../artifacts/bytes.js";
import { toClaim, infoOfText } from "../../artifacts/reference.js";
import { SinkWriter, openWriter, writeWhole } from "../../artifacts/writer.js";
import { guardStorage } from "../../errors/storage.js";
import type { Identity } from "../session.js";
import { keyOfUser } from "../sessions/session-register.js";
import { BoundedMap } from "./bounded-map.js";
import type { ReadUse, StoredKind, StoredUse, StoringLease, UserUsage } from "./user-usage.js";

type Amounts = Readonly<Partial<Record<StoredKind, number>>>;

/** How a kind of store counts. */
interface StoreCount {
  /** What so many bytes of an artifact count, under way. Throws SluiceError E_STORE_…. */
  readonly amounts: (identity: Identity, info: ArtifactInfo, bytes: number) => Promise<Amounts>;
  /** Counts what was stored, in the moment in which the store has it. */
  readonly stored: (identity: Identity, ref: ArtifactRef) => void;
  /** Something of the user was deleted. */
  readonly deleted: (identity: Identity) => void;
}

/** Bytes of a stream that are covered exactly, each piece of it. */
const EXACT = 1024 * 1024;

/** Most bytes that are covered ahead of a longer stream, and the share of what was written that is. */
const MOST_AHEAD = 8 * 1024 * 1024;
const AHEAD = 0.25;

/**
 * A store within users' limits. Artifacts without a user have none. Storing beyond a limit throws UserLimitReached, and leaves
 * nothing behind.
 */
export class BoundedStore implements ArtifactStore {
  readonly #inner: ArtifactStore;
  readonly #usage: UserUsage;
  readonly #count: StoreCount;

  constructor(inner: ArtifactStore, usage: UserUsage, count: StoreCount) {
    this.#inner = inner;
    this.#usage = usage;
    this.#count = count;
    if (inner.exclusively !== undefined)
      this.exclusively = (work) => inner.exclusively?.(work) ?? Promise.resolve(null);
    if (inner.space !== undefined)
      this.space = () => inner.space?.() ?? Promise.resolve({ free_bytes: 0, total_bytes: 0 });
  }

  exclusively?: <T>(work: () => Promise<T>) => Promise<T | null>;

  space?: () => Promise<StoreSpace>;

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    checkBytes(data, "data");
    return writeWhole(await this.openWriter(info), [data]);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encodeText(text), infoOfText(info));
  }

  async openWriter(info: ArtifactInfo = {}): Promise<ArtifactWriter> {
    const identity = identityIn(toClaim(info).scope);
    if (identity === null) return openWriter(this.#inner, info);
    const lease = this.#usage.storing(identity);
    const writer = await openWriter(this.#inner, info);
    return new SinkWriter(new BoundedSink({ writer, lease, identity, info, count: this.#count }));
  }

  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#inner.get(id, scope);
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const isDeleted = await this.#inner.delete(id, scope);
    this.#noteDeleted(scope);
    return isDeleted;
  }

  exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#inner.exists(id, scope);
  }

  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#inner.stat(id, scope);
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    const updated = await this.#inner.update(id, patch, scope);
    // A file may have another name now.
    this.#noteDeleted(scope);
    return updated;
  }

  list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    return this.#inner.list(scope, only);
  }

  openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return this.#inner.openReader(id, options);
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    const isEvicted = await this.#inner.evict(seen);
    this.#noteDeleted(seen.scope);
    return isEvicted;
  }

  #noteDeleted(scope: ArtifactScope = {}): void {
    const identity = identityIn(scope);
    if (identity !== null) this.#count.deleted(identity);
  }
}

interface BoundedSinkDeps {
  readonly writer: ArtifactWriter;
  readonly lease: StoringLease;
  readonly identity: Identity;
  readonly info: ArtifactInfo;
  readonly count: StoreCount;
}

/** Covers bytes before they are written. */
class BoundedSink {
  readonly #deps: BoundedSinkDeps;
  #written = 0;
  #covered = -1;
  #amounts: Amounts = {};

  constructor(deps: BoundedSinkDeps) {
    this.#deps = deps;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const needed = this.#written + chunk.byteLength;
    if (needed > this.#covered) await this.#cover(needed);
    this.#written = needed;
    await this.#deps.writer.write(chunk);
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const { writer, lease, identity, info, count } = this.#deps;
    const amounts = await count.amounts(identity, { ...info, ...patch }, this.#written);
    // An empty file is a file, and one that was deleted meanwhile is another one now.
    if (this.#covered < 0 || amounts.files !== this.#amounts.files) await this.#take(this.#written, false, patch);
    const ref = await writer.close(patch);
    count.stored(identity, ref);
    lease.end({ isStored: true });
    return ref;
  }

  async discard(): Promise<void> {
    const { writer, lease } = this.#deps;
    try {
      await writer.abort();
    } finally {
      lease.end({ isStored: false });
    }
  }

  async #cover(needed: number): Promise<void> {
    const ahead = needed <= EXACT ? 0 : Math.min(MOST_AHEAD, Math.floor(needed * AHEAD));
    // Near the limit there may be room for these bytes, and none ahead.
    if (ahead === 0 || !(await this.#take(needed + ahead, true))) await this.#take(needed, false);
  }

  async #take(bytes: number, isAhead: boolean, patch: ArtifactPatch = {}): Promise<boolean> {
    const { lease, identity, info, count } = this.#deps;
    const amounts = await count.amounts(identity, { ...info, ...patch }, bytes);
    const isCovered = await lease.cover(amounts, isAhead);
    if (isCovered) [this.#covered, this.#amounts] = [bytes, amounts];
    return isCovered;
  }
}

/** The user of a scope; null without one. */
function identityIn({ tenant_id = null, user_id = null }: ArtifactScope): Identity | null {
  return user_id === null ? null : { tenant_id, user_id };
}

/** The store of sessions' artifacts within the limit of a user's bytes; the same store if there is none. */
export function limitArtifacts(store: RetainingArtifactStore, usage: UserUsage): ArtifactStore {
  if (usage.limits.artifactBytes === undefined) return store;
  usage.readFrom("artifactBytes", async (identity, maxAge, onRead) => {
    const { bytes, readAt } = await store.useOf(identity, maxAge, onRead);
    return { amounts: { artifactBytes: bytes }, readAt };
  });
  return new BoundedStore(store, usage, {
    amounts: async (_identity, _info, bytes) => ({ artifactBytes: bytes }),
    // The store's own index has it.
    stored: () => undefined,
    deleted: () => undefined,
  });
}

/** Where the files of a user are: scopes, of which there are several if files do not outlive a session. */
type ScopesOf = (identity: Identity) => Promise<readonly ArtifactScope[]>;

/** The store of users' files within the limits of their bytes and their number; the same store if there are none. */
export function limitFiles(store: ArtifactStore, usage: UserUsage, scopesOf: ScopesOf): ArtifactStore {
  const { fileBytes, files } = usage.limits;
  if (fileBytes === undefined && files === undefined) return store;
  const known = new KnownFiles(store, scopesOf);
  usage.readFrom("fileBytes", known.read);
  usage.readFrom("files", known.read);
  return new BoundedStore(store, usage, known);
}

/** What is known of a user's files. */
interface Files {
  bytes: number;
  readonly names: Set<string>;
  readonly readAt: number;
}

/** Milliseconds for which files are known without reading them again. */
const KNOWN = 30_000;

/** Most users whose files are known. */
const MOST_USERS = 256;

/** Counts files by listing those of their user, now and then. */
class KnownFiles implements StoreCount {
  readonly #store: ArtifactStore;
  readonly #scopesOf: ScopesOf;
  readonly #known = new BoundedMap<string, Files>(MOST_USERS);
  /** Readings in progress, and what was stored meanwhile, which they may not see. */
  readonly #readings = new Map<string, { readonly read: Promise<Files>; readonly stored: ArtifactRef[] }>();

  constructor(store: ArtifactStore, scopesOf: ScopesOf) {
    this.#store = store;
    this.#scopesOf = scopesOf;
  }

  readonly read: ReadUse = async (identity, maxAge, onRead) => {
    const files = await this.#files(identity, maxAge);
    onRead();
    return toStoredUse(files);
  };

  async amounts(identity: Identity, { filename }: ArtifactInfo, bytes: number): Promise<Amounts> {
    const { names } = await this.#files(identity, KNOWN);
    return { fileBytes: bytes, files: filename == null || names.has(filename) ? 0 : 1 };
  }

  stored(identity: Identity, ref: ArtifactRef): void {
    const key = keyOfUser(identity);
    const known = this.#known.get(key);
    if (known !== undefined) add(known, ref);
    this.#readings.get(key)?.stored.push(ref);
  }

  deleted(identity: Identity): void {
    this.#known.delete(keyOfUser(identity));
  }

  async #files(identity: Identity, maxAge: number): Promise<Files> {
    const key = keyOfUser(identity);
    const known = this.#known.get(key);
    const age = performance.now() - (known?.readAt ?? -Infinity);
    if (known !== undefined && age < Math.min(maxAge, KNOWN)) return known;
    const reading = this.#readings.get(key) ?? this.#begin(key, identity);
    return reading.read;
  }

  #begin(key: string, identity: Identity): { readonly read: Promise<Files>; readonly stored: ArtifactRef[] } {
    const stored: ArtifactRef[] = [];
    const read = this.#list(identity, key, stored).finally(() => this.#readings.delete(key));
    const reading = { read, stored };
    this.#readings.set(key, reading);
    return reading;
  }

  async #list(identity: Identity, key: string, stored: readonly ArtifactRef[]): Promise<Files> {
    const files: Files = { bytes: 0, names: new Set(), readAt: performance.now() };
    await guardStorage("read", async () => {
      for (const scope of await this.#scopesOf(identity)) {
        for await (const artifact of this.#store.list(scope)) add(files, artifact);
      }
    });
    for (const ref of stored) add(files, ref);
    this.#known.set(key, files);
    return files;
  }
}

function add(files: Files, { size_bytes, filename }: ArtifactRef): void {
  files.bytes += size_bytes;
  if (filename !== null) files.names.add(filename);
}

function toStoredUse({ bytes, names, readAt }: Files): StoredUse {
  return { amounts: { fileBytes: bytes, files: names.size }, readAt };
}
