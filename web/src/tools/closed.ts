/**
 * The end of a source.
 * @module
 */
import { ToolNodeError } from "./errors.js";

/** What is said to whoever uses a source that was closed. */
export function wasClosed(source: string): ToolNodeError {
  return new ToolNodeError(`The source ${source} was closed: connect it again.`, { category: "non_retryable" });
}
