/**
 * What a store in IndexedDB keeps, without limits.
 * @module
 */
import { sha256 } from "#hash";
import { bytesOf, encoded, objectOf, spanOf } from "../bytes.js";
import type { Hashing } from "../hash.js";
import { claimOf, infoOfText } from "../record.js";
import { Stamps } from "../stamps.js";
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
import { Connection } from "./connection.js";
import { Contents } from "./contents.js";
import { Locks } from "./locks.js";
import type { LockSource } from "../local-locks.js";
import { readSpan, readWhole, type Readable } from "./reading.js";
import { listRefs, statRef, updateRef } from "./refs.js";
import { evictRef, removeRef, type Removed } from "./remove.js";
import { siteSpace, Unwritten } from "./space.js";
import { Upload, type Uploading } from "./upload.js";

/** The lock that retention holds. */
const COLLECTOR = "collector";

/** Options of a {@link BareIndexedDbStore}. */
export interface BareOptions {
  readonly name: string;
  readonly hashing?: Hashing;
  readonly clock?: Clock;
  /** Web Locks where there are any, when left out; null for none. */
  readonly locks?: LockSource | null;
}

/** Keeps everything in one database until it is deleted, one copy of each content, for any number of tabs. */
export class BareIndexedDbStore implements ArtifactStore {
  readonly #connection: Connection;
  readonly #locks: Locks;
  readonly #store: Readable & Uploading;

  constructor(options: BareOptions) {
    this.#connection = new Connection(options.name);
    this.#locks = new Locks(options.name, options.locks);
    this.#store = {
      connection: this.#connection,
      contents: new Contents(this.#connection, this.#locks),
      stamps: new Stamps(options.clock),
      hashing: options.hashing ?? sha256,
      unwritten: new Unwritten(),
    };
  }

  /** Opens the database now, and clears away what tabs left behind that were closed. */
  async open(): Promise<void> {
    await this.#connection.open();
    await this.#store.contents.sweep();
  }

  /** Closes the connection: whatever is asked from now on throws E_STORE_CLOSED. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    bytesOf(data, "data");
    return writtenWhole(await this.openWriter(info), [data]);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encoded(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = claimOf(info);
    return new SinkWriter(new Upload(this.#store, claim, await this.#store.hashing.stream()));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return readWhole(this.#store, id, scope);
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    const { scope, range } = objectOf(options, "options");
    spanOf(range, 0);
    return readSpan(this.#store, id, scope, range);
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return (await this.stat(id, scope)) !== null;
  }

  async stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return statRef(this.#connection, id, scope);
  }

  async update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return updateRef(this.#connection, id, patch, scope);
  }

  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    yield* listRefs(this.#connection, scope);
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#cleared(await removeRef(this.#connection, id, scope));
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#cleared(await evictRef(this.#connection, objectOf(seen, "seen")));
  }

  /** As ArtifactStore says, over all tabs; over this page or worker alone where the browser has no Web Locks. */
  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#locks.alone(COLLECTOR, work);
  }

  /** As ArtifactStore says, by what the browser tells the site. */
  space(): Promise<StoreSpace> {
    return siteSpace(this.#store.unwritten);
  }

  async #cleared({ gone, loose }: Removed): Promise<boolean> {
    // What cannot be cleared away now is when the store is opened the next time.
    if (loose !== null) await this.#store.contents.clear(loose).catch(() => undefined);
    return gone;
  }
}
