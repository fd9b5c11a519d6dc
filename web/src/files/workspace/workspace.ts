/**
 * The one folder of a user in which tools find files and leave files: `/tmp/ada/`.
 * @module
 */
import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { fileName } from "../names.js";
import { MAX_FILE_BYTES, type OutputFile, type UserWorkspace } from "../options.js";
import { coded, FileTooLargeError, InvalidPathError, workspaceError } from "./errors.js";
import { INPUTS } from "../hidden-paths.js";
import { Inputs, unlessThere, type InputFile } from "./inputs.js";
import { emptied, OpenFolder } from "./open-folder.js";
import { missing, openInside, outputFile, Refused, segmentsOf } from "./output.js";

/** How a workspace is opened. */
export interface WorkspaceOptions {
  /** The owner's folder name, as `workspaceName` makes them. */
  readonly name: string;
  /** The folder that workspaces lie in; the system's folder for temporary files when left out. */
  readonly root?: string;
  /** What tools are told in its place; `/tmp` when left out. Without a sandbox it has to be the root itself. */
  readonly shownRoot?: string;
  /** Bytes of the largest file that is taken from tools; 50 GiB when left out. */
  readonly maxBytes?: number;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * A user's folder. It belongs to this process's user alone (mode 0700); links in it are followed nowhere, whoever put them there, and
 * no message has a path of this machine: only what tools are told.
 *
 * On Linux nothing can be swapped between a check and its use. On systems without `/proc` a tool that runs without a sandbox
 * might do so in the moment between the two; what is read there is checked again after it was opened.
 */
export class Workspace implements UserWorkspace {
  /** The folder's name: the `username` that tools are told. */
  readonly name: string;
  /** What paths of this user begin with, for tools and messages: `/tmp/ada/`. */
  readonly prefix: string;
  /** That, and where it is on this machine: no model is to see either. */
  readonly folders: readonly string[];
  /** Where it is on this machine: to start servers with, never for a message. */
  readonly folder: string;
  /** The folder on this machine that it lies in, with those of others. */
  readonly root: string;
  readonly #separator: string;
  readonly #prefixes: readonly string[];
  readonly #maxBytes: number;
  readonly #inputs = new Inputs();

