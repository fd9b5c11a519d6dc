/**
 * What a ToolNode needs of whatever its tools come from: MCP, HTTP, UTCP, a command.
 * @module
 */
import type { Dialect, GatedResult } from "../core/sluice.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { ToolContext, ToolProgress } from "./context.js";
import type { ResourceConnection } from "./resources/connection.js";

/** A JSON Schema, as the source has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as its source names it. */
export interface SourceTool {
  /** What the source calls it. */
  readonly name: string;
  /** Empty where the source says nothing. */
  readonly description: string;
  /** Handed on whole. */
  readonly input_schema: JsonSchema;
  readonly output_schema?: JsonSchema;
  /** What the source says beside it (MCP `_meta`). */
  readonly meta?: unknown;
  /** Whether calling it twice does no more than calling it once: it only reads, or says that it is idempotent. */
  readonly isRepeatable: boolean;
  /** Whether it only looks; false where the source does not say. */
  readonly isReadOnly: boolean;
}

/** One attempt at a call. */
export interface SourceCall {
  /** The source's own name of the tool. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** How the result may be written: `mcp` where a transformer or the host goes on with it. */
  readonly dialect: Dialect;
  /** Bytes up to which the result is kept as it came, see `TransformOptions.keepOriginal`. */
  readonly keepOriginal: number;
  /** Whose the artifacts are. */
  readonly scope: ArtifactScope;
  /** Gives up the attempt, and tells the source. */
  readonly signal: AbortSignal;
  /** Told that bytes of the answer came; whoever waits gives it more time. */
  readonly alive?: () => void;
  /** Told of progress; whoever waits gives it more time. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /** Asks a person for what the source wants to know; what it throws the call throws. Left out: nobody can be asked. */
  readonly pause?: NonNullable<ToolContext["pause"]>;
  /**
   * Does what the source is not to blame for, such as asking a person: the attempt's time limit stands still meanwhile, and
   * what the work throws ends the attempt. Left out: it is only done.
   */
  readonly unhurried?: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Told that the call is given up before its answer came; what it is given says later whether the answer has come since. Only of
   * sources that may go on with a call for nobody.
   */
  readonly onGivenUp?: (isAnswered: () => boolean) => void;
}

/** What came of an attempt. */
export interface SourceResult {
  /** The result behind the gate; whoever gets it disposes of it. */
  readonly gated: GatedResult;
  /** Whether the source says that the tool failed. That is a result, and not tried again. */
  readonly isError: boolean;
}

/** Headers that say who asks; asked for with every request, since tokens change. */
export type Authorize = () => Promise<Readonly<Record<string, string>>>;

/** What a source is opened with. */
export interface OpenOptions {
  /** Who it is opened for, where others do not share it. */
  readonly scope?: ArtifactScope;
  readonly authorize: Authorize;
  readonly signal: AbortSignal;
  /** Told of what the source says unasked. */
  readonly onNotice: (notice: SourceNotice) => void;
}

/** What a source says unasked. */
export type SourceNotice =
  | { readonly kind: "tools_changed" }
  | { readonly kind: "resources_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

/** A connection to a source. Errors are `ToolNodeError`s; what the signal's owner ended is thrown as its reason. */
export interface SourceConnection extends AsyncDisposable {
  /** All tools, pages followed. */
  tools(signal: AbortSignal): Promise<readonly SourceTool[]>;
  /** One attempt. */
  call(call: SourceCall): Promise<SourceResult>;
  /** What there is to read beside tools; undefined where the source has nothing. */
  readonly resources: ResourceConnection | undefined;
  /** Whether it is of use: false once the other side has gone. */
  readonly isOpen: boolean;
  /**
   * Ends the program behind it with all that it started; calls under way fail as where it goes by itself. Left out where no program
   * of the connection's own runs.
   */
  kill?(): Promise<void>;
}

/** A way to a source. */
export interface ToolSource {
  open(options: OpenOptions): Promise<SourceConnection>;
}
