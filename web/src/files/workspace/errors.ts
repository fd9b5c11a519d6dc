/**
 * Errors of a workspace, with the details of the user storage specification (§12.2, §12.3).
 * @module
 */
import { SluiceError, type ErrorCode } from "../../errors/error.js";
import type { StorageAct } from "../../errors/storage.js";
import { HIDDEN } from "../names.js";

/** Why a path was refused. */
export type PathRefusal =
  /** No folder is accepted: the tool is not on this machine, or users have no folders. */
  | "no_folder"
  /** Outside of the prefix, or `..` leads out of it. */
  | "outside"
  /** Contains NUL, is too long, or is no path. */
  | "malformed"
  /** A component is a symbolic link, or no folder. */
  | "link"
  /** The file has a second hard link, which may be in anybody's folder. */
  | "hard_link"
  /** A folder, device, pipe or socket. */
  | "not_a_file"
  /** Was replaced while it was being opened. */
  | "changed"
  /** The system denies reading it. */
  | "unreadable";

/** Details of a refused path. */
interface InvalidPathDetails {
  /** The tool's path: at most 1,024 characters, without hidden ones. */
  readonly attempted_path: string;
  /** The folder that files are accepted from: `/tmp/ada/`; empty if none is. */
  readonly allowed_prefix: string;
}

/** Details of a file that is too large. */
interface FileTooLargeDetails {
  /** Its size. */
  readonly file_size_bytes: number;
  /** The limit. */
  readonly current_limit_bytes: number;
}

const MAX_SHOWN = 1024;

const WHY: Readonly<Record<PathRefusal, string>> = {
  no_folder: "is a path, but this tool has no folder to take files from",
  outside: "is outside it",
  malformed: "is not a path",
  link: "contains a symbolic link, or something that is not a folder",
  hard_link: "is a file with a second name (a hard link)",
  not_a_file: "is not a file",
  changed: "was replaced while it was being opened",
  unreadable: "cannot be read",
};

/** A tool named a file outside of its folder, or no plain file. Its code is `E_INVALID_PATH`. */
export class InvalidPathError extends SluiceError {
  /** The reason, for logs and tests. */
  readonly reason: PathRefusal;
  /** Details for the specification's error object. */
  readonly details: InvalidPathDetails;

  constructor(path: unknown, prefix: string, reason: PathRefusal) {
    const attempted_path = showPath(path);
    const rule = prefix === "" ? "Files are only taken as b64" : `Files may only be under ${prefix}`;
    super("E_INVALID_PATH", `${rule}: ${JSON.stringify(attempted_path)} ${WHY[reason]}.`);
    this.name = "InvalidPathError";
    this.reason = reason;
    this.details = { attempted_path, allowed_prefix: prefix };
  }
}

/** A file is larger than the limit. Its code is `E_FILE_TOO_LARGE`. */
export class FileTooLargeError extends SluiceError {
  /** Details for the specification's error object. */
  readonly details: FileTooLargeDetails;

  constructor(size: number, limit: number) {
    super("E_FILE_TOO_LARGE", `The file has ${size} bytes, and the limit is ${limit}: make a smaller one.`);
    this.name = "FileTooLargeError";
    this.details = { file_size_bytes: size, current_limit_bytes: limit };
  }
}

/** A tool's path made safe for a message. */
export function showPath(path: unknown): string {
  const text = typeof path === "string" ? path.slice(0, 4 * MAX_SHOWN) : typeof path;
  return text.replace(HIDDEN, "").slice(0, MAX_SHOWN).replace(HIDDEN, "");
}

type Kind = StorageAct | "full" | "denied";

const SYSTEM: Readonly<Record<Kind, readonly [ErrorCode, string]>> = {
  full: ["E_STORE_FULL", "The workspace is full: free some disk space, or use another root."],
  denied: [
    "E_STORE_DENIED",
    "The workspace refused access: see that its folder is this user's own, and on a disk that can be written.",
  ],
  read: ["E_STORE_READ", "The workspace could not be read: check the disk, then try again."],
  write: ["E_STORE_WRITE", "The workspace could not be written to: check the disk, then try again."],
};

const KIND: Readonly<Record<string, Kind>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

/** A system error as a coded error without paths of this machine. Other errors are returned unchanged. */
export function workspaceError(error: unknown, act: StorageAct): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const kind = Object.hasOwn(KIND, code) ? KIND[code] : undefined;
  const [known, message] = SYSTEM[kind ?? act];
  return new SluiceError(known, message, {}, { cause: error });
}

/** Runs `work`, and converts system errors to coded errors. */
export async function convertErrors<T>(act: StorageAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw workspaceError(error, act);
  }
}
