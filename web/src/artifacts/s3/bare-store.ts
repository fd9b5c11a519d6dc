/**
 * The store in a bucket, without links.
 * @module
 */
import { sha256 } from "#hash";
import { SluiceError } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { toSpan, type Span, checkBytes, encodeText, toStream } from "../bytes.js";
import { checkObject } from "../../errors/arguments.js";
import { toClaim, infoOfText, checkFilter, isWanted, Stamps } from "../reference.js";
import { fullScope } from "../scope.js";
import type {
  ArtifactFilter,
  ArtifactInfo,
  ArtifactPatch,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
  ByteRange,
  StoredArtifact,
} from "../store.js";
import { toDamagedError, verifyStream } from "../hash.js";
import { SinkWriter, writeWhole } from "../writer.js";
import { toBody, Bucket, Download } from "./bucket.js";
import { toContendedError, guardBucket, S3Connection } from "./connection.js";
import { blobKey, scopeFolder, type ScopeLevel } from "./layout.js";
import { checkS3Options, toStem, type S3StoreOptions } from "./options.js";
import {
  again,
  AGAIN,
  evictRef,
  find,
  listRefs,
  refsNamed,
  removeRef,
  nextStampAfter,
  statRef,
  updateRef,
  write,
  type Found,
} from "./refs.js";
import { exclusively, sweep, type S3SweepReport } from "./sweep.js";
import { Upload, type StoreDeps } from "./upload.js";
import { BucketVersion } from "./version.js";

/** An artifact store in a bucket, without links for browsers. See `S3ArtifactStore`, which adds those. */
export class BareS3Store implements ArtifactStore, AsyncDisposable {
  readonly #connection: S3Connection;
  readonly #stem: string;
  readonly #store: StoreDeps;
  readonly #version: BucketVersion;

  /** Throws E_INVALID_ARGUMENT with the name of the wrong option. */
  constructor(options: S3StoreOptions) {
    checkS3Options(options);
    this.#connection = new S3Connection(options);
    this.#stem = toStem(options);
    this.#store = {
      bucket: new Bucket(this.#connection, options.bucket, this.#stem),
      stamps: new Stamps(options.clock),
      hashing: options.hashing ?? sha256,
    };
    this.#version = new BucketVersion(this.#store.bucket);
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
    await this.#version.check("write");
    const folder = await scopeFolder(claim.scope);
    return new SinkWriter(new Upload(this.#store, claim, folder, await this.#store.hashing.stream()));
  }

  get(id: string, scope?: ArtifactScope): Promise<Uint8Array | null> {
    return this.#guard("read", () => readWhole(this.#store, id, scope));
  }

  openReader(
    id: string,
    options: { readonly scope?: ArtifactScope; readonly range?: ByteRange } = {},
  ): Promise<ReadableStream<Uint8Array> | null> {
    return this.#guard("read", () => {
      const { scope, range } = checkObject(options, "options");
      toSpan(range, 0);
      return readSpan(this.#store, id, scope, range);
    });
  }

  async exists(id: string, scope?: ArtifactScope): Promise<boolean> {
    return (await this.stat(id, scope)) !== null;
  }

  stat(id: string, scope?: ArtifactScope): Promise<StoredArtifact | null> {
    return this.#guard("read", () => statRef(this.#store.bucket, id, scope));
  }

  update(id: string, patch: ArtifactPatch, scope?: ArtifactScope): Promise<ArtifactRef | null> {
    return this.#guard("write", () => updateRef(this.#store.bucket, id, patch, scope));
  }

  delete(id: string, scope?: ArtifactScope): Promise<boolean> {
    return this.#guard("write", () => removeRef(this.#store.bucket, id, scope));
  }

  /** See `ArtifactStore.list`. Leaves out refs that cannot be read; `stat` reports what is wrong with one. */
  async *list(scope?: ArtifactScope, only?: ArtifactFilter): AsyncIterable<StoredArtifact> {
    const { bucket } = this.#store;
    const { filename } = checkFilter(only);
    yield* await this.#guard("read", async () => {
      if (scope !== undefined && filename !== undefined) return refsNamed(bucket, fullScope(scope), filename);
      return (await listRefs(bucket, scope && fullScope(scope))).filter((ref) => isWanted(ref, only));
    });
  }

  evict(seen: StoredArtifact): Promise<boolean> {
    return this.#guard("write", () => evictRef(this.#store.bucket, checkObject(seen, "seen")));
  }

  /** See `ArtifactStore.exclusively`. Uses a lock in the bucket, which lapses five minutes after its process died. */
  async exclusively<T>(work: () => Promise<T>): Promise<T | null> {
    await this.#version.check("write");
    return exclusively(this.#store.bucket, work);
  }

  /**
   * The prefix of all keys of a scope, or, with a `level`, of all scopes that agree with it down to that level: for policies,
   * lifecycle rules, and deleting everything of one user. Ends with `/`. The fields in it are hashed.
   */
  async keyPrefix(scope: ArtifactScope, level: ScopeLevel = "trace"): Promise<string> {
    return `${this.#stem}${await scopeFolder(scope, level)}`;
  }

  /**
   * Removes what processes that died left behind: blobs that no artifact names, and abandoned uploads, once they are older than
   * `sweepAfter`. Null if another process does so now.
   */
  gc(): Promise<S3SweepReport | null> {
    const { bucket } = this.#store;
    return this.#guard("write", () =>
      this.exclusively(() => sweep(bucket, this.#connection.limits.sweepAfter, Date.now())),
    );
  }

  /** Closes the store's own client. Every later call throws E_STORE_CLOSED. Idempotent. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  /** The same as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Works once the version of the store was checked. */
  async #guard<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
    await this.#version.check(act);
    return guardBucket(act, work);
  }

  /** A link to an artifact's bytes with the given response headers. Null if the scope has no such artifact. */
  protected async signed(
    id: string,
    scope: ArtifactScope | undefined,
    seconds: number,
    answer: (artifact: ArtifactRef) => SignedAnswer,
  ): Promise<string | null> {
    return this.#guard("read", async () => {
      const found = await find(this.#store.bucket, id, scope);
      return found && signUrl(this.#store.bucket, found, seconds, answer(found.record.ref));
    });
  }
}

