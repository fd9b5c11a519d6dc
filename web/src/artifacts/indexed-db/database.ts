/**
 * The database: its layout, and the connection, which is opened on first use and again after it was lost.
 *
 * ```
 * refs      [scope, id] → the record of an artifact, and its times
 * blobs     sha256 → the size of a content, and where its chunks are
 * chunks    [content, index] → 1 MiB of bytes, the last chunk less
 * contents  content → a content of several chunks that is written, read, or named by a blob
 * clock     the last stamp that any tab gave
 * ```
 *
 * A content is a random name for chunks that belong together. So a stream is written before its hash is known, and published
 * without moving a byte.
 * @module
 */
import { openDB, unwrap, type DBSchema, type IDBPDatabase, type IDBPTransaction, type StoreNames } from "idb";
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import { newerSentence } from "../../errors/layout.js";
import type { StorageAct } from "../../errors/storage.js";
import type { Stamps } from "../reference.js";
import type { ArtifactRef } from "../store.js";
import { toDamagedError } from "../hash.js";

/** Bytes in one chunk. */
export const CHUNK = 1024 * 1024;

/** The version of the layout. */
const VERSION = 2;

/** An artifact: its ref, with scope and source as text, and its stamps. */
export interface RefRow extends Omit<ArtifactRef, "scope" | "source"> {
  /** The key of the scope, from which the scope can be restored. */
  readonly scope: string;
  /** The source as JSON. */
  readonly source: string;
  /** Stamps: when it was first stored, which orders lists; when it was last stored; when it was last stored or read. */
  readonly created: number;
  readonly stored: number;
  readonly used: number;
}

/** A content that refs name. The index tells which refs, so there is no count that could be wrong. */
export interface BlobRow {
  readonly sha256: string;
  readonly size: number;
  readonly content: string;
  /** Whether its bytes are damaged: the next put of the same content replaces them. */
  readonly damaged: boolean;
}

/** A content of several chunks. Others are written and read in one transaction, so only these are leased. */
interface ContentRow {
  readonly content: string;
  /** When a chunk was last written, in milliseconds since 1970. */
  readonly touched: number;
}

/** The database. */
interface Schema extends DBSchema {
  refs: {
    key: [scope: string, id: string];
    value: RefRow;
    indexes: {
      all: [created: number, scope: string, id: string];
      scope: [scope: string, created: number, id: string];
      /** The refs with a file name. */
      name: [scope: string, filename: string];
      sha256: string;
    };
  };
  blobs: { key: string; value: BlobRow; indexes: { content: string } };
  chunks: { key: [content: string, index: number]; value: Uint8Array };
  contents: { key: string; value: ContentRow };
  clock: { key: string; value: number };
}

/** An open connection. */
type Database = IDBPDatabase<Schema>;
/** The name of an object store. */
type StoreName = StoreNames<Schema>;
/** A transaction that reads. */
export type Reading = IDBPTransaction<Schema, StoreName[]>;
/** A transaction that writes. */
export type Writing = IDBPTransaction<Schema, StoreName[], "readwrite">;

/** The transaction that changes the layout. */
type Upgrading = IDBPTransaction<Schema, StoreName[], "versionchange">;

const STORES: readonly StoreName[] = ["refs", "blobs", "chunks", "contents", "clock"];

function createStores(database: Database, before: number, transaction: Upgrading): void {
  if (before < 1) createFirst(database);
  transaction.objectStore("refs").createIndex("name", ["scope", "filename"]);
}

function createFirst(database: Database): void {
  const refs = database.createObjectStore("refs", { keyPath: ["scope", "id"] });
  refs.createIndex("all", ["created", "scope", "id"]);
  refs.createIndex("scope", ["scope", "created", "id"]);
  refs.createIndex("sha256", "sha256");
  database.createObjectStore("blobs", { keyPath: "sha256" }).createIndex("content", "content");
  database.createObjectStore("chunks");
  database.createObjectStore("contents", { keyPath: "content" });
  database.createObjectStore("clock");
}

/** Whether a database is a store: another application may use the same name. */
function isOurs(database: Database): boolean {
  return STORES.every((name) => database.objectStoreNames.contains(name));
}

