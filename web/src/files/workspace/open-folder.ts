/**
 * An open folder, which stays the same folder even if its path is replaced meanwhile.
 * @module
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, open, opendir, readlink, rename, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";

/** Opens a folder without read permission, so that it can be made readable. Linux; Node has no name for it. */
const O_PATH = 0x20_0000;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH;

/** Flags for opening what may be a link or a pipe. Windows has neither flag; both are undefined there. */
export const READ: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * An open folder. On Linux, names are resolved from the open folder through `/proc/self/fd`, so that neither links nor renames
 * lead elsewhere. Without `/proc`, they are resolved by the folder's path, which was checked before: there, a program that
 * replaces folders by links at that moment is not detected.
 */
export class OpenFolder implements AsyncDisposable {
  readonly #path: string;
  readonly #handle: FileHandle | undefined;

  private constructor(path: string, handle: FileHandle | undefined) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Opens a folder, but no link to one. Throws the system's errors: ENOTDIR for anything else. */
  static async open(path: string, anchored: boolean = process.platform === "linux"): Promise<OpenFolder> {
    if (!anchored) return checkFolder(path, () => new OpenFolder(path, undefined));
    const handle = await open(path, FOLDER);
    const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (real !== undefined) return new OpenFolder(real, handle);
    await handle.close();
    return OpenFolder.open(path, false);
  }

  /** Whether names are resolved from the open folder. */
  get isAnchored(): boolean {
    return this.#handle !== undefined;
  }

  /** Its path when it was opened; for comparison only. */
  get path(): string {
    return this.#path;
  }

  /** A path for the system to a name in it, or to the folder itself. */
  at(name = ""): string {
    return this.#handle === undefined ? join(this.#path, name) : join(`/proc/self/fd/${this.#handle.fd}/`, name);
  }

  /** Opens a folder in it. */
  folder(name: string): Promise<OpenFolder> {
    return OpenFolder.open(this.at(name), this.isAnchored);
  }

  /** Its owner and permissions. */
  async stat(): Promise<{ readonly uid: number; readonly mode: number }> {
    return this.#handle === undefined ? lstat(this.#path) : this.#handle.stat();
  }

  /** Removes all permissions of others. */
  async makePrivate(): Promise<void> {
    // Through the open folder, so that a link in its place is not followed.
    await chmod(this.at(), 0o700);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

async function checkFolder(path: string, opened: () => OpenFolder): Promise<OpenFolder> {
  const found = await lstat(path);
  if (found.isDirectory()) return opened();
  throw Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
}

/** Milliseconds until a folder is given up that a program keeps writing to. */
const TIME_LIMIT = 60_000;

/**
 * Deletes everything in a folder. Nested folders are moved up before they are removed, so that at most two are open at a time
 * at any depth. Throws SluiceError E_STORE_WRITE if it does not become empty, and the system's errors.
 */
export async function emptyDirectory(folder: OpenFolder, timeLimit: number = TIME_LIMIT): Promise<void> {
  const deadline = performance.now() + timeLimit;
  // Folders that are moved up during the listing may appear in this turn or in the next.
  while (await turn(folder, deadline)) if (performance.now() > deadline) throw endless();
}

/** Whether there was something to remove. */
async function turn(folder: OpenFolder, deadline: number): Promise<boolean> {
  let found = false;
  for await (const { name } of await opendir(folder.at())) {
    if (performance.now() > deadline) throw endless();
    found = true;
    await removeEntry(folder, name);
  }
  return found;
}

async function removeEntry(folder: OpenFolder, name: string): Promise<void> {
  if (await isUnlinked(folder.at(name))) return;
  try {
    await using inner = await folder.folder(name);
    await inner.makePrivate();
    for await (const { name: each } of await opendir(inner.at())) {
      if (!(await isUnlinked(inner.at(each)))) await moveUp(inner, each, folder);
    }
    await rmdir(folder.at(name));
  } catch (error) {
    // It was replaced meanwhile: the next turn deletes it.
    if (!["ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) throw error;
  }
}

async function moveUp(inner: OpenFolder, name: string, to: OpenFolder): Promise<void> {
  {
    // A folder can be moved only with write permission.
    await using moved = await inner.folder(name);
    await moved.makePrivate();
  }
  await rename(inner.at(name), to.at(`.${randomUUID()}`));
}

/** False for a folder. */
async function isUnlinked(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return true;
    // Linux says EISDIR, others EPERM.
    if (code === "EISDIR" || code === "EPERM") return false;
    throw error;
  }
}

function endless(): SluiceError {
  return new SluiceError("E_STORE_WRITE", "The workspace cannot be emptied: stop the programs that write into it.");
}
