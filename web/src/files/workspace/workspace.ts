/**
 * A user's folder, in which tools read and write files: `/tmp/ada/`.
 * @module
 */
import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import { fileName } from "../names.js";
import { MAX_FILE_BYTES, type OutputFile, type UserWorkspace } from "../options.js";
import { convertErrors, FileTooLargeError, InvalidPathError, workspaceError } from "./errors.js";
import { INPUTS } from "../tool-text.js";
import { Inputs, unlessThere, type InputFile } from "./inputs.js";
import { emptyDirectory, OpenFolder } from "./open-folder.js";
import { missing, openInside, outputFile, Refused, splitPath } from "./output.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** Options for opening a workspace. */
export interface WorkspaceOptions {
  /** The owner's folder name, from `workspaceName`. */
  readonly name: string;
  /** The folder that contains workspaces. Default: the system's folder for temporary files. */
  readonly root?: string;
  /** The root's path for tools. Default: `/tmp`. Without a sandbox it must be the root itself. */
  readonly shownRoot?: string;
  /** Largest file that is accepted from tools, in bytes. Default: 50 GiB. */
  readonly maxBytes?: number;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/**
 * A user's folder. Only this process's user has access to it (mode 0700). Links in it are never followed, and messages contain
 * only paths for tools, never those of this machine.
 *
 * On Linux nothing can be replaced between a check and its use. On systems without `/proc`, a tool without a sandbox could do
 * so; there, files are checked again after they were opened.
 */
export class Workspace implements UserWorkspace {
  /** The folder's name, which is the `username` for tools. */
  readonly name: string;
  /** The beginning of this user's paths, for tools and messages: `/tmp/ada/`. */
  readonly prefix: string;
  /** The folder's paths for tools and on this machine. A model must not see them. */
  readonly folders: readonly string[];
  /** The folder's path on this machine, to start servers with. Never part of a message. */
  readonly folder: string;
  /** The folder on this machine that contains all workspaces. */
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
   * Creates the folder, or opens an existing one.
   *
   * @throws SluiceError E_INVALID_ARGUMENT for an invalid name and for a root in which others can replace folders;
   * E_STORE_DENIED if something else has the name: a link, a folder of another user, or one with other content.
   */
  static async open(options: WorkspaceOptions): Promise<Workspace> {
    checkOptionNames(options, "a Workspace", ["maxBytes", "name", "root", "shownRoot"]);
    const { name, root = tmpdir(), shownRoot = "/tmp" } = options;
    if (!NAME.test(name) || name.endsWith(".")) {
      throw new SluiceError("E_INVALID_ARGUMENT", "The name of a workspace must come from workspaceName.", {
        path: "name",
      });
    }
    return convertErrors("write", async () => new Workspace(await preparePlace(root, name, shownRoot), options));
  }

  /**
   * Puts a user's file where tools read it, unless that version is there, and returns the path for tools. Undoes changes by
   * tools. Calls `open` only if the bytes are needed.
   *
   * @throws the errors of `open` and its stream, the signal's reason, SluiceError E_STORE_CORRUPT if the number of bytes is not
   * `size_bytes`, E_STORE_FULL, E_STORE_WRITE, E_STORE_DENIED.
   */
  async input(file: InputFile, open: () => Promise<ReadableStream<Uint8Array>>, signal?: AbortSignal): Promise<string> {
    const name = fileName(file.name);
    await convertErrors("write", () => this.#inputs.put(() => this.#open(), { ...file, name }, open, signal));
    return `${this.prefix}${INPUTS}${this.#separator}${name}`;
  }

  /**
   * Opens a file that a tool wrote. The caller closes it.
   *
   * @throws InvalidPathError (E_INVALID_PATH) unless it is a plain file with one hard link under the prefix and no link leads
   * to it, FileTooLargeError (E_FILE_TOO_LARGE), and SluiceError E_NOT_FOUND.
   */
  async openOutput(path: string): Promise<OutputFile> {
    try {
      if (typeof path !== "string") throw new Refused("malformed");
      const segments = splitPath(path, this.#prefixes, sep === "/" ? /\// : /[/\\]/);
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
   * Deletes everything in it, at the session's end when no tool writes to it any more. Follows no link, and deletes unreadable
   * folders as well. Throws SluiceError E_STORE_WRITE, E_STORE_DENIED.
   */
  async clear(): Promise<void> {
    this.#inputs.forget();
    await convertErrors("write", async () => {
      await using root = await this.#open();
      await emptyDirectory(root);
    });
  }

  /** The same as `clear`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
  }

  /** A path for messages, without the folder's place on this machine and without names of other users. */
  #logical(path: unknown): unknown {
    if (typeof path !== "string") return path;
    const own = this.folders.find((folder) => path.startsWith(folder));
    if (own !== undefined) return `/tmp/${this.name}/${veilFolders(path.slice(own.length), false)}`;
    const roots = [this.prefix.slice(0, -this.name.length - 1), this.root + sep];
    const shared = roots.find((folder) => path.startsWith(folder));
    return shared === undefined ? veilFolders(path, false) : `/tmp/${veilFolders(path.slice(shared.length), true)}`;
  }

  /** Opens the folder each time, since a cleaner of temporary folders may have deleted it. */
  #open(): Promise<OpenFolder> {
    return openPlace(this.folder);
  }
}

/** Hides folders that may be named for other users: siblings of the user's own, and those after `..`. */
function veilFolders(path: string, isBeside: boolean): string {
  const names = path.split("/");
  const up = names.indexOf("..");
  const first = isBeside ? 0 : up < 0 ? names.length : up + 1;
  return names.length - first < 2 ? path : [...names.slice(0, first), "…", names.at(-1)].join("/");
}

/** One workspace on this machine. */
interface Place {
  readonly folder: string;
  /** Whether tools have the same path for it. */
  readonly isShown: boolean;
}

const STICKY = 0o1000;
const ANYBODY_WRITES = 0o002;
const OTHERS = 0o077;

/** Creates the folder if it is missing. Throws SluiceError E_INVALID_ARGUMENT, E_STORE_DENIED, and the system's errors. */
async function preparePlace(root: string, name: string, shownRoot: string): Promise<Place> {
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

/** Opens the folder, or creates it, and checks that it is ours. */
async function openPlace(folder: string): Promise<OpenFolder> {
  await mkdir(folder, { mode: 0o700 }).catch(unlessThere);
  const opened = await OpenFolder.open(folder).catch((error: unknown) => {
    throw systemCode(error) === "ENOTDIR" || systemCode(error) === "ELOOP" ? toPlantedError() : error;
  });
  try {
    const { uid, mode } = await opened.stat();
    if (process.geteuid !== undefined && uid !== process.geteuid()) throw toPlantedError();
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) await opened.makePrivate();
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

/** Refuses a folder with other content, since a workspace is emptied at the end. */
async function checkContents(folder: OpenFolder): Promise<void> {
  const names = await readdir(folder.at());
  if (names.length > 0 && !names.includes(INPUTS)) throw toOccupiedError();
  await mkdir(folder.at(INPUTS), { mode: 0o700 }).catch(unlessThere);
}

function exchangeable(): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    "Anybody can replace folders in the root of the workspaces: use another root, or set its sticky bit.",
    { path: "root" },
  );
}

function toPlantedError(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "Something else has the name of the workspace, such as a link or another user's folder: remove it, or use another root.",
  );
}

function toOccupiedError(): SluiceError {
  return new SluiceError(
    "E_STORE_DENIED",
    "The folder with the name of the workspace has other things in it: remove it, or use another root.",
  );
}
