/**
 * Bytes on their way out.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { Hashing } from "../hash.js";
import { isArtifactId } from "../ids.js";
import { spanOf, streamOf } from "../bytes.js";
import { scopeKey } from "../scope.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactScope, ByteRange } from "../store.js";
import { damaged, verified, Verifier } from "../verify.js";
import { stamped } from "./clock.js";
import type { Connection } from "./connection.js";
import type { Contents } from "./contents.js";
import { contended } from "./failures.js";
import { streamChunks } from "./chunk-stream.js";
import { CHUNK, type BlobRow, type Reading, type RefRow, type Writing } from "./schema.js";

/** How often it is looked anew for bytes that are deleted and stored again meanwhile. */
const ATTEMPTS = 8;
/** What browsers surely hold in one array. */
const MAX_WHOLE = 2 * 1024 ** 3;

/** What reading needs. */
export interface Readable {
  readonly connection: Connection;
  readonly contents: Contents;
  readonly stamps: Stamps;
  readonly hashing: Hashing;
}

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
  let missing: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const blob = await used(store, id, scope);
    if (!blob) return null;
    if (blob.size > MAX_WHOLE) {
      throw new SluiceError("E_TOO_LARGE", "The artifact is larger than 2 GiB: read it through openReader.");
    }
    const bytes = await checked(store, blob, missing === blob.content);
    if (bytes) return bytes;
    missing = blob.content;
  }
  throw contended("read");
}

/** A stream of a span of an artifact; null when there is none. All of it is held against the hash, a part is not. */
export async function readSpan(
  store: Readable,
  id: string,
  scope: ArtifactScope | undefined,
  range: ByteRange | undefined,
): Promise<ReadableStream<Uint8Array> | null> {
  const { connection, contents, hashing } = store;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = await find(connection, id, scope);
    if (!seen) return null;
    const { start, end } = spanOf(range, seen.size);
    if (seen.size <= CHUNK) {
      const bytes = await readWhole(store, id, scope);
      return bytes && streamOf(bytes.subarray(start, end));
    }
    const lease = await contents.hold(seen.content);
    const blob = await used(store, id, scope).catch(async (error: unknown) => {
      await lease.release();
      throw error;
    });
    if (blob?.content === seen.content) {
      const stream = streamChunks(contents, seen.content, { start, end }, lease);
      if (end - start < blob.size) return stream;
      const expected = { sha256: blob.sha256, size_bytes: blob.size };
      return verified(stream, await Verifier.begin(expected, hashing), () => withdraw(connection, blob));
    }
    await lease.release();
    await contents.clear(seen.content);
  }
  throw contended("read");
}

/** The bytes of a blob; null when they are gone, which they may be only once. */
async function checked(
  { connection, contents, hashing }: Readable,
  blob: BlobRow,
  again: boolean,
): Promise<Uint8Array | null> {
  try {
    const bytes = await contents.span(blob.content, { start: 0, end: blob.size });
    if (!bytes && !again) return null;
    if (!bytes || (await hashing.whole(bytes)) !== blob.sha256) throw damaged();
    return bytes;
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_STORE_CORRUPT") await withdraw(connection, blob);
    throw error;
  }
}

/** Stops offering bytes that turned out to be damaged, so that the next put writes them afresh. */
async function withdraw(connection: Connection, { sha256, content }: BlobRow): Promise<void> {
  const withdrawn = connection.write(["blobs"], async (transaction) => {
    const blobs = transaction.objectStore("blobs");
    const blob = await blobs.get(sha256);
    if (blob?.content === content) await blobs.put({ ...blob, damaged: true });
  });
  await withdrawn.catch(() => undefined);
}

/** Where the bytes of an artifact are, and that they are used is noted, where there is room for that. */
async function used(
  { connection, stamps }: Readable,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<BlobRow | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  try {
    return await connection.write(["refs", "blobs", "clock"], async (transaction) => {
      const found = await lookUp(transaction, key, id);
      if (!found) return null;
      await transaction.objectStore("refs").put({ ...found.row, used: await stamped(transaction, stamps) });
      return found.blob;
    });
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "E_STORE_FULL") throw error;
    return find(connection, id, scope);
  }
}

async function find(connection: Connection, id: string, scope: ArtifactScope | undefined): Promise<BlobRow | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  return connection.read(["refs", "blobs"], async (transaction) => {
    return (await lookUp(transaction, key, id))?.blob ?? null;
  });
}

async function lookUp(
  transaction: Reading | Writing,
  key: string,
  id: string,
): Promise<{ readonly row: RefRow; readonly blob: BlobRow } | null> {
  // The two kinds of transactions have no signature in common.
  const reading = transaction as Reading;
  const row = await reading.objectStore("refs").get([key, id]);
  if (!row) return null;
  const blob = await reading.objectStore("blobs").get(row.sha256);
  if (!blob) throw damaged();
  return { row, blob };
}
