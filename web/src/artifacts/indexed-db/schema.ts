/**
 * What is where in the database.
 *
 * ```
 * refs      [scope, id] → what is said of an artifact, and its times
 * blobs     sha256 → how long a content is, and where its chunks are
 * chunks    [content, index] → 1 MiB of bytes, the last chunk less
 * contents  content → one of several chunks, being written, being read, or named by a blob
 * clock     the last stamp that was given, over all tabs
 * ```
 *
 * A content is a random name for chunks that belong together, so that a stream is written before anyone knows its hash and
 * published without moving a byte.
 * @module
 */
import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from "idb";
import type { ArtifactRef } from "../store.js";

/** Bytes in one chunk. */
export const CHUNK = 1024 * 1024;

/** Changes when what is in the database does. */
export const VERSION = 1;

/** An artifact: a ref without what scope and source are made of, and its stamps. */
export interface RefRow extends Omit<ArtifactRef, "scope" | "source"> {
  /** The scope's key: all that is needed to say the scope again. */
  readonly scope: string;
  /** JSON: what a source may be, a structured clone may not. */
  readonly source: string;
  /** Stamps: when it was stored first, which orders lists; when last; when it was stored or read last. */
  readonly created: number;
  readonly stored: number;
  readonly used: number;
}

/** A content that refs name. Who they are is asked of the index, so no count can be wrong. */
export interface BlobRow {
  readonly sha256: string;
  readonly size: number;
  readonly content: string;
  /** Whether its bytes turned out to be others than those stored: whoever stores the same replaces them. */
  readonly damaged: boolean;
}

/** A content of more than one chunk. Only those take time to write and to read, so only those are held. */
export interface ContentRow {
  readonly content: string;
  /** Milliseconds since 1970: when a chunk was written last. */
  readonly touched: number;
}

/** The database. */
export interface Schema extends DBSchema {
  refs: {
    key: [scope: string, id: string];
    value: RefRow;
    indexes: {
      all: [created: number, scope: string, id: string];
      scope: [scope: string, created: number, id: string];
      sha256: string;
    };
  };
  blobs: { key: string; value: BlobRow; indexes: { content: string } };
  chunks: { key: [content: string, index: number]; value: Uint8Array };
  contents: { key: string; value: ContentRow };
  clock: { key: string; value: number };
}

/** A connection to it. */
export type Database = IDBPDatabase<Schema>;
/** One of its object stores. */
export type StoreName = StoreNames<Schema>;
/** A transaction that reads. */
export type Reading = IDBPTransaction<Schema, StoreName[]>;
/** A transaction that changes something. */
export type Writing = IDBPTransaction<Schema, StoreName[], "readwrite">;

const STORES: readonly StoreName[] = ["refs", "blobs", "chunks", "contents", "clock"];

/** Makes the object stores of a new database. */
export function createStores(database: Database): void {
  const refs = database.createObjectStore("refs", { keyPath: ["scope", "id"] });
  refs.createIndex("all", ["created", "scope", "id"]);
  refs.createIndex("scope", ["scope", "created", "id"]);
  refs.createIndex("sha256", "sha256");
  database.createObjectStore("blobs", { keyPath: "sha256" }).createIndex("content", "content");
  database.createObjectStore("chunks");
  database.createObjectStore("contents", { keyPath: "content" });
  database.createObjectStore("clock");
}

/** Whether a database is one of ours: another one may have the same name. */
export function isOurs(database: Database): boolean {
  return STORES.every((name) => database.objectStoreNames.contains(name));
}

/** The keys of all chunks of a content. */
export function chunksOf(content: string): IDBKeyRange {
  return IDBKeyRange.bound([content, 0], [content, Infinity]);
}
