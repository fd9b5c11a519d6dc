/**
 * The records of a store in a bucket, for copies.
 * @module
 */
import { sha256 } from "#hash";
import { SluiceError } from "../../errors/error.js";
import { readAhead } from "../read-ahead.js";
import { toClaim, Stamps } from "../reference.js";
import {
  isAnother,
  type Carried,
  type RecordName,
  type RecordStore,
  type StoredRecord,
  type UnreadableRecord,
} from "../record-store.js";
import { SinkWriter, writeWhole } from "../writer.js";
import { readSpan } from "./bare-store.js";
import { Bucket } from "./bucket.js";
import { guardBucket, S3Connection } from "./connection.js";
import { refKey, scopeFolder, SCOPES } from "./layout.js";
import { checkS3Options, optionsFrom, toStem, type S3StoreOptions } from "./options.js";
import {
  again,
  AGAIN,
  find,
  MAX_RECORD_BYTES,
  recordIn,
  refKeys,
  removeCarried,
  rewrite,
  type RefRecord,
} from "./refs.js";
import { Upload, type StoreDeps } from "./upload.js";
import { BucketVersion } from "./version.js";

/** The records of a store in a bucket. */
export class BucketRecords implements RecordStore {
  readonly #connection: S3Connection;
  readonly #bucket: Bucket;
  readonly #store: StoreDeps;
  readonly #version: BucketVersion;
  readonly #place: readonly [bucket: string, stem: string];

  /** Throws E_INVALID_ARGUMENT with the name of the wrong option. */
  constructor(options: S3StoreOptions) {
    checkS3Options(options);
    this.#connection = new S3Connection(options);
    this.#place = [options.bucket, toStem(options)];
    this.#bucket = new Bucket(this.#connection, ...this.#place);
    this.#version = new BucketVersion(this.#bucket);
    this.#store = { bucket: this.#bucket, stamps: new Stamps(), hashing: sha256 };
  }

  origin(): Promise<string> {
    const place = JSON.stringify(["bucket", this.#connection.endpoint ?? null, ...this.#place]);
    return sha256.whole(new TextEncoder().encode(place));
  }

  /** Whether anything is stored: the mark of a store may be left out where a policy forbids it. */
  async isThere(): Promise<boolean> {
    await this.#version.check("read");
    for await (const _ of this.#bucket.list(SCOPES)) return true;
    return false;
  }

  async prepare(): Promise<void> {
    await this.#version.check("write");
    // What killed processes left behind is removed by `gc`, since a bucket does not tell whether they live.
  }

  async *records(): AsyncGenerator<StoredRecord | UnreadableRecord, void, void> {
    const listed = readAhead(refKeys(this.#bucket, SCOPES), ({ key, id }) => this.#readListed(key, id));
    for await (const record of listed) if (record !== null) yield record;
  }

  find({ id, scope }: RecordName): Promise<StoredRecord | null> {
    return guardBucket("read", async () => {
      const found = await find(this.#bucket, id, scope);
      return found && toStoredRecord(found.record);
    });
  }

  read({ id, scope }: RecordName): Promise<ReadableStream<Uint8Array> | null> {
    const look = ({ bucket }: StoreDeps): ReturnType<typeof find> => find(bucket, id, scope);
    return guardBucket("read", () => readSpan(this.#store, id, scope, undefined, look));
  }

  add(record: Carried, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return guardBucket("write", async () => {
      const claim = toClaim(record.ref);
      const folder = await scopeFolder(claim.scope);
      const upload = new Upload(this.#store, claim, folder, await sha256.stream(), record);
      await writeWhole(new SinkWriter(upload), bytes);
    });
  }

  change(record: Carried): Promise<boolean> {
    const { ref, stored, used, origin } = record;
    return guardBucket("write", () =>
      again("write", async () => {
        const found = await find(this.#bucket, ref.id, ref.scope);
        if (found === null || found.record.origin !== origin || isAnother(toStoredRecord(found.record), record))
          return false;
        const next = { ...found.record, ref, stored, used };
        return (await rewrite(this.#bucket, found, next)) === null ? AGAIN : true;
      }),
    );
  }

  remove({ ref, origin }: Carried): Promise<boolean> {
    return guardBucket("write", () => removeCarried(this.#bucket, ref.id, ref.scope, origin));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }

  /** The record in an object. Null for one that is gone, or marked as gone. */
  async #readListed(key: string, id: string): Promise<StoredRecord | UnreadableRecord | null> {
    try {
      const object = await this.#bucket.read(key, MAX_RECORD_BYTES);
      if (object === null) return null;
      const record = recordIn(object.bytes, id);
      // A record of another scope was not put here by a store.
      if (refKey(await scopeFolder(record.ref.scope), id) !== key) return { id };
      return record.isGone === true ? null : toStoredRecord(record);
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_STORE_CORRUPT") throw error;
      return { id };
    }
  }
}

function toStoredRecord({ ref, created, stored, used, origin }: RefRecord): StoredRecord {
  return { ref, created, stored, used, origin: origin ?? null };
}

export { optionsFrom };
