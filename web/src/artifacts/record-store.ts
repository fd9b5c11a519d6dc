/**
 * What a copy needs of a store: its records with their times, read and written as they are.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ArtifactRef, ArtifactScope } from "./store.js";

/** The record of an artifact with its times, in microseconds since 1970. */
export interface StoredRecord {
  readonly ref: ArtifactRef;
  /** When it was first stored, which orders lists. */
  readonly created: number;
  /** When it was last stored. */
  readonly stored: number;
  /** When it was last stored or read. */
  readonly used: number;
  /** The store from which a copy brought it. Null for what was stored here, and for what was changed here since. */
  readonly origin: string | null;
}

/** The same with the store from which a copy brings it. */
export interface Carried extends StoredRecord {
  readonly origin: string;
}

/** An artifact by its owner and id. */
export interface RecordName {
  readonly id: string;
  readonly scope: ArtifactScope;
}

/** A record that cannot be read. Its id is null if its place does not tell it. */
export interface UnreadableRecord {
  readonly id: string | null;
}

/**
 * A store as a copy sees it. Nothing here counts as storing or reading: times are written as they are given. Others may use the store
 * meanwhile.
 *
 * Every method throws SluiceError E_STORE_….
 */
export interface RecordStore extends AsyncDisposable {
  /** Identifies the store in what is copied from it: 64 hex digits, which tell nothing of its place. */
  origin(): Promise<string>;
  /** Whether there is a store. */
  isThere(): Promise<boolean>;
  /** Makes it a store, and removes what killed processes left behind. */
  prepare(): Promise<void>;
  /** All records in no order, read while they are asked for. */
  records(): AsyncIterable<StoredRecord | UnreadableRecord>;
  /** One record. Null if there is none. Throws E_STORE_CORRUPT if it cannot be read. */
  find(name: RecordName): Promise<StoredRecord | null>;
  /** A stream of an artifact's bytes, which fails with E_STORE_CORRUPT unless they are what was stored. Null if there is none. */
  read(name: RecordName): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Adds an artifact under its id. It is seen whole or not at all.
   *
   * @throws IdTaken if something has the id; SluiceError E_STORE_CORRUPT if the bytes are not those of the record.
   */
  add(record: Carried, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Changes the record and the times of what the same store brought. False if it is gone, was changed here, or is another content. */
  change(record: Carried): Promise<boolean>;
  /** Removes what the same store brought. False if it is gone or was changed here. */
  remove(record: Carried): Promise<boolean>;
}

/** Thrown if something has the id of a record that is added. */
export class IdTaken extends SluiceError {
  constructor() {
    super("E_STORE_WRITE", "Another artifact has this id in the store: delete it there, then copy again.");
    this.name = "IdTaken";
  }
}

/** Whether a record is that of another time or content, so that it has to be replaced as a whole. */
export function isAnother(there: StoredRecord, { ref, created }: StoredRecord): boolean {
  return there.created !== created || there.ref.sha256 !== ref.sha256 || there.ref.size_bytes !== ref.size_bytes;
}
