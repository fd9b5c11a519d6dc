/**
 * Who reads for `<sluice-resources>`. What is listed and read has the shapes of a `ToolNode`.
 * @module
 */
import type { ResourceReading } from "mcp-sluice/tools";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";

/** All that was read of a resource: a `ResourceReading`, of which the contents are enough. */
export interface ShownReading extends Pick<ResourceReading, "contents"> {
  /** More of the artifacts among them. */
  readonly artifacts?: readonly ShownArtifact[];
  /** What the store failed at. */
  readonly failures?: readonly Pick<ResourceReading["failures"][number], "message">[];
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
