/**
 * What is wrong with a source's configuration, or with the document that it names.
 * @module
 */
import { ToolNodeError } from "../errors.js";

/** An error that trying again does not mend. */
export function wrong(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_CONFIG", category: "non_retryable" });
}

/** Something that we cannot do. */
export function unsupported(message: string): ToolNodeError {
  return new ToolNodeError(message, { code: "E_TOOL_UNSUPPORTED", category: "non_retryable" });
}
