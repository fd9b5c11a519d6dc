/**
 * A folder that stays the same folder while one works in it, whatever its path leads to meanwhile.
 * @module
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, open, opendir, readlink, rename, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";

/** Opens without the right to read: what is unreadable can then be made readable. Linux; Node has no name for it. */
const O_PATH = 0x20_0000;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH;

/** Flags for opening what may be a link or a pipe; Windows has neither, and both are undefined there. */
export const READ: number = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * An open folder. On Linux what is `at` a name is found from the open folder itself, through `/proc/self/fd`, so that neither links nor
 * renames lead elsewhere. Where there is no `/proc` it is found by its path, which was checked before: a program that swaps
 * folders for links at that very moment is not kept out there.
 */
export class OpenFolder implements AsyncDisposable {
  readonly #path: string;
  readonly #handle: FileHandle | undefined;

  private constructor(path: string, handle: FileHandle | undefined) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Opens a folder, and no link to one. Throws what the system throws: ENOTDIR for what is no folder. */
  static async open(path: string, anchored: boolean = process.platform === "linux"): Promise<OpenFolder> {
    if (!anchored) return checked(path, () => new OpenFolder(path, undefined));
    const handle = await open(path, FOLDER);
    const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
    if (real !== undefined) return new OpenFolder(real, handle);
    await handle.close();
    return OpenFolder.open(path, false);
  }

  /** Whether nothing can be swapped beneath it. */
  get isAnchored(): boolean {
    return this.#handle !== undefined;
  }

  /** Where it was when it was opened: for comparing, not for opening. */
  get path(): string {
    return this.#path;
  }

  /** The path to give to the system for what has this name in it; empty: the folder itself. */
  at(name = ""): string {
    return this.#handle === undefined ? join(this.#path, name) : join(`/proc/self/fd/${this.#handle.fd}/`, name);
  }

  /** Opens a folder in it. */
  folder(name: string): Promise<OpenFolder> {
    return OpenFolder.open(this.at(name), this.isAnchored);
  }

  /** Whose it is, and who else may use it. */
  async stat(): Promise<{ readonly uid: number; readonly mode: number }> {
    return this.#handle === undefined ? lstat(this.#path) : this.#handle.stat();
  }

  /** Makes it ours alone. */
  async makePrivate(): Promise<void> {
    // By way of the open folder: a link that took its place is not followed.
    await chmod(this.at(), 0o700);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

async function checked(path: string, opened: () => OpenFolder): Promise<OpenFolder> {
  const found = await lstat(path);
  if (found.isDirectory()) return opened();
  throw Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
}

/** Milliseconds: a program that goes on writing must not keep us for ever. */
const PATIENCE = 60_000;

/**
 * Removes all that is in a folder. Folders in folders are moved up before they are removed: the depth is no matter, and no more
 * than two are open at a time. Throws SluiceError E_STORE_WRITE where it does not become empty, and what the system throws.
 */
export async function emptied(folder: OpenFolder, patience: number = PATIENCE): Promise<void> {
  const deadline = performance.now() + patience;
  // What is moved up while the folder is being listed may come in this turn, or in the next.
  while (await turn(folder, deadline)) if (performance.now() > deadline) throw endless();
}

/** Whether there was something to remove. */
async function turn(folder: OpenFolder, deadline: number): Promise<boolean> {
  let found = false;
  for await (const { name } of await opendir(folder.at())) {
    if (performance.now() > deadline) throw endless();
    found = true;
    await removed(folder, name);
  }
  return found;
}

async function removed(folder: OpenFolder, name: string): Promise<void> {
  if (await isUnlinked(folder.at(name))) return;
  try {
    await using inner = await folder.folder(name);
    await inner.makePrivate();
    for await (const { name: each } of await opendir(inner.at())) {
      if (!(await isUnlinked(inner.at(each)))) await movedUp(inner, each, folder);
    }
    await rmdir(folder.at(name));
  } catch (error) {
    // Somebody made another thing of it: the next turn finds what it is.
    if (!["ENOENT", "ENOTDIR", "ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) throw error;
  }
}

async function movedUp(inner: OpenFolder, name: string, to: OpenFolder): Promise<void> {
  {
    // Whoever may not write into a folder may not move it either.
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
  return new SluiceError("E_STORE_WRITE", "The workspace does not become empty: end the programs that write into it.");
}
