/**
 * `Sluice`, a gate in front of a store: its interface, and the types of what goes in and comes out.
 * @module
 */
import type { StoreOption } from "../artifacts/chosen-store.js";
import type { TruncatedRef } from "../artifacts/reference.js";
import type { ArtifactRef, ArtifactScope } from "../artifacts/store.js";
import type { SluiceError } from "../errors/error.js";
import type { DocumentModules, WasmSource } from "./engine.js";
import type { SluiceConfig } from "../config/types.js";

/** The form of a reduced result: for a model, or a valid CallToolResult. */
export type Dialect = "observation" | "mcp";

/** What happens if the store fails: the answer comes without it, or the error is thrown. */
export type OnStoreFailure = "answer" | "throw";

/** Options for `createSluice`. */
export interface SluiceOptions {
  /** The artifact store. Without one nothing is kept, and a warning on the console says how to add one. */
  readonly store?: StoreOption;
  /** An object that may bring an artifact store, used if `store` is left out. See `discoverArtifactStore`. */
  readonly stateStore?: unknown;
  /** The configuration. Every key has a default. */
  readonly config?: SluiceConfig;
  /**
   * What happens if the store fails. `"answer"` gives the reduced result with truncated refs for what was not stored, and the
   * errors in `failures`. `"throw"` throws the error. Defaults to `"answer"`.
   */
  readonly onStoreFailure?: OnStoreFailure;
}

/**
 * A gate in front of a store. One serves any number of results, also concurrently. Nothing has to be closed. All methods throw
 * SluiceError: E_INVALID_ARGUMENT with the path of what is wrong, and E_CORE_TRAP if the core fails on an input.
 */
export interface Sluice {
  /**
   * Reduces a whole result: a CallToolResult, a JSON-RPC response, a content array or any JSON value. Bytes in it, at any depth,
   * become artifacts: typed arrays, `DataView`, `ArrayBuffer`, `Blob`, `Response`, `ReadableStream`, `Readable` of Node, async
   * generators. A Map with string keys is an object; another Map and a Set are lists.
   *
   * @throws the reason of the call's signal; with `onStoreFailure: "throw"` the store's error.
   *
   * @example
   * const { text, artifacts } = await sluice.transform(result, { tool: "download", scope: { user_id: "ada" } });
   */
  transform<D extends Dialect = "observation">(result: unknown, options?: TransformOptions<D>): Promise<Transformed<D>>;
  /**
   * Tools for what was stored: the first one lets a model read it, by bytes, lines, rows, a JSON pointer or a search; others, such
   * as the one that edits, follow. From then on the sentences in results of the `mcp` dialect name the first one.
   *
   * @throws SluiceError E_INVALID_ARGUMENT for a namespace or a scope that there cannot be.
   */
  tools(options?: ArtifactToolsOptions): readonly ArtifactTool[];
  /**
   * The same for bytes of JSON that arrive in pieces.
   *
   * @example
   * await using stream = sluice.open({ tool: "download" });
   * for await (const chunk of chunks) await stream.write(chunk);
   * const { text } = await stream.close();
   */
  open<D extends Dialect = "observation">(options?: TransformOptions<D>): SluiceStream<D>;
  /** Applies only the guardrail, to a value that any tool returned. */
  clamp(observation: unknown, options?: ClampOptions): Clamp;
  /** The same for JSON text. What stays is copied as source text, so numbers keep all their digits. */
  clampText(json: string, options?: ClampOptions): Clamp;
  /**
   * Restores the input of `transform(…, { dialect: "mcp" })` from its result. `scope` is that of the call.
   *
   * @throws SluiceError E_RESTORE_REFS if the references are damaged, E_NOT_RESTORABLE if they are stored elsewhere; with the id of the artifact E_NOT_FOUND, E_EXPIRED, E_STORE_….
   */
  restore<Value>(value: Value, options?: { readonly scope?: ArtifactScope }): Promise<Value>;
  /** The same as a stream of JSON text, for results that do not fit in memory. */
  restoreStream(json: string, options?: { readonly scope?: ArtifactScope }): AsyncIterable<Uint8Array>;
  /** Detects the file type from the first bytes. `size` is that of the whole file in bytes. Defaults to that of `head`. */
  sniff(head: Uint8Array, size?: number): Promise<Sniffed>;
  /**
   * Inspects a whole file while it streams: what `sniff` finds, and what only the whole file tells, such as its number of rows. Even
   * short files are counted if they are said to be tables, by type or name.
   */
  look(claim?: FileClaim): Promise<FileLook>;
  /** The modules that read documents, where some were handed in. */
  readonly documents?: DocumentModules | undefined;
  /** The module that answers queries, where one was handed in. */
  readonly tables?: WasmSource | undefined;
}

