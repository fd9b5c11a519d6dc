/**
 * A folder with a marker file that says what it is: made when first written to, checked before it is used.
 * @module
 */
import type { Stats } from "node:fs";
import { lstat, mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { checkLayout, layoutText, MAX_MARKER, type StoreKind } from "../../errors/layout.js";
import { systemCode } from "../../errors/storage.js";
import { createFile, FOLDER_MODE, isPlainFolder, orNull, readPlain } from "./plain-file.js";

interface MarkedFolderDeps {
  /** The marker's path. */
  readonly marker: string;
  readonly kind: StoreKind;
  /** The folders in it. A folder without a marker that has one of them is refused. */
  readonly rooms: readonly string[];
  /** Further folders in it, whose names others may use too. */
  readonly others?: readonly string[];
  /** The message of that error: `The folder is not …: name a new or empty folder.` */
  readonly occupied: string;
}

const MAX_CHECKED = 4096;

/** A folder of this user with a marker, and the folders in it. */
export class MarkedFolder {
  readonly #deps: MarkedFolderDeps;
  readonly #root: string;
  #ready: Promise<void> | undefined;
  #present = false;
  readonly #checked = new Set<string>();

  constructor(deps: MarkedFolderDeps) {
    this.#deps = deps;
    this.#root = dirname(deps.marker);
  }

  /**
   * Whether the folder has the marker.
   *
   * @throws SluiceError E_STORE_READ for a folder of a newer Sluice, E_STORE_CORRUPT for an unreadable marker, E_STORE_DENIED if
   * others may write the folder, if a link in its path leads nowhere, or if something else is in place of a folder in it.
   */
  async isStore(): Promise<boolean> {
    if (!(await this.#isMarked())) return false;
    for (const folder of this.#folders) await this.check(folder);
    return true;
  }

  /** The same, cached once it is true. */
  async present(): Promise<boolean> {
    this.#present ||= await this.isStore();
    return this.#present;
  }

  /** Makes the folder, its marker and the folders in it unless they exist. Throws E_STORE_DENIED if it is not a store's. */
  async ready(): Promise<void> {
    this.#ready ??= this.prepare();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Clears the caches after the folder was emptied. */
  forget(): void {
    this.#ready = undefined;
    this.#present = false;
    this.#checked.clear();
  }

  /** Whether a folder inside exists. Refuses links. Folders that were found are cached. */
  async check(path: string): Promise<boolean> {
    if (this.#checked.has(path)) return true;
    if (!(await isPlainFolder(path))) return false;
    if (this.#checked.size >= MAX_CHECKED) this.#checked.clear();
    this.#checked.add(path);
    return true;
  }

  /** Makes a folder inside. False if it exists. */
  async make(path: string): Promise<boolean> {
    const isNew = await mkdir(path, { mode: FOLDER_MODE }).then(() => true, unlessTaken);
    await this.check(path);
    return isNew;
  }

  protected async prepare(): Promise<void> {
    if (!(await this.isStore())) await this.#mark();
    for (const folder of this.#folders) await this.make(folder);
  }

  get #folders(): readonly string[] {
    const { rooms, others = [] } = this.#deps;
    return [...rooms, ...others];
  }

  async #isMarked(): Promise<boolean> {
    const { marker, kind, rooms } = this.#deps;
    const text = await orNull(readPlain(marker, MAX_MARKER)).catch(async (error: unknown) => {
      await checkWay(this.#root);
      throw error;
    });
    if (text === null) {
      await checkWay(this.#root);
      return false;
    }
    const stranger = `The folder's ${basename(marker)} does not belong to a store: use another folder.`;
    // Another process may have created the marker and not written it yet.
    if (text !== "") checkLayout(text, kind, stranger, "another folder");
    await checkPrivate(this.#root, rooms);
    return true;
  }

  async #mark(): Promise<void> {
    const { marker, kind, rooms, occupied } = this.#deps;
    await makeFolders(this.#root);
    for (const room of rooms) {
      if ((await isPlainFolder(room)) && !(await this.#isMarked())) throw new SluiceError("E_STORE_DENIED", occupied);
    }
    await checkPrivate(this.#root, rooms);
    await createFile(marker, `${layoutText(kind)}\n`);
  }
}

function unlessTaken(error: unknown): false {
  if (systemCode(error) !== "EEXIST") throw error;
  return false;
}

/** Throws if the path cannot exist: the system's ENOTDIR below a file, E_STORE_DENIED for a link that leads nowhere. */
async function checkWay(folder: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    try {
      // With a name inside, so that a file at the path fails.
      await stat(`${at}${sep}.`);
      return;
    } catch (error) {
      if (systemCode(error) === "ELOOP") throw toMisledError("leads back to itself: remove it");
      if (systemCode(error) !== "ENOENT") throw error;
      const found = await orNull(lstat(at));
      if (found?.isSymbolicLink() === true) throw toMisledError("leads to a path that does not exist: create it");
      // Another process has made it meanwhile.
      if (found !== null || dirname(at) === at) return;
    }
  }
}

function toMisledError(how: string): SluiceError {
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
