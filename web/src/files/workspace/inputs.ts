/**
 * Puts users' files where tools read them.
 * @module
 */
import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { lstat, mkdir, open, rename, rmdir, unlink, type FileHandle } from "node:fs/promises";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { INPUTS } from "../tool-text.js";
import { emptyDirectory, type OpenFolder } from "./open-folder.js";
import { KeyedQueue } from "../../core/keyed-work.js";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A file for a tool to read. */
export interface InputFile {
  /** A result of `fileName`. */
  readonly name: string;
  /** Identifies the version. */
  readonly id: string;
  /** The exact number of its bytes. */
  readonly size_bytes: number;
}

/** Shows whether a file is unchanged: a process that can write to it cannot set back `ctime`. */
type Identity = Pick<BigIntStats, "dev" | "ino" | "size" | "ctimeNs" | "mtimeNs">;

/** The inputs of one workspace. Remembers which files it put there. */
export class Inputs {
  readonly #known = new Map<string, { readonly id: string; readonly identity: Identity }>();
  /** Two calls may need the same file at once. */
  readonly #turns = new KeyedQueue();

  /** Puts a file there, unless that version is there unchanged. */
  async put(
    root: () => Promise<OpenFolder>,
    file: InputFile,
    opened: () => Promise<ReadableStream<Uint8Array>>,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#turns.take(file.name, () => this.#put(root, file, opened, signal));
  }

  /** Forgets all files, after the folder was emptied. */
  forget(): void {
    this.#known.clear();
  }

  async #put(
    root: () => Promise<OpenFolder>,
    file: InputFile,
    opened: () => Promise<ReadableStream<Uint8Array>>,
    signal?: AbortSignal,
  ): Promise<void> {
    signal?.throwIfAborted();
    await using workspace = await root();
    await using folder = await inputFolder(workspace);
    if (await this.#lies(folder, file)) return;
    this.#known.delete(file.name);
    const identity = await writeInput(folder, file, opened, signal);
    this.#known.set(file.name, { id: file.id, identity });
  }

  async #lies(folder: OpenFolder, { name, id }: InputFile): Promise<boolean> {
    const known = this.#known.get(name);
    if (known?.id !== id) return false;
    const found = await lstat(folder.at(name), { bigint: true }).catch(() => undefined);
    return found !== undefined && isSame(found, known.identity);
  }
}

/** Opens the folder of inputs. Removes what a tool put in its place. */
async function inputFolder(workspace: OpenFolder): Promise<OpenFolder> {
  const folder = await workspace.folder(INPUTS).catch(async (error: unknown) => {
    const code = systemCode(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    if (code === "ENOTDIR") await unlink(workspace.at(INPUTS));
    // Another call may be creating it.
    await mkdir(workspace.at(INPUTS), { mode: 0o700 }).catch(unlessThere);
    return workspace.folder(INPUTS);
  });
  await folder.makePrivate();
  return folder;
}

/** Ignores that something exists already. */
export function unlessThere(error: unknown): void {
  if (systemCode(error) !== "EEXIST") throw error;
}

async function writeInput(
  folder: OpenFolder,
  { name, size_bytes: size }: InputFile,
  opened: () => Promise<ReadableStream<Uint8Array>>,
  signal?: AbortSignal,
): Promise<Identity> {
  const temporary = `.${randomUUID()}`;
  const file = await open(folder.at(temporary), CREATE, 0o600);
  try {
    await fillFile(file, await opened(), size, signal);
    await file.chmod(0o400);
    await replaceFile(folder, temporary, name);
    return await file.stat({ bigint: true });
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

async function fillFile(
  file: FileHandle,
  bytes: ReadableStream<Uint8Array>,
  size: number,
  signal?: AbortSignal,
): Promise<void> {
  const reader = bytes.getReader();
  // Ends a read that waits for bytes.
  const cancelReading = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", cancelReading);
  try {
    signal?.throwIfAborted();
    let left = size;
    for (let next = await reader.read(); next.value !== undefined && left >= 0; next = await reader.read()) {
      left -= next.value.length;
      if (left >= 0) await wholly(file, next.value);
    }
    signal?.throwIfAborted();
    if (left !== 0) throw unlike();
  } finally {
    signal?.removeEventListener("abort", cancelReading);
    cancelReading();
  }
}

async function wholly(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

/** Renames a file to its place, where a tool may have created a folder. */
async function replaceFile(folder: OpenFolder, temporary: string, name: string): Promise<void> {
  try {
    await rename(folder.at(temporary), folder.at(name));
  } catch (error) {
    if (!["EISDIR", "EEXIST", "ENOTEMPTY", "EPERM", "EACCES"].includes(systemCode(error) ?? "")) throw error;
    await clearFolder(folder, name);
    await rename(folder.at(temporary), folder.at(name));
  }
}

async function clearFolder(folder: OpenFolder, name: string): Promise<void> {
  const aside = `.${randomUUID()}`;
  await rename(folder.at(name), folder.at(aside));
  try {
    await using taken = await folder.folder(aside);
    await taken.makePrivate();
    await emptyDirectory(taken);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR") throw error;
    return unlink(folder.at(aside));
  }
  await rmdir(folder.at(aside));
}

function isSame(found: Identity, known: Identity): boolean {
  return (["dev", "ino", "size", "ctimeNs", "mtimeNs"] as const).every((key) => found[key] === known[key]);
}

function unlike(): SluiceError {
  return new SluiceError("E_STORE_CORRUPT", "The stored file has the wrong length: put it again.");
}
