/**
 * Bytes on their way out.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { Hashing } from "../hash.js";
import { spanOf, streamOf, type Span } from "../bytes.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactScope, ByteRange } from "../store.js";
import { damaged, verified, Verifier } from "../verify.js";
import { again, AGAIN } from "./again.js";
import type { Bucket } from "./bucket.js";
import { bodyOf, Download } from "./download.js";
import { contended } from "./failures.js";
import { blobKey } from "./layout.js";
import { find, stampedAfter, write, type Found } from "./refs.js";

/** What reading needs. */
export interface Readable {
  readonly bucket: Bucket;
  readonly stamps: Stamps;
  readonly hashing: Hashing;
}

/** S3 has no ranges without a byte. */
const NOTHING: Pick<Download, "whole" | "stream"> = {
  whole: () => Promise.resolve(new Uint8Array(0)),
  stream: () => streamOf(new Uint8Array(0)),
};

const ATTEMPTS = 4;
/** What an array of bytes takes in every engine. */
const MAX_WHOLE = 2 * 1024 ** 3;
/** Failures to note a use that do not keep from reading. */
const UNNOTED: ReadonlySet<string> = new Set(["E_STORE_DENIED", "E_STORE_FULL", "E_STORE_WRITE"]);

/**
 * All bytes of an artifact, held against their hash; null when there is none.
 *
 * @throws SluiceError E_STORE_CORRUPT when they are not those that were stored; E_TOO_LARGE above 2 GiB.
 */
export async function readWhole(
  store: Readable,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<Uint8Array | null> {
  return reading(store, id, scope, async (found) => {
    const { size_bytes, sha256 } = found.record.ref;
    if (size_bytes > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 2 GiB: read it through openReader.");
    }
    const download = size_bytes === 0 ? NOTHING : await begun(store, found, { start: 0, end: size_bytes });
    if (download === null) return null;
    const bytes = await download.whole();
    if ((await store.hashing.whole(bytes)) !== sha256) throw damaged();
    return bytes;
  });
}

/** A stream of a span of an artifact; null when there is none. All of it is held against the hash, a part is not. */
export async function readSpan(
  store: Readable,
  id: string,
  scope: ArtifactScope | undefined,
  range: ByteRange | undefined,
): Promise<ReadableStream<Uint8Array> | null> {
  return reading(store, id, scope, async (found) => {
    const { size_bytes, sha256 } = found.record.ref;
    const span = spanOf(range, size_bytes);
    const download = span.start === span.end ? NOTHING : await begun(store, found, span);
    if (download === null) return null;
    const stream = download.stream((error) => told(store, found, error));
    if (span.end - span.start < size_bytes) return stream;
    const verifier = await Verifier.begin({ sha256, size_bytes }, store.hashing);
    return verified(stream, verifier, () => withdraw(store, found));
  });
}

/** Reads an artifact. Its blob may be gone, since it may have been deleted meanwhile; the same one may be so only once. */
async function reading<T>(
  store: Readable,
  id: string,
  scope: ArtifactScope | undefined,
  read: (found: Found) => Promise<T | null>,
): Promise<T | null> {
  let missing: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await used(store, id, scope);
    if (found === null) return null;
    try {
      const bytes = await read(found);
      if (bytes !== null) return bytes;
      if (missing === found.record.blob) throw damaged();
    } catch (error) {
      await told(store, found, error);
      throw error;
    }
    missing = found.record.blob;
  }
  throw contended("read");
}

/** The answer has begun by then, so that what is deleted meanwhile still comes. */
async function begun({ bucket }: Readable, { folder, record }: Found, span: Span): Promise<Download | null> {
  const key = blobKey(folder, record.blob);
  const answer = await bucket.get(key, span);
  return answer && new Download(bucket, key, span, bodyOf(answer, span));
}

/** The ref of an artifact, and that it is used is noted, where that may be written. */
async function used(store: Readable, id: string, scope: ArtifactScope | undefined): Promise<Found | null> {
  const { bucket, stamps } = store;
  let before: number | undefined;
  return again("read", async () => {
    const found = await find(bucket, id, scope);
    if (found === null) return null;
    const { record } = found;
    // Somebody else noted it meanwhile: that is as well.
    if (before !== undefined && record.used !== before) return found;
    before = record.used;
    try {
      const next = { ...record, used: stampedAfter(stamps, record.used) };
      return (await write(bucket, found.key, next, found)) === null ? AGAIN : found;
    } catch (error) {
      if (error instanceof SluiceError && UNNOTED.has(error.code)) return found;
      throw error;
    }
  });
}

async function told(store: Readable, found: Found, error: unknown): Promise<void> {
  if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") await withdraw(store, found);
}

/** Stops offering bytes that turned out to be damaged, so that the next put writes them afresh. */
async function withdraw({ bucket }: Readable, { record, key }: Found): Promise<void> {
  const { id, scope } = record.ref;
  const noted = again("write", async () => {
    const found = await find(bucket, id, scope);
    if (found === null || found.record.blob !== record.blob) return true;
    const wrote = await write(bucket, key, { ...found.record, isDamaged: true }, found);
    return wrote === null ? AGAIN : true;
  });
  await noted.catch(() => undefined);
}
