/**
 * What a store in a bucket keeps.
 * @module
 */
import { sha256 } from "#hash";
import { bytesOf, encoded, objectOf, spanOf } from "../bytes.js";
import type { Hashing } from "../hash.js";
import { claimOf, infoOfText } from "../record.js";
import { fullScope } from "../scope.js";
import { Stamps } from "../stamps.js";
import type {
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
} from "../store.js";
import { SinkWriter, writtenWhole } from "../writer.js";
import { Bucket } from "./bucket.js";
import { S3Connection } from "./connection.js";
import { scopeFolder, type ScopeLevel } from "./layout.js";
import { listRefs, statRef } from "./listing.js";
import { exclusively } from "./lock.js";
import { checkS3Options, stemOf, type S3StoreOptions } from "./options.js";
import { readSpan, readWhole, type Readable } from "./reading.js";
import { find, updateRef } from "./refs.js";
import { evictRef, removeRef } from "./remove.js";
import { signedUrl, type SignedAnswer } from "./signing.js";
import { sweep, type S3Swept } from "./sweep.js";
import { Upload } from "./upload.js";
import { guarded } from "./failures.js";

/** An artifact store in a bucket, without links for browsers. See `S3ArtifactStore`, which adds those. */
export class BareS3Store implements ArtifactStore, AsyncDisposable {
  readonly #connection: S3Connection;
  readonly #stem: string;
  readonly #store: Readable;

  /** Throws E_INVALID_ARGUMENT with the name of the option. */
  constructor(options: S3StoreOptions) {
    checkS3Options(options);
    this.#connection = new S3Connection(options);
    this.#stem = stemOf(options);
    this.#store = {
      bucket: new Bucket(this.#connection, options.bucket, this.#stem),
      stamps: new Stamps(options.clock),
      hashing: options.hashing ?? (sha256 satisfies Hashing),
    };
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
    const folder = await scopeFolder(claim.scope);
    return new SinkWriter(new Upload(this.#store, claim, folder, await this.#store.hashing.stream()));
  }

  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return guarded("read", () => readWhole(this.#store, id, scope));
  }

  openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return guarded("read", () => {
      const { scope, range } = objectOf(options, "options");
      spanOf(range, 0);
      return readSpan(this.#store, id, scope, range);
    });
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return (await this.stat(id, scope)) !== null;
  }

  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return guarded("read", () => statRef(this.#store.bucket, id, scope));
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return guarded("write", () => updateRef(this.#store.bucket, id, patch, scope));
  }

  delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return guarded("write", () => removeRef(this.#store.bucket, id, scope));
  }

  /** As ArtifactStore says. Refs that cannot be read are left out; `stat` tells what is wrong with one. */
  async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
    yield* await guarded("read", () => listRefs(this.#store.bucket, scope && fullScope(scope)));
  }

  evict(seen: StoredArtifact): Promise<boolean> {
    return guarded("write", () => evictRef(this.#store.bucket, objectOf(seen, "seen")));
  }

  /** As ArtifactStore says, by a lock in the bucket; of one who died it lapses after five minutes. */
  exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    return exclusively(this.#store.bucket, work);
  }

  /**
   * What the keys begin with under which everything of a scope lies, or, with a `level`, of all scopes that agree with it
   * down to there: for policies, lifecycle rules, and taking away what one user has. Ends with `/`. Fields are hashed.
   */
  async keyPrefix(scope: ArtifactScope, level: ScopeLevel = "trace"): Promise<string> {
    return `${this.#stem}${await scopeFolder(scope, level)}`;
  }

  /**
   * Removes what was left behind by processes that died: blobs that no artifact names, and uploads that nobody goes on with,
   * once they are older than `sweepAfter`. Null when another one is at it.
   */
  gc(): Promise<S3Swept | null> {
    const { bucket } = this.#store;
    return guarded("write", () =>
      this.exclusively(() => sweep(bucket, this.#connection.limits.sweepAfter, Date.now())),
    );
  }

  /** Ends the store's own client: whatever is asked from now on throws E_STORE_CLOSED. Idempotent. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A link to an artifact's bytes that answers as it is told; null when there is no such artifact in the scope. */
  protected async signed(
    id: string,
    scope: ArtifactScope | undefined,
    seconds: number,
    answer: (artifact: ArtifactRef) => SignedAnswer,
  ): Promise<string | null> {
    return guarded("read", async () => {
      const found = await find(this.#store.bucket, id, scope);
      return found && signedUrl(this.#store.bucket, found, seconds, answer(found.record.ref));
    });
  }
}
