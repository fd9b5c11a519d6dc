/**
 * Reading and changing what is said of artifacts.
 * @module
 */
import { isArtifactId } from "../ids.js";
import { patched, refOf, type Claim } from "../record.js";
import { scopeKey, type FullScope } from "../scope.js";
import { inMilliseconds } from "../stamps.js";
import type { ArtifactPatch, ArtifactRef, ArtifactScope, StoredArtifact } from "../store.js";
import type { Connection } from "./connection.js";
import type { Reading, RefRow } from "./schema.js";

/** Refs that are read at once: each may have some million characters. */
const PAGE = 32;

/** What a row says of an artifact. */
export function refOfRow(row: RefRow): ArtifactRef {
  const { id, sha256, size_bytes, mime_type, filename, namespace } = row;
  const [tenant_id, user_id, session_id, trace_id] = JSON.parse(row.scope) as FullScope[keyof FullScope][];
  const scope = {
    tenant_id: tenant_id ?? null,
    user_id: user_id ?? null,
    session_id: session_id ?? null,
    trace_id: trace_id ?? null,
  };
  const source = JSON.parse(row.source) as ArtifactRef["source"];
  return refOf({ namespace, scope, mime_type, filename, source } satisfies Claim, id, sha256, size_bytes);
}

/** The row of a ref, with its stamps. */
export function rowOf(
  ref: ArtifactRef,
  { created, stored, used }: Pick<RefRow, "created" | "stored" | "used">,
): RefRow {
  const { id, sha256, size_bytes, mime_type, filename, namespace } = ref;
  const source = JSON.stringify(ref.source);
  const said = { scope: scopeKey(ref.scope), id, sha256, size_bytes, mime_type, filename, namespace, source };
  return { ...said, created, stored, used };
}

/** A row with what a patch says anew. */
export function patchedRow(row: RefRow, patch: ArtifactPatch): RefRow {
  return rowOf(patched(refOfRow(row), patch), row);
}

/** An artifact with its times; null when there is none. */
export async function statRef(
  connection: Connection,
  id: string,
  scope: ArtifactScope | undefined,
): Promise<StoredArtifact | null> {
  const key = scopeKey(scope);
  if (!isArtifactId(id)) return null;
  const row = await connection.read(["refs"], (transaction) => transaction.objectStore("refs").get([key, id]));
  return row ? storedOf(row) : null;
}

/** Changes what is said of a ref, and not its times; null when there is none. */
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
    const changed = patchedRow(row, patch);
    await refs.put(changed);
    return refOfRow(changed);
  });
}

/** What one scope holds, or what all do, oldest first, without holding it all. */
export async function* listRefs(
  connection: Connection,
  scope: ArtifactScope | undefined,
): AsyncGenerator<StoredArtifact, void, void> {
  const key = scope === undefined ? undefined : scopeKey(scope);
  let last: RefRow | undefined;
  do {
    const rows = await connection.read(["refs"], (transaction) => pageAfter(transaction, key, last));
    for (const row of rows) yield storedOf(row);
    last = rows.length === PAGE ? rows.at(-1) : undefined;
  } while (last);
}

function pageAfter(transaction: Reading, key: string | undefined, last: RefRow | undefined): Promise<RefRow[]> {
  const refs = transaction.objectStore("refs");
  if (key === undefined) {
    const from = last && IDBKeyRange.lowerBound([last.created, last.scope, last.id], true);
    return refs.index("all").getAll(from, PAGE);
  }
  // A list is behind all numbers.
  const from = last ? [key, last.created, last.id] : [key];
  return refs.index("scope").getAll(IDBKeyRange.bound(from, [key, []], true), PAGE);
}

function storedOf(row: RefRow): StoredArtifact {
  return { ...refOfRow(row), stored_at: inMilliseconds(row.stored), used_at: inMilliseconds(row.used) };
}
