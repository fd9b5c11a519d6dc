/**
 * The records of artifacts in a bucket: read, changed and deleted, version by version.
 *
 * A ref is one object. Each change is written on condition that the object still has the version that was read: of two processes
 * that change it, one succeeds and the other reads again. A delete first marks the ref as gone by such a change, so only one of
 * several deletes succeeds, and then deletes the object.
 *
 * A ref that is marked as gone never comes back. Until its object is deleted, a put of the same content waits, so that the delete
 * does not remove what the put writes.
 * @module
 */
import type { StorageAct } from "../../errors/storage.js";
import { checkObject } from "../../errors/arguments.js";
import { readAhead } from "../read-ahead.js";
import { isArtifactId, applyPatch, toRef, type Claim, inMilliseconds, type Stamps } from "../reference.js";
import { fullScope, sameScope, type FullScope } from "../scope.js";
import type { ArtifactPatch, ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import { toDamagedError } from "../hash.js";
import type { Bucket } from "./bucket.js";
import { toContendedError } from "./connection.js";
import { dropName, listEntries, isComplete, renaming, type Named } from "./names.js";
import { blobKey, idIn, isName, newName, refKey, refsIn, scopeFolder, SCOPES } from "./layout.js";

/** A ref that was read. */
export interface Found {
  readonly record: RefRecord;
  readonly etag: string;
  readonly key: string;
  readonly folder: string;
}

interface Place {
  readonly id: string;
  readonly scope: FullScope;
  /** The folder of the scope. */
  readonly folder: string;
  readonly key: string;
}

/** Microseconds that another machine's stamp may be ahead. If it is further ahead, its clock is wrong and is not followed. */
const AHEAD = 1_000_000;

/** Where a ref is. Null if the id is not valid. Throws E_INVALID_ARGUMENT if the scope is not valid. */
async function toPlace(id: string, scope: ArtifactScope | undefined): Promise<Place | null> {
  const full = fullScope(scope);
  if (!isArtifactId(id)) return null;
  const folder = await scopeFolder(full);
  return { id, scope: full, folder, key: refKey(folder, id) };
}

/** A ref, also one that is marked as gone. Null if there is none. */
export async function lookUp(bucket: Bucket, { id, scope, folder, key }: Place): Promise<Found | null> {
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  return object && { record: checkRecord(object.bytes, id, scope), etag: object.etag, key, folder };
}

/** The same without refs that are marked as gone. */
export async function find(bucket: Bucket, id: string, scope: ArtifactScope | undefined): Promise<Found | null> {
  const place = await toPlace(id, scope);
  const found = place && (await lookUp(bucket, place));
  return found?.record.isGone === true ? null : found;
}

/**
 * Writes the first or a new version of a ref, and gives it. Null if another process came first.
 *
 * @throws SluiceError E_STORE_WRITE and others. It is unknown then whether the version was written.
 */
export async function write(
  bucket: Bucket,
  key: string,
  record: Omit<RefRecord, "token">,
  seen: Found | null,
): Promise<string | null> {
  const token = newName();
  const condition = seen === null ? ({ none: true } as const) : { etag: seen.etag };
  const wrote = await bucket.writeIf(key, writeRecordBytes({ ...record, token }), condition);
  if (wrote !== null) return wrote;
  // If the response to the first attempt was lost, the next attempt fails its condition, and this version is there.
  const object = await bucket.read(key, MAX_RECORD_BYTES);
  const isOwn = object && checkRecord(object.bytes, record.ref.id, fullScope(record.ref.scope)).token === token;
  return isOwn === true ? object.etag : null;
}

/** Changes the record of a ref, but not its times. Null if there is none. */
export async function updateRef(
  bucket: Bucket,
  id: string,
  patch: ArtifactPatch,
  scope: ArtifactScope | undefined,
): Promise<ArtifactRef | null> {
  checkObject(patch, "patch");
  return again("write", async () => {
    const found = await find(bucket, id, scope);
    if (found === null) return null;
    const { origin: _, ...record } = found.record;
    const ref = applyPatch(record.ref, patch);
    return (await rewrite(bucket, found, { ...record, ref })) === null ? AGAIN : ref;
  });
}

/** The same as {@link write} for a version that may change the name. */
export function rewrite(bucket: Bucket, found: Found, record: Omit<RefRecord, "token">): Promise<string | null> {
  const names = { before: toNamed(found.folder, found.record), filename: record.ref.filename };
  return renaming(
    bucket,
    names,
    () => write(bucket, found.key, record, found),
    async () => {
      const now = await find(bucket, record.ref.id, record.ref.scope);
      return now && toNamed(now.folder, now.record);
    },
  );
}

/** A stamp that is later than the one of the ref. */
export function nextStampAfter(stamps: Stamps, used: number): number {
  const own = stamps.next();
  if (used < own || used - own > AHEAD) return own;
  stamps.after(used);
  return stamps.next();
}

/** Another process came first: try again. */
export const AGAIN: unique symbol = Symbol("again");

const ATTEMPTS = 32;
/** Most milliseconds of a pause. */
const LONGEST = 200;

/**
 * Retries work until no other process comes first, with growing random pauses.
 *
 * @throws SluiceError E_STORE_READ or E_STORE_WRITE if other processes always come first.
 */
export async function again<T>(act: StorageAct, work: (attempt: number) => Promise<T | typeof AGAIN>): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = await work(attempt);
    if (outcome !== AGAIN) return outcome;
    await pause(Math.random() * Math.min(LONGEST, 5 * 2 ** attempt));
  }
  throw toContendedError(act);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A ref with its times in microseconds, and the place of its bytes. */