  private constructor(place: Place, options: WorkspaceOptions) {
    const { name, shownRoot = "/tmp", maxBytes = MAX_FILE_BYTES } = options;
    this.#maxBytes = maxBytes;
    this.name = name;
    this.folder = place.folder;
    this.root = dirname(place.folder);
    this.#separator = shownRoot.startsWith("/") ? "/" : sep;
    this.prefix = [shownRoot.replace(/[/\\]+$/, ""), name, ""].join(this.#separator);
    this.folders = [...new Set([this.prefix, place.folder + sep])];
    this.#prefixes = place.isShown ? [this.prefix, place.folder + sep] : [this.prefix];
  }

  /**
   * Makes the folder, or takes the one that was made before.
   *
   * Throws SluiceError E_INVALID_ARGUMENT for a name that is none and for a root in which others can exchange folders;
   * E_STORE_DENIED where something else has the name: a link, a folder of somebody else's, or one with other things in it.
   */
  static async open(options: WorkspaceOptions): Promise<Workspace> {
    const { name, root = tmpdir(), shownRoot = "/tmp" } = options;
    if (!NAME.test(name) || name.endsWith(".")) {
      throw new SluiceError("E_INVALID_ARGUMENT", "A workspace needs a name that workspaceName gave.", {
        path: "name",
      });
    }
    return coded("write", async () => new Workspace(await placeOf(root, name, shownRoot), options));
  }

  /**
   * Puts a user's file where tools read it, unless that very version lies there; gives the path that tools are told. What a tool did
   * to it meanwhile is undone. `open` is called only when the bytes are needed.
   *
   * Throws what `open` and its stream throw, the signal's reason, SluiceError E_STORE_CORRUPT where the bytes are not as many as
   * `size_bytes` says, E_STORE_FULL, E_STORE_WRITE, E_STORE_DENIED.
   */
  async input(file: InputFile, open: () => Promise<ReadableStream<Uint8Array>>, signal?: AbortSignal): Promise<string> {
    const name = fileName(file.name);
    await coded("write", () => this.#inputs.put(() => this.#open(), { ...file, name }, open, signal));
    return `${this.prefix}${INPUTS}${this.#separator}${name}`;
  }

  /**
   * Opens what a tool says it wrote. Close it when it is read.
   *
   * Throws InvalidPathError (E_INVALID_PATH) for everything but a plain file of one name under the prefix, without a link on the way,
   * FileTooLargeError (E_FILE_TOO_LARGE), and SluiceError E_NOT_FOUND.
   */
  async openOutput(path: string): Promise<OutputFile> {
    try {
      if (typeof path !== "string") throw new Refused("malformed");
      const segments = segmentsOf(path, this.#prefixes, sep === "/" ? /\// : /[/\\]/);
      await using root = await this.#open();
      const { file, size } = await openInside(root, segments);
      if (size <= this.#maxBytes) return outputFile(file, size);
      await file.close();
      throw new FileTooLargeError(size, this.#maxBytes);
    } catch (error) {
      if (error instanceof Refused) throw new InvalidPathError(this.#logical(path), `/tmp/${this.name}/`, error.reason);
      if (systemCode(error) === "ENOENT") throw missing(this.#logical(path));
      throw workspaceError(error, "read");
    }
  }

  /**
   * Removes all that is in it, at the session's end: once no tool writes there any more. Follows no link, and removes folders also
   * that were made unreadable. Throws SluiceError E_STORE_WRITE, E_STORE_DENIED.
   */
  async clear(): Promise<void> {
    this.#inputs.forget();
    await coded("write", async () => {
      await using root = await this.#open();
      await emptied(root);
    });
  }

  /** The same as `clear`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
  }

  /** A path as messages have it: not where folders are on this machine, nor whose others are. */
  #logical(path: unknown): unknown {
    if (typeof path !== "string") return path;
    const own = this.folders.find((folder) => path.startsWith(folder));
    if (own !== undefined) return `/tmp/${this.name}/${veiled(path.slice(own.length), false)}`;
    const roots = [this.prefix.slice(0, -this.name.length - 1), this.root + sep];
    const shared = roots.find((folder) => path.startsWith(folder));
    return shared === undefined ? veiled(path, false) : `/tmp/${veiled(path.slice(shared.length), true)}`;
  }

  /** Anew each time: what cleans up temporary folders may have taken it. */
  #open(): Promise<OpenFolder> {
    return openPlace(this.folder);
  }
}

/** A path without the folders that may be named for other users: those beside the user's own, and behind `..`. */
function veiled(path: string, isBeside: boolean): string {
  const names = path.split("/");
  const up = names.indexOf("..");
  const first = isBeside ? 0 : up < 0 ? names.length : up + 1;
  return names.length - first < 2 ? path : [...names.slice(0, first), "…", names.at(-1)].join("/");
}

/** One workspace on this machine. */
interface Place {
  readonly folder: string;
  /** Whether that is also what tools are told. */
  readonly isShown: boolean;
}

const STICKY = 0o1000;
const ANYBODY_WRITES = 0o002;
const OTHERS = 0o077;

/** Makes the folder where there is none. Throws SluiceError E_INVALID_ARGUMENT, E_STORE_DENIED, and what the system throws. */
async function placeOf(root: string, name: string, shownRoot: string): Promise<Place> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const real = await realpath(root);
  const { mode } = await stat(real);
  // Windows has access lists and no such bits.
  if (process.platform !== "win32" && (mode & ANYBODY_WRITES) !== 0 && (mode & STICKY) === 0) throw exchangeable();
  const folder = join(real, name);
  await using opened = await openPlace(folder);
  await checkContents(opened);
  const shown = await realpath(shownRoot).catch(() => undefined);
  return { folder, isShown: shown === real };
}

/** Opens it, and sees that it is ours. Makes it where it has gone. */
async function openPlace(folder: string): Promise<OpenFolder> {
  await mkdir(folder, { mode: 0o700 }).catch(unlessThere);
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
  await mkdir(folder.at(INPUTS), { mode: 0o700 }).catch(unlessThere);
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
