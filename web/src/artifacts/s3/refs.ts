/**
 * Reading and changing what is said of artifacts, one version after the other.
 *
 * A ref is one object, and every change of it is written on condition that it is still the version that was read: of two
 * who change it, one comes first and the other looks again. Deleting is such a change as well, so just one of several
 * deletes; only then does the object go.
 * @module
 */
import { isArtifactId } from "../ids.js";
import { copyOf, patched } from "../record.js";
import { fullScope, type FullScope } from "../scope.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactPatch, ArtifactRef, ArtifactScope } from "../store.js";
import { objectOf } from "../bytes.js";
import type { Bucket } from "./bucket.js";
import { again, AGAIN } from "./again.js";
import { newName, refKey, scopeFolder } from "./layout.js";
import { MAX_RECORD_BYTES, recordOf, written, type RefRecord } from "./ref-object.js";

/** A ref as it was read. */
export interface Found {
  readonly record: RefRecord;
  readonly etag: string;
  readonly key: string;
  readonly folder: string;
}

/** Which ref. */
export interface Place {
  readonly id: string;
  readonly scope: FullScope;
  /** Of the scope. */
  readonly folder: string;
  readonly key: string;
}

/** Microseconds that another machine's stamp may lie ahead. By more its clock is wrong, which must not become everyone's. */
const AHEAD = 1_000_000;

/** Where a ref is; null when the id is none. Throws E_INVALID_ARGUMENT for a scope that is none. */
export async function placeOf(id: string, scope: ArtifactScope | undefined): Promise<Place | null> {
  const full = fullScope(scope);
  if (!isArtifactId(id)) return null;
  const folder = await scopeFolder(full);
  return { id, scope: full, folder, key: refKey(folder, id) };
}

/** A ref, or one that was deleted and is about to go; null when there is none. */
export async function lookUp(bucket: Bucket, { id, scope, folder, key }: Place): Promise<Found | null> {
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  return object && { record: recordOf(object.bytes, id, scope), etag: object.etag, key, folder };
}

/** The same without those that were deleted. */
export async function find(bucket: Bucket, id: string, scope: ArtifactScope | undefined): Promise<Found | null> {
  const place = await placeOf(id, scope);
  const found = place && (await lookUp(bucket, place));
  return found?.record.isGone === true ? null : found;
}

/**
 * Writes a new version of a ref, or its first one, and says which; null when somebody else came first.
 *
 * @throws SluiceError E_STORE_WRITE and others, and then nobody knows whether it was written.
 */
export async function write(
  bucket: Bucket,
  key: string,
  record: Omit<RefRecord, "token">,
  seen: Found | null,
): Promise<string | null> {
  const token = newName();
  const condition = seen === null ? ({ none: true } as const) : { etag: seen.etag };
  const wrote = await bucket.writeIf(key, written({ ...record, token }), condition);
  if (wrote !== null) return wrote;
  // An attempt whose answer was lost makes the next one come too late: then it is this version that is there.
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  const isOwn = object && recordOf(object.bytes, record.ref.id, fullScope(record.ref.scope)).token === token;
  return isOwn === true ? object.etag : null;
}

/** Changes what is said of a ref, and not its times; null when there is none. */
export async function updateRef(
  bucket: Bucket,
  id: string,
  patch: ArtifactPatch,
  scope: ArtifactScope | undefined,
): Promise<ArtifactRef | null> {
  objectOf(patch, "patch");
  return again("write", async () => {
    const found = await find(bucket, id, scope);
    if (found === null) return null;
    const ref = patched(found.record.ref, patch);
    return (await write(bucket, found.key, { ...found.record, ref }, found)) === null ? AGAIN : copyOf(ref);
  });
}

/** A stamp for a ref that has another one: later than that. */
export function stampedAfter(stamps: Stamps, used: number): number {
  const own = stamps.next();
  if (used < own || used - own > AHEAD) return own;
  stamps.after(used);
  return stamps.next();
}
