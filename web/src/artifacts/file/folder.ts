/**
 * A store folder: made when first written to, checked before it is used.
 * @module
 */
import { mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../../errors/storage.js";
import { BLOB, FOLDER_MODE, Layout, REF } from "./layout.js";
import { isMarked, mark, type Marked } from "./marker.js";
import { temporaryName } from "./owner.js";
import { isPlainFolder, orNull } from "./plain.js";

const MAX_CHECKED = 4096;
/** `purge` would empty it. */
const OCCUPIED = "The folder is not a Sluice store and holds blobs, refs or tmp already: name a new or empty folder.";

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
  readonly #marked: Marked;
  #ready: Promise<void> | undefined;
  #present = false;
  readonly #checked = new Set<string>();

  constructor(root: string, durable: boolean) {
    this.at = new Layout(root);
    this.durable = durable;
    const { marker: path, rooms } = this.at;
    this.#marked = { path, kind: "artifact store", rooms, occupied: OCCUPIED };
  }

  /**
   * Whether the folder is marked as a store.
   *
   * @throws SluiceError E_STORE_READ when a newer Sluice made it; E_STORE_CORRUPT when the marker is no marker.
   */
  async isStore(): Promise<boolean> {
    if (!(await isMarked(this.#marked))) return false;
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
    if (!(await this.isStore())) await mark(this.#marked);
    for (const room of this.at.rooms) await this.make(room);
    await this.sync(this.at.root);
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

/** Windows writes folders through, and opens none. */
function unlessFolderOfWindows(error: unknown): null {
  if (process.platform === "win32" && systemCode(error) === "EISDIR") return null;
  throw error;
}
