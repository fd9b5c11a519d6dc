/**
 * Taking artifacts away.
 * @module
 */
import { rename, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isArtifactId } from "../ids.js";
import { scopeKey } from "../scope.js";
import { inMilliseconds } from "../stamps.js";
import type { StoredArtifact } from "../store.js";
import type { Folder } from "./folder.js";
import { temporaryName } from "./owner.js";
import { isTaken, orNull } from "./plain.js";
import { readRef } from "./refs.js";
import { release } from "./share.js";
import { modified } from "./times.js";

/**
 * Deletes a ref, and the blob with its last one. One rename takes the ref away, so of two deletes one is
 * true. Works on a damaged ref too; its blob is then left to `gc`.
 */
export async function removeRef(folder: Folder, key: string, id: string): Promise<boolean> {
  if (!(await isThere(folder, key, id))) return false;
  const recorded = await readRef(folder, key, id).catch(() => null);
  const taken = await takenOut(folder, key, id);
  if (taken === null) return false;
  await disposeOf(folder, key, taken, recorded?.ref.sha256);
  return true;
}

/**
 * Deletes a ref unless it was stored or read since it was seen. One rename takes it out of everyone's reach, and only
 * then its time is asked for the last time: whoever claimed it before that gets it back, whoever comes after that
 * stores it anew.
 */
export async function evictRef(folder: Folder, seen: StoredArtifact): Promise<boolean> {
  const key = scopeKey(seen.scope);
  if (!(await isThere(folder, key, seen.id))) return false;
  const refFolder = folder.at.refFolder(key, seen.id);
  if (!(await isUnused(refFolder, seen))) return false;
  const taken = await takenOut(folder, key, seen.id);
  if (taken === null) return false;
  if (!(await isUnused(taken, seen))) {
    await putBack(folder, taken, refFolder);
    return false;
  }
  await disposeOf(folder, key, taken, seen.sha256);
  return true;
}

async function isThere(folder: Folder, key: string, id: string): Promise<boolean> {
  if (!isArtifactId(id) || !(await folder.check(folder.at.scopeFolder(key)))) return false;
  return folder.glance(folder.at.refFolder(key, id));
}

/** Where the ref's folder is now that nobody finds it; null when someone else was quicker. */
async function takenOut(folder: Folder, key: string, id: string): Promise<string | null> {
  await folder.ready();
  const taken = join(folder.at.temporaries, temporaryName());
  return orNull(rename(folder.at.refFolder(key, id), taken).then(() => taken));
}

async function disposeOf(folder: Folder, key: string, taken: string, sha256: string | undefined): Promise<void> {
  await folder.sync(folder.at.scopeFolder(key));
  await folder.discard(taken);
  if (sha256 !== undefined) await release(folder, sha256);
  await removeIfEmpty(folder.at.scopeFolder(key));
}

async function isUnused(refFolder: string, { used_at }: StoredArtifact): Promise<boolean> {
  const used = await orNull(modified(refFolder));
  return used !== null && inMilliseconds(used) === used_at;
}

/** Only what was stored anew in the meantime makes it needless; whatever else is in the way is told. */
async function putBack(folder: Folder, taken: string, refFolder: string): Promise<void> {
  await folder.make(dirname(refFolder));
  try {
    await rename(taken, refFolder);
  } catch (error) {
    if (!isTaken(error)) throw error;
    await folder.discard(taken);
  }
}

/** Removes a folder unless there is something in it. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}
