/**
 * Tools as their source describes them.
 * @module
 */

/** A JSON Schema, unchanged from the source. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as its source describes it. */
export interface SourceTool {
  /** The source's own name for it. */
  readonly name: string;
  /** Empty if the source gives none. */
  readonly description: string;
  /** Passed on unchanged. */
  readonly input_schema: JsonSchema;
  readonly output_schema?: JsonSchema;
  /** Further metadata (MCP `_meta`). */
  readonly meta?: unknown;
  /** The tool as an MCP server lists it. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** Whether repeating a call is harmless: the tool only reads, or says that it is idempotent. */
  readonly isRepeatable: boolean;
  /** Whether the tool only reads. False if the source does not say. */
  readonly isReadOnly: boolean;
  /** Why the tool cannot be offered. Left out if it can. */
  readonly unfit?: string;
}

/** A tool of the source that is not offered. */
export interface LeftOutTool {
  /** The source's name for it: at most 64 characters, without invisible ones. */
  readonly name: string;
  /** The type of its UTCP call template, if it has one. */
  readonly type?: string;
  /** Why it is not offered. Completes a sentence after "since". */
  readonly reason: string;
}
