/**
 * Empties a folder, whatever a tool made of it, and touches nothing outside of it.
 * @module
 */
import { randomUUID } from "node:crypto";
import { opendir, rename, rmdir, unlink } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import type { OpenFolder } from "./open-folder.js";

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
