/**
 * A store in IndexedDB, for browsers.
 * @module
 */
import { sha256 } from "#hash";
import { checkOptionNames, wrong, checkObject } from "../../errors/arguments.js";
import { toSpan, checkBytes, encodeText } from "../bytes.js";
import type { Hashing } from "../hash.js";
import type { LockSource } from "./local-locks.js";
import { toClaim, infoOfText, checkFilter, isWanted, Stamps } from "../reference.js";
import { NO_LIMITS } from "../retention/policy.js";
import type { RetentionConfig } from "../../config/types.js";
import { RetainingArtifactStore } from "../retention/retaining-store.js";
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
import { SinkWriter, writeWhole, type Unwritten } from "../writer.js";
import { Contents, Locks, readSpan, readWhole, type StoreDeps } from "./contents.js";
import { Connection } from "./database.js";
import { evictRef, listRefs, refsNamed, removeRef, statRef, updateRef, type Removed } from "./refs.js";
import { Upload } from "./upload.js";

/** Options of an {@link IndexedDbArtifactStore}. */
export interface IndexedDbStoreOptions {
  /** The name of the database. Stores with the same name share everything. Defaults to `sluice`. */
  readonly name?: string;
  /** The limits. Defaults to an hour, 50 MiB for an artifact and 500 MiB for a session. Null for no limits. */
  readonly retention?: RetentionConfig | null;
  /** The hash that names contents. Defaults to SHA-256. All users of a database must use the same. */
  readonly hashing?: Hashing;
  /** The clock that dates artifacts and decides when they expire. */
  readonly clock?: Clock;
}

/**
 * Stores artifacts in IndexedDB within limits, one copy of each content. Works on pages, in workers and in service workers. Any number
 * of tabs may share it, and any of them may be closed at any time. Bytes go in and out in chunks of 1 MiB, so memory is constant.
 *
 * You need not open or close it: the first call opens the database, and opens it again if it was closed for another tab.
 *
 * Every method throws SluiceError: E_STORE_FULL if the browser gives the site no more space, and nothing of the artifact is kept then;
 * E_STORE_DENIED if the site may store nothing; E_STORE_CORRUPT; E_STORE_CLOSED after `close`; else E_STORE_READ or E_STORE_WRITE;
 * E_INVALID_ARGUMENT for wrong arguments.
 *
 * A reader outlives its artifact, even if another tab deletes it. Without Web Locks, as on pages that are not a secure context, this
 * holds within one page or worker; if another tab deletes the artifact, the reader fails with E_STORE_READ.
 *
 * @example
 * const store = new IndexedDbArtifactStore({ name: "my-files", retention: null });
 * const ref = await store.putText("hello", { filename: "hello.txt" });
 */
export class IndexedDbArtifactStore extends RetainingArtifactStore implements AsyncDisposable {
  readonly #bare: BareIndexedDbStore;
  readonly #hasLimits: boolean;

  /** Throws E_CONFIG_KEY and E_CONFIG_VALUE with the path of the key, E_INVALID_ARGUMENT if the name is not valid. */
  constructor(options: IndexedDbStoreOptions = {}) {
    checkOptionNames(options, "an IndexedDbArtifactStore", ["clock", "hashing", "name", "retention"]);
    const { name = "sluice", retention, clock } = options;
    if (typeof name !== "string" || name === "") throw wrong("name", "a string that is not empty");
    const bare = new BareIndexedDbStore({ ...options, name });
    super(bare, retention === null ? NO_LIMITS : retention, clock && { clock });
    this.#bare = bare;
    this.#hasLimits = retention !== null;
  }

  /**
   * Opens the database, deletes what tabs that were closed left behind, and removes what has expired or exceeds the limits. Call it
   * when your application starts, and again at any time.
   */
  async open(): Promise<void> {
    await this.#bare.open();
    if (this.#hasLimits) await this.collect();
  }

  /** Closes the connection. Readers, writers and every later call throw E_STORE_CLOSED. Idempotent. */
  close(): Promise<void> {
    return this.#bare.close();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The lock for collectors. */
const COLLECTOR = "collector";

interface BareOptions {
  readonly name: string;
  readonly hashing?: Hashing;
  readonly clock?: Clock;
  /** Defaults to Web Locks if there are any. Null for none. */
  readonly locks?: LockSource | null;
}

/** The store without limits: keeps artifacts until they are deleted. */
export class BareIndexedDbStore implements ArtifactStore {
  readonly #connection: Connection;
  readonly #locks: Locks;
  readonly #store: StoreDeps;

  constructor(options: BareOptions) {
    this.#connection = new Connection(options.name);
    this.#locks = new Locks(options.name, options.locks);
    this.#store = {
      connection: this.#connection,
      contents: new Contents(this.#connection, this.#locks),
      stamps: new Stamps(options.clock),
      hashing: options.hashing ?? sha256,
      unwritten: { bytes: 0 },
    };
  }

  /** Opens the database now, and deletes what tabs that were closed left behind. */
  async open(): Promise<void> {
    await this.#connection.open();
    await this.#store.contents.sweep();
  }

  /** Closes the connection. Every later call throws E_STORE_CLOSED. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  async putBytes(data: Uint8Array, info?: ArtifactInfo): Promise<ArtifactRef> {
    checkBytes(data, "data");
    return writeWhole(await this.openWriter(info), [data]);
  }

  async putText(text: string, info?: ArtifactInfo): Promise<ArtifactRef> {
    return this.putBytes(encodeText(text), infoOfText(info));
  }

  async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const claim = toClaim(info);
    return new SinkWriter(new Upload(this.#store, claim, await this.#store.hashing.stream()));
  }

  async get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return readWhole(this.#store, id, scope);
  }

  async openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    const { scope, range } = checkObject(options, "options");
    toSpan(range, 0);
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

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    const { filename } = checkFilter(only);
    if (scope !== undefined && filename !== undefined) yield* await refsNamed(this.#connection, scope, filename);
    else for await (const ref of listRefs(this.#connection, scope)) if (isWanted(ref, only)) yield ref;
  }

  async delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#clear(await removeRef(this.#connection, id, scope));
  }

  async evict(seen: StoredArtifact): Promise<boolean> {
    return this.#clear(await evictRef(this.#connection, checkObject(seen, "seen")));
  }

  /** See `ArtifactStore.exclusively`. Over all tabs, or within this page or worker if there are no Web Locks. */
  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#locks.alone(COLLECTOR, work);
  }

  /** See `ArtifactStore.space`. The estimate that the browser gives the site. */
  space(): Promise<StoreSpace> {
    return siteSpace(this.#store.unwritten);
  }

  async #clear({ gone, loose }: Removed): Promise<boolean> {
    // If that fails, it is deleted when the store is opened the next time.
    if (loose !== null) await this.#store.contents.clear(loose).catch(() => undefined);
    return gone;
  }
}

/**
 * The estimate of the browser, less the bytes on their way to it. Zero if there is none. Browsers round, and some promise more than
 * they give, so E_STORE_FULL may come earlier.
 */
async function siteSpace(unwritten: Unwritten): Promise<StoreSpace> {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as
    | Partial<StorageManager>
    | undefined;
  if (!storage?.estimate) return { free_bytes: 0, total_bytes: 0 };
  // Read before the browser is asked: bytes that arrive meanwhile may count twice, but always count.
  const coming = unwritten.bytes;
  const { usage = 0, quota = 0 } = await storage.estimate();
  return { free_bytes: Math.max(0, quota - usage - coming), total_bytes: quota };
}
