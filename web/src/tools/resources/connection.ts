/**
 * The resources of a source (MCP "Resources"; RFC 0.3 §5.7).
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";

/** A resource that the source lists. */
export interface ListedResource {
  /** What it is read by. */
  readonly uri: string;
  /** What the source calls it; empty where the source says nothing. */
  readonly name: string;
  /** What a person would call it. */
  readonly title?: string;
  /** What is in it, in the source's words. */
  readonly description?: string;
  /** What the source says it is. */
  readonly mime_type?: string;
  /** How large the source says it is. */
  readonly size_bytes?: number;
}

/** A template of resources' URIs (RFC 6570). */
export interface ListedTemplate {
  /** Its variables stand in braces: `file:///{path}`. */
  readonly uri_template: string;
  /** What the source calls it; empty where the source says nothing. */
  readonly name: string;
  /** What a person would call it. */
  readonly title?: string;
  /** What it leads to, in the source's words. */
  readonly description?: string;
  /** What the source says all that it leads to is. */
  readonly mime_type?: string;
}

/** How long an answer may be kept, and by whom; both absent where the source does not say. */
export interface Freshness {
  /** Milliseconds. */
  readonly ttl_ms?: number;
  /** Whether others may be given it. */
  readonly cache_scope?: "public" | "private";
}

/** A text of a resource that is short enough to be shown, or that no store keeps. */
export interface TextContent {
  /** Which content this is. */
  readonly kind: "text";
  /** As the source names it; empty where it does not. */
  readonly uri: string;
  /** What the source says it is; null where it does not. */
  readonly mime_type: string | null;
  /** The whole text. */
  readonly text: string;
}

/** Bytes of a resource, or a long text. */
export interface ArtifactContent {
  /** Which content this is. */
  readonly kind: "artifact";
  /** As the source names it; empty where it does not. */
  readonly uri: string;
  /** What it is; null where nobody said. */
  readonly mime_type: string | null;
  /** The artifact's id in the scope of the reading. */
  readonly id: string;
  /** Of the artifact's bytes. */
  readonly size_bytes: number;
  /** What a person would call it; null where it has no name. */
  readonly filename: string | null;
  /** What the observation says of it. */
  readonly summary: string;
}

/** One content of a resource, as it arrived behind the gate. */
export type ReadContent = TextContent | ArtifactContent;

/** All contents of a resource. */
export interface ReadResult extends Freshness {
  readonly contents: readonly ReadContent[];
}

/** What may be asked of a source's resources. Errors as of `SourceConnection`. */
export interface ResourceConnection {
  /** All pages. */
  list(signal: AbortSignal): Promise<readonly ListedResource[]>;
  /** All pages. */
  templates(signal: AbortSignal): Promise<readonly ListedTemplate[]>;
  /** Text longer than `inlineChars` becomes an artifact, as all bytes do; where it is not stored it stays text. */
  read(
    uri: string,
    reading: { readonly scope: ArtifactScope; readonly inlineChars: number; readonly signal: AbortSignal },
  ): Promise<ReadResult>;
  /** Asks to be told of changes; `resource_updated` notices come then. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  unsubscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Values that the source offers for a template's variable; empty where it offers none. */
  complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]>;
}
