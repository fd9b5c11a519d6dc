/**
 * Two stores as one: size alone says which keeps an artifact.
 * @module
 */
import { wrong } from "../../core/call.js";
import { SluiceError } from "../../errors/error.js";
import { asStore } from "../discover.js";
import { bytesOf, encoded, objectOf } from "../given.js";
import { claimOf, infoOfText } from "../record.js";
import { scopeKey } from "../scope.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
} from "../store.js";
import { SinkWriter } from "../writer.js";
import { isDraft } from "./draft.js";
import { merged } from "./merged.js";
import { settled } from "./settled.js";
import { TieredSink } from "./tiered-sink.js";

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
 * An artifact store of two, where size alone chooses: up to `limitBytes` near, above it far. Whoever reads does not notice:
 * near is asked first, then far, and the same content has the same id wherever it is.
 *
 * A stream, whose size nobody knows, begins near. When it passes the limit, what came of it is read back into the far
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
    const { near, far, limitBytes = LIMIT } = objectOf(options, "options");
    if (!Number.isSafeInteger(limitBytes) || limitBytes < 0) throw wrong("limitBytes", "a whole number of at least 0");
    this.#near = asStore(near);
    this.#far = asStore(far);
    this.#limit = limitBytes;
    if (isShared(this.#near) || isShared(this.#far)) this.exclusively = (work) => this.#alone(work);
  }

  /** As ArtifactStore says, over both; there where either is shared. */
  exclusively?: <T>(work: () => Promise<T>) => Promise<T | null>;

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    const isNear = bytesOf(data, "data").byteLength <= this.#limit;
    const [here, there] = isNear ? [this.#near, this.#far] : [this.#far, this.#near];
    return settled(here, there, await here.putBytes(data, info));
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encoded(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const stores = { near: this.#near, far: this.#far, limit: this.#limit };
    return new SinkWriter(await TieredSink.open(stores, claimOf(info)));
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
  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    const seen = new Set<string>();
    for await (const artifact of merged(this.#near.list(scope), this.#far.list(scope))) {
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
