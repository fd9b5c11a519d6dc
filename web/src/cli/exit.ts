/**
 * Exit codes (those of BSD `sysexits.h`), which error or signal leads to which, and the errors of commands.
 * @module
 */
import { SluiceError, type ErrorCode } from "../errors/error.js";

/** The exit codes. */
export const Exit = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** EX_DATAERR: the input is not JSON. */
  data: 65,
  /** EX_NOINPUT: an input cannot be opened or read. */
  input: 66,
  /** EX_UNAVAILABLE: a source of tools cannot be reached or does not answer. */
  unavailable: 69,
  /** EX_CANTCREAT: the store or an output file cannot be written. */
  create: 73,
  /** EX_IOERR: the store cannot be read. */
  read: 74,
  /** EX_NOPERM: a source of tools refuses access, or no user has signed in. */
  refused: 77,
  /** 128 + SIGINT. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

/** What `--help` says about each exit code. */
export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [Exit.ok, "done"],
  [Exit.failure, "failed, for instance because no artifact has that id, or a tool reported an error"],
  [Exit.usage, "the command line or the configuration is wrong; the message says how"],
  [Exit.data, "the input is not JSON; standard output has the error in its place"],
  [Exit.input, "an input cannot be opened or read"],
  [Exit.unavailable, "a source of tools cannot be reached or failed; trying again later may help"],
  [Exit.create, "the store or an output file cannot be written; `transform` still prints the reduced result"],
  [Exit.read, "the store cannot be read"],
  [Exit.refused, "a source of tools refuses the credentials, or one of its variables is not set"],
  [Exit.interrupted, "ended by Ctrl-C (SIGINT)"],
  [Exit.terminated, "ended by SIGTERM"],
];

/** Thrown for an invalid command line; exits 2. */
export class UsageError extends SluiceError {
  /** The command whose help to refer to, e.g. `artifacts get`; empty for the program's own. */
  readonly command: string;

  constructor(message: string, command = "") {
    super("E_USAGE", message);
    this.name = "UsageError";
    this.command = command;
  }
}

/** Thrown with an exit code of its own, if no code of SluiceError implies it. The message goes to standard error. */
export class CommandError extends Error {
  readonly exit: number;

  constructor(exit: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CommandError";
    this.exit = exit;
  }
}

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  E_JSON_SYNTAX: Exit.data,
  E_JSON_DEPTH: Exit.data,
  E_JSON_NUMBER: Exit.data,
  E_JSON_END: Exit.data,
  E_TOO_LARGE: Exit.data,
  E_RESTORE_REFS: Exit.data,
  E_CONFIG_JSON: Exit.usage,
  E_CONFIG_KEY: Exit.usage,
  E_CONFIG_VALUE: Exit.usage,
  E_USAGE: Exit.usage,
  E_STORE_WRITE: Exit.create,
  E_STORE_FULL: Exit.create,
  E_STORE_READ: Exit.read,
  E_STORE_CORRUPT: Exit.read,
  E_TOOL_CONFIG: Exit.usage,
  E_TOOL_AUTH: Exit.refused,
  E_TOOL_CONNECTION: Exit.unavailable,
  E_TOOL_TIMEOUT: Exit.unavailable,
  E_TOOL_SERVER: Exit.unavailable,
  E_TOOL_RATE_LIMIT: Exit.unavailable,
};

/** The exit code for an error. `changesStore`: whether the command writes to the store. */
export function toExitCode(error: unknown, changesStore = false): number {
  if (error instanceof CommandError) return error.exit;
  if (error instanceof SluiceError && error.code === "E_STORE_DENIED") return changesStore ? Exit.create : Exit.read;
  if (error instanceof SluiceError) return BY_CODE[error.code] ?? Exit.failure;
  return Exit.failure;
}

/** The exit code for a result that was printed although the store failed: that of the first failure. */
export function exitCodeOfAnswer([first]: readonly SluiceError[]): number {
  if (first === undefined) return Exit.ok;
  const exit = toExitCode(first, true);
  // Content that is too large for the store is not an error of the input.
  return exit === Exit.data ? Exit.create : exit;
}

/** Whether the input is at fault, so that the error is printed in place of its result. */
export function isDataError(error: unknown): error is SluiceError {
  return error instanceof SluiceError && BY_CODE[error.code] === Exit.data;
}

/** `{"error":{"code":…,"message":…,"line":…,"column":…}}`. `line` replaces the error's own. */
export function errorInPlace(error: SluiceError, line?: number): string {
  return JSON.stringify({ error: { ...error.toJSON(), ...(line !== undefined && { line }) } });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder; give a file",
  ENOTDIR: "part of the path is not a folder",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  ELOOP: "too many symbolic links",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open",
  EADDRINUSE: "another program uses this port",
  EADDRNOTAVAIL: "this machine does not have this address",
  ENOTFOUND: "this host name is unknown",
};

/** The error for an address that cannot be listened on; `remedy` is the option that names another. */
export function cannotListen(exit: number, address: string, remedy: string, error: unknown): CommandError {
  const sentence = `cannot listen on ${address}: ${systemReason(error)}; choose another with ${remedy}`;
  return new CommandError(exit, sentence, { cause: error });
}

/** The reason of a system error, in words. `kind` is what the path should have named. */
export function systemReason(error: unknown, kind: "file" | "folder" = "file"): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `there is no such ${kind}`;
  return (code !== undefined ? REASONS[code] : undefined) ?? message;
}

/** Signals that end a command, and their exit codes. */
const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/**
 * Resolves to the exit code of the first signal. A second signal ends the process at once. With `until`, waits no longer than that
 * is aborted, and signals end the process from then on.
 */
export function awaitSignal(until?: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const forget = (): void => {
      for (const [signal, resolved] of waits) process.off(signal, resolved);
    };
    const waits = [...ENDS].map(([signal, code]) => {
      const resolveSignal = (): void => {
        forget();
        resolve(code);
      };
      return [signal, resolveSignal] as const;
    });
    for (const [signal, resolved] of waits) process.once(signal, resolved);
    until?.addEventListener("abort", forget, { once: true });
  });
}
