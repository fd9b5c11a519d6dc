/**
 * Taking artifacts away.
 * @module
 */
import { rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { isArtifactId } from "../ids.js";
import type { Folder } from "./folder.js";
import { temporaryName } from "./owner.js";
import { orNull } from "./plain.js";
import { readRef } from "./refs.js";
import { release } from "./share.js";

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

/** Removes a folder unless there is something in it. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}
