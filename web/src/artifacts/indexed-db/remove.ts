/**
 * Taking artifacts away. Nothing is written by it, so it works where there is no room left.
 * @module
 */
import { isArtifactId } from "../ids.js";
import { scopeKey } from "../scope.js";
import { inMilliseconds } from "../stamps.js";
import type { ArtifactScope, StoredArtifact } from "../store.js";
import type { Connection } from "./connection.js";
import { CHUNK, type RefRow, type Writing } from "./schema.js";

/** What came of it: whether a ref went, and the content of several chunks that lost its name by that. */
export interface Removed {
  readonly gone: boolean;
  readonly loose: string | null;
}

const NOTHING: Removed = { gone: false, loose: null };

/** Deletes a ref, and the blob with its last one. */
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
    return { gone: true, loose: await released(transaction, row.sha256) };
  });
}

/** Deletes a blob that no ref names any more. A content of one chunk goes with it: nobody reads that for long. */
async function released(transaction: Writing, sha256: string): Promise<string | null> {
  if ((await transaction.objectStore("refs").index("sha256").getKey(sha256)) !== undefined) return null;
  const blobs = transaction.objectStore("blobs");
  const blob = await blobs.get(sha256);
  if (!blob) return null;
  await blobs.delete(sha256);
  if (blob.size > CHUNK) return blob.content;
  await transaction.objectStore("chunks").delete([blob.content, 0]);
  return null;
}
