/**
 * What is wrong with a configuration of sources, said with its place and the remedy, and never with the value: that
 * may be a token.
 * @module
 */
import { nearest } from "../../errors/nearest.js";
import { ToolNodeError, type ToolErrorCode } from "../errors.js";

/** Characters of a name that are repeated. */
const MAX_SHOWN = 64;

/** A configuration that cannot be used. Its `path` is the key's, such as `sources[2].retry_policy.max_attempts`. */
export class ToolConfigError extends ToolNodeError {
  /** The key that is wrong; empty for the configuration as a whole. */
  override readonly path: string;

  constructor(path: string, message: string, code: ToolErrorCode = "E_TOOL_CONFIG") {
    super(message, { code, category: "non_retryable" });
    this.name = "ToolConfigError";
    this.path = path;
  }
}

/** `wanted` goes on after "must be". */
export function wrongValue(path: string, wanted: string): ToolConfigError {
  return new ToolConfigError(path, `${named(path)} must be ${wanted}.`);
}

/** `wanted` goes on after "must be". */
export function missingKey(path: string, wanted: string): ToolConfigError {
  return new ToolConfigError(path, `${named(path)} is missing: it must be ${wanted}.`);
}

/** Names the key that was probably meant, or else all that there are. */
export function unknownKey(parent: string, key: string, known: readonly string[]): ToolConfigError {
  const path = below(parent, key);
  const meant = nearest(key.slice(0, MAX_SHOWN).toLowerCase().replaceAll("-", "_"), known);
  const remedy =
    meant === undefined ? `there are ${known.slice(0, -1).join(", ")} and ${known.at(-1)}` : `did you mean ${meant}?`;
  return new ToolConfigError(path, `${named(path)} is not a configuration key: ${remedy}`);
}

/** The path of a member or an element: `sources[2].env`. */
export function below(parent: string, key: string | number): string {
  if (typeof key === "number") return `${parent}[${key}]`;
  const shown = Array.from(key.slice(0, 2 * MAX_SHOWN))
    .slice(0, MAX_SHOWN)
    .join("");
  return parent === "" ? shown : `${parent}.${shown}`;
}

function named(path: string): string {
  return path === "" ? "The configuration" : JSON.stringify(path);
}
