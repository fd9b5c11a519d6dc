/**
 * What a bucket holds.
 * @module
 */
import type { ArtifactScope, StoredArtifact } from "../store.js";
import type { Bucket } from "./bucket.js";
import { idIn, refKey, refsIn, scopeFolder, SCOPES } from "./layout.js";
import { MAX_RECORD_BYTES, recordIn, storedOf, type RefRecord } from "./ref-object.js";
import { find } from "./refs.js";

const AT_ONCE = 16;

/** An artifact with its times; null when there is none. */
export async function statRef(
  bucket: Bucket,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<StoredArtifact | null> {
  const found = await find(bucket, id, scope);
  return found && storedOf(found.record);
}

/** What a scope holds, or what all do, in the order of being stored first. What cannot be read is left out. */
export async function listRefs(bucket: Bucket, scope: ArtifactScope | undefined): Promise<readonly StoredArtifact[]> {
  const found: RefRecord[] = [];
  for await (const { record } of recordsUnder(
    bucket,
    scope === undefined ? SCOPES : refsIn(await scopeFolder(scope)),
  )) {
    if (record !== null && record.isGone !== true) found.push(record);
  }
  found.sort((left, right) => left.created - right.created || (left.ref.id < right.ref.id ? -1 : 1));
  return found.map(storedOf);
}

/** Every ref with a key that begins so, those about to go as well; null for one that cannot be read. */
export async function* recordsUnder(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<{ readonly key: string; readonly record: RefRecord | null }, void, void> {
  let reading: Promise<{ key: string; record: RefRecord | null }>[] = [];
  for await (const { key } of bucket.list(prefix)) {
    const id = idIn(key);
    if (id === null) continue;
    reading.push(recordAt(bucket, key, id).then((record) => ({ key, record })));
    if (reading.length < AT_ONCE) continue;
    yield* await Promise.all(reading);
    reading = [];
  }
  yield* await Promise.all(reading);
}

async function recordAt(bucket: Bucket, key: string, id: string): Promise<RefRecord | null> {
  try {
    const object = await bucket.read(key, MAX_RECORD_BYTES);
    const record = object && recordIn(object.bytes, id);
    // One that says it is another scope's was put there by somebody else.
    return record && refKey(await scopeFolder(record.ref.scope), id) === key ? record : null;
  } catch {
    return null;
  }
}
