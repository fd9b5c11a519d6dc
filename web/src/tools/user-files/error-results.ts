/**
 * The errors of calls that have to do with users' files, as models and programs are told them (user storage §12). Keys stand in
 * the order of the specification.
 * @module
 */
import type { ErrorResult } from "./handling.js";

/** What came of a call that took too long. */
export interface TimeoutDetails {
  /** Of silence. */
  readonly timeoutSeconds: number;
  /** What the source said of its progress last, made fit to be shown; null where it said nothing. */
  readonly lastProgress: string | null;
}

/** A tool was silent for too long: E_TIMEOUT. `last_progress` is null where nothing was reported. */
export function timeoutResult({ timeoutSeconds, lastProgress }: TimeoutDetails): ErrorResult {
  return {
    results: { error: `Tool execution timed out after ${inSeconds(timeoutSeconds)}` },
    meta_data: {
      is_error: true,
      reason: "ExecutionTimeout",
      error_code: "E_TIMEOUT",
      details: {
        timeout_seconds: timeoutSeconds,
        last_progress: lastProgress,
        suggestion: "Consider breaking large operations into smaller chunks or using progress reporting",
      },
      retryable: true,
    },
  };
}

/** Where a tool wanted to read or write, and where it may. */
export interface InvalidPathDetails {
  /** As a person may see it: no path of this machine. */
  readonly attemptedPath: string;
  /** The same of the user's own folder, such as `/tmp/alice/`. */
  readonly allowedPrefix: string;
}

/** A tool named a file that is not its user's: E_INVALID_PATH. */
export function invalidPathResult({ attemptedPath, allowedPrefix }: InvalidPathDetails): ErrorResult {
  return {
    results: { error: "File operation outside allowed directory" },
    meta_data: {
      is_error: true,
      reason: "SecurityViolation",
      error_code: "E_INVALID_PATH",
      details: {
        attempted_path: attemptedPath,
        allowed_prefix: allowedPrefix,
        suggestion: "Use /tmp/{username}/ prefix for file operations",
      },
      retryable: false,
    },
  };
}

/** How large a file is, and may be. */
export interface TooLargeDetails {
  readonly fileSizeBytes: number;
  readonly currentLimitBytes: number;
}

/** A tool made a file that is larger than is taken: E_FILE_TOO_LARGE. */
export function tooLargeResult({ fileSizeBytes, currentLimitBytes }: TooLargeDetails): ErrorResult {
  return {
    results: { error: "Generated file exceeds processing limits" },
    meta_data: {
      is_error: true,
      reason: "FileSizeExceeded",
      error_code: "E_FILE_TOO_LARGE",
      details: {
        file_size_bytes: fileSizeBytes,
        current_limit_bytes: currentLimitBytes,
        suggestion: "Consider generating summary or using chunked processing",
      },
      retryable: false,
    },
  };
}

function inSeconds(seconds: number): string {
  return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
}
