/**
 * Clearing up, by one collector at a time: what crashes left behind, or everything.
 *
 * The lock keeps two collectors from each making the same room. That nothing wanted is lost does not rest on it: every
 * eviction looks for itself (`evictRef`).
 * @module
 */
import { lstat, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { guarded, systemCode } from "../../errors/storage.js";
import { BLOB_NAME, release, SCOPE_NAME, type Folder } from "./folder.js";
import { sweepNames } from "./names.js";
import { FILE_MODE, namesIn, orNull, readPlain, removeIfEmpty } from "./plain.js";
import { contentOf } from "./refs.js";
import { isOwner, SWEEP_AFTER } from "./temporaries.js";

/** What a clean-up removed. */
export interface SweepReport {
  /** Contents that no ref named. */
  readonly blobs: number;
  /** Bytes that this freed on the disk, in contents and in what was unfinished. */
  readonly bytes: number;
  /** Unfinished writes and deletes of processes that are gone. */
  readonly temporaries: number;
}

/** Removes what was left unfinished, then the blobs that nothing links to. Safe beside any reader and writer. */
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

/** Removes what writers and deletes that died left in `tmp`, and the contents that they held as the last. */
export async function sweepTemporaries(folder: Folder, sweepAfter: number): Promise<SweepReport> {
  const swept = { blobs: 0, bytes: 0, temporaries: 0 };
  await folder.temporaries.sweep(sweepAfter, async (path) => {
    const [content, bytes] = await Promise.all([contentOf(path), bytesOnlyIn(path)]);
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

/** Bytes of a temporary's files that have no other name, such as that of a blob which refs share. */
async function bytesOnlyIn(temporary: string): Promise<number> {
  const own = await orNull(lstat(temporary));
  const names = own?.isDirectory() === true ? ((await orNull(readdir(temporary))) ?? []) : [];
  const files = await Promise.all(names.map((name) => orNull(lstat(join(temporary, name)))));
  return [own, ...files].reduce((sum, file) => sum + (file?.isFile() === true && file.nlink === 1 ? file.size : 0), 0);
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
  const { refs, names, blobs, temporaries, lock, marker, root } = folder.at;
  folder.forget();
  // Refs go first: whatever interrupts this, no ref is left without its blob. The marker goes last.
  for (const path of [refs, names, blobs, temporaries, lock, marker])
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await removeIfEmpty(root);
}

/** Characters of a lock that are read. */
const MAX_OWNER = 256;
/** Milliseconds in which whoever made the lock has its name in it. */
const WRITTEN = 60_000;

/**
 * Runs work while this process holds the folder's lock; null when another one does.
 *
 * @throws SluiceError E_STORE_DENIED, E_STORE_FULL, … when there is no way to have the lock; what the work throws.
 */
export async function exclusively<T>(folder: Folder, work: () => Promise<T>): Promise<T | null> {
  if (!(await guarded("read", () => folder.present()))) return work();
  return folder.temporaries.aside(async (aside, owner) => {
    if (!(await guarded("write", () => taken(folder, owner, aside)))) return null;
    try {
      return await work();
    } finally {
      await givenBack(folder, owner);
    }
  });
}

/** What came of the work counts for more than a lock that cannot be removed. */
async function givenBack(folder: Folder, owner: string): Promise<void> {
  try {
    if ((await ownerOf(folder)) === owner) await rm(folder.at.lock, { force: true });
  } catch {
    // Others see that its process has ended, or that it is a day old.
  }
}

async function taken(folder: Folder, owner: string, aside: string): Promise<boolean> {
  if (await placed(folder, owner)) return true;
  return (await broken(folder, aside)) && placed(folder, owner);
}

async function placed(folder: Folder, owner: string): Promise<boolean> {
  try {
    await writeFile(folder.at.lock, owner, { flag: "wx", mode: FILE_MODE });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Takes away the lock of a process that died. */
async function broken(folder: Folder, aside: string): Promise<boolean> {
  const owner = await ownerOf(folder);
  const stat = await orNull(lstat(folder.at.lock));
  if (owner === null || !stat) return true;
  if (!(await isLeft(folder, owner, Math.abs(Date.now() - stat.mtimeMs)))) return false;
  // By a rename, so that of two processes that break it one takes it.
  await orNull(rename(folder.at.lock, aside));
  return true;
}

async function isLeft(folder: Folder, owner: string, age: number): Promise<boolean> {
  // One without a name is of a process that died between making and writing it, or is about to write.
  if (!isOwner(owner)) return age >= WRITTEN;
  if (age >= SWEEP_AFTER) return true;
  const state = await folder.temporaries.stateOf(owner);
  return state === "ended" || state === "gone";
}

function ownerOf(folder: Folder): Promise<string | null> {
  return orNull(readPlain(folder.at.lock, MAX_OWNER));
}
