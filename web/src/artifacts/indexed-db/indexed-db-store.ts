/**
 * A store in the browser's database.
 * @module
 */
import { wrong } from "../../core/call.js";
import type { Hashing } from "../hash.js";
import { NO_LIMITS, type RetentionConfig } from "../retention/policy.js";
import { RetainingArtifactStore } from "../retention/retaining-store.js";
import type { Clock } from "../store.js";
import { BareIndexedDbStore } from "./bare-store.js";

/** Options of an {@link IndexedDbArtifactStore}. */
export interface IndexedDbStoreOptions {
  /** The name of the database: stores of one name share everything. `sluice` when left out. */
  readonly name?: string;
  /** Limits; the defaults of RFC 0.3 §7.1 when left out: an hour, 50 MiB each, 500 MiB a session. Null: none. */
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
