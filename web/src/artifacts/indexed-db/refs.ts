/**
 * The records of artifacts in the database: read, changed, published with their bytes, and deleted. A delete writes nothing, so it
 * works if there is no space left.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import {
  idsFor,
  isArtifactId,
  applyPatch,
  toRef,
  compareClaim,
  type Claim,
  inMilliseconds,
  type Stamps,
} from "../reference.js";
import { scopeKey, type FullScope } from "../scope.js";
import type { ArtifactPatch, ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import { exact, mustBeThere } from "./contents.js";
import { CHUNK, nextStamp, type Connection, type Reading, type RefRow, type Writing } from "./database.js";

/** Refs that are read at a time: each may have millions of characters. */
const PAGE = 32;

/** The ref in a row. */
function refOfRow(row: RefRow): ArtifactRef {
  const { id, sha256, size_bytes, mime_type, filename, namespace } = row;
  const [tenant_id, user_id, session_id, trace_id] = JSON.parse(row.scope) as FullScope[keyof FullScope][];
  const scope = {
    tenant_id: tenant_id ?? null,
    user_id: user_id ?? null,
    session_id: session_id ?? null,
    trace_id: trace_id ?? null,
  };
  const source = JSON.parse(row.source) as ArtifactRef["source"];
  return toRef({ namespace, scope, mime_type, filename, source } satisfies Claim, id, sha256, size_bytes);
}

/** The row of a ref, with its stamps. */
function toRow(ref: ArtifactRef, { created, stored, used }: Pick<RefRow, "created" | "stored" | "used">): RefRow {
  const { id, sha256, size_bytes, mime_type, filename, namespace } = ref;
  const source = JSON.stringify(ref.source);
  const said = { scope: scopeKey(ref.scope), id, sha256, size_bytes, mime_type, filename, namespace, source };
  return { ...said, created, stored, used };
}

/** A row with a patch applied. */
function patchRow(row: RefRow, patch: ArtifactPatch): RefRow {
  return toRow(applyPatch(refOfRow(row), patch), row);
}

/** An artifact with its times. Null if there is none. */
export async function statRef(
  connection: Connection,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<StoredArtifact | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  const row = await connection.read(["refs"], (transaction) => transaction.objectStore("refs").get([key, id]));
  return row ? toStored(row) : null;
}

/** Changes the record of a ref, but not its times. Null if there is none. */
export async function updateRef(
  connection: Connection,
  id: string,
  patch: ArtifactPatch,
  scope: ArtifactScope | undefined,
): Promise<ArtifactRef | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  return connection.write(["refs"], async (transaction) => {
    const refs = transaction.objectStore("refs");
    const row = await refs.get([key, id]);
    if (!row) return null;
    const changed = patchRow(row, patch);
    await refs.put(changed);
    return refOfRow(changed);
  });
}

/** The artifacts of a scope, or of all, oldest first, read in batches. */
export async function* listRefs(
  connection: Connection,
  scope: ArtifactScope | undefined,
): AsyncGenerator<StoredArtifact, void, void> {
  const key = scope === undefined ? undefined : scopeKey(scope);
  let last: RefRow | undefined;
  do {
    const rows = await connection.read(["refs"], (transaction) => pageAfter(transaction, key, last));
    for (const row of rows) yield toStored(row);
    last = rows.length === PAGE ? rows.at(-1) : undefined;
  } while (last);
}

/** The artifacts of a scope with one name, oldest first. */
export async function refsNamed(
  connection: Connection,
  scope: ArtifactScope,
  filename: string,
): Promise<readonly StoredArtifact[]> {
  const key = scopeKey(scope);
  const rows = await connection.read(["refs"], (transaction) =>
    transaction.objectStore("refs").index("name").getAll([key, filename]),
  );
  return rows.sort((left, right) => left.created - right.created).map(toStored);
}

function pageAfter(transaction: Reading, key: string | undefined, last: RefRow | undefined): Promise<RefRow[]> {
  const refs = transaction.objectStore("refs");
  if (key === undefined) {
    const from = last && IDBKeyRange.lowerBound([last.created, last.scope, last.id], true);
    return refs.index("all").getAll(from, PAGE);
  }
  // In the order of keys, arrays come after all numbers.
  const from = last ? [key, last.created, last.id] : [key];
  return refs.index("scope").getAll(IDBKeyRange.bound(from, [key, []], true), PAGE);
}