/** The response headers of a link. They are part of the signature, so they cannot be changed. */
interface SignedAnswer {
  readonly disposition: string;
  readonly type: string;
}

async function signUrl(
  bucket: Bucket,
  { folder, record }: Found,
  seconds: number,
  { disposition, type }: SignedAnswer,
): Promise<string> {
  const { getSignedUrl } = await loadPresigner();
  const { sdk, client } = await bucket.connection.speaker();
  const command = new sdk.GetObjectCommand({
    ...bucket.at(blobKey(folder, record.blob)),
    ResponseContentDisposition: disposition,
    ResponseContentType: type,
    ResponseCacheControl: "private, no-store",
  });
  return getSignedUrl(client, command, { expiresIn: seconds });
}

async function loadPresigner() {
  try {
    return await import("@aws-sdk/s3-request-presigner");
  } catch (error) {
    const sentence = "Links need the package @aws-sdk/s3-request-presigner: install it beside mcp-sluice.";
    throw new SluiceError("E_MISUSE", sentence, {}, { cause: error });
  }
}

/** An empty range, which S3 does not have. */
const NOTHING: Pick<Download, "whole" | "stream"> = {
  whole: () => Promise.resolve(new Uint8Array(0)),
  stream: () => toStream(new Uint8Array(0)),
};

const ATTEMPTS = 4;
/** Most bytes of one array in every engine. */
const MAX_WHOLE = 2 * 1024 ** 3;
/** Errors of recording a use that do not prevent reading. */
const UNNOTED: ReadonlySet<string> = new Set(["E_STORE_DENIED", "E_STORE_FULL", "E_STORE_WRITE"]);

/**
 * All bytes of an artifact, checked by their hash. Null if there is none.
 *
 * @throws SluiceError E_STORE_CORRUPT if they are not those that were stored; E_TOO_LARGE above 2 GiB.
 */