/** The keys of all chunks of a content. */
export function getChunkRange(content: string): IDBKeyRange {
  return IDBKeyRange.bound([content, 0], [content, Infinity]);
}

/** How often a transaction is begun on a new connection, if other tabs close each one. */
const ATTEMPTS = 4;

/** Runs transactions, which succeed or fail as a whole. */
export class Connection {
  readonly #name: string;
  #opening: Promise<Database> | undefined;
  #closed = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Whether it was closed for good. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Opens the connection now. Throws as {@link Connection.read}. */
  async open(): Promise<void> {
    await guardBrowser("read", () => this.#database());
  }

  /**
   * Runs work in a transaction that only reads.
   *
   * @throws SluiceError as {@link browserError} says, E_STORE_CLOSED after `close`; what the work throws.
   */
  read<T>(stores: readonly StoreName[], work: (transaction: Reading) => Promise<T>): Promise<T> {
    return guardBrowser("read", async () => settleTransaction(await this.#begin(stores, "readonly"), work));
  }

  /** Runs work in a transaction of its own. What the work throws undoes it. Throws as {@link Connection.read}. */
  write<T>(stores: readonly StoreName[], work: (transaction: Writing) => Promise<T>): Promise<T> {
    return guardBrowser("write", async () => settleTransaction(await this.#begin(stores, "readwrite"), work));
  }

  /** Closes it for good, after the transactions under way. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    const database = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    database?.close();
  }

  async #begin<Mode extends "readonly" | "readwrite">(
    stores: readonly StoreName[],
    mode: Mode,
  ): Promise<Mode extends "readonly" ? Reading : Writing> {
    for (let attempt = 1; ; attempt++) {
      const database = await this.#database();
      try {
        return database.transaction([...stores], mode) as unknown as Mode extends "readonly" ? Reading : Writing;
      } catch (error) {
        // It was closed for another tab after it was opened.
        if (readErrorName(error) !== "InvalidStateError" || attempt === ATTEMPTS) throw error;
        this.#opening = undefined;
      }
    }
  }

  async #database(): Promise<Database> {
    if (this.#closed) throw toClosedError();
    const opening = (this.#opening ??= this.#open());
    const database = await opening;
    if (this.#closed as boolean) throw toClosedError();
    return database;
  }

  #open(): Promise<Database> {
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    const opening: Promise<Database> = openDatabase(this.#name, forget);
    opening.catch(forget);
    return opening;
  }
}

async function guardBrowser<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw browserError(error, act);
  }
}

/** The result of a transaction, once it is committed. */
async function settleTransaction<T, Transaction extends Reading | Writing>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const done = transaction.done.then(
    () => undefined,
    (error: unknown) => error,
  );
  try {
    const result = await work(transaction);
    const failure = await done;
    if (failure !== undefined) throw failure as Error;
    return result;
  } catch (error) {
    abortTransaction(transaction);
    const failure = await done;
    if (error instanceof SluiceError) throw error;
    // An aborted request has no reason of its own; another one has.
    const told = [unwrap(transaction).error, error, failure];
    throw told.find((each) => each != null && readErrorName(each) !== "AbortError") ?? error;
  }
}

function abortTransaction(transaction: Reading | Writing): void {
  try {
    transaction.abort();
  } catch {
    // It has ended.
  }
}

/** Milliseconds after which opening is given up. */
const PATIENCE = 30_000;
/** The same once another tab blocks it. Tabs of this library close at once. */
const PATIENCE_BLOCKED = 5_000;

/**
 * Opens the database. Creates it if there is none.
 *
 * @param onLost called when the connection is lost: it was closed since another tab wants to change or delete the database, or the
 * browser ended it
 * @throws SluiceError E_STORE_DENIED, E_STORE_CORRUPT if another application uses the name, E_STORE_READ if it does not open in time;
 * else what the browser threw.
 */
function openDatabase(name: string, onLost: () => void): Promise<Database> {
  if ((globalThis.indexedDB as IDBFactory | undefined) == null) return Promise.reject(noStorage());
  return new Promise((resolve, reject) => {
    let given = false;
    const giveUp = (): void => {
      given = true;
      reject(stuck());
    };
    let timer = setTimeout(giveUp, PATIENCE);
    const opening = openDB<Schema>(name, VERSION, {
      upgrade: (opened, before, _wanted, transaction) => createStores(opened, before, transaction),
      blocked: () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, PATIENCE_BLOCKED);
      },
      blocking: (_current, _wanted, event) => {
        (event.target as IDBDatabase).close();
        onLost();
      },
      terminated: onLost,
    });
    const settle = (database: Database): void => {
      clearTimeout(timer);
      if (!given && isOurs(database)) return resolve(database);
      database.close();
      reject(toOccupiedError());
    };
    opening.then(settle, (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function stuck(): SluiceError {
  return new SluiceError(
    "E_STORE_READ",
    "The store did not open in time because another tab is using it: close the other tabs of this site, then try again.",
  );
}

function toOccupiedError(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "The database with this name is not a Sluice store: use another name.");
}

const LAST = "last";

/** Microseconds that another tab's stamp may be ahead. If it is further ahead, its clock is wrong and is not followed. */
const AHEAD = 1_000_000;

/**
 * A stamp that is unique over all tabs, which read the same clock in whole milliseconds. Call it in a transaction over `clock`.
 */
export async function nextStamp(transaction: Writing, stamps: Stamps): Promise<number> {
  const clock = transaction.objectStore("clock");
  const last = await clock.get(LAST);
  const own = stamps.next();
  const stamp = last !== undefined && last >= own && last - own < AHEAD ? last + 1 : own;
  stamps.after(stamp);
  await clock.put(stamp, LAST);
  return stamp;
}

const FULL =
  "The browser has no storage left for this site: delete artifacts, or allow the site more storage, then try again.";
const DENIED =
  "The browser blocks storage for this site: allow site data, leave private browsing, or use another store.";
const NEWER = newerSentence("another store", "reload the page");

const KNOWN: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  QuotaExceededError: ["E_STORE_FULL", FULL],
  SecurityError: ["E_STORE_DENIED", DENIED],
  NotAllowedError: ["E_STORE_DENIED", DENIED],
  VersionError: ["E_STORE_READ", NEWER],
};

/** Names of errors that say that stored bytes are gone. */
const LOST: ReadonlySet<string> = new Set(["NotReadableError", "DataError", "NotFoundError"]);

const OTHER = {
  read: ["E_STORE_READ", "The browser could not read its storage: try again, or reload the page."],
  write: ["E_STORE_WRITE", "The browser could not write to its storage: try again, or reload the page."],
} as const;

/**
 * Wraps a failure of IndexedDB. Returns a SluiceError as it is.
 *
 * @returns E_STORE_FULL (quota), E_STORE_DENIED (no storage for this site), E_STORE_CORRUPT (bytes that the browser
 * lost), else E_STORE_READ or E_STORE_WRITE.
 */
export function browserError(error: unknown, act: StorageAct): SluiceError {
  if (error instanceof SluiceError) return error;
  const name = readErrorName(error);
  if (act === "read" && LOST.has(name)) return Object.assign(toDamagedError(), { cause: error });
  const [code, message] = (Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined) ?? OTHER[act];
  return new SluiceError(code, message, {}, { cause: error });
}

function noStorage(): SluiceError {
  return new SluiceError("E_STORE_DENIED", DENIED);
}

function toClosedError(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The store was closed: open another one.");
}

/** The error for bytes that were deleted while they were written or read. */
export function toTakenAwayError(act: StorageAct): SluiceError {
  return act === "write"
    ? new SluiceError("E_STORE_WRITE", "The store was emptied while the artifact was being written: store it again.")
    : new SluiceError("E_STORE_READ", "The artifact was deleted while it was being read.");
}

/** The error for a change that other tabs undo each time. */
export function toContendedError(act: StorageAct): SluiceError {
  const sentence = "The artifact is being stored and deleted at the same time: try again.";
  return new SluiceError(act === "write" ? "E_STORE_WRITE" : "E_STORE_READ", sentence);
}

/** The `name` of an error, such as `QuotaExceededError`. */
function readErrorName(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : "";
}
