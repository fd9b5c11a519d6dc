/**
 * What a source offers, as it describes it: tools, resources and prompts (MCP, "Server Features").
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";

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

/** A resource that the source lists. */
export interface ListedResource {
  /** The URI to read it by. */
  readonly uri: string;
  /** Its name. Empty if the source gives none. */
  readonly name: string;
  /** A title for people. */
  readonly title?: string;
  /** The source's description. */
  readonly description?: string;
  /** The media type, according to the source. */
  readonly mime_type?: string;
  /** The size, according to the source. */
  readonly size_bytes?: number;
}

/** A URI template (RFC 6570). */
export interface ListedTemplate {
  /** The template, with variables in braces: `file:///{path}`. */
  readonly uri_template: string;
  /** Its name. Empty if the source gives none. */
  readonly name: string;
  /** A title for people. */
  readonly title?: string;
  /** The source's description. */
  readonly description?: string;
  /** The media type of all its resources, according to the source. */
  readonly mime_type?: string;
}

/** How long an answer may be cached, and by whom. Left out if the source does not say. */
export interface Freshness {
  /** Milliseconds. */
  readonly ttl_ms?: number;
  /** Whether other users may get it. */
  readonly cache_scope?: "public" | "private";
}

/** A short text, or one that no store keeps. */
export interface TextContent {
  /** The kind of content. */
  readonly kind: "text";
  /** The URI. Empty if the source gives none. */
  readonly uri: string;
  /** The media type, according to the source; null if it gives none. */
  readonly mime_type: string | null;
  /** The whole text. */
  readonly text: string;
}

/** Binary data, or a long text. */
export interface ArtifactContent {
  /** The kind of content. */
  readonly kind: "artifact";
  /** The URI. Empty if the source gives none. */
  readonly uri: string;
  /** The media type, or null. */
  readonly mime_type: string | null;
  /** The artifact's id in the reader's scope. */
  readonly id: string;
  /** The artifact's size. */
  readonly size_bytes: number;
  /** A file name, or null. */
  readonly filename: string | null;
  /** A summary for observations. */
  readonly summary: string;
}

/** One content of a resource, behind the gate. */
export type ReadContent = TextContent | ArtifactContent;

/** All contents of a resource. */
export interface ReadResult extends Freshness {
  readonly contents: readonly ReadContent[];
}

/** A source's resources. Throws like `SourceConnection`. */
export interface ResourceConnection {
  /** Lists resources. Follows pages. */
  list(signal: AbortSignal): Promise<readonly ListedResource[]>;
  /** Lists templates. Follows pages. */
  templates(signal: AbortSignal): Promise<readonly ListedTemplate[]>;
  /**
   * Reads a resource. Binary data, and text longer than `inlineChars`, become artifacts. Text that is not stored
   * stays text.
   */
  read(
    uri: string,
    reading: { readonly scope: ArtifactScope; readonly inlineChars: number; readonly signal: AbortSignal },
  ): Promise<ReadResult>;
  /** Subscribes to changes, which arrive as `resource_updated` notifications. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  unsubscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Completes a template variable. Empty if the source offers no values. */
  complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** An argument of a prompt, which is a text. */
export interface PromptArgument {
  /** The name by which it is given. */
  readonly name: string;
  /** The source's description. */
  readonly description?: string;
  /** Whether the prompt needs it. */
  readonly required: boolean;
}

/** A prompt that the source lists. */
export interface ListedPrompt {
  /** The name to get it by. */
  readonly name: string;
  /** A title for people. */
  readonly title?: string;
  /** The source's description. */
  readonly description?: string;
  /** Its arguments. */
  readonly arguments: readonly PromptArgument[];
}

/** A message that a prompt gives, or that a server has for a model. */
export interface PromptMessage {
  /** Who says it. */
  readonly role: "user" | "assistant";
  /** A text, or an artifact: bytes and long texts. What is neither, such as a link, is its JSON. */
  readonly content: ReadContent;
}

/** How messages are read. */
export interface MessageReading {
  readonly scope: ArtifactScope;
  /** Maximum characters of an inline text. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** A source's prompts. Throws like `SourceConnection`. */
export interface PromptConnection {
  /** Lists prompts. Follows pages. */
  list(signal: AbortSignal): Promise<readonly ListedPrompt[]>;
  /** Gets a prompt. Binary data, and text longer than `inlineChars`, become artifacts. */
  get(name: string, args: Readonly<Record<string, string>>, reading: MessageReading): Promise<readonly PromptMessage[]>;
}
