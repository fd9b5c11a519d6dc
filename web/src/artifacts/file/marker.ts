/**
 * The file that says what a folder is, so that no other folder is taken over.
 * @module
 */
import { lstat, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { FILE_MODE, FOLDER_MODE } from "./layout.js";
import { isPlainFolder, orNull, readPlain } from "./plain.js";

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
