/**
 * Clearing up, by one collector at a time: what crashes left behind, or everything.
 *
 * The lock keeps two collectors from each making the same room. That nothing wanted is lost does not rest on it: every
 * eviction looks for itself (`evictRef`).
 * @module
 */
import { lstat, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { guarded, systemCode } from "../../errors/storage.js";
import { BLOB, BLOB_NAME, release, SCOPE_NAME, type Folder } from "./folder.js";
import {
  FILE_MODE,
  isStale,
  isTemporaryName,
  namesIn,
  orNull,
  readPlain,
  removeIfEmpty,
  temporaryName,
} from "./plain.js";

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
  const owner = temporaryName();
  if (!(await guarded("write", () => taken(folder, owner)))) return null;
  try {
    return await work();
  } finally {
    await givenBack(folder, owner);
  }
}

/** What came of the work counts for more than a lock that cannot be removed. */
async function givenBack(folder: Folder, owner: string): Promise<void> {
  try {
    if ((await ownerOf(folder)) === owner) await rm(folder.at.lock, { force: true });
  } catch {
    // Others see that its process died, or that it is a day old.
  }
}

async function taken(folder: Folder, owner: string): Promise<boolean> {
  if (await placed(folder, owner)) return true;
  return (await broken(folder)) && placed(folder, owner);
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
async function broken(folder: Folder): Promise<boolean> {
  const owner = await ownerOf(folder);
  const stat = await orNull(lstat(folder.at.lock));
  if (owner === null || !stat) return true;
  // One without a name is of a process that died between making and writing it, or is about to write.
  const age = Math.abs(Date.now() - stat.mtimeMs);
  if (isTemporaryName(owner) ? !isStale(owner, age, 0) : age < WRITTEN) return false;
  await folder.ready();
  const aside = join(folder.at.temporaries, temporaryName());
  if ((await orNull(rename(folder.at.lock, aside).then(() => true))) === null) return true;
  await folder.discard(aside);
  return true;
}

function ownerOf(folder: Folder): Promise<string | null> {
  return orNull(readPlain(folder.at.lock, MAX_OWNER));
}
