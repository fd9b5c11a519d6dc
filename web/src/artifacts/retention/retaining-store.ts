/**
 * Retention over any store.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { asStore } from "../host-store.js";
import { bytesOf, encoded, objectOf } from "../bytes.js";
import { claimOf, infoOfText, type Claim } from "../reference.js";
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
  StoreSpace,
} from "../store.js";
import { SinkWriter, writerOf, writtenWhole, type ByteSink } from "../writer.js";
import { RetentionManager, UNKNOWN_SPACE, type Collected, tooLarge } from "./manager.js";
import { type Bound, readRetention } from "./policy.js";
import type { RetentionConfig } from "../../config/types.js";

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
  readonly #manager: RetentionManager;

  /** Throws E_CONFIG_KEY and E_CONFIG_VALUE with the path of the key, E_INVALID_ARGUMENT when the store is none. */
  constructor(store: ArtifactStore, retention: RetentionConfig = {}, options: RetainingOptions = {}) {
    // By its own mark: a proxy of a store with limits is an instance of it too, and has nothing inside.
    const given = asStore(store);
    const limited = #inner in given ? given : null;
    this.#inner = limited === null ? given : limited.#inner;
    this.#clock = options.clock ?? (limited === null ? Date.now : limited.#clock);
    this.#manager = new RetentionManager(this.#inner, readRetention(retention), this.#clock);
    if (this.#inner.exclusively) this.exclusively = (work) => this.#manager.exclusively(work);
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
    await this.#manager.lookAtDisk();
    return new SinkWriter(new MeasuringSink(await writerOf(this.#inner, info), claim, this.#manager));
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
    return seen !== null && !(await this.#manager.expires(seen));
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#present(id, scope, () => this.#inner.update(id, patch, scope));
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    const deleted = (await this.exists(id, scope)) && (await this.#inner.delete(id, scope));
    if (deleted) this.#manager.forget(id, scope);
    return deleted;
  }

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    for await (const seen of this.#inner.list(scope, only)) if (!(await this.#manager.expires(seen))) yield seen;
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#manager.evict(objectOf(seen, "seen"));
  }

  /** Looks at the whole store and takes away what has expired or is too much. Null when another process is at it. */
  collect(): Promise<Collected | null> {
    return this.#manager.collect();
  }

  async #reading<T>(id: string, scope: ArtifactScope | undefined, read: () => Promise<T | null>): Promise<T | null> {
    const found = await this.#present(id, scope, read);
    if (found !== null) this.#manager.noteUsed(id, scope);
    return found;
  }

  /** Does what it is asked unless retention took the artifact away, or has to now. */
  async #present<T>(id: string, scope: ArtifactScope | undefined, work: () => Promise<T | null>): Promise<T | null> {
    const seen = this.#manager.expiring ? await this.#inner.stat(id, scope) : undefined;
    if (seen && (await this.#manager.expires(seen))) throw expired(id);
    const found = seen === null ? null : await work();
    if (found === null && this.#manager.hasDeparted(id, scope)) throw expired(id);
    return found;
  }
}

function expired(id: string): SluiceError {
  return new SluiceError(
    "E_EXPIRED",
    `The artifact ${id} is no longer kept: it expired, or made room for newer ones. Do not retry; call the tool again.`,
  );
}

/** Counts what goes to the writer underneath; the first byte that passes a limit ends it. */
class MeasuringSink implements ByteSink {
  readonly #writer: ArtifactWriter;
  readonly #claim: Claim;
  readonly #manager: RetentionManager;
  readonly #bound: Bound | null;
  #size = 0;
  /** Bytes that the writer has, if it has to throw them away. */
  #written = 0;

  constructor(writer: ArtifactWriter, claim: Claim, manager: RetentionManager) {
    this.#writer = writer;
    this.#claim = claim;
    this.#manager = manager;
    this.#bound = manager.boundOf(claim);
  }

  write(chunk: Uint8Array): Promise<void> {
    const bytes = chunk.byteLength;
    this.#size += bytes;
    if (this.#bound !== null && this.#size > this.#bound.most) throw tooLarge(this.#bound);
    const write = (): Promise<void> => {
      this.#written += bytes;
      return this.#writer.write(chunk);
    };
    return this.#manager.write({ bytes, write, discard: () => this.discard() });
  }

  commit(patch: ArtifactPatch): Promise<ArtifactRef> {
    return this.#manager.admit({ ...this.#claim, size_bytes: this.#size }, () => this.#writer.close(patch));
  }

  discard(): Promise<void> {
    const written = this.#written;
    this.#written = 0;
    return this.#manager.discard(written, () => this.#writer.abort());
  }
}

/**
 * Holds a store to the `retention` of a configuration. Gives the rest of the configuration, and the store as it is without one.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key.
 */
export function withRetention<Config extends { readonly retention?: RetentionConfig }>(
  store: ArtifactStore,
  config: Config | undefined,
): { readonly store: ArtifactStore; readonly config: Omit<Config, "retention"> | undefined } {
  // The core refuses what is no object.
  if (typeof config !== "object" || (config as unknown) === null) return { store, config };
  const { retention, ...rest } = config;
  if (retention === undefined) return { store, config };
  return { store: new RetainingArtifactStore(store, retention), config: rest };
}
