/**
 * A store in the browser's database.
 * @module
 */
import { sha256 } from "#hash";
import { wrong, objectOf } from "../../errors/arguments.js";
import { spanOf, bytesOf, encoded } from "../bytes.js";
import type { Hashing } from "../hash.js";
import type { LockSource } from "./local-locks.js";
import { claimOf, infoOfText, filterOf, isWanted, Stamps } from "../reference.js";
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
import { SinkWriter, writtenWhole, type Unwritten } from "../writer.js";
import { Contents, Locks, readSpan, readWhole, type StoreDeps } from "./contents.js";
import { Connection } from "./database.js";
import { evictRef, listRefs, refsNamed, removeRef, statRef, updateRef, type Removed } from "./refs.js";
import { Upload } from "./upload.js";

/** Options of an {@link IndexedDbArtifactStore}. */
export interface IndexedDbStoreOptions {
  /** The name of the database: stores of one name share everything. `sluice` when left out. */
  readonly name?: string;
  /** Limits; the defaults are an hour, 50 MiB each, 500 MiB a session. Null: none. */
  readonly retention?: RetentionConfig | null;
  /** How contents are named; SHA-256 when left out. All users of a database must agree. */
  readonly hashing?: Hashing;
  /** What artifacts are dated by, and when they expire. */
  readonly clock?: Clock;
}

/**
 * Keeps artifacts in IndexedDB, one copy of each content, within limits: on pages, in workers and in service workers, for
 * any number of tabs at once, any of which may be closed at any time. Bytes go in and out in chunks of 1 MiB, so memory is
 * constant.
 *
 * Nothing needs to be opened or closed: the first call opens the database, and one that was closed for another tab is
 * opened again.
 *
 * Every method throws SluiceError: E_STORE_FULL when the browser gives the site no more room, and then nothing of the
 * artifact is there; E_STORE_DENIED when the site may store nothing; E_STORE_CORRUPT; E_STORE_CLOSED after `close`; else
 * E_STORE_READ or E_STORE_WRITE; E_INVALID_ARGUMENT for what no store can take.
 *
 * A reader outlives the artifact, also where another tab deletes it. Where the browser has no Web Locks, as on pages that
 * are no secure context, that holds within one page or worker; elsewhere such a reader fails with E_STORE_READ.
 *
 * @example
 * const store = new IndexedDbArtifactStore({ name: "my-files", retention: null });
 * const ref = await store.putText("hello", { filename: "hello.txt" });
 */
export class IndexedDbArtifactStore extends RetainingArtifactStore implements AsyncDisposable {
  readonly #bare: BareIndexedDbStore;
  readonly #hasLimits: boolean;

  /** Throws E_CONFIG_KEY and E_CONFIG_VALUE with the path of the key, E_INVALID_ARGUMENT when the name is none. */
  constructor({ name = "sluice", retention, ...options }: IndexedDbStoreOptions = {}) {
    if (typeof name !== "string" || name === "") throw wrong("name", "a string that is not empty");
    const bare = new BareIndexedDbStore({ name, ...options });
    super(bare, retention === null ? NO_LIMITS : retention, options);
    this.#bare = bare;
    this.#hasLimits = retention !== null;
  }

  /**
   * To be called when an application starts, and again at any time: opens the database, clears away what tabs left behind
   * that were closed while they wrote, and takes away what has expired or is too much by now.
   */
  async open(): Promise<void> {
    await this.#bare.open();
    if (this.#hasLimits) await this.collect();
  }

  /** Closes the connection: readers, writers and whatever is asked from now on throw E_STORE_CLOSED. Idempotent. */
  close(): Promise<void> {
    return this.#bare.close();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The lock that retention holds. */
const COLLECTOR = "collector";

interface BareOptions {
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

  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    const { filename } = filterOf(only);
    if (scope !== undefined && filename !== undefined) yield* await refsNamed(this.#connection, scope, filename);
    else for await (const ref of listRefs(this.#connection, scope)) if (isWanted(ref, only)) yield ref;
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

/**
 * What the browser says, less what is on its way to it; nothing where it does not say. Browsers round, and some say more
 * than they will give: what counts in the end is E_STORE_FULL.
 */
async function siteSpace(unwritten: Unwritten): Promise<StoreSpace> {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as
    | Partial<StorageManager>
    | undefined;
  if (!storage?.estimate) return { free_bytes: 0, total_bytes: 0 };
  // Before the browser is asked: what arrives there meanwhile may count twice, never not at all.
  const coming = unwritten.bytes;
  const { usage = 0, quota = 0 } = await storage.estimate();
  return { free_bytes: Math.max(0, quota - usage - coming), total_bytes: quota };
}
