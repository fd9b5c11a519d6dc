/**
 * What a call is answered with that is not made, in the shape of the specification's errors (user storage §12).
 * @module
 */
import type { SluiceError } from "../errors/error.js";
import { invalidPathResult, tooLargeResult } from "../tools/user-files/error-results.js";
import type { ErrorResult } from "../tools/user-files/handling.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";

/** A file that there is not: E_NOT_FOUND, with the names that were probably meant. */
export function notFoundResult(name: string, closest: readonly string[]): ErrorResult {
  return refused(`There is no file ${JSON.stringify(name)}`, "FileNotFound", "E_NOT_FOUND", {
    filename: name,
    closest,
    suggestion: closest.length > 0 ? "Use one of the closest names" : "Use the name of an available file",
  });
}

/** An argument that is none: E_INVALID_ARGUMENT. */
export function wrongArgumentResult(sentence: string): ErrorResult {
  return refused(sentence, "InvalidArgument", "E_INVALID_ARGUMENT", { suggestion: "Use the names of available files" });
}

/** What a tool did that it may not, in the specification's shape; undefined for any other error. */
export function refusalResult(
  error: unknown,
): { readonly error: SluiceError; readonly value: ErrorResult } | undefined {
  if (error instanceof InvalidPathError) {
    const { attempted_path: attemptedPath, allowed_prefix: allowedPrefix } = error.details;
    return { error, value: invalidPathResult({ attemptedPath, allowedPrefix }) };
  }
  if (error instanceof FileTooLargeError) {
    const { file_size_bytes: fileSizeBytes, current_limit_bytes: currentLimitBytes } = error.details;
    return { error, value: tooLargeResult({ fileSizeBytes, currentLimitBytes }) };
  }
  return undefined;
}

function refused(
  error: string,
  reason: string,
  error_code: string,
  details: Readonly<Record<string, unknown>>,
): ErrorResult {
  return { results: { error }, meta_data: { is_error: true, reason, error_code, details, retryable: false } };
}
