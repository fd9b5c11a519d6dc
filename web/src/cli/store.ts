/**
 * The store a command works on.
 * @module
 */
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { ArtifactStore } from "../artifacts/store.js";
import { FileArtifactStore } from "../artifacts/file/file-store.js";
import { Folder } from "../artifacts/file/folder.js";
import { checkPrivate } from "../artifacts/file/plain.js";
import { MemoryArtifactStore } from "../artifacts/memory.js";
import { PrivateFolder } from "../artifacts/private-folder.js";
import { SluiceError } from "../errors/error.js";
import { storageError, systemCode } from "../errors/storage.js";
import { CommandError, Exit, systemReason, UsageError } from "./exit.js";
import { storeFolder } from "./store-folder.js";
import { printable } from "./terminal.js";

/** Opens `--store` to put artifacts into: a folder, or `memory` where nothing needs to be kept. */
export function openStore(where: string | undefined): ArtifactStore {
  return where === "memory" ? new MemoryArtifactStore() : new FileArtifactStore(storeFolder(where));
}

/** Opens `--store` to look at what earlier commands put there. A folder that is not there yet is an empty store. */
export async function openKeptStore(where: string | undefined): Promise<FileArtifactStore> {
  if (where === "memory") throw new UsageError("a memory store is gone when its command ends; give --store DIR");
  const folder = storeFolder(where);
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return new FileArtifactStore(folder);
  throw new CommandError(Exit.read, `${printable(folder)} is a file; a store is a folder`);
}

/**
 * Makes `--store` a store that artifacts can be put into, for programs that run long before they put the first. A full
 * disk is none of its business: that may be another matter by then.
 *
 * Throws CommandError, exit 2, with a sentence that names the folder and the remedies, of which `otherwise` is the second; the first is
 * another value of `option`.
 */
export async function prepareStore(
  where: string | undefined,
  otherwise = "--store session for one that goes at the end",
  option = "--store",
): Promise<void> {
  if (where === "memory") return;
  const path = storeFolder(where);
  const folder = new Folder(path, false);
  await usable(path, `${option} DIR, or ${otherwise}`, async () => folder.discard(await folder.temporary()));
}

/** Refuses in the same way a folder that stores are to lie in, where others may write to it. */
export async function checkStoresFolder(where: string, otherwise: string): Promise<void> {
  const path = storeFolder(where);
  await usable(path, `--store DIR, or ${otherwise}`, () => checkPrivate(path));
}

async function usable(path: string, remedy: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (storageError(error, "write").code === "E_STORE_FULL") return;
    const why = await reasonAgainst(path, error, remedy);
    throw new CommandError(Exit.usage, `cannot use the store ${printable(path)}: ${why}`, { cause: error });
  }
}

/** Errors of the store's own say what to do, those of the system do not. */
async function reasonAgainst(path: string, cause: unknown, remedy: string): Promise<string> {
  if (cause instanceof SluiceError)
    return cause.message.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
  const found = await stat(path).catch(() => undefined);
  let reason = systemReason(cause);
  if (found !== undefined && !found.isDirectory()) reason = "it is a file, and a store is a folder";
  else if (systemCode(cause) === "ENOENT")
    reason = found === undefined ? "the folder cannot be made" : "nothing can be put into the folder";
  return `${reason}; name a folder that can be written with ${remedy}`;
}

/**
 * A folder that goes when the program does. `use` says in the error what it is for, `otherwise` what else there is.
 *
 * Throws CommandError, exit 2, where the system's folder for temporary files takes none.
 */
export async function sessionFolder(use: string, otherwise: string): Promise<PrivateFolder> {
  try {
    return await PrivateFolder.open("session");
  } catch (error) {
    const sentence = `cannot make a folder in ${printable(tmpdir())}${use}: ${systemReason(error)}`;
    throw new CommandError(Exit.usage, `${sentence}; name another in TMPDIR, or ${otherwise}`, { cause: error });
  }
}
