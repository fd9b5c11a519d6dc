/**
 * Taking artifacts away.
 *
 * A ref that was marked as gone is never revived, and its object is deleted by whoever marked it. Until then a put of the
 * same content waits, so that what it writes is not what is deleted.
 * @module
 */
import { inMilliseconds } from "../stamps.js";
import type { ArtifactScope, StoredArtifact } from "../store.js";
import { again, AGAIN } from "./again.js";
import type { Bucket } from "./bucket.js";
import { blobKey } from "./layout.js";
import type { RefRecord } from "./ref-object.js";
import { find, write, type Found } from "./refs.js";

/** Deletes an artifact; false when there is none. */
export function removeRef(bucket: Bucket, id: string, scope: ArtifactScope | undefined): Promise<boolean> {
  return removeIf(bucket, id, scope, () => true);
}

/** The same unless the artifact was stored or read since it was seen. */
export function evictRef(bucket: Bucket, seen: StoredArtifact): Promise<boolean> {
  return removeIf(bucket, seen.id, seen.scope, ({ used }) => inMilliseconds(used) === seen.used_at);
}

/** Deletes the objects of an artifact that was marked as gone. */
export async function cleared(bucket: Bucket, { key, folder, record, etag }: Found): Promise<void> {
  // First the ref: until it has gone nobody can store the same again.
  await bucket.remove(key, etag);
  await bucket.remove(blobKey(folder, record.blob));
}

async function removeIf(
  bucket: Bucket,
  id: string,
  scope: ArtifactScope | undefined,
  mayGo: (record: RefRecord) => boolean,
): Promise<boolean> {
  const marked = await again("write", async () => {
    const found = await find(bucket, id, scope);
    if (found === null || !mayGo(found.record)) return null;
    const etag = await write(bucket, found.key, { ...found.record, isGone: true }, found);
    return etag === null ? AGAIN : { ...found, etag };
  });
  // Gone it is already. What cannot be cleared away now is by `gc`.
  if (marked !== null) await cleared(bucket, marked).catch(() => undefined);
  return marked !== null;
}
