/**
 * What a call is answered with that is not made, in the shape of the specification's errors (user storage §12).
 * @module
 */
import type { SluiceError } from "../errors/error.js";
import { errorResult, type ErrorResult } from "../tools/user-files/handling.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";

/** A file that there is not: E_NOT_FOUND, with the names that were probably meant. */
export function notFoundResult(name: string, closest: readonly string[]): ErrorResult {
  return errorResult(`There is no file ${JSON.stringify(name)}`, "FileNotFound", "E_NOT_FOUND", {
    filename: name,
    closest,
    suggestion: closest.length > 0 ? "Use one of the closest names" : "Use the name of an available file",
  });
}

/** An argument that is none: E_INVALID_ARGUMENT. */
export function wrongArgumentResult(sentence: string): ErrorResult {
  return errorResult(sentence, "InvalidArgument", "E_INVALID_ARGUMENT", {
    suggestion: "Use the names of available files",
  });
}

/** What a tool did that it may not, in the specification's shape; undefined for any other error. */
export function refusalResult(
  error: unknown,
): { readonly error: SluiceError; readonly value: ErrorResult } | undefined {
  if (error instanceof InvalidPathError) {
    const details = { ...error.details, suggestion: "Use /tmp/{username}/ prefix for file operations" };
    const sentence = "File operation outside allowed directory";
    return { error, value: errorResult(sentence, "SecurityViolation", "E_INVALID_PATH", details) };
  }
  if (error instanceof FileTooLargeError) {
    const details = { ...error.details, suggestion: "Consider generating summary or using chunked processing" };
    const sentence = "Generated file exceeds processing limits";
    return { error, value: errorResult(sentence, "FileSizeExceeded", "E_FILE_TOO_LARGE", details) };
  }
  return undefined;
}
