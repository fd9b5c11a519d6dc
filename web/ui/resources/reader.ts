/**
 * What `<sluice-resources>` shows, and who reads it. The shapes are those of `ToolNode`.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "../shown.js";

/** A resource that a server lists. */
export interface ShownResource {
  /** What it is read by. */
  readonly uri: string;
  /** What the server calls it. */
  readonly name: string;
  /** What a person would call it. */
  readonly title?: string;
  /** What is in it, in the server's words. */
  readonly description?: string;
  /** What the server says it is. */
  readonly mime_type?: string;
  /** How large the server says it is. */
  readonly size_bytes?: number;
}

/** A template of resources' URIs (RFC 6570). */
export interface ShownTemplate {
  /** Its variables stand in braces: `file:///{path}`. */
  readonly uri_template: string;
  /** What the server calls it. */
  readonly name: string;
  /** What a person would call it. */
  readonly title?: string;
  /** What it leads to, in the server's words. */
  readonly description?: string;
  /** What the server says all that it leads to is. */
  readonly mime_type?: string;
}

/** A text that is short enough to be shown. */
export interface ShownText {
  /** Which content this is. */
  readonly kind: "text";
  /** As the server names it; empty where it does not. */
  readonly uri: string;
  /** What the server says it is; null where it does not. */
  readonly mime_type: string | null;
  /** The whole text. */
  readonly text: string;
}

/** Bytes, or a long text, which were stored. */
export interface ShownStored {
  /** Which content this is. */
  readonly kind: "artifact";
  /** As the server names it; empty where it does not. */
  readonly uri: string;
  /** What it is; null where nobody said. */
  readonly mime_type: string | null;
  /** The artifact's id. */
  readonly id: string;
  /** Of the artifact's bytes. */
  readonly size_bytes: number;
  /** What a person would call it; null where it has no name. */
  readonly filename: string | null;
  /** What a model is told of it. */
  readonly summary: string;
}

/** One content of a resource. */
export type ShownContent = ShownText | ShownStored;

/** All that was read of a resource: a `ResourceReading` of `mcp-sluice/tools` is one. */
export interface ShownReading {
  /** In the server's order. */
  readonly contents: readonly ShownContent[];
  /** More of the artifacts among them. */
  readonly artifacts?: readonly ShownArtifact[];
  /** What the store failed at. */
  readonly failures?: readonly Pick<Error, "message">[];
}

/** A variable of a template. */
export interface TemplateVariable {
  /** As the template has it. */
  readonly name: string;
  /** Whether the URI means something else without it. */
  readonly isRequired: boolean;
}

/**
 * Reads resources, as a rule through a `ToolNode`. What was read, and what is subscribed to, is kept for as long as the reader is.
 * The message of an error with a `code` is shown; of others, only that something failed.
 */
export interface ResourceReader {
  /** What the server can do. */
  readonly supports: Readonly<Record<"subscribe" | "complete", boolean>>;
  /** Reads a resource, or reads it again. */
  read(uri: string, signal: AbortSignal): Promise<ShownReading>;
  /** Asks to be told of changes; `resourceUpdated` passes them on. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Takes the asking back. */
  unsubscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Values for a variable, beginning with what is written of it. */
  complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]>;
  /** The variables of a template, in their order. Throws for what is no template. */
  variables(template: string): readonly TemplateVariable[] | Promise<readonly TemplateVariable[]>;
  /** The URI that a template and values make; variables that are left empty are not among them. */
  expand(template: string, values: Readonly<Record<string, string>>): string | Promise<string>;
  /** Where the bytes of an artifact come from; without it none can be downloaded. */
  bytes?(artifact: ShownArtifact): ArtifactBytes | undefined;
}
