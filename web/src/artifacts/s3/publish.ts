/**
 * Making bytes an artifact.
 *
 * Bytes are written before the ref that names them, each time under a name of their own, and go after it: so no ref ever
 * names what is not there, whoever stores and deletes the same at once.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { idsFor } from "../ids.js";
import { copyOf, patched, refOf, restated, type Claim } from "../record.js";
import type { Stamps } from "../stamps.js";
import type { ArtifactRef } from "../store.js";
import { again, AGAIN } from "./again.js";
import type { Bucket } from "./bucket.js";
import { blobKey, refKey } from "./layout.js";
import type { RefRecord } from "./ref-object.js";
import { lookUp, stampedAfter, write, type Found, type Place } from "./refs.js";

/** Bytes that are to be an artifact. */
export interface Content {
  readonly sha256: string;
  readonly size: number;
  /** The name of their blob; writes it, where that was not done yet. */
  place(): Promise<string>;
  /** Says whether a ref may name the blob from now on. */
  named(may: boolean): void;
}

/** What came of publishing: the ref, and a blob that no ref names any more. */
export interface Published {
  readonly ref: ArtifactRef;
  readonly loose: string | null;
}

/** The id is another content's, or one that somebody who died was deleting. */
const TAKEN: unique symbol = Symbol("taken");
/** So often it is waited for who deletes the same. */
const PATIENCE = 14;

/** Gives a content the shortest id that is free in its scope, or the id that it has there already. */
export async function publish(
  bucket: Bucket,
  claim: Claim,
  folder: string,
  content: Content,
  stamps: Stamps,
): Promise<Published> {
  for (const id of idsFor(claim.namespace, content.sha256)) {
    const place: Place = { id, scope: claim.scope, folder, key: refKey(folder, id) };
    const outcome = await again<Published | typeof TAKEN>("write", async (attempt) => {
      const found = await lookUp(bucket, place);
      if (found === null) return created(bucket, claim, place, content, stamps);
      if (found.record.isGone === true) return attempt < PATIENCE ? AGAIN : TAKEN;
      if (found.record.ref.sha256 !== content.sha256) return TAKEN;
      return stored(bucket, claim, found, content, stamps);
    });
    if (outcome !== TAKEN) return outcome;
  }
  throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
}

async function created(
  bucket: Bucket,
  claim: Claim,
  { id, key }: Place,
  content: Content,
  stamps: Stamps,
): Promise<Published | typeof AGAIN> {
  const blob = await content.place();
  const ref = refOf(claim, id, content.sha256, content.size);
  const now = stamps.next();
  content.named(true);
  const wrote = await write(bucket, key, { ref, blob, created: now, stored: now, used: now }, null);
  content.named(wrote !== null);
  return wrote === null ? AGAIN : { ref: copyOf(ref), loose: null };
}

/** Storing the same again: its bytes stay those that are there, unless they are damaged, or somebody took them away. */
async function stored(
  bucket: Bucket,
  claim: Claim,
  found: Found,
  content: Content,
  stamps: Stamps,
): Promise<Published | typeof AGAIN> {
  const { record, key, folder } = found;
  const isThere = record.isDamaged !== true && (await bucket.size(blobKey(folder, record.blob))) === content.size;
  const blob = isThere ? record.blob : await content.place();
  const ref = patched(record.ref, restated(record.ref, claim) ?? {});
  const now = stampedAfter(stamps, record.used);
  const next: Omit<RefRecord, "token"> = { ref, blob, created: record.created, stored: now, used: now };
  if (!isThere) content.named(true);
  const wrote = await write(bucket, key, next, found);
  content.named(wrote !== null && !isThere);
  if (wrote === null) return AGAIN;
  return { ref: copyOf(ref), loose: isThere ? null : record.blob };
}
