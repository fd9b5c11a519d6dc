/**
 * Two stores as one: size alone says which keeps an artifact.
 * @module
 */
import { checkOptionNames, wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import { checkBytes, toChunks, encodeText } from "./bytes.js";
import { asStore } from "./host-store.js";
import { isTruncated, toClaim, infoOfText, applyPatch, type Claim } from "./reference.js";
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
  StoredArtifact,
} from "./store.js";
import { SinkWriter, openWriter, writeWhole, type ByteSink } from "./writer.js";

/** Options of a {@link TieredArtifactStore}. */
export interface TieredStoreOptions {
  /** Keeps what is small: as a rule a folder, or memory. */
  readonly near: ArtifactStore;
  /** Keeps what is large: as a rule an object storage. */
  readonly far: ArtifactStore;
  /** Most bytes of an artifact that stays near; 300 MiB when left out. */
  readonly limitBytes?: number;
}

const LIMIT = 300 * 1024 * 1024;

/**
 * An artifact store of two, where size alone chooses: up to `limitBytes` near, above it far. Readers see one store:
 * near is asked first, then far, and the same content has the same id wherever it is.
 *
 * A stream, whose size is unknown, begins near. When it passes the limit, what has arrived is read back into the far
 * store, and the rest goes there. Nothing of it is seen before it is closed.
 *
 * What a store throws comes through. Limits belong on either store: give each a retention that lets in what size sends
 * there. Where both hold the same id with different contents, the later of the two moves, whatever its size, to where it gets
 * a longer id.
 *
 * @example
 * const store = new TieredArtifactStore({ near: new FileArtifactStore("./artifacts"), far: s3 });
 */
export class TieredArtifactStore implements ArtifactStore {
  readonly #near: ArtifactStore;
  readonly #far: ArtifactStore;
  readonly #limit: number;

