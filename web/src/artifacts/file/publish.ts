/**
 * Making a written blob an artifact.
 * @module
 */
import { lstat, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { idsFor } from "../ids.js";
import { refOf, restated, type Claim } from "../record.js";
import { scopeKey } from "../scope.js";
import type { ArtifactRef } from "../store.js";
import type { Folder, Temporary } from "./folder.js";
import { BLOB, FILE_MODE } from "./layout.js";
import { isAbsent, isTaken, orNull } from "./plain.js";
import { readRef, updateRef, written, type Recorded } from "./refs.js";
import { noteStored } from "./times.js";

/** A content whose bytes are in a temporary already. */
export interface Content {
  readonly sha256: string;
  readonly size: number;
  /** The stamp of its storing, see `Stamps`. */
  readonly stored: number;
}

// Each attempt fails only because another process changed the same ref in between.
const ATTEMPTS = 64;

/**
 * Gives a content the shortest id that is free in its scope, or the id it has there already. One rename
 * makes it visible, and fails when there is something at the id, so no two processes get the same one.
 */
export async function publish(
  folder: Folder,
  temporary: Temporary,
  claim: Claim,
  content: Content,
): Promise<ArtifactRef> {
  for (const id of idsFor(claim.namespace, content.sha256)) {
    const ref = refOf(claim, id, content.sha256, content.size);
    await writeFile(temporary.ref, written({ created: content.stored, ref }), { mode: FILE_MODE });
    await noteStored(temporary.folder, content.stored);
    await folder.sync(temporary.blob, temporary.ref, temporary.folder);
    const stored = await settle(folder, temporary, claim, ref, content.stored);
    if (stored) return stored;
  }
  throw new SluiceError("E_STORE_CORRUPT", "Every id of this content is taken by another: the hash is not sound.");
}

/**
 * The ref that a content has in its scope already, with what the claim says anew; else null. Saves the
 * work of {@link publish}, which gives the same answer.
 */
export async function standing(folder: Folder, claim: Claim, { sha256, stored }: Content): Promise<ArtifactRef | null> {
  if (!(await folder.present())) return null;
  const key = scopeKey(claim.scope);
  for (const id of idsFor(claim.namespace, sha256)) {
    const there = await readOrClear(folder, key, id, sha256);
    if (!there) return null;
    if (there.ref.sha256 === sha256) return restate(folder, key, there.ref, claim, stored);
  }
  return null;
}

/**
 * What stands at an id. Whoever has the content at hand repairs what is damaged there: an unreadable ref, or one of
 * this content whose bytes are not all there, makes way.
 */
async function readOrClear(folder: Folder, key: string, id: string, sha256: string): Promise<Recorded | null> {
  const refFolder = folder.at.refFolder(key, id);
  let seen: Recorded | null = null;
  for (;;) {
    const there = await readRef(folder, key, id).catch(unlessCorrupt);
    if (there === null || (there !== undefined && there.ref.sha256 !== sha256)) return there;
    const blob = there && (await orNull(lstat(join(refFolder, BLOB))));
    if (there && blob?.isFile() === true && blob.size === there.ref.size_bytes) return there;
    // Between the two looks it may have been deleted and stored anew: damaged is what is so twice.
    if (!there || seen?.created === there.created) break;
    seen = there;
  }
  await folder.discard(refFolder);
  return null;
}

/** Undefined for a ref that cannot be read. */
function unlessCorrupt(error: unknown): undefined {
  if (!(error instanceof SluiceError) || error.code !== "E_STORE_CORRUPT") throw error;
}

/**
 * Null when the ref was deleted meanwhile. Noting that it was stored again comes first: from then on no collector takes
 * it for one that nobody wants.
 */
async function restate(
  folder: Folder,
  key: string,
  ref: ArtifactRef,
  claim: Claim,
  stored: number,
): Promise<ArtifactRef | null> {
  if (!(await noteStored(folder.at.refFolder(key, ref.id), stored))) return null;
  const patch = restated(ref, claim);
  return patch ? updateRef(folder, key, ref.id, patch) : ref;
}

/** The ref that stands at the id in the end, or null when another content does. */
async function settle(
  folder: Folder,
  temporary: Temporary,
  claim: Claim,
  ref: ArtifactRef,
  stamp: number,
): Promise<ArtifactRef | null> {
  const key = scopeKey(claim.scope);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await placed(folder, temporary, key, ref.id)) return ref;
    const there = await readOrClear(folder, key, ref.id, ref.sha256);
    if (!there) continue;
    if (there.ref.sha256 !== ref.sha256) return null;
    const stored = await restate(folder, key, there.ref, claim, stamp);
    if (!stored) continue;
    await folder.discard(temporary.folder);
    return stored;
  }
  throw new SluiceError("E_STORE_WRITE", "The artifact is being stored and deleted at the same time: try again.");
}

async function placed(folder: Folder, temporary: Temporary, key: string, id: string): Promise<boolean> {
  const scopeFolder = folder.at.scopeFolder(key);
  try {
    if (!(await folder.check(scopeFolder))) await folder.make(scopeFolder);
    await rename(temporary.folder, folder.at.refFolder(key, id));
    await folder.sync(scopeFolder);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    if (!isAbsent(error)) throw error;
    // The last delete in a scope takes its folder away. When the temporary is gone, this fails too.
    await folder.make(scopeFolder);
    return false;
  }
}
