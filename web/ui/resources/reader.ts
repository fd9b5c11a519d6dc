/**
 * What `<sluice-resources>` shows, and who reads it. The shapes are those of `ToolNode`.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "../shown.js";

/** A resource that a server lists. */
export interface ShownResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mime_type?: string;
  /** How large the server says it is. */
  readonly size_bytes?: number;
}

/** A template of resources' URIs (RFC 6570). */
export interface ShownTemplate {
  /** Its variables stand in braces: `file:///{path}`. */
  readonly uri_template: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mime_type?: string;
}

/** One content of a resource: a text that is short enough to be shown, or an artifact. */
export type ShownContent =
  | { readonly kind: "text"; readonly uri: string; readonly mime_type: string | null; readonly text: string }
  | {
      readonly kind: "artifact";
      readonly uri: string;
      readonly mime_type: string | null;
      readonly id: string;
      readonly size_bytes: number;
      readonly filename: string | null;
      readonly summary: string;
    };

/** All that was read of a resource: a `ResourceReading` of `mcp-sluice/tools` is one. */
export interface ShownReading {
  readonly contents: readonly ShownContent[];
  /** More of the artifacts among them. */
  readonly artifacts?: readonly ShownArtifact[];
  /** What the store failed at. */
  readonly failures?: readonly { readonly message: string }[];
}

/** A variable of a template. */
export interface TemplateVariable {
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
  readonly supports: { readonly subscribe: boolean; readonly complete: boolean };
  read(uri: string, signal: AbortSignal): Promise<ShownReading>;
  /** Asks to be told of changes; `resourceUpdated` passes them on. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
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