function toStored(row: RefRow): StoredArtifact {
  return { ...refOfRow(row), stored_at: inMilliseconds(row.stored), used_at: inMilliseconds(row.used) };
}

/** Bytes that become an artifact. */
interface Written {
  readonly sha256: string;
  readonly size: number;
  readonly content: string;
  /** The bytes, if they are one chunk. Undefined if they are written in chunks already. */
  readonly bytes: Uint8Array | undefined;
}

/** The result of publishing. */
interface Published {
  readonly ref: ArtifactRef;
  /** Contents that may have no name any more. */
  readonly loose: readonly string[];
}

/**
 * Gives a content the shortest free id in its scope, or the id that it has there already. Ref and bytes become visible in one
 * transaction.
 */
export function publish(connection: Connection, claim: Claim, written: Written, stamps: Stamps): Promise<Published> {
  return connection.write(["refs", "blobs", "chunks", "contents", "clock"], async (transaction) => {
    const row = await nameRef(transaction, claim, written, await nextStamp(transaction, stamps));
    await transaction.objectStore("refs").put(row);
    return { ref: refOfRow(row), loose: await placeBlob(transaction, written) };
  });
}

async function nameRef(transaction: Writing, claim: Claim, { sha256, size }: Written, stamp: number): Promise<RefRow> {
  const key = scopeKey(claim.scope);
  for (const id of idsFor(claim.namespace, sha256)) {
    const row = await transaction.objectStore("refs").get([key, id]);
    if (!row) return toRow(toRef(claim, id, sha256, size), { created: stamp, stored: stamp, used: stamp });
    if (row.sha256 !== sha256) continue;
    const patch = compareClaim(refOfRow(row), claim);
    return { ...(patch ? patchRow(row, patch) : row), stored: stamp, used: stamp };
  }
  throw new SluiceError(
    "E_STORE_CORRUPT",
    "Every id of this content is already used by other content: use a stronger hash.",
  );
}

/** Points the blob at the bytes, unless it has undamaged ones. */
async function placeBlob(transaction: Writing, written: Written): Promise<readonly string[]> {
  const { sha256, size, content, bytes } = written;
  const blobs = transaction.objectStore("blobs");
  const there = await blobs.get(sha256);
  if (there?.damaged === false) return bytes === undefined ? [content] : [];
  if (bytes === undefined) await mustBeThere(transaction, content);
  else if (size > 0) await transaction.objectStore("chunks").put(exact(bytes), [content, 0]);
  await blobs.put({ sha256, size, content, damaged: false });
  return there ? [there.content] : [];
}

/** Whether a ref was deleted, and the content of several chunks that has no name any more. */
export interface Removed {
  readonly gone: boolean;
  readonly loose: string | null;
}

const NOTHING: Removed = { gone: false, loose: null };

/** Deletes a ref, and the blob with its last ref. */
export async function removeRef(
  connection: Connection,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<Removed> {
  return removeIf(connection, id, scope, () => true);
}

/** The same unless the artifact was stored or read since it was seen. */
export async function evictRef(connection: Connection, seen: StoredArtifact): Promise<Removed> {
  return removeIf(connection, seen.id, seen.scope, ({ used }) => inMilliseconds(used) === seen.used_at);
}

async function removeIf(
  connection: Connection,
  id: string,
  scope: ArtifactScope | undefined,
  mayGo: (row: RefRow) => boolean,
): Promise<Removed> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return NOTHING;
  return connection.write(["refs", "blobs", "chunks"], async (transaction) => {
    const refs = transaction.objectStore("refs");
    const row = await refs.get([key, id]);
    if (!row || !mayGo(row)) return NOTHING;
    await refs.delete([key, id]);
    return { gone: true, loose: await releaseBlob(transaction, row.sha256) };
  });
}

/** Deletes a blob that no ref names any more, and a content of one chunk with it, since no reader holds that. */
async function releaseBlob(transaction: Writing, sha256: string): Promise<string | null> {
  if ((await transaction.objectStore("refs").index("sha256").getKey(sha256)) !== undefined) return null;
  const blobs = transaction.objectStore("blobs");
  const blob = await blobs.get(sha256);
  if (!blob) return null;
  await blobs.delete(sha256);
  if (blob.size > CHUNK) return blob.content;
  await transaction.objectStore("chunks").delete([blob.content, 0]);
  return null;
}