/** A block of a result's content (MCP 2025-11-25, server/tools, "Tool Result"). */
export type ContentBlock = TextBlock | MediaBlock | LinkBlock | ResourceBlock;

/** A text. */
export interface TextBlock {
  /** The kind of block. */
  type: "text";
  /** The text, or the sentence about what was stored in its place. */
  text: string;
}

/** An image or sound that stayed in the result. */
export interface MediaBlock {
  /** The kind of block. */
  type: "image" | "audio";
  /** The bytes as base64. */
  data: string;
  /** The media type. */
  mimeType: string;
}

/** A link to a resource of the server. */
export interface LinkBlock {
  /** The kind of block. */
  type: "resource_link";
  /** The URI to read it by. */
  uri: string;
  /** The name of the resource. */
  name: string;
  /** The media type, if the server tells it. */
  mimeType?: string;
  /** Bytes, if the server tells them. */
  size?: number;
}

/** A resource that stayed in the result: a text, or bytes as base64. */
export interface ResourceBlock {
  /** The kind of block. */
  type: "resource";
  /** What it holds. */
  resource: TextResourceContents | BlobResourceContents;
}

/** The contents of a text resource. */
export interface TextResourceContents {
  /** The URI of the resource. */
  uri: string;
  /** The media type, if the server tells it. */
  mimeType?: string;
  /** The text. */
  text: string;
}

/** The contents of any other resource. */
export interface BlobResourceContents {
  /** The URI of the resource. */
  uri: string;
  /** The media type, if the server tells it. */
  mimeType?: string;
  /** The bytes as base64. */
  blob: string;
}

/** The result of a tool call (MCP 2025-11-25, server/tools, "Tool Result"). */
// A type, not an interface: only a type fits the SDK's, which allows further members.
export type CallToolResult = {
  /** What a person or a model reads. */
  content: ContentBlock[];
  /** The same as a JSON object, if the tool has an output schema. */
  structuredContent?: Record<string, unknown>;
  /** Whether the tool failed. */
  isError?: boolean;
  /** Metadata. `sluice/refs` lists what `restore` puts back. */
  _meta?: Record<string, unknown>;
};

/** What a dialect makes of a CallToolResult. What else is reduced keeps its own form. */
export type Reduced<D extends Dialect> = D extends "mcp" ? CallToolResult : unknown;

/** Content that may come back. */
export interface StoredContent {
  readonly segment: number;
  /** The data of an image or audio block, the blob of an embedded resource, or the whole of a string. */
  readonly kind: "image" | "audio" | "resource" | "text";
  readonly mime_type: string;
  readonly size_bytes: number;
  /** Whether the configuration says that it stays, for any client. */
  readonly listed: boolean;
  /** Its bytes. Undefined if there are none, or more than `most`. */
  readonly read: (most: number) => Promise<Uint8Array | undefined>;
}

/** What stands in its place. */
export interface ShownContent {
  readonly kind: StoredContent["kind"];
  readonly mime_type: string;
  /** Base64, or the text. */
  readonly data: string;
  /** What is said of it beside its description: `scaled down to 800 × 600 here`. */
  readonly note?: string;
}

