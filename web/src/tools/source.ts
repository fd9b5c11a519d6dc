/**
 * The interface between a ToolNode and a source: MCP, HTTP, UTCP, a command.
 * @module
 */
import type { Dialect, GatedResult } from "../core/types.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { ToolContext, ToolProgress } from "./context.js";
import type { LeftOutTool, PromptConnection, ResourceConnection, SourceTool } from "./source-features.js";

/** One attempt at a call. */
export interface SourceCall {
  /** The source's own name for the tool. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The dialect of the result: `mcp` if a transformer or the host processes it further. */
  readonly dialect: Dialect;
  /** Results up to this many bytes are also kept in their original form, see `TransformOptions.keepOriginal`. */
  readonly keepOriginal: number;
  /** Whether small images stay in the result, for a model that sees them. Defaults to false. */
  readonly showImages?: boolean;
  /** The owner of the artifacts. */
  readonly scope: ArtifactScope;
  /** Cancels the attempt, also at the source. */
  readonly signal: AbortSignal;
  /** Called when bytes of the answer arrive. Restarts the time limit. */
  readonly alive?: () => void;
  /** Called with progress. Restarts the time limit. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Asks a person on behalf of the source. An error that it throws ends the call. If left out, questions are declined. */
  readonly pause?: NonNullable<ToolContext["pause"]>;
  /**
   * Runs work that the source is not responsible for, such as asking a person. The time limit is paused meanwhile; an
   * error ends the attempt. If left out, the work just runs.
   */
  readonly unhurried?: <T>(work: () => Promise<T>) => Promise<T>;
  /** The trace context for the source, if the call is traced: members of `_meta` in MCP. */
  readonly traceContext?: Readonly<Record<string, string>>;
}

/** The outcome of an attempt. */
export interface SourceResult {
  /** The result behind the gate. The receiver disposes of it. */
  readonly gated: GatedResult;
  /** Whether the tool reports a failure. This is a result, so the call is not repeated. */
  readonly isError: boolean;
}

/** Returns the headers that authorize a request. Called for every request, since tokens change. */
export type Authorize = () => Promise<Readonly<Record<string, string>>>;

/** Options for opening a source. */
export interface OpenOptions {
  /** The user that the connection is opened for, if others do not share it. */
  readonly scope?: ArtifactScope;
  readonly authorize: Authorize;
  readonly signal: AbortSignal;
  /** Called with notifications of the source. */
  readonly onNotice: (notice: SourceNotice) => void;
  /**
   * If a program is started: called with a function that returns the end of its standard error, see
   * `ToolNodeError.errorOutput`.
   */
  readonly onProgram?: (errorOutput: () => string) => void;
}

/** A notification of a source. */
export type SourceNotice =
  | { readonly kind: "tools_changed" }
  | { readonly kind: "resources_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

/** Requests of MCP that read something and are no calls of tools. */
export type McpReadMethod =
  | "completion/complete"
  | "prompts/get"
  | "prompts/list"
  | "resources/list"
  | "resources/read"
  | "resources/templates/list";

/** The result of a request of MCP, as the server wrote it. */
export type McpResult = Readonly<Record<string, unknown>>;

/** An MCP server as it describes itself when a client connects. */
export interface McpServerDescription {
  /** What it offers, by feature: `tools`, `resources`, `prompts`, … */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Its name, title and version. */
  readonly info: Readonly<Record<string, unknown>>;
  /** How to use it. Untrusted. */
  readonly instructions?: string;
}

/** A connection to a source. Methods throw `ToolNodeError`s, or the reason of an aborted signal. */
export interface SourceConnection extends AsyncDisposable {
  /** All tools. Follows pages. */
  tools(signal: AbortSignal): Promise<readonly SourceTool[]>;
  /** Tools that are not offered, as of the last call of `tools`. */
  readonly leftOut?: readonly LeftOutTool[];
  /** Makes one attempt at a call. */
  call(call: SourceCall): Promise<SourceResult>;
  /** The source's resources. Undefined if it has none. */
  readonly resources: ResourceConnection | undefined;
  /** The source's prompts. Undefined if it has none. */
  readonly prompts?: PromptConnection | undefined;
  /** The MCP server as it describes itself. Undefined for other sources. */
  readonly server?: McpServerDescription | undefined;
  /** Sends a request of MCP and gives its result as it came. Left out by other sources. */
  request?(method: McpReadMethod, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>;
  /** Whether the connection can be used. False once the other side has closed it. */
  readonly isOpen: boolean;
  /**
   * Whether the other side no longer knows the connection, but may still answer earlier requests. Defaults to false.
   */
  readonly isForgotten?: boolean;
  /**
   * Kills the program behind the connection and its child processes. Calls under way fail as if the program had
   * exited. Left out if the connection has no program of its own.
   */
  readonly kill?: (() => Promise<void>) | undefined;
}

/** A way to a source. */
export interface ToolSource {
  open(options: OpenOptions): Promise<SourceConnection>;
}