  /** Throws E_INVALID_ARGUMENT when a store or the limit is none. */
  constructor(options: TieredStoreOptions) {
    const owner = "a TieredArtifactStore";
    const { near, far, limitBytes = LIMIT } = checkOptionNames(options, owner, ["near", "far", "limitBytes"]);
    if (!Number.isSafeInteger(limitBytes) || limitBytes < 0) throw wrong("limitBytes", "a whole number of at least 0");
    this.#near = asStore(near);
    this.#far = asStore(far);
    this.#limit = limitBytes;
    if (isShared(this.#near) || isShared(this.#far)) this.exclusively = (work) => this.#alone(work);
  }

  /** As ArtifactStore says, over both; there where either is shared. */
  exclusively?: <T>(work: () => Promise<T>) => Promise<T | null>;

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    const isNear = checkBytes(data, "data").byteLength <= this.#limit;
    const [here, there] = isNear ? [this.#near, this.#far] : [this.#far, this.#near];
    return settleStore(here, there, await here.putBytes(data, info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encodeText(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const stores = { near: this.#near, far: this.#far, limit: this.#limit };
    return new SinkWriter(await TieredSink.open(stores, toClaim(info)));
  }

  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#first((store) => store.get(id, scope));
  }

  openReader(
    id: string,
    options?: { readonly scope?: ArtifactScope; readonly range?: ByteRange },
  ): Promise<ReadableStream<Uint8Array> | null> {
    return this.#first((store) => store.openReader(id, options));
  }

  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#first((store) => store.stat(id, scope));
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return (await this.#near.exists(id, scope)) || this.#far.exists(id, scope);
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#first((store) => store.update(id, patch, scope));
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const gone = [await this.#near.delete(id, scope), await this.#far.delete(id, scope)];
    return gone.includes(true);
  }

  /** As ArtifactStore says, each store's own order kept; between them what was stored last earlier comes first. */
  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    const seen = new Set<string>();
    for await (const artifact of mergeLists(this.#near.list(scope, only), this.#far.list(scope, only))) {
      const key = `${artifact.id} ${scopeKey(artifact.scope)}`;
      if (isDraft(artifact) || seen.has(key)) continue;
      seen.add(key);
      yield artifact;
    }
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return (await this.#near.evict(seen)) || this.#far.evict(seen);
  }

  /** What the near store has, else the far one. What only one of them took away is not over. */
  async #first<T>(work: (store: ArtifactStore) => Promise<T | null>): Promise<T | null> {
    let over: SluiceError | undefined;
    try {
      const near = await work(this.#near);
      if (near !== null) return near;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_EXPIRED") throw error;
      over = error;
    }
    const far = await work(this.#far);
    if (far === null && over !== undefined) throw over;
    return far;
  }

  async #alone<T>(work: () => Promise<T>): Promise<T | null> {
    const inner = (): Promise<T | null> => this.#far.exclusively?.(work) ?? work();
    return this.#near.exclusively?.(inner) ?? inner();
  }
}

function isShared(store: ArtifactStore): boolean {
  return typeof (Reflect.get(store, "exclusively") as unknown) === "function";
}

/** Two stores, and most bytes of what the first of them keeps. */
interface Tiers {
  readonly near: ArtifactStore;
  readonly far: ArtifactStore;
  readonly limit: number;
}

/** Writes near until it is too much, then far. Holds nothing. */
class TieredSink implements ByteSink {
  readonly #tiers: Tiers;
  readonly #claim: Claim;
  #writer: ArtifactWriter;
  #size = 0;
  #isFar = false;
  /** What has to go from the near store. */
  #draft: ArtifactRef | undefined;

  private constructor(tiers: Tiers, claim: Claim, writer: ArtifactWriter) {
    this.#tiers = tiers;
    this.#claim = claim;
    this.#writer = writer;
  }

  static async open(tiers: Tiers, claim: Claim): Promise<TieredSink> {
    return new TieredSink(tiers, claim, await openWriter(tiers.near, claim));
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.byteLength;
    if (!this.#isFar && this.#size > this.#tiers.limit) await this.#move();
    await this.#writer.write(chunk);
  }

  async commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    const { near, far } = this.#tiers;
    // Checked here, so that a patch that is none fails before anything is published.
    applyPatch(this.#claim, patch);
    const ref = await this.#writer.close(patch);
    return this.#isFar ? settleStore(far, near, ref) : settleStore(near, far, ref);
  }

  async discard(): Promise<void> {
    await this.#writer.abort();
    await this.#dropDraft();
  }

  async #move(): Promise<void> {
    const { near, far } = this.#tiers;
    this.#draft = await closeAsDraft(this.#writer);
    this.#isFar = true;
    this.#writer = await openWriter(far, this.#claim);
    for await (const piece of bytesOfDraft(near, this.#draft)) await this.#writer.write(piece);
    await this.#dropDraft();
  }

  async #dropDraft(): Promise<void> {
    const draft = this.#draft;
    this.#draft = undefined;
    // What cannot be deleted now is never shown, and the near store's retention removes it.
    if (draft) await this.#tiers.near.delete(draft.id, draft.scope).catch(() => undefined);
  }
}

/** Says in its `source` that an artifact is a draft. */
const MARK = "sluice/draft";

/** Random bytes at the end: no other content is the same, so nothing else goes with a draft. */
const TAIL = 16;

/** Whether an artifact is a draft, also one that a process left behind which died. */
function isDraft({ source }: ArtifactRef): boolean {
  return source[MARK] === true;
}

async function closeAsDraft(writer: ArtifactWriter): Promise<ArtifactRef> {
  await writer.write(crypto.getRandomValues(new Uint8Array(TAIL)));
  return writer.close({ filename: null, mime_type: null, source: { [MARK]: true } });
}

/** What was written before a writer was closed as a draft. Throws SluiceError E_STORE_READ if it was deleted meanwhile. */
async function* bytesOfDraft(store: ArtifactStore, draft: ArtifactRef): AsyncGenerator<Uint8Array, void, void> {
  const { id, scope, size_bytes } = draft;
  const stream = await store.openReader(id, { scope, range: { start: 0, end: size_bytes - TAIL } });
  if (stream === null) {
    throw new SluiceError("E_STORE_READ", "The artifact was removed while it was being written: store it again.");
  }
  yield* toChunks(stream);
}

/**
 * Sees to it that an id means one artifact. The same content in both, as after another limit, stays where it is now, with
 * what was said of it before; another content of the same id sends this one to the other store, where it gets a longer id.
 */
async function settleStore(here: ArtifactStore, there: ArtifactStore, ref: ArtifactRef): Promise<ArtifactRef> {
  if (isTruncated(ref)) return ref;
  const other = await there.stat(ref.id, ref.scope).catch(nullIfExpired);
  if (other === null) return ref;
  if (other.sha256 !== ref.sha256) return moveArtifact(here, there, ref);
  const known = await keepSaid(here, ref, other);
  await there.delete(ref.id, ref.scope);
  return known;
}

async function keepSaid(here: ArtifactStore, ref: ArtifactRef, other: ArtifactRef): Promise<ArtifactRef> {
  const patch: ArtifactPatch = {
    ...(ref.filename === null && other.filename !== null && { filename: other.filename }),
    ...(ref.mime_type === null && other.mime_type !== null && { mime_type: other.mime_type }),
    ...(Object.keys(ref.source).length === 0 && Object.keys(other.source).length > 0 && { source: other.source }),
  };
  if (Object.keys(patch).length === 0) return ref;
  return (await here.update(ref.id, patch, ref.scope)) ?? ref;
}

async function moveArtifact(here: ArtifactStore, there: ArtifactStore, ref: ArtifactRef): Promise<ArtifactRef> {
  const bytes = await here.openReader(ref.id, { scope: ref.scope });
  if (bytes === null)
    throw new SluiceError("E_STORE_WRITE", "The artifact was deleted while it was being stored: try again.");
  const said = { ...ref, source: ref.source };
  const placed = await writeWhole(await openWriter(there, said), toChunks(bytes));
  await here.delete(ref.id, ref.scope);
  return placed;
}

export function nullIfExpired(error: unknown): null {
  if (error instanceof SluiceError && error.code === "E_EXPIRED") return null;
  throw error;
}

/** Both lists in their own order; of their next two the one stored earlier comes first, the near one when at once. */
async function* mergeLists(
  near: AsyncIterable<StoredArtifact>,
  far: AsyncIterable<StoredArtifact>,
): AsyncGenerator<StoredArtifact, void, void> {
  const lists = [near[Symbol.asyncIterator](), far[Symbol.asyncIterator]()] as const;
  try {
    let [left, right] = await Promise.all([lists[0].next(), lists[1].next()]);
    while (left.done !== true || right.done !== true) {
      if (right.done === true || (left.done !== true && left.value.stored_at <= right.value.stored_at)) {
        yield left.value as StoredArtifact;
        left = await lists[0].next();
      } else {
        yield right.value;
        right = await lists[1].next();
      }
    }
  } finally {
    await Promise.allSettled(lists.map(async (list) => list.return?.()));
  }
}
