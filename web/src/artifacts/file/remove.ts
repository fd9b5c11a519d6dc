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
import { orNull } from "./plain.js";
import { readRef } from "./refs.js";
import { release } from "./share.js";
import { modified } from "./times.js";

/**
 * Deletes a ref, and the blob with its last one. One rename takes the ref away, so of two deletes one is
 * true. Works on a damaged ref too; its blob is then left to `gc`.
 */
export async function removeRef(folder: Folder, key: string, id: string): Promise<boolean> {
  if (!isArtifactId(id)) return false;
  if (!(await folder.check(folder.at.scopeFolder(key))) || !(await folder.glance(folder.at.refFolder(key, id)))) {
    return false;
  }
  const recorded = await readRef(folder, key, id).catch(() => null);
  await folder.ready();
  const taken = join(folder.at.temporaries, temporaryName());
  if ((await orNull(rename(folder.at.refFolder(key, id), taken).then(() => true))) === null) return false;
  await folder.sync(folder.at.scopeFolder(key));
  await folder.discard(taken);
  if (recorded) await release(folder, recorded.ref.sha256);
  await removeIfEmpty(folder.at.scopeFolder(key));
  return true;
}

/**
 * Deletes a ref unless it was stored or read since it was seen. One rename takes it out of everyone's reach, and only
 * then its time is asked for the last time: whoever claimed it before that gets it back, whoever comes after that
 * stores it anew.
 */
export async function evictRef(folder: Folder, seen: StoredArtifact): Promise<boolean> {
  const key = scopeKey(seen.scope);
  if (!isArtifactId(seen.id) || !(await folder.check(folder.at.scopeFolder(key)))) return false;
  const refFolder = folder.at.refFolder(key, seen.id);
  if (!(await folder.glance(refFolder)) || !(await isUnused(refFolder, seen))) return false;
  await folder.ready();
  const taken = join(folder.at.temporaries, temporaryName());
  if ((await orNull(rename(refFolder, taken).then(() => true))) === null) return false;
  if (!(await isUnused(taken, seen))) {
    await putBack(folder, taken, refFolder);
    return false;
  }
  await folder.sync(folder.at.scopeFolder(key));
  await folder.discard(taken);
  await release(folder, seen.sha256);
  await removeIfEmpty(folder.at.scopeFolder(key));
  return true;
}

async function isUnused(refFolder: string, { used_at }: StoredArtifact): Promise<boolean> {
  const used = await orNull(modified(refFolder));
  return used !== null && inMilliseconds(used) === used_at;
}

/** Unless the same was stored anew in the meantime. */
async function putBack(folder: Folder, taken: string, refFolder: string): Promise<void> {
  try {
    await folder.make(dirname(refFolder));
    await rename(taken, refFolder);
  } catch {
    await folder.discard(taken);
  }
}

/** Removes a folder unless there is something in it. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}
