/**
 * Plain files and folders of this user: opens, creates, replaces and moves them. A store folder may come from anywhere, such as an
 * archive, so symbolic links, pipes and oversized files are refused.
 * @module
 */
import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { lstat, open, opendir, rename, rm, rmdir, writeFile, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { wrong } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";

/** The mode of folders: only the owner has access. */
export const FOLDER_MODE = 0o700;
/** The same for files. */
export const FILE_MODE = 0o600;
/** Options for writing a file that must not exist yet. */
export const NEW_FILE = { flag: "wx", mode: FILE_MODE } as const;

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
  readonly mode: number;
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
    return { file, size: Number(found.size), mode: Number(found.mode), modified: toMicroseconds(found) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a small plain file. Throws `tooLarge`, E_STORE_CORRUPT by default, if it is longer than `most` bytes. */
export async function readPlain(path: string, most: number, tooLarge?: () => SluiceError): Promise<string> {
  return (await readDated(path, most, tooLarge)).text;
}

/** The same, with when it was last written, in microseconds since 1970. */
export async function readDated(
  path: string,
  most: number,
  tooLarge: () => SluiceError = toOversizedError,
): Promise<{ readonly text: string; readonly modified: number }> {
  const { file, size, modified } = await openPlain(path);
  try {
    if (size > most) throw tooLarge();
    // Not `readFile`, which asks for the size again.
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
    return { text: buffer.toString("utf8", 0, bytesRead), modified };
  } finally {
    await file.close();
  }
}

function toMicroseconds({ mtimeNs }: BigIntStats): number {
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
  return found && toMicroseconds(found);
}

/** The names in a folder, one by one. None if there is no such folder. */
export async function* namesIn(path: string, pattern: RegExp): AsyncIterable<string> {
  const entries = await orNull(opendir(path));
  if (!entries) return;
  for await (const { name } of entries) if (pattern.test(name)) yield name;
}

/** Creates a file. False if something is at the path. */
export async function createFile(path: string, content: string): Promise<boolean> {
  try {
    await writeFile(path, content, NEW_FILE);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Creates a file, and waits until it is on the disk. Throws the system's EEXIST if something is at the path. */
export async function createSynced(
  path: string,
  content: string | Uint8Array,
  mode: number = FILE_MODE,
): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces a file, or creates it, in one step. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await createSynced(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Moves a file or folder. False if it is gone. */
export async function movePath(from: string, to: string): Promise<boolean> {
  return (await orNull(rename(from, to).then(() => true))) !== null;
}

/** Whether a mode gives others one of these rights. Modes of Windows say nothing. */
export function isOpenToOthers(mode: number, rights: number): boolean {
  return process.platform !== "win32" && (mode & rights) !== 0;
}

/** Removes a folder if it is empty. */
export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
}

function toOversizedError(): SluiceError {
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
