/**
 * Retention over any store (RFC 0.3 §7.1).
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { guarded } from "../../errors/storage.js";
import { asStore } from "../discover.js";
import { bytesOf, encoded, objectOf } from "../given.js";
import { claimOf, infoOfText } from "../record.js";
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
  StoreSpace,
} from "../store.js";
import { SinkWriter, writtenWhole } from "../writer.js";
import { UNKNOWN_SPACE } from "./free-disk.js";
import { Keeper, type Collected } from "./keeper.js";
import { MeasuringSink } from "./measuring-sink.js";
import { readRetention, type RetentionConfig } from "./policy.js";

/** Options of a {@link RetainingArtifactStore}. */
export interface RetainingOptions {
  /**
   * What time it is: the same clock that dates the artifacts of the store underneath. Left out: that of a store which
   * has limits already, else `Date.now`.
   */
  readonly clock?: Clock;
}

/**
 * Keeps a store within limits: every put and every stream is held to them, what is too old expires, and where there is
 * no room, what was used longest ago makes some. Over a store that has limits already, the new ones take their place.
 *
 * Reading what retention took away throws E_EXPIRED; storing what is too large E_TOO_LARGE, and where there is no room
 * E_STORE_FULL, each with the key of the limit as its path. Neither leaves anything behind.
 *
 * Limits hold exactly for what goes through one object. Of other processes that share the store it takes notice once a
 * minute, and in `collect`.
 *
 * @example
 * const store = new RetainingArtifactStore(new FileArtifactStore("./artifacts"), { ttl_seconds: 86_400 });
 */
export class RetainingArtifactStore implements ArtifactStore {
  readonly #inner: ArtifactStore;
  readonly #clock: Clock;
  readonly #keeper: Keeper;

  /** Throws E_CONFIG_KEY and E_CONFIG_VALUE with the path of the key, E_INVALID_ARGUMENT when the store is none. */
  constructor(store: ArtifactStore, retention: RetentionConfig = {}, options: RetainingOptions = {}) {
    // By its own mark: a proxy of a store with limits is an instance of it too, and has nothing inside.
    const given = asStore(store);
    const limited = #inner in given ? given : null;
    this.#inner = limited === null ? given : limited.#inner;
    this.#clock = options.clock ?? (limited === null ? Date.now : limited.#clock);
    this.#keeper = new Keeper(this.#inner, readRetention(retention), this.#clock);
    if (this.#inner.exclusively) this.exclusively = (work) => this.#keeper.exclusively(work);
    if (this.#inner.space) this.space = async () => (await this.#inner.space?.()) ?? UNKNOWN_SPACE;
  }

  exclusively?: <T>(work: () => Promise<T>) => Promise<T | null>;

  space?: () => Promise<StoreSpace>;

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    bytesOf(data, "data");
    return writtenWhole(await this.openWriter(info), [data]);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encoded(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = claimOf(info);
    await this.#keeper.lookAtDisk();
    return new SinkWriter(
      new MeasuringSink(await guarded("write", () => this.#inner.openWriter(info)), claim, this.#keeper),
    );
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#reading(id, scope, () => this.#inner.get(id, scope));
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return this.#reading(id, objectOf(options, "options").scope, () => this.#inner.openReader(id, options));
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#present(id, scope, () => this.#inner.stat(id, scope));
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    const seen = await this.#inner.stat(id, scope);
    return seen !== null && !(await this.#keeper.expires(seen));
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#present(id, scope, () => this.#inner.update(id, patch, scope));
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const deleted = (await this.exists(id, scope)) && (await this.#inner.delete(id, scope));
    if (deleted) this.#keeper.forget(id, scope);
    return deleted;
  }

  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    for await (const seen of this.#inner.list(scope)) if (!(await this.#keeper.expires(seen))) yield seen;
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#keeper.evict(objectOf(seen, "seen"));
  }

  /** Looks at the whole store and takes away what has expired or is too much. Null when another process is at it. */
  collect(): Promise<Collected | null> {
    return this.#keeper.collect();
  }

  async #reading<T>(id: string, scope: ArtifactScope | undefined, read: () => Promise<T | null>): Promise<T | null> {
    const found = await this.#present(id, scope, read);
    if (found !== null) this.#keeper.noteUsed(id, scope);
    return found;
  }

  /** Does what it is asked unless retention took the artifact away, or has to now. */
  async #present<T>(id: string, scope: ArtifactScope | undefined, work: () => Promise<T | null>): Promise<T | null> {
    const seen = this.#keeper.expiring ? await this.#inner.stat(id, scope) : undefined;
    if (seen && (await this.#keeper.expires(seen))) throw expired(id);
    const found = seen === null ? null : await work();
    if (found === null && this.#keeper.hasDeparted(id, scope)) throw expired(id);
    return found;
  }
}

function expired(id: string): SluiceError {
  return new SluiceError(
    "E_EXPIRED",
    `The artifact ${id} is no longer kept: it expired, or made room for newer ones. Do not retry; call the tool again.`,
  );
}