export interface RefRecord {
  readonly ref: ArtifactRef;
  /** When it was first stored, which orders lists; when it was last stored; when it was last stored or read. */
  readonly created: number;
  readonly stored: number;
  readonly used: number;
  /** The name of its blob. No other ref ever names it. */
  readonly blob: string;
  /** Random for each version, so that its writer recognises it. */
  readonly token: string;
  /** The store from which a copy brought it, see `Carried`. A change of the record takes the mark away. */
  readonly origin?: string;
  /** Whether the bytes are damaged: the next put writes them again. */
  readonly isDamaged?: boolean;
  /** Whether it is marked as gone: its object is about to be deleted. */
  readonly isGone?: boolean;
}

const FORM = 1;

/** Most bytes of a record: three texts of a million characters, each of which JSON may write as six. */
export const MAX_RECORD_BYTES: number = 20 * 1024 * 1024;

function writeRecordBytes({ ref, ...rest }: RefRecord): Uint8Array {
  const { id, sha256, size_bytes, mime_type, filename, namespace, source } = ref;
  const { tenant_id = null, user_id = null, session_id = null, trace_id = null } = ref.scope;
  const scope = [tenant_id, user_id, session_id, trace_id];
  const said = { id, sha256, size_bytes, mime_type, filename, namespace, scope, source };
  return new TextEncoder().encode(JSON.stringify({ form: FORM, ...rest, ...said }));
}

/** Parses the record in an object. Throws E_STORE_CORRUPT if it is not valid or has another id. */
export function recordIn(bytes: Uint8Array, id: string): RefRecord {
  const row = parseJson(bytes);
  if (!isRow(row) || row.id !== id) throw toDamagedError();
  const [tenant_id = null, user_id = null, session_id = null, trace_id = null] = row.scope;
  const scope: FullScope = { tenant_id, user_id, session_id, trace_id };
  const { namespace, mime_type, filename, source, sha256, size_bytes } = row;
  const claim: Claim = { namespace, scope, mime_type, filename, source };
  const { created, stored, used, blob, token, origin, isDamaged, isGone } = row;
  return {
    ref: toRef(claim, id, sha256, size_bytes),
    created,
    stored,
    used,
    blob,
    token,
    ...(typeof origin === "string" && { origin }),
    ...(isDamaged === true && { isDamaged }),
    ...(isGone === true && { isGone }),
  };
}

/** The same in a scope. Throws E_STORE_CORRUPT if it is of another scope. */
function checkRecord(bytes: Uint8Array, id: string, scope: FullScope): RefRecord {
  const record = recordIn(bytes, id);
  if (!sameScope(record.ref.scope, scope)) throw toDamagedError();
  return record;
}

function toStored({ ref, stored, used }: RefRecord): StoredArtifact {
  return { ...ref, stored_at: inMilliseconds(stored), used_at: inMilliseconds(used) };
}

type Row = Omit<ArtifactRef, "scope"> & Omit<RefRecord, "ref"> & { readonly scope: readonly (string | null)[] };

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function isRow(value: unknown): value is Row {
  if (typeof value !== "object" || value === null) return false;
  const row = value as Partial<Record<keyof Row | "form", unknown>>;
  return (
    row.form === FORM &&
    isArtifactId(row.id) &&
    isName(row.blob) &&
    isName(row.token) &&
    typeof row.sha256 === "string" &&
    typeof row.namespace === "string" &&
    [row.mime_type, row.filename].every(isText) &&
    [row.size_bytes, row.created, row.stored, row.used].every((number) => Number.isSafeInteger(number)) &&
    (row.size_bytes as number) >= 0 &&
    Array.isArray(row.scope) &&
    row.scope.length === 4 &&
    row.scope.every(isText) &&
    typeof row.source === "object" &&
    row.source !== null
  );
}