async function readWhole(store: StoreDeps, id: string, scope: ArtifactScope | undefined): Promise<Uint8Array | null> {
  return reading(store, id, scope, useArtifact, async (found) => {
    const { ref } = found.record;
    if (ref.size_bytes > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 2 GiB: read it through openReader.");
    }
    const download =
      ref.size_bytes === 0 ? NOTHING : await beginDownload(store, found, { start: 0, end: ref.size_bytes });
    if (download === null) return null;
    const bytes = await download.whole();
    if ((await store.hashing.whole(bytes)) !== ref.sha256) throw toDamagedError();
    return bytes;
  });
}

/**
 * A stream of a span of an artifact. Null if there is none. The hash is checked only if the span is the whole. Counts as reading,
 * unless `look` is another way to find it.
 */
export async function readSpan(
  store: StoreDeps,
  id: string,
  scope: ArtifactScope | undefined,
  range?: ByteRange,
  look: Look = useArtifact,
): Promise<ReadableStream<Uint8Array> | null> {
  return reading(store, id, scope, look, async (found) => {
    const { ref } = found.record;
    const span = toSpan(range, ref.size_bytes);
    const download = span.start === span.end ? NOTHING : await beginDownload(store, found, span);
    if (download === null) return null;
    const stream = download.stream((error) => withdrawCorrupt(store, found, error));
    if (span.end - span.start < ref.size_bytes) return stream;
    return verifyStream(stream, ref, store.hashing, () => withdraw(store, found));
  });
}

/** Finds the ref of an artifact that is about to be read. */
type Look = (store: StoreDeps, id: string, scope: ArtifactScope | undefined) => Promise<Found | null>;

/** Reads an artifact. If its blob is gone, it may have been deleted meanwhile: reads the ref again, once for each blob. */
async function reading<T>(
  store: StoreDeps,
  id: string,
  scope: ArtifactScope | undefined,
  look: Look,
  read: (found: Found) => Promise<T | null>,
): Promise<T | null> {
  let missing: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await look(store, id, scope);
    if (found === null) return null;
    try {
      const bytes = await read(found);
      if (bytes !== null) return bytes;
      if (missing === found.record.blob) throw toDamagedError();
    } catch (error) {
      await withdrawCorrupt(store, found, error);
      throw error;
    }
    missing = found.record.blob;
  }
  throw toContendedError("read");
}

/** Waits until the response has begun, so that a delete meanwhile does not end it. */
async function beginDownload({ bucket }: StoreDeps, { folder, record }: Found, span: Span): Promise<Download | null> {
  const key = blobKey(folder, record.blob);
  const answer = await bucket.get(key, span);
  return answer && new Download(bucket, key, span, toBody(answer, span));
}

/** The ref of an artifact. Records the use, if that can be written. */
async function useArtifact(store: StoreDeps, id: string, scope: ArtifactScope | undefined): Promise<Found | null> {
  const { bucket, stamps } = store;
  let before: number | undefined;
  return again("read", async () => {
    const found = await find(bucket, id, scope);
    if (found === null) return null;
    const { record } = found;
    // Another process recorded a use meanwhile, which is enough.
    if (before !== undefined && record.used !== before) return found;
    before = record.used;
    try {
      const next = { ...record, used: nextStampAfter(stamps, record.used) };
      return (await write(bucket, found.key, next, found)) === null ? AGAIN : found;
    } catch (error) {
      if (error instanceof SluiceError && UNNOTED.has(error.code)) return found;
      throw error;
    }
  });
}

async function withdrawCorrupt(store: StoreDeps, found: Found, error: unknown): Promise<void> {
  if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") await withdraw(store, found);
}

/** Marks bytes as damaged, so that the next put writes them again. */
async function withdraw({ bucket }: StoreDeps, { record, key }: Found): Promise<void> {
  const { id, scope } = record.ref;
  const noted = again("write", async () => {
    const found = await find(bucket, id, scope);
    if (found === null || found.record.blob !== record.blob) return true;
    const wrote = await write(bucket, key, { ...found.record, isDamaged: true }, found);
    return wrote === null ? AGAIN : true;
  });
  await noted.catch(() => undefined);
}
