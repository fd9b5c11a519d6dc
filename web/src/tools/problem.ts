/**
 * What is wrong with what a host or a source says, as errors that trying again does not mend.
 * @module
 */
import { ToolNodeError } from "./errors.js";

/** A configuration, or a document that one names, which cannot be used. */
export function wrong(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_CONFIG", category: "non_retryable" });
}

/** Something that we cannot do. */
export function unsupported(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_UNSUPPORTED", category: "non_retryable" });
}
