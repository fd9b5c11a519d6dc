/**
 * Plain files and folders: opened, made, marked, and checked to be this user's alone. A store folder may come from anywhere, an
 * archive say, so symbolic links, pipes and oversized files in it are refused, not followed.
 * @module
 */
import { constants, type Stats } from "node:fs";
import { lstat, mkdir, mkdtemp, open, opendir, rmdir, stat, writeFile, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";

/** Folders are for their owner alone. */
export const FOLDER_MODE = 0o700;
/** So are files. */
export const FILE_MODE = 0o600;

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
    const found = await file.stat();
    if (!found.isFile()) throw foreign();
    return { file, size: found.size };
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
  const found = await orNull(lstat(path));
  if (found && !found.isDirectory()) throw foreign();
  return found !== null;
}

/** Names of a folder's entries, without holding them all. Nothing when there is no such folder. */
export async function* namesIn(path: string, pattern: RegExp): AsyncIterable<string> {
  const entries = await orNull(opendir(path));
  if (!entries) return;
  for await (const { name } of entries) if (pattern.test(name)) yield name;
}

/** Removes a folder unless there is something in it. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
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

const VERSION = 1;
const MAX_MARKER = 4096;

/** What a folder is to be. */
export interface Marked {
  /** The marker's path. */
  readonly path: string;
  /** What it says the folder is: `artifact store`. */
  readonly kind: string;
  /** Folders that nobody else's folder may have. */
  readonly rooms: readonly string[];
  /** Said where it has: `The folder is not …: name a new or empty folder.` */
  readonly occupied: string;
}

/**
 * Whether the folder is marked, and nobody else's.
 *
 * @throws SluiceError E_STORE_READ for one of a newer Sluice, E_STORE_CORRUPT for no marker, E_STORE_DENIED for a folder that
 * others may write, or that a link on the way to it leads nowhere.
 */
export async function isMarked(marked: Marked): Promise<boolean> {
  const { path, kind, rooms } = marked;
  const text = await orNull(readPlain(path, MAX_MARKER)).catch(async (error: unknown) => {
    await checkWay(dirname(path));
    throw error;
  });
  if (text === null) {
    await checkWay(dirname(path));
    return false;
  }
  const [, said, version] = /^\{"sluice":"([a-z ]{1,32})","version":(\d{1,6})\}\s*$/.exec(text) ?? [];
  // Another process may be between making the marker and writing it.
  if (text !== "" && said !== kind) {
    throw new SluiceError("E_STORE_CORRUPT", `The folder's ${basename(path)} is not a store's: name another folder.`);
  }
  if (text !== "" && Number(version) !== VERSION) {
    throw new SluiceError("E_STORE_READ", "A newer Sluice made this store: update, or name another folder.");
  }
  await checkPrivate(dirname(path), rooms);
  return true;
}

/** Makes the folder and its marker. Throws SluiceError E_STORE_DENIED for a folder of somebody else's, or that has such rooms. */
export async function mark(marked: Marked): Promise<void> {
  const { path, kind, rooms, occupied } = marked;
  await makeFolders(dirname(path));
  for (const room of rooms) {
    if ((await isPlainFolder(room)) && !(await isMarked(marked))) throw new SluiceError("E_STORE_DENIED", occupied);
  }
  await checkPrivate(dirname(path), rooms);
  try {
    const text = `${JSON.stringify({ sluice: kind, version: VERSION })}\n`;
    await writeFile(path, text, { flag: "wx", mode: FILE_MODE });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Throws where nothing can be at a path: below a file the system's ENOTDIR, E_STORE_DENIED for links that lead nowhere. */
async function checkWay(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      // Not the folder's name alone: a file has nothing in it.
      await stat(`${at}${sep}.`);
      return;
    } catch (error) {
      if (systemCode(error) === "ELOOP") throw misled("leads back to itself: remove it");
      if (systemCode(error) !== "ENOENT") throw error;
      const found = await orNull(lstat(at));
      if (found?.isSymbolicLink() === true) throw misled("leads to a place that does not exist: make that place");
      // Another process made it meanwhile.
      if (found !== null || dirname(at) === at) return;
    }
  }
}

function misled(how: string): SluiceError {
  const message = `The store folder, or a folder above it, is a link that ${how}, or name another folder.`;
  return new SluiceError("E_STORE_DENIED", message);
}

/**
 * Refuses a folder that others may write, or one of these in it: whoever puts a folder in the place of one has what is stored, and
 * chooses what is read. A folder that is not there yet is fine.
 *
 * @throws SluiceError E_STORE_DENIED, also for links that lead nowhere; the system's ENOTDIR for a file, and below one.
 */
export async function checkPrivate(root: string, rooms: readonly string[] = []): Promise<void> {
  await checkWay(root);
  for (const folder of [root, ...rooms]) {
    const found = await orNull(folder === root ? stat(folder) : lstat(folder));
    const objection = found?.isDirectory() === true ? objectionTo(found) : undefined;
    if (objection !== undefined && (await keepsModes(root))) throw new SluiceError("E_STORE_DENIED", objection);
  }
}

const OTHERWISE = "or name another folder: a new one is made for this user alone.";

function objectionTo({ uid, gid, mode }: Stats): string | undefined {
  // Windows has neither.
  const [user, group] = [process.geteuid?.(), process.getegid?.()];
  if (user === undefined) return undefined;
  if (uid !== user) return `The store folder belongs to another user: run as that user, ${OTHERWISE}`;
  // Where each user has a group of their own, what they make is often writable by that.
  const isOwnGroup = gid === group && gid === user;
  if ((mode & (isOwnGroup ? 0o002 : 0o022)) === 0) return undefined;
  return `Other users may write to the store folder: take that right away with chmod 700, ${OTHERWISE}`;
}

/** Whether a file system says truly whose a folder is. Those of Windows, of memory sticks and many networks give all the same modes. */
async function keepsModes(folder: string): Promise<boolean> {
  const probe = await mkdtemp(join(folder, ".sluice-"));
  try {
    const { uid, mode } = await lstat(probe);
    return uid === process.geteuid?.() && (mode & 0o077) === 0;
  } finally {
    await rmdir(probe);
  }
}

// Not `recursive`: where a parent lies on a file system that takes no folders, that never comes back.
async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(folder) === folder || (await exists(dirname(folder)))) throw error;
    await makeFolders(dirname(folder));
    await makeFolders(folder);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await orNull(lstat(path))) !== null;
}
