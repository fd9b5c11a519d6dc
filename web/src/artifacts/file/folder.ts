/**
 * A store folder: made when first written to, checked before it is used.
 * @module
 */
import { lstat, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { BLOB, FILE_MODE, FOLDER_MODE, Layout, REF } from "./layout.js";
import { temporaryName } from "./owner.js";
import { isPlainFolder, orNull, readPlain } from "./plain.js";

const MARKER = { sluice: "artifact store", version: 1 } as const;
const MAX_MARKER = 4096;
const MAX_CHECKED = 4096;

/** A folder inside `tmp`, on its way to become a ref. */
export interface Temporary {
  readonly folder: string;
  readonly blob: string;
  readonly ref: string;
}

/** Layout and safety of one store folder. */
export class Folder {
  readonly at: Layout;
  /** Whether to wait for the disk, see `FileStoreOptions.durable`. */
  readonly durable: boolean;
  #ready: Promise<void> | undefined;
  #present = false;
  readonly #checked = new Set<string>();

  constructor(root: string, durable: boolean) {
    this.at = new Layout(root);
    this.durable = durable;
  }

  /**
   * Whether the folder is marked as a store.
   *
   * @throws SluiceError E_STORE_READ when a newer Sluice made it; E_STORE_CORRUPT when the marker is no marker.
   */
  async isStore(): Promise<boolean> {
    const text = await orNull(readPlain(this.at.marker, MAX_MARKER));
    if (text === null) return false;
    checkMarker(text);
    for (const room of this.at.rooms) await this.check(room);
    return true;
  }

  /** The same, asked once: for everything but a purge. */
  async present(): Promise<boolean> {
    this.#present ||= await this.isStore();
    return this.#present;
  }

  /** Makes the folder a store if it is not one yet. */
  async ready(): Promise<void> {
    this.#ready ??= this.#prepare();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Forgets what was checked, after the folder was emptied. */
  forget(): void {
    this.#ready = undefined;
    this.#present = false;
    this.#checked.clear();
  }

  /** Whether a folder inside is there, refusing links. Asks the disk once for each folder found. */
  async check(path: string): Promise<boolean> {
    if (this.#checked.has(path)) return true;
    if (!(await isPlainFolder(path))) return false;
    if (this.#checked.size >= MAX_CHECKED) this.#checked.clear();
    this.#checked.add(path);
    return true;
  }

  /** The same for a folder that may be another one the next time, such as a ref's. */
  glance(path: string): Promise<boolean> {
    return isPlainFolder(path);
  }

  /** Makes a folder inside; it may be there, or come into being meanwhile. */
  async make(path: string): Promise<void> {
    if (await made(path)) await this.sync(dirname(path));
    await this.check(path);
  }

  async temporary(): Promise<Temporary> {
    await this.ready();
    const folder = join(this.at.temporaries, temporaryName());
    if ((await orNull(mkdir(folder, { mode: FOLDER_MODE }).then(() => true))) === null) {
      this.forget(); // another process purged the store
      await this.ready();
      await mkdir(folder, { mode: FOLDER_MODE });
    }
    return { folder, blob: join(folder, BLOB), ref: join(folder, REF) };
  }

  /** Removes a temporary. What cannot be removed now is swept later. */
  async discard(temporary: string): Promise<void> {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Waits until files, and the names in folders, are on the disk, if the store is to be durable. */
  async sync(...paths: readonly string[]): Promise<void> {
    if (!this.durable) return;
    for (const path of paths) {
      const handle = await open(path, "r").catch(unlessFolderOfWindows);
      if (!handle) continue;
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }

  async #prepare(): Promise<void> {
    if (!(await this.isStore())) await this.#mark();
    for (const room of this.at.rooms) await this.make(room);
    await this.sync(this.at.root);
  }

  /** A folder of someone else's that has rooms of these names is not taken over: `purge` would empty it. */
  async #mark(): Promise<void> {
    await makeFolders(this.at.root);
    for (const room of this.at.rooms) {
      if ((await isPlainFolder(room)) && !(await this.isStore())) throw occupied();
    }
    try {
      await writeFile(this.at.marker, `${JSON.stringify(MARKER)}\n`, { flag: "wx", mode: FILE_MODE });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

/** False when it was there. */
async function made(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    return false;
  }
}

function checkMarker(text: string): void {
  const version = /^\{"sluice":"artifact store","version":(\d{1,6})\}\s*$/.exec(text)?.[1];
  // Another process may be between making the marker and writing it.
  if (text === "" || Number(version) === MARKER.version) return;
  if (version === undefined) {
    throw new SluiceError("E_STORE_CORRUPT", "The folder's sluice-store.json is not a store's: name another folder.");
  }
  throw new SluiceError("E_STORE_READ", "A newer Sluice made this store: update, or name another folder.");
}

function occupied(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "The folder is not a Sluice store and holds blobs, refs or tmp already: name a new or empty folder.",
  );
}

/** Windows writes folders through, and opens none. */
function unlessFolderOfWindows(error: unknown): null {
  if (process.platform === "win32" && systemCode(error) === "EISDIR") return null;
  throw error;
}

/** Makes a folder, and those that it is in, where they are missing. */
export async function makeFolders(folder: string): Promise<void> {
  // Not `recursive`: where a parent lies on a file system that takes no folders, that never comes back.
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
