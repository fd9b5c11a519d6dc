/**
 * Where a workspace is: made, found again, and seen to be ours, in a folder that everybody may write to.
 * @module
 */
import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { INPUTS } from "./inputs.js";
import { OpenFolder } from "./open-folder.js";

/** One workspace on this machine. */
export interface Place {
  readonly folder: string;
  /** Whether that is also what tools are told. */
  readonly isShown: boolean;
}

const STICKY = 0o1000;
const ANYBODY_WRITES = 0o002;
const OTHERS = 0o077;

/** Makes the folder where there is none. Throws SluiceError E_INVALID_ARGUMENT, E_STORE_DENIED, and what the system throws. */
export async function placeOf(root: string, name: string, shownRoot: string): Promise<Place> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const real = await realpath(root);
  const { mode } = await stat(real);
  // Windows has access lists and no such bits.
  if (process.platform !== "win32" && (mode & ANYBODY_WRITES) !== 0 && (mode & STICKY) === 0) throw exchangeable();
  const folder = join(real, name);
  await using opened = await openPlace({ folder, isShown: false });
  await checkContents(opened);
  const shown = await realpath(shownRoot).catch(() => undefined);
  return { folder, isShown: shown === real };
}

/** Opens it, and sees that it is ours. Makes it where it has gone. */
export async function openPlace({ folder }: Place): Promise<OpenFolder> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== "EEXIST") throw error;
  });
  const opened = await OpenFolder.open(folder).catch((error: unknown) => {
    throw systemCode(error) === "ENOTDIR" || systemCode(error) === "ELOOP" ? planted() : error;
  });
  try {
    const { uid, mode } = await opened.stat();
    if (process.geteuid !== undefined && uid !== process.geteuid()) throw planted();
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) await opened.makePrivate();
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** A workspace is emptied in the end: a folder with anything else in it must not be taken for one. */
async function checkContents(folder: OpenFolder): Promise<void> {
  const names = await readdir(folder.at());
  if (names.length > 0 && !names.includes(INPUTS)) throw occupied();
  await mkdir(folder.at(INPUTS), { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== "EEXIST") throw error;
  });
}

function exchangeable(): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    "Anybody may exchange folders in the root of workspaces: name another, or set its sticky bit.",
    { path: "root" },
  );
}

function planted(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "Something else has the name of the workspace, such as a link or somebody else's folder: remove it, or name another root.",
  );
}

function occupied(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "The folder that has the name of the workspace has other things in it: remove it, or name another root.",
  );
}
