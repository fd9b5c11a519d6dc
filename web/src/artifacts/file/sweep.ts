/**
 * Clearing up: what crashes left behind, or everything.
 * @module
 */
import { lstat, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import type { Folder } from "./folder.js";
import { BLOB, BLOB_NAME, SCOPE_NAME } from "./layout.js";
import { isStale } from "./owner.js";
import { orNull } from "./plain.js";
import { removeIfEmpty } from "./remove.js";
import { release } from "./share.js";

/** What a clean-up removed. */
export interface Swept {
  /** Contents that no ref named. */
  readonly blobs: number;
  /** Bytes in them. */
  readonly bytes: number;
  /** Unfinished writes and deletes of processes that are gone. */
  readonly temporaries: number;
}

/** Removes stale temporaries, then the blobs that nothing links to. Safe beside any reader and writer. */
export async function sweep(folder: Folder, sweepAfter: number): Promise<Swept> {
  const temporaries = await sweepTemporaries(folder, sweepAfter);
  let blobs = 0;
  let bytes = 0;
  for await (const prefix of namesIn(folder.at.blobs, /^[0-9a-f]{2}$/)) {
    if (!(await folder.check(join(folder.at.blobs, prefix)))) continue;
    for await (const name of namesIn(join(folder.at.blobs, prefix), BLOB_NAME)) {
      const freed = name.startsWith(prefix) ? await release(folder, name) : null;
      if (freed === null) continue;
      blobs += 1;
      bytes += freed;
    }
  }
  for await (const scope of namesIn(folder.at.refs, SCOPE_NAME)) await removeIfEmpty(join(folder.at.refs, scope));
  return { blobs, bytes, temporaries };
}

/** Removes what writers and deletes that died left in `tmp`. */
export async function sweepTemporaries(folder: Folder, sweepAfter: number): Promise<number> {
  let count = 0;
  for await (const name of namesIn(folder.at.temporaries, /./)) {
    const path = join(folder.at.temporaries, name);
    const written = await lastWritten(path);
    if (written === null || !isStale(name, Date.now() - written, sweepAfter)) continue;
    await folder.discard(path);
    count += 1;
  }
  return count;
}

/**
 * Removes the whole store, and its folder if nothing else is in it.
 *
 * @throws SluiceError E_NOT_FOUND when the folder is not marked as a store.
 */
export async function purge(folder: Folder): Promise<void> {
  if (!(await folder.isStore())) {
    throw new SluiceError("E_NOT_FOUND", "The folder is not a Sluice store, so nothing was deleted: check its name.");
  }
  const { refs, blobs, temporaries, lock, marker, root } = folder.at;
  folder.forget();
  // Refs go first: whatever interrupts this, no ref is left without its blob. The marker goes last.
  for (const path of [refs, blobs, temporaries, lock, marker])
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await removeIfEmpty(root);
}

async function lastWritten(path: string): Promise<number | null> {
  const own = await orNull(lstat(path));
  const blob = own?.isDirectory() === true ? await orNull(lstat(join(path, BLOB))) : null;
  return own && Math.max(own.mtimeMs, blob?.mtimeMs ?? 0);
}

/** Names of a folder's entries, without holding them all. Nothing when there is no such folder. */
export async function* namesIn(path: string, pattern: RegExp): AsyncIterable<string> {
  const entries = await orNull(opendir(path));
  if (!entries) return;
  for await (const { name } of entries) if (pattern.test(name)) yield name;
}
