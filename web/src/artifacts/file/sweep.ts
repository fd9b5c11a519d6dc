/**
 * Removes what crashes left behind, or the whole store, one collector at a time.
 *
 * The lock only keeps two collectors from evicting twice as much as needed. No artifact in use depends on it: each eviction checks
 * its own ref (`evictRef`).
 * @module
 */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { guardStorage } from "../../errors/storage.js";
import { BLOB_NAME, release, SCOPE_NAME, type Folder } from "./folder.js";
import { sweepNames } from "./names.js";
import { createFile, movePath, namesIn, orNull, readPlain, removeIfEmpty } from "./plain-file.js";
import { readContentHash } from "./refs.js";
import { isOwner, SWEEP_AFTER } from "./temporaries.js";

/** What a sweep removed. */
export interface SweepReport {
  /** Contents without a ref. */
  readonly blobs: number;
  /** Bytes that this freed on the disk. */
  readonly bytes: number;
  /** Unfinished writes and deletes of processes that ended. */
  readonly temporaries: number;
}

/** Removes unfinished writes, then blobs without a link. Readers and writers may work meanwhile. */
export async function sweep(folder: Folder, sweepAfter: number): Promise<SweepReport> {
  const { temporaries, ...left } = await sweepTemporaries(folder, sweepAfter);
  let { blobs, bytes } = left;
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
  await sweepNames(folder);
  return { blobs, bytes, temporaries };
}

/** Removes what processes that died left in `tmp`, and contents that only they held. */
export async function sweepTemporaries(folder: Folder, sweepAfter: number): Promise<SweepReport> {
  const swept = { blobs: 0, bytes: 0, temporaries: 0 };
  await folder.temporaries.sweep(sweepAfter, async (path) => {
    const [content, bytes] = await Promise.all([readContentHash(path), bytesOnlyIn(path)]);
    await folder.remove(path);
    swept.temporaries += 1;
    swept.bytes += bytes;
    const freed = content === null ? null : await release(folder, content);
    if (freed === null) return;
    swept.blobs += 1;
    swept.bytes += freed;
  });
  return swept;
}

/** The bytes of a temporary's files that are not linked elsewhere. */
async function bytesOnlyIn(temporary: string): Promise<number> {
  const own = await orNull(lstat(temporary));
  const names = own?.isDirectory() === true ? ((await orNull(readdir(temporary))) ?? []) : [];
  const files = await Promise.all(names.map((name) => orNull(lstat(join(temporary, name)))));
  return [own, ...files].reduce((sum, file) => sum + (file?.isFile() === true && file.nlink === 1 ? file.size : 0), 0);
}

/**
 * Removes the whole store, and its folder if nothing else is in it.
 *
 * @throws SluiceError E_NOT_FOUND if the folder is not marked as a store.
 */
export async function purge(folder: Folder): Promise<void> {
  if (!(await folder.isStore())) {
    throw new SluiceError("E_NOT_FOUND", "The folder is not a Sluice store, so nothing was deleted: check its path.");
  }
  const { refs, names, blobs, temporaries, lock, marker, root } = folder.at;
  folder.forget();
  // Refs first, so that an interruption leaves no ref without its blob. The marker last.
  for (const path of [refs, names, blobs, temporaries, lock, marker])
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await removeIfEmpty(root);
}

/** Most characters of a lock file that are read. */
const MAX_OWNER = 256;
/** Milliseconds within which a process writes its name into a lock that it made. */
const WRITTEN = 60_000;

/**
 * Runs work while this process holds the lock of the folder. Null if another process holds it.
 *
 * @throws SluiceError E_STORE_DENIED, E_STORE_FULL, … if the lock cannot be made; what the work throws.
 */
export async function exclusively<T>(folder: Folder, work: () => Promise<T>): Promise<T | null> {
  if (!(await guardStorage("read", () => folder.present()))) return work();
  return folder.temporaries.aside(async (aside, owner) => {
    if (!(await guardStorage("write", () => takeLock(folder, owner, aside)))) return null;
    try {
      return await work();
    } finally {
      await giveBack(folder, owner);
    }
  });
}

/** Releases the lock. A failure must not hide the result of the work. */
async function giveBack(folder: Folder, owner: string): Promise<void> {
  try {
    if ((await readOwner(folder)) === owner) await rm(folder.at.lock, { force: true });
  } catch {
    // Others ignore it once its process has ended, or after a day.
  }
}

async function takeLock(folder: Folder, owner: string, aside: string): Promise<boolean> {
  if (await createFile(folder.at.lock, owner)) return true;
  return (await breakLock(folder, aside)) && createFile(folder.at.lock, owner);
}

/** Removes the lock of a process that died. */
async function breakLock(folder: Folder, aside: string): Promise<boolean> {
  const owner = await readOwner(folder);
  const stat = await orNull(lstat(folder.at.lock));
  if (owner === null || !stat) return true;
  if (!(await isLeft(folder, owner, Math.abs(Date.now() - stat.mtimeMs)))) return false;
  // By a rename, so that only one of two processes breaks it.
  await movePath(folder.at.lock, aside);
  return true;
}

async function isLeft(folder: Folder, owner: string, age: number): Promise<boolean> {
  // Without a name, its process died before it wrote it, or is about to write it.
  if (!isOwner(owner)) return age >= WRITTEN;
  if (age >= SWEEP_AFTER) return true;
  const state = await folder.temporaries.stateOf(owner);
  return state === "ended" || state === "gone";
}

function readOwner(folder: Folder): Promise<string | null> {
  return orNull(readPlain(folder.at.lock, MAX_OWNER));
}
