/**
 * Opens files that tools wrote. The open file is checked, and exactly that is read.
 * @module
 */
import type { BigIntStats } from "node:fs";
import { lstat, open, opendir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../../errors/error.js";
import { systemCode } from "../../errors/storage.js";
import type { OutputFile } from "../options.js";
import { showPath, type PathRefusal } from "./errors.js";
import { READ, type OpenFolder } from "./open-folder.js";

const MAX_PATH = 4096;
const MAX_DEPTH = 64;
const CHUNK = 64 * 1024;
/** Linux appends this to the path of a deleted open file, so no file may have such a name. */
const DELETED = " (deleted)";

/** The components of a path under one of the prefixes. Throws Refused. */
export function splitPath(path: string, prefixes: readonly string[], separator: RegExp): readonly string[] {
  if (path.length > MAX_PATH || path.includes("\0")) throw new Refused("malformed");
  const prefix = prefixes.find((each) => path.startsWith(each));
  if (prefix === undefined) throw new Refused("outside");
  const names = path.slice(prefix.length).split(separator);
  if (names.includes("..")) throw new Refused("outside");
  const segments = names.filter((name) => name !== "" && name !== ".");
  if (segments.length === 0) throw new Refused("not_a_file");
  if (segments.length > MAX_DEPTH || segments.at(-1)?.endsWith(DELETED) === true) throw new Refused("malformed");
  return segments;
}

/** The reason why a path is refused. The workspace converts it to an InvalidPathError. */
export class Refused extends Error {
  readonly reason: PathRefusal;

  constructor(reason: PathRefusal) {
    super(reason);
    this.reason = reason;
  }
}

/** Opens a file by its path components. Throws Refused, and the system's ENOENT. */
export async function openInside(
  root: OpenFolder,
  segments: readonly string[],
): Promise<{ readonly file: FileHandle; readonly size: number }> {
  let parent: OpenFolder | undefined;
  try {
    // From one open folder to the next, so that none of them can be a link or become one.
    for (const segment of segments.slice(0, -1)) {
      const next: OpenFolder = await (parent ?? root).folder(segment);
      await parent?.[Symbol.asyncDispose]();
      parent = next;
    }
    const file = await open((parent ?? root).at(segments.at(-1)), READ);
    return { file, size: await checkSize(file, parent ?? root, join(root.path, ...segments)) };
  } catch (error) {
    throw toRefusal(error);
  } finally {
    await parent?.[Symbol.asyncDispose]();
  }
}

/** The size of a plain file with this path and no other. Closes the file on error. */
async function checkSize(file: FileHandle, parent: OpenFolder, path: string): Promise<number> {
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw new Refused("not_a_file");
    if (stat.nlink > 1n) throw new Refused("hard_link");
    const isThere = parent.isAnchored ? await isNamed(file, parent, path) : await isFound(stat, path);
    if (!isThere) throw new Refused("changed");
    return Number(stat.size);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Linux: whether the file that is open has this very name, and had it when its names were counted. Linux takes a name from the
 * count first and marks it as gone then, but holds the folder for both: who has listed the folder since sees the mark.
 */
async function isNamed(file: FileHandle, parent: OpenFolder, path: string): Promise<boolean> {
  const listing = await opendir(parent.at());
  await listing.read();
  await listing.close();
  return (await readlink(`/proc/self/fd/${file.fd}`)) === path;
}

/** Without `/proc`: whether the path leads to the file without a link, as far as can be seen. */
async function isFound({ ino, dev }: Pick<BigIntStats, "ino" | "dev">, path: string): Promise<boolean> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  if (found?.ino !== ino || found.dev !== dev || found.nlink !== 1n) return false;
  return (await realpath(path).catch(() => undefined)) === path;
}

/** Converts system errors about the path to Refused. */
function toRefusal(error: unknown): unknown {
  const code = systemCode(error);
  if (code === "ELOOP" || code === "ENOTDIR") return new Refused("link");
  if (code === "ENXIO" || code === "ENODEV" || code === "EISDIR") return new Refused("not_a_file");
  if (code === "EACCES" || code === "EPERM") return new Refused("unreadable");
  return code === "ENAMETOOLONG" || code === "EINVAL" ? new Refused("malformed") : error;
}

/** An open file to hand out. */
export function outputFile(file: FileHandle, size: number): OutputFile {
  return { size_bytes: size, stream: () => streamBytes(file, size), [Symbol.asyncDispose]: () => file.close() };
}

function streamBytes(file: FileHandle, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller): Promise<void> => {
        const chunk = new Uint8Array(Math.min(CHUNK, size - at));
        const { bytesRead } = chunk.length === 0 ? { bytesRead: 0 } : await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0 && at < size) throw shrunken();
        at += bytesRead;
        if (bytesRead > 0) controller.enqueue(chunk.subarray(0, bytesRead));
        if (at === size) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function shrunken(): SluiceError {
  return new SluiceError("E_TOOL", "The tool shortened its file while it was being read: call it again.");
}

/** The error for a missing file. */
export function missing(path: unknown): SluiceError {
  return new SluiceError(
    "E_NOT_FOUND",
    `There is no file ${JSON.stringify(showPath(path))}, which the tool says it wrote.`,
  );
}
