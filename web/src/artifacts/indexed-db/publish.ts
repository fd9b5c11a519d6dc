/**
 * Making a written content an artifact.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { idsFor } from "../ids.js";
import { refOf, restated, type Claim } from "../record.js";
import { scopeKey } from "../scope.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactRef } from "../store.js";
import { stamped } from "./clock.js";
import type { Connection } from "./connection.js";
import { exact, mustBeThere } from "./contents.js";
import { patchedRow, refOfRow, rowOf } from "./refs.js";
import type { RefRow, Writing } from "./schema.js";

/** Bytes that are to be an artifact. */
export interface Written {
  readonly sha256: string;
  readonly size: number;
  readonly content: string;
  /** All of them, where they are one chunk; undefined where they are in chunks already. */
  readonly bytes: Uint8Array | undefined;
}

/** What came of publishing. */
export interface Published {
  readonly ref: ArtifactRef;
  /** Contents that may have lost their name, or never got one. */
  readonly loose: readonly string[];
}

/**
 * Gives a content the shortest id that is free in its scope, or the id that it has there already, in one transaction:
 * everyone sees ref and bytes, or neither.
 */
export function publish(connection: Connection, claim: Claim, written: Written, stamps: Stamps): Promise<Published> {
  return connection.write(["refs", "blobs", "chunks", "contents", "clock"], async (transaction) => {
    const row = await named(transaction, claim, written, await stamped(transaction, stamps));
    await transaction.objectStore("refs").put(row);
    return { ref: refOfRow(row), loose: await placed(transaction, written) };
  });
}

async function named(transaction: Writing, claim: Claim, { sha256, size }: Written, stamp: number): Promise<RefRow> {
  const key = scopeKey(claim.scope);
  for (const id of idsFor(claim.namespace, sha256)) {
    const row = await transaction.objectStore("refs").get([key, id]);
    if (!row) return rowOf(refOf(claim, id, sha256, size), { created: stamp, stored: stamp, used: stamp });
    if (row.sha256 !== sha256) continue;
    const patch = restated(refOfRow(row), claim);
    return { ...(patch ? patchedRow(row, patch) : row), stored: stamp, used: stamp };
  }
  throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
}

/** Has the blob point at the bytes, unless it has sound ones. */
async function placed(transaction: Writing, written: Written): Promise<readonly string[]> {
  const { sha256, size, content, bytes } = written;
  const blobs = transaction.objectStore("blobs");
  const there = await blobs.get(sha256);
  if (there?.damaged === false) return bytes === undefined ? [content] : [];
  if (bytes === undefined) await mustBeThere(transaction, content);
  else if (size > 0) await transaction.objectStore("chunks").put(exact(bytes), [content, 0]);
  await blobs.put({ sha256, size, content, damaged: false });
  return there ? [there.content] : [];
}