/** The result that the content is of. */
export interface ResultFacts {
  /** Limits of `inline_media`. */
  readonly max_bytes: number;
  readonly max_count: number;
  readonly is_error: boolean;
  /** Bytes of the result without what was taken out. */
  readonly reduced_bytes: number;
  /** Whether the client is said to show images. */
  readonly showsImages: boolean;
  /** The modules that scale pictures, where some were handed in. */
  readonly modules: DocumentModules | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Chooses what comes back. */
export type ShowContent = (
  content: readonly StoredContent[],
  facts: ResultFacts,
) => Promise<ReadonlyMap<StoredContent, ShownContent>>;

/** What a client makes of results. */
export interface ResultClient {
  /**
   * What references in `structuredContent` say of what they stand for: the sentence that a text block has, for clients that hide those,
   * also with a preview.
   * @defaultValue `"none"`
   */
  readonly structureNotes?: "none" | "sentences" | "previews";
  /** Bytes of a text that it shows whole. Prose up to that stays; no text stays that is longer. Defaults to `max_inline_size`. */
  readonly wholeText?: number;
  /** Chooses what comes back of what was taken out. Defaults to images, if `clientShowsImages`. */
  readonly show?: ShowContent;
}

/** Options for one result: the call that it answers, and how it is written. */
export interface TransformOptions<D extends Dialect = Dialect> {
  /** The name of the tool. Selects its `tool_fields` and names files. */
  readonly tool?: string;
  /** The prefix of artifact ids. Defaults to `artifact`. */
  readonly namespace?: string;
  /** The owner of the artifacts. Defaults to no owner. */
  readonly scope?: ArtifactScope;
  /** Defaults to `observation`. */
  readonly dialect?: D;
  /** Whether the client is known to show images (`inline_media: "auto"`). */
  readonly clientShowsImages?: boolean;
  /** What the client makes of a result in the `mcp` dialect. */
  readonly client?: ResultClient;
  /** What the model calls the tool that reads artifacts. Defaults to the one that `tools` gave for the namespace. */
  readonly readTool?: string;
  /**
   * Whether the value is the output of a transformer. Fields (L4), links (L1) and blocks (L2) are then not searched; the gate, the
   * size limits (L0) and the guardrail still apply. Defaults to false.
   */
  readonly transformed?: boolean;
  /**
   * Whether the value is a result that passed the gate before and is written again. Telemetry then does not count its bytes twice.
   * Defaults to false.
   */
  readonly rewritten?: boolean;
  /** Keeps the original document for `GatedResult.original` if it has at most so many bytes. Defaults to 0, which keeps none. */
  readonly keepOriginal?: number;
  /** Reads a resource for `resources.auto_read_if_size_under_bytes` and gives a `resources/read` result. Anything else counts as not read. */
  readonly readResource?: (uri: string) => Promise<unknown>;
  /** Aborts the call, also while it waits for the store or `readResource`. Partial work is discarded. */
  readonly signal?: AbortSignal;
}

/** A ref in an answer. The ref of content that was not stored has the reason in its `source`. */
export type AnswerRef = ArtifactRef | TruncatedRef;

/** A reduced result. */
export interface Transformed<D extends Dialect = Dialect> {
  /** JSON text: what the model sees (observation), or a CallToolResult (mcp). */
  readonly text: string;
  /** The parsed `text`. */
  readonly value: Reduced<D>;
  /** The artifacts in order of appearance. Those of links that were read come last. */
  readonly artifacts: readonly AnswerRef[];
  /** The store's errors, each message once, at most 32. */
  readonly failures: readonly SluiceError[];
  /** Whether the result differs from what the server sent. */
  readonly changed: boolean;
  /** Whether the guardrail cut the observation. */
  readonly clamped: boolean;
  /** How the guardrail cut it, if it did. */
  readonly cut?: ClampReport;
  /** The size of the input in bytes of JSON. */
  readonly bytesIn: number;
  /** The size of `text` in bytes. */
  readonly bytesOut: number;
  /** The entries of `_meta["sluice/refs"]` as JSON text, if the mcp dialect changed something. */
  readonly refs?: string;
}

/** A result that arrives in pieces. */
export interface SluiceStream<D extends Dialect = Dialect> extends AsyncDisposable {
  /**
   * Takes the next bytes of JSON text, in chunks of any size. Settles once the store has taken what they diverted, but for a quarter of
   * a MiB at most. Throws E_JSON_… with the line and column of what is not JSON; later calls throw the same error.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Ends the document and gives the reduced result. Throws E_JSON_END if the document is incomplete. */
  close(): Promise<Transformed<D>>;
  /**
   * Ends the document without writing an answer, for callers that learn the tool's name late or need both dialects. The caller
   * disposes of the result. Throws E_JSON_END if the document is incomplete.
   */
  end(): Promise<GatedResult>;
}

/** Options for one answer. Each defaults to that of the stream. */
export type AnswerOptions = Pick<TransformOptions, "tool" | "dialect" | "scope" | "readResource" | "signal">;

/**
 * A result that has passed the gate, its segments stored. Answers are written from what is held in memory: none reads the store.
 */
export interface GatedResult extends AsyncDisposable {
  /** The original document in pieces, if `keepOriginal` asked for it and it is not longer. */
  readonly original: readonly Uint8Array[] | undefined;
  /**
   * Writes an answer. May be called again, one call at a time. The `mcp` dialect requires a stream that was opened with it. In
   * another scope the artifacts are stored there too.
   */
  answer(options?: AnswerOptions): Promise<Transformed>;
}

/** Options for `clamp`. */
export interface ClampOptions {
  /** The limit in Unicode code points of JSON. Less than 256 counts as 256. Defaults to `guardrail.max_observation_chars`. */
  readonly maxChars?: number;
}

/** How the guardrail cut an observation. */
export interface ClampReport {
  /** Unicode code points of JSON text before the cut. */
  readonly originalChars: number;
  /** As in {@link Clamp.method}; or `stored` if the whole was stored and a reference is left. */
  readonly method: string;
}

/** An observation after the guardrail. */
export interface Clamp {
  /** JSON text within the limit. */
  readonly text: string;
  /** The parsed `text`. */
  readonly value: unknown;
  /** Whether it was too long. */
  readonly changed: boolean;
  /** Unicode code points of JSON text before the cut. */
  readonly originalChars: number;
  /** Unicode code points that are left. */
  readonly clampedChars: number;
  /** What was cut: `none`, `space` between tokens, `fields`, `structure`, or `text`, which gives a string of cut JSON. */
  readonly method: string;
}

/** A detected file type. */
export interface Sniffed {
  /** e.g. `image/png`; `application/octet-stream` if unknown. */
  readonly mime_type: string;
  /** e.g. `png`, without a dot. */
  readonly extension: string;
  /** e.g. `PNG image, 640 × 480, 1.0 MB` */
  readonly description: string;
}

/** What is claimed about a file before it is inspected. */
export interface FileClaim {
  /** Its media type. */
  readonly mime_type?: string | null | undefined;
  /** Its name. */
  readonly filename?: string | null | undefined;
}

/** The inspection of one file while it streams. Dispose of it, finished or not. */
export interface FileLook extends Disposable {
  /** Takes the next bytes, in chunks of any size. They are not kept. */
  push(bytes: Uint8Array): void;
  /** Ends the file and gives its type. */
  finish(): Promise<Sniffed>;
}

/** Which artifacts tools read and edit. */
export interface ArtifactToolsOptions {
  /** The namespace of the artifacts; it also begins the tools' names. Defaults to all namespaces. */
  readonly namespace?: string;
  /** The owner of the artifacts. Defaults to no owner. */
  readonly scope?: ArtifactScope;
  /**
   * Whether the model sees images: `artifact_read` then answers with them.
   * @defaultValue `false`
   */
  readonly clientShowsImages?: boolean;
}

/**
 * What a tool answers: a CallToolResult of one text, bounded, and of an image where one was asked for. Mistakes in arguments and missing
 * artifacts are such results too.
 */
export interface ArtifactToolResult {
  /** The answer, for the model. */
  readonly content: readonly [Readonly<TextBlock>, ...Readonly<MediaBlock>[]];
  /** Whether the call failed. */
  readonly isError?: true;
}

/** What MCP's `ToolAnnotations` tells of a tool. */
type ToolHint = "readOnlyHint" | "idempotentHint" | "destructiveHint" | "openWorldHint";

/** A tool that a model can be given: its definition as in MCP's `tools/list`, and what does it. */
export interface ArtifactTool {
  /** `artifact_read` or `artifact_edit`, behind the namespace if there is one. */
  readonly name: string;
  /** The name for people. */
  readonly title: string;
  /** What the model is told of it. */
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: {
    /** Arguments are an object. */
    readonly type: "object";
    /** Other keywords. */
    readonly [keyword: string]: unknown;
  };
  /** MCP's hints: whether it only reads. None of the tools changes what is stored. */
  readonly annotations: Readonly<Partial<Record<ToolHint, boolean>>>;
  /** What else hosts of MCP are told. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Answers a call. Rejects only with the signal's reason. */
  readonly call: (args: unknown, options?: { readonly signal?: AbortSignal }) => Promise<ArtifactToolResult>;
}
