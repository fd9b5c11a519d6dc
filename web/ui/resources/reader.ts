/**
 * The reader behind `<sluice-resources>`. Its lists and contents have the shapes of a `ToolNode`.
 * @module
 */
import type { ResourceReading } from "mcp-sluice/tools";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { plainText } from "../plain-text.js";

/** The contents of a resource: a `ResourceReading`, of which only `contents` is required. */
export interface ShownReading extends Pick<ResourceReading, "contents"> {
  /** Details of the artifacts among them. */
  readonly artifacts?: readonly ShownArtifact[];
  /** Failed stores. */
  readonly failures?: readonly Pick<ResourceReading["failures"][number], "message">[];
}

/** A variable of a template. */
export interface TemplateVariable {
  /** Its name in the template. */
  readonly name: string;
  /** Whether the URI needs it. */
  readonly isRequired: boolean;
}

/**
 * Reads resources, usually through a `ToolNode`. Contents and subscriptions are kept as long as the reader. Errors with a `code`
 * are shown with their message, others with a generic one.
 */
export interface ResourceReader {
  /** The features of the server. */
  readonly supports: Readonly<Record<"subscribe" | "complete", boolean>>;
  /** Reads a resource. */
  read(uri: string, signal: AbortSignal): Promise<ShownReading>;
  /** Subscribes to changes; report them with `resourceUpdated`. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Ends a subscription. */
  unsubscribe(uri: string, signal: AbortSignal): Promise<void>;
  /** Completions of a variable's value. */
  complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]>;
  /** The variables of a template, in order. Throws for an invalid template. */
  variables(template: string): readonly TemplateVariable[] | Promise<readonly TemplateVariable[]>;
  /** Expands a template. Empty variables are left out of `values`. */
  expand(template: string, values: Readonly<Record<string, string>>): string | Promise<string>;
  /** The bytes of an artifact. Without it no download is offered. */
  bytes?(artifact: ShownArtifact): ArtifactBytes | undefined;
}

const CODE = /^E_[A-Z_]{1,60}$/;
const MAX_SENTENCE = 300;

/** The message of an error with a `code` of this library; `otherwise` for any other error. */
export function describeError(error: unknown, otherwise: string): string {
  if (typeof error !== "object" || error === null) return otherwise;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || !CODE.test(code)) return otherwise;
  return plainText(message, MAX_SENTENCE) || otherwise;
}
