/**
 * Plain files and folders: opened, marked, made under names that say who made them. A store folder may come from anywhere, an
 * archive say, so symbolic links, pipes and oversized files in it are refused, not followed.
 * @module
 */
import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, rmdir, writeFile, type FileHandle } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
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

/** Whether the folder is marked. Throws SluiceError E_STORE_READ for one of a newer Sluice, E_STORE_CORRUPT for no marker. */
export async function isMarked({ path, kind }: Marked): Promise<boolean> {
  const text = await orNull(readPlain(path, MAX_MARKER));
  if (text === null) return false;
  const [, said, version] = /^\{"sluice":"([a-z ]{1,32})","version":(\d{1,6})\}\s*$/.exec(text) ?? [];
  // Another process may be between making the marker and writing it.
  if (text === "" || (said === kind && Number(version) === VERSION)) return true;
  if (said !== kind) {
    throw new SluiceError("E_STORE_CORRUPT", `The folder's ${basename(path)} is not a store's: name another folder.`);
  }
  throw new SluiceError("E_STORE_READ", "A newer Sluice made this store: update, or name another folder.");
}

/** Makes the folder and its marker. Throws SluiceError E_STORE_DENIED for a folder of somebody else's that has such rooms. */
export async function mark(marked: Marked): Promise<void> {
  const { path, kind, rooms, occupied } = marked;
  await makeFolders(dirname(path));
  for (const room of rooms) {
    if ((await isPlainFolder(room)) && !(await isMarked(marked))) throw new SluiceError("E_STORE_DENIED", occupied);
  }
  try {
    const text = `${JSON.stringify({ sluice: kind, version: VERSION })}\n`;
    await writeFile(path, text, { flag: "wx", mode: FILE_MODE });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
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

/** How long a temporary is left alone, in milliseconds, even when its owner seems gone. */
export const SWEEP_AFTER: number = 60 * 60 * 1000;
// A process id may have been given to another process since, and other machines cannot be asked.
const SWEEP_ANYWAY = 24 * SWEEP_AFTER;

const NAME = /^([0-9a-f]{8})-([0-9]{1,10})-([0-9a-z]{1,12})-[0-9a-f]{16}$/;
const HOST = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
// In a container every run may have the same process id; when it began tells the runs apart.
const BEGUN = Math.round(Date.now() - process.uptime() * 1000);
/** Milliseconds by which the threads of one process differ about when it began, and the next one begins later. */
const SAME_START = 1000;

/** A name no other process gives. */
export function temporaryName(): string {
  return `${HOST}-${process.pid}-${BEGUN.toString(36)}-${randomBytes(8).toString("hex")}`;
}

/** Whether a name is one that {@link temporaryName} gives. */
export function isTemporaryName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Whether a temporary may be swept: older than an hour and not of a living process, or older than a day.
 *
 * @param age milliseconds since it was last written, or until then where the clock was put back
 */
export function isStale(name: string, age: number, sweepAfter: number = SWEEP_AFTER): boolean {
  const [, host, pid, begun] = NAME.exec(name) ?? [];
  if (host === undefined || Math.abs(age) < sweepAfter) return false;
  return Math.abs(age) >= SWEEP_ANYWAY || (host === HOST && !lives(Number(pid), begun));
}

function lives(pid: number, begun: string | undefined): boolean {
  if (pid === process.pid) return Math.abs(parseInt(begun ?? "", 36) - BEGUN) < SAME_START;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}
