/**
 * The result of a tool.
 * @module
 */
import type { Dialect, Transformed } from "../core/types.js";
import type { ResultDisplay } from "./user-files.js";

/**
 * The result of a tool. `text` is the observation for the model (JSON), or the reduced result if the source's
 * `dialect` is `"mcp"`. `value` is the parsed text: a string, a number, null, an array or an object. With `"mcp"` it is
 * typed as a CallToolResult, which is what MCP servers answer. What other sources and transformers give, and what the
 * tools for resources and artifacts answer, keeps its own form.
 */
export interface ToolResult<D extends Dialect = Dialect> extends Transformed<D> {
  /** Whether the tool reports a failure. The text says which. */
  readonly isError: boolean;
  /** What a viewer should do with the files that the tool made, if the tool says so. Never for a model. */
  readonly display?: ResultDisplay;
}
