/**
 * Removes what processes that died left in a bucket, one collector at a time over all machines.
 * @module
 */
import type { Bucket, Versioned } from "./bucket.js";
import { blobKey, idIn, isBlobKey, LOCK, newName, SCOPES } from "./layout.js";
import { isNameKey, nameKey } from "./names.js";
import { clearObjects, MAX_RECORD_BYTES, toNamed, recordIn, recordsUnder } from "./refs.js";
import { abortUpload } from "./upload.js";

/** What a sweep removed. */
export interface S3SweepReport {
  /** Blobs that no artifact names. */
  readonly blobs: number;
  /** Abandoned uploads in parts. */
  readonly uploads: number;
  /** Artifacts whose delete was not finished. */
  readonly refs: number;
}

/** Removes what is older than `age` milliseconds and belongs to no artifact. Call it while holding the lock. */
export async function sweep(bucket: Bucket, age: number, now: number): Promise<S3SweepReport> {
  const limit = now - age;
  const old = new Set<string>();
  const names = new Set<string>();
  const refs = new Map<string, number>();
  for await (const { key, modified } of bucket.list(SCOPES)) {
    if (isBlobKey(key)) {
      if (modified < limit) old.add(key);
    } else if (isNameKey(key)) {
      if (modified < limit) names.add(key);
    } else refs.set(key, modified);
  }
  const gone: string[] = [];
  // Read after the blobs were listed: blobs that are named after that are younger.
  for await (const { key, record } of recordsUnder(bucket, SCOPES)) {
    const folder = key.slice(0, key.lastIndexOf("refs/"));
    // A ref that cannot be read may name any blob.
    if (record === null) {
      for (const kept of [old, names]) for (const each of kept) if (each.startsWith(folder)) kept.delete(each);
      continue;
    }
    names.delete((await nameKey(toNamed(folder, record))) ?? "");
    if (record.isGone === true && (refs.get(key) ?? now) < limit) gone.push(key);
    else old.delete(blobKey(folder, record.blob));
  }
  let count = 0;
  for (const key of gone) if (await clearAt(bucket, key)) count += 1;
  for (const key of [...old, ...names]) await bucket.remove(key);
  return { blobs: old.size, uploads: await sweepUploads(bucket, limit), refs: count };
}

async function clearAt(bucket: Bucket, key: string): Promise<boolean> {
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  const record = object && recordIn(object.bytes, idIn(key) ?? "");
  if (record?.isGone !== true) return false;
  await clearObjects(bucket, { record, etag: object?.etag ?? "", key, folder: key.slice(0, key.lastIndexOf("refs/")) });
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

/** Milliseconds after which a lock lapses, and after which it is renewed. */
const LEASE = 5 * 60_000;
const RENEWAL = 60_000;
/** Most bytes of a lock. */
const MAX_LOCK = 4096;

/** Runs work while holding the lock. Null if another process holds it. The lock lapses five minutes after its process died. */
export async function exclusively<T>(bucket: Bucket, work: () => Promise<T>): Promise<T | null> {
  const seen = await bucket.read(LOCK, MAX_LOCK);
  if (seen !== null && untilIn(seen) > Date.now()) return null;
  const holder = newName();
  let etag = await bucket.writeIf(LOCK, lease(holder, LEASE), seen === null ? { none: true } : { etag: seen.etag });
  if (etag === null) return null;
  let renewing = Promise.resolve();
  const renew = async (milliseconds: number): Promise<void> => {
    if (etag !== null) etag = await bucket.writeIf(LOCK, lease(holder, milliseconds), { etag }).catch(() => null);
  };
  const timer = setInterval(() => {
    renewing = renewing.then(() => renew(LEASE));
  }, RENEWAL);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
    // Not deleted, since another process may hold it by then.
    await renew(0);
  }
}

function lease(holder: string, milliseconds: number): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ holder, until: Date.now() + milliseconds }));
}

/** When a lock lapses. A lock that cannot be read does not count. */
function untilIn({ bytes }: Versioned): number {
  try {
    const { until } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly until?: unknown };
    return typeof until === "number" ? until : 0;
  } catch {
    return 0;
  }
}
