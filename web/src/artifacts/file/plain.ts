/**
 * Opening what must be a plain file or folder. A store folder may come from anywhere, an archive say, so
 * symbolic links, pipes and oversized files in it are refused, not followed.
 * @module
 */
import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";

// Without O_NONBLOCK, opening a pipe would wait for its other end. Windows has neither flag: there
// both are undefined, which `|` takes for 0.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether a failure means that there is nothing at the path. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Whether a rename failed because there is something at its target. Windows says EPERM, also where it is no folder. */
export function isTaken(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOTEMPTY" || code === "EEXIST" || (process.platform === "win32" && code === "EPERM");
}

/** Gives null where an operation finds nothing at its path. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/**
 * Opens a plain file for reading.
 *
 * @throws SluiceError E_STORE_DENIED for anything that is no plain file; system errors as they are.
 */
export async function openPlain(path: string): Promise<{ readonly file: FileHandle; readonly size: number }> {
  const file = await open(path, READ);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw foreign();
    return { file, size: stat.size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads a plain file that must be small.
 *
 * @throws SluiceError E_STORE_CORRUPT when it is longer than `most` bytes.
 */
export async function readPlain(path: string, most: number): Promise<string> {
  const { file, size } = await openPlain(path);
  try {
    if (size > most) throw oversized();
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/**
 * Whether a folder is there.
 *
 * @throws SluiceError E_STORE_DENIED when something else is, a symbolic link to a folder included.
 */
export async function isPlainFolder(path: string): Promise<boolean> {
  const stat = await orNull(lstat(path));
  if (stat && !stat.isDirectory()) throw foreign();
  return stat !== null;
}

function oversized(): SluiceError {
  return new SluiceError(
    "E_STORE_CORRUPT",
    "A file of the store is larger than a store makes it: delete the artifact, or name another store.",
  );
}

function foreign(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "The store folder holds something that is no plain file or folder, such as a symbolic link: remove it, or name another store.",
  );
}
