/**
 * What a workspace refuses, in the words of the user storage specification (§12.2, §12.3).
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { HIDDEN } from "../names.js";

/** Why a path was refused. */
export type PathRefusal =
  /** There is no folder that files are taken from: the tool is not on this machine, or nobody has folders. */
  | "no_folder"
  /** It is not under the prefix, or leads up and out of it. */
  | "outside"
  /** It has a NUL, is too long, or is no path at all. */
  | "malformed"
  /** A part of it is a symbolic link, or no folder. */
  | "link"
  /** The file has a second name, which may be anybody's. */
  | "hard_link"
  /** It is a folder, a device, a pipe or a socket. */
  | "not_a_file"
  /** It became something else while it was being opened. */
  | "changed"
  /** The system does not let it be read. */
  | "unreadable";

/** What is told of a path that was refused. */
export interface InvalidPathDetails {
  /** As the tool said it: at most 1,024 characters, none of them hidden. */
  readonly attempted_path: string;
  /** Where it may write: `/tmp/ada/`; empty where no file is taken by its path. */
  readonly allowed_prefix: string;
}

/** What is told of a file that is too large. */
export interface FileTooLargeDetails {
  /** What it has. */
  readonly file_size_bytes: number;
  /** What it may have. */
  readonly current_limit_bytes: number;
}

const MAX_SHOWN = 1024;

const WHY: Readonly<Record<PathRefusal, string>> = {
  no_folder: "is a path, and this tool has no folder that files are taken from",
  outside: "is outside of it",
  malformed: "is no path",
  link: "has a symbolic link in it, or something that is no folder",
  hard_link: "is a file that has a second name",
  not_a_file: "is no file",
  changed: "became another file while it was being opened",
  unreadable: "cannot be read",
};

/** A tool named a file that it may not name. Its code is `E_INVALID_PATH`. */
export class InvalidPathError extends SluiceError {
  /** Why; for logs and tests. */
  readonly reason: PathRefusal;
  /** What the specification's error object tells. */
  readonly details: InvalidPathDetails;

  constructor(path: unknown, prefix: string, reason: PathRefusal) {
    const attempted_path = shown(path);
    const rule = prefix === "" ? "Files are taken as b64 alone" : `Files may be under ${prefix} alone`;
    super("E_INVALID_PATH", `${rule}: ${JSON.stringify(attempted_path)} ${WHY[reason]}.`);
    this.name = "InvalidPathError";
    this.reason = reason;
    this.details = { attempted_path, allowed_prefix: prefix };
  }
}

/** A tool made a file that is larger than what is taken. Its code is `E_FILE_TOO_LARGE`. */
export class FileTooLargeError extends SluiceError {
  /** What the specification's error object tells. */
  readonly details: FileTooLargeDetails;

  constructor(size: number, limit: number) {
    super("E_FILE_TOO_LARGE", `The file has ${size} bytes, and at most ${limit} are taken: make a smaller one.`);
    this.name = "FileTooLargeError";
    this.details = { file_size_bytes: size, current_limit_bytes: limit };
  }
}

/** A path as it may stand in a message: what a tool says is no more to be trusted than what it writes. */
export function shown(path: unknown): string {
  const text = typeof path === "string" ? path.slice(0, 4 * MAX_SHOWN) : typeof path;
  return text.replace(HIDDEN, "").slice(0, MAX_SHOWN).replace(HIDDEN, "");
}

type Kind = StorageAct | "full" | "denied";

const SYSTEM: Readonly<Record<Kind, readonly [ErrorCode, string]>> = {
  full: ["E_STORE_FULL", "The workspace has no room left: free some disk space, or name another root."],
  denied: [
    "E_STORE_DENIED",
    "The workspace refused access: see that its folder is this user's own, and on a disk that can be written.",
  ],
  read: ["E_STORE_READ", "The workspace could not be read: check the disk, then try again."],
  write: ["E_STORE_WRITE", "The workspace could not be written: check the disk, then try again."],
};

const KIND: Readonly<Record<string, Kind>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

/** What the system refused, as a coded error without a path of this machine; what is no error of the system's as it is. */
export function workspaceError(error: unknown, act: StorageAct): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const kind = Object.hasOwn(KIND, code) ? KIND[code] : undefined;
  const [known, message] = SYSTEM[kind ?? act];
  return new SluiceError(known, message, {}, { cause: error });
}

/** Runs work in a workspace; what the system throws becomes a coded error. */
export async function coded<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw workspaceError(error, act);
  }
}