function isText(value: unknown): boolean {
  return value === null || typeof value === "string";
}

/** An artifact with its times. Null if there is none. */
export async function statRef(
  bucket: Bucket,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<StoredArtifact | null> {
  const found = await find(bucket, id, scope);
  return found && toStored(found.record);
}

/** The artifacts of a scope, or of all, in the order in which they were first stored. Leaves out what cannot be read. */
export async function listRefs(bucket: Bucket, scope: ArtifactScope | undefined): Promise<readonly StoredArtifact[]> {
  const found: RefRecord[] = [];
  for await (const { record } of recordsUnder(
    bucket,
    scope === undefined ? SCOPES : refsIn(await scopeFolder(scope)),
  )) {
    if (record !== null && record.isGone !== true) found.push(record);
  }
  return inOrder(found);
}

function inOrder(found: RefRecord[]): readonly StoredArtifact[] {
  found.sort((left, right) => left.created - right.created || (left.ref.id < right.ref.id ? -1 : 1));
  return found.map(toStored);
}

/** The artifacts of a scope with one name, in the order in which they were first stored. */
export async function refsNamed(
  bucket: Bucket,
  scope: ArtifactScope,
  filename: string,
): Promise<readonly StoredArtifact[]> {
  if (!(await isComplete(bucket, () => allNamed(bucket)))) {
    return (await listRefs(bucket, scope)).filter((ref) => ref.filename === filename);
  }
  const folder = await scopeFolder(scope);
  const found: RefRecord[] = [];
  const looked = readAhead(listEntries(bucket, folder, filename), async ({ id, created }) => {
    const record = await recordAt(bucket, refKey(folder, id), id);
    // A ref that was renamed or created again meanwhile has another entry.
    return record?.created === created && record.ref.filename === filename ? record : null;
  });
  for await (const record of looked) if (record !== null && record.isGone !== true) found.push(record);
  return inOrder(found);
}

async function* allNamed(bucket: Bucket): AsyncGenerator<Named, void, void> {
  for await (const { key, record } of recordsUnder(bucket, SCOPES)) {
    if (record !== null && record.isGone !== true) yield toNamed(key.slice(0, key.lastIndexOf("refs/")), record);
  }
}

/** The entry of a record. */
export function toNamed(folder: string, { ref, created }: Pick<RefRecord, "ref" | "created">): Named {
  return { folder, id: ref.id, created, filename: ref.filename };
}

/** All refs whose keys begin with a prefix, also those marked as gone. Null for a ref that cannot be read, or was just deleted. */
export function recordsUnder(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<{ readonly key: string; readonly record: RefRecord | null }, void, void> {
  return readAhead(refKeys(bucket, prefix), async ({ key, id }) => ({ key, record: await recordAt(bucket, key, id) }));
}

/** The keys of refs that begin with a prefix. */
export async function* refKeys(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<{ readonly key: string; readonly id: string }, void, void> {
  for await (const { key } of bucket.list(prefix)) {
    const id = idIn(key);
    if (id !== null) yield { key, id };
  }
}

async function recordAt(bucket: Bucket, key: string, id: string): Promise<RefRecord | null> {
  try {
    const object = await bucket.read(key, MAX_RECORD_BYTES);
    const record = object && recordIn(object.bytes, id);
    // A record of another scope was not put here by a store.
    return record && refKey(await scopeFolder(record.ref.scope), id) === key ? record : null;
  } catch {
    return null;
  }
}

/** Deletes an artifact. False if there is none. */
export function removeRef(bucket: Bucket, id: string, scope: ArtifactScope | undefined): Promise<boolean> {
  return removeIf(bucket, id, scope, () => true);
}

/** The same unless the artifact was stored or read since it was seen. */
export function evictRef(bucket: Bucket, seen: StoredArtifact): Promise<boolean> {
  return removeIf(bucket, seen.id, seen.scope, ({ used }) => inMilliseconds(used) === seen.used_at);
}

/** Deletes an artifact that a copy brought from a store. False if there is none, or it was changed here. */
export function removeCarried(
  bucket: Bucket,
  id: string,
  scope: ArtifactScope | undefined,
  origin: string,
): Promise<boolean> {
  return removeIf(bucket, id, scope, (record) => record.origin === origin);
}

/** Deletes the objects of an artifact that is marked as gone. */
export async function clearObjects(bucket: Bucket, { key, folder, record, etag }: Found): Promise<void> {
  await dropName(bucket, toNamed(folder, record));
  // The ref first: until it is deleted, the same content cannot be stored again.
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
  // It is deleted already for callers. `gc` removes the rest.
  if (marked !== null) await clearObjects(bucket, marked).catch(() => undefined);
  return marked !== null;
}
