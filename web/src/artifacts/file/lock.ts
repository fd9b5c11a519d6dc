/**
 * One collector at a time, over all processes that share a folder.
 *
 * The lock keeps two collectors from each making the same room. That nothing wanted is lost does not rest on it: every
 * eviction looks for itself (`evictRef`).
 * @module
 */
import { lstat, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { guarded, systemCode } from "../../errors/storage.js";
import type { Folder } from "./folder.js";
import { FILE_MODE } from "./layout.js";
import { isStale, isTemporaryName, temporaryName } from "./owner.js";
import { orNull, readPlain } from "./plain.js";

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
