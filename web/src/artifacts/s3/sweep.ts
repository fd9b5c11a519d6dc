/**
 * Clearing away what those left behind who died.
 * @module
 */
import type { Bucket } from "./bucket.js";
import { cleared } from "./remove.js";
import { blobKey, idIn, isBlobKey, SCOPES } from "./layout.js";
import { recordsUnder } from "./listing.js";
import { MAX_RECORD_BYTES, recordIn } from "./ref-object.js";
import { abortUpload } from "./parts.js";

/** What a sweep removed. */
export interface S3Swept {
  /** Blobs that no artifact names. */
  readonly blobs: number;
  /** Uploads in parts that nobody goes on with. */
  readonly uploads: number;
  /** Artifacts that were deleted, and not to the end. */
  readonly refs: number;
}

/** Removes what is older than `age` milliseconds and belongs to nothing. To be done by one at a time. */
export async function sweep(bucket: Bucket, age: number, now: number): Promise<S3Swept> {
  const limit = now - age;
  const old = new Set<string>();
  const refs = new Map<string, number>();
  for await (const { key, modified } of bucket.list(SCOPES)) {
    if (isBlobKey(key)) {
      if (modified < limit) old.add(key);
    } else refs.set(key, modified);
  }
  const gone: string[] = [];
  // Read after the blobs were listed: what is named since then is younger than they are.
  for await (const { key, record } of recordsUnder(bucket, SCOPES)) {
    const folder = key.slice(0, key.lastIndexOf("refs/"));
    // Of a ref that cannot be read nobody knows what it names.
    if (record === null) for (const blob of old) if (blob.startsWith(folder)) old.delete(blob);
    if (record === null) continue;
    if (record.isGone === true && (refs.get(key) ?? now) < limit) gone.push(key);
    else old.delete(blobKey(folder, record.blob));
  }
  let count = 0;
  for (const key of gone) if (await clearedAt(bucket, key)) count += 1;
  for (const key of old) await bucket.remove(key);
  return { blobs: old.size, uploads: await sweepUploads(bucket, limit), refs: count };
}

async function clearedAt(bucket: Bucket, key: string): Promise<boolean> {
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  const record = object && recordIn(object.bytes, idIn(key) ?? "");
  if (record?.isGone !== true) return false;
  await cleared(bucket, { record, etag: object?.etag ?? "", key, folder: key.slice(0, key.lastIndexOf("refs/")) });
  return true;
}

async function sweepUploads(bucket: Bucket, limit: number): Promise<number> {
  const old: { readonly key: string; readonly upload: string }[] = [];
  for await (const { key, upload, modified } of bucket.uploads()) {
    if (isBlobKey(key) && modified < limit) old.push({ key, upload });
  }
  for (const { key, upload } of old) await abortUpload(bucket, key, upload);
  return old.length;
}
