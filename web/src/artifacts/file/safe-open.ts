/**
 * Plain files and folders: opens and makes them, and checks that only this user can write them. A store folder may come from
 * anywhere, such as an archive, so symbolic links, pipes and oversized files are refused.
 * @module
 */
import { constants, type BigIntStats, type Stats } from "node:fs";
import { lstat, mkdir, mkdtemp, open, opendir, rmdir, stat, writeFile, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { wrong } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { checkLayout, layoutText, MAX_MARKER, type StoreKind } from "../../errors/layout.js";
import { systemCode } from "../../errors/storage.js";

/** The mode of folders: only the owner has access. */
export const FOLDER_MODE = 0o700;
/** The same for files. */
export const FILE_MODE = 0o600;

// Without O_NONBLOCK, opening a pipe would wait for its other end. Windows has neither flag: there
// both are undefined, which `|` takes for 0.
const FOLLOWING = constants.O_RDONLY | constants.O_NONBLOCK;
const READ = FOLLOWING | constants.O_NOFOLLOW;

/** Whether the system refuses to open a link. Windows does not. */
const REFUSES_LINKS = (constants.O_NOFOLLOW as number | undefined) !== undefined;

/** The absolute path of a folder that a caller names. Throws E_INVALID_ARGUMENT for anything but a string. */
export function folderPath(directory: unknown): string {
  if (typeof directory !== "string") throw wrong("directory", 'the path of a folder, such as "./store"');
  return resolve(directory);
}

/** Whether an error says that nothing is at the path. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Whether a rename failed because its target exists. Windows says EPERM. */
export function isTaken(error: unknown): boolean {
  const code = systemCode(error);
  return code === "ENOTEMPTY" || code === "EEXIST" || (process.platform === "win32" && code === "EPERM");
}

/** Null if an operation finds nothing at its path. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** A plain file that is open for reading. */
interface OpenFile {
  readonly file: FileHandle;
  /** Bytes. */
  readonly size: number;
  /** When it was last written, in microseconds since 1970. */
  readonly modified: number;
}

/**
 * Opens a plain file for reading. Where the system follows links, the path is looked at once the file is open.
 *
 * @throws SluiceError E_STORE_DENIED for anything but a plain file; system errors as they are.
 */
export async function openPlain(path: string, refusesLinks: boolean = REFUSES_LINKS): Promise<OpenFile> {
  const file = await open(path, refusesLinks ? READ : FOLLOWING);
  try {
    const found = await file.stat({ bigint: true });
    if (!found.isFile() || (!refusesLinks && (await lstat(path)).isSymbolicLink())) throw foreign();
    return { file, size: Number(found.size), modified: modifiedIn(found) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads a small plain file.
 *
 * @throws SluiceError E_STORE_CORRUPT if it is longer than `most` bytes.
 */
export async function readPlain(path: string, most: number): Promise<string> {
  return (await readDated(path, most)).text;
}

/** The same, with when it was last written, in microseconds since 1970. */
export async function readDated(
  path: string,
  most: number,
): Promise<{ readonly text: string; readonly modified: number }> {
  const { file, size, modified } = await openPlain(path);
  try {
    if (size > most) throw oversized();
    // Not `readFile`, which asks for the size again.
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
    return { text: buffer.toString("utf8", 0, bytesRead), modified };
  } finally {
    await file.close();
  }
}

function modifiedIn({ mtimeNs }: BigIntStats): number {
  return Number(mtimeNs / 1000n);
}

/**
 * Whether a folder exists.
 *
 * @throws SluiceError E_STORE_DENIED if something else is there, such as a symbolic link to a folder.
 */
export async function isPlainFolder(path: string): Promise<boolean> {
  return (await folderModified(path)) !== null;
}

/**
 * When a folder was last written, in microseconds since 1970. Null if there is none.
 *
 * @throws SluiceError E_STORE_DENIED as {@link isPlainFolder} does.
 */
export async function folderModified(path: string): Promise<number | null> {
  const found = await orNull(lstat(path, { bigint: true }));
  if (found && !found.isDirectory()) throw foreign();
  return found && modifiedIn(found);
}

/** The names in a folder, one by one. None if there is no such folder. */
export async function* namesIn(path: string, pattern: RegExp): AsyncIterable<string> {
  const entries = await orNull(opendir(path));
  if (!entries) return;
  for await (const { name } of entries) if (pattern.test(name)) yield name;
}

/** Removes a folder if it is empty. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}

function oversized(): SluiceError {
  return new SluiceError(
    "E_STORE_CORRUPT",
    "A file in the store is too large to be from Sluice: delete the artifact, or use another store.",
  );
}

function foreign(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "The store folder contains something other than plain files and folders, such as a symbolic link: remove it, or use another store.",
  );
}

/** A folder with a marker file that says what it is. */
export interface Marked {
  /** The marker's path. */
  readonly path: string;
  readonly kind: StoreKind;
  /** The folders in it. A folder without a marker that has one of them is refused. */
  readonly rooms: readonly string[];
  /** The message of that error: `The folder is not …: name a new or empty folder.` */
  readonly occupied: string;
}

/**
 * Whether the folder has the marker.
 *
 * @throws SluiceError E_STORE_READ for a folder of a newer Sluice, E_STORE_CORRUPT for an unreadable marker, E_STORE_DENIED if others
 * may write the folder, or if a link in its path leads nowhere.
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
  const stranger = `The folder's ${basename(path)} does not belong to a store: use another folder.`;
  // Another process may have created the marker and not written it yet.
  if (text !== "") checkLayout(text, kind, stranger, "another folder");
  await checkPrivate(dirname(path), rooms);
  return true;
}

/** Makes the folder and its marker. Throws E_STORE_DENIED if others may write the folder, or if it has such folders already. */
export async function mark(marked: Marked): Promise<void> {
  const { path, kind, rooms, occupied } = marked;
  await makeFolders(dirname(path));
  for (const room of rooms) {
    if ((await isPlainFolder(room)) && !(await isMarked(marked))) throw new SluiceError("E_STORE_DENIED", occupied);
  }
  await checkPrivate(dirname(path), rooms);
  try {
    await writeFile(path, `${layoutText(kind)}\n`, { flag: "wx", mode: FILE_MODE });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/** Throws if the path cannot exist: the system's ENOTDIR below a file, E_STORE_DENIED for a link that leads nowhere. */
async function checkWay(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      // With a name inside, so that a file at the path fails.
      await stat(`${at}${sep}.`);
      return;
    } catch (error) {
      if (systemCode(error) === "ELOOP") throw misled("leads back to itself: remove it");
      if (systemCode(error) !== "ENOENT") throw error;
      const found = await orNull(lstat(at));
      if (found?.isSymbolicLink() === true) throw misled("leads to a path that does not exist: create it");
      // Another process has made it meanwhile.
      if (found !== null || dirname(at) === at) return;
    }
  }
}

function misled(how: string): SluiceError {
  const message = `The store folder, or a folder above it, is a link that ${how}, or use another folder.`;
  return new SluiceError("E_STORE_DENIED", message);
}

/**
 * Refuses a folder if others may write it or one of these folders in it: they could replace folders, and so read and choose what is
 * stored. A missing folder is accepted.
 *
 * @throws SluiceError E_STORE_DENIED, also for links that lead nowhere; the system's ENOTDIR for a file and below one.
 */
export async function checkPrivate(root: string, rooms: readonly string[] = []): Promise<void> {
  await checkWay(root);
  for (const folder of [root, ...rooms]) {
    const found = await orNull(folder === root ? stat(folder) : lstat(folder));
    const objection = found?.isDirectory() === true ? objectionTo(found) : undefined;
    if (objection !== undefined && (await keepsModes(root))) throw new SluiceError("E_STORE_DENIED", objection);
  }
}

const OTHERWISE = "or use another folder: a new one is created for this user only.";

function objectionTo({ uid, gid, mode }: Stats): string | undefined {
  // Windows has neither.
  const [user, group] = [process.geteuid?.(), process.getegid?.()];
  if (user === undefined) return undefined;
  if (uid !== user) return `The store folder belongs to another user: run as that user, ${OTHERWISE}`;
  // On systems with a group for each user, new files are often writable by the group.
  const isOwnGroup = gid === group && gid === user;
  if ((mode & (isOwnGroup ? 0o002 : 0o022)) === 0) return undefined;
  return `Other users can write to the store folder: run chmod 700 on it, ${OTHERWISE}`;
}

/** Whether a file system has real owners and modes. On Windows, memory sticks and many networks all files have the same. */
async function keepsModes(folder: string): Promise<boolean> {
  const probe = await mkdtemp(join(folder, ".sluice-"));
  try {
    const { uid, mode } = await lstat(probe);
    return uid === process.geteuid?.() && (mode & 0o077) === 0;
  } finally {
    await rmdir(probe);
  }
}

// Without `recursive`, which never returns if a parent is on a file system that takes no folders.
async function makeFolders(folder: string): Promise<void> {
  if (await isMade(folder)) return;
  const parent = dirname(folder);
  // Another process may have made the parent meanwhile; or it takes no folders, which the second attempt tells.
  if (parent !== folder && !(await exists(parent))) await makeFolders(parent);
  if (!(await isMade(folder))) await mkdir(folder, { mode: FOLDER_MODE });
}

/** Whether a folder is there, or was made. False if nothing is above it. */
async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return true;
    if (code === "ENOENT") return false;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await orNull(lstat(path))) !== null;
}
