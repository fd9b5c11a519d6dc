/**
 * Links in results, read through the cache (RFC 0.3 §4.3): what `TransformOptions.readResource` is given.
 * @module
 */
import type { ResourcesConfig } from "../../core/config.js";
import type { ToolContext } from "../context.js";
import type { ReadContent } from "./connection.js";
import type { ResourceReading } from "./contents.js";
import type { ResourceReader } from "./reading.js";

/** How long reading one link may take, in seconds. */
const LINK_SECONDS: number = 30;

/** What reading links needs. */
export interface LinkTerms {
  readonly reader: ResourceReader;
  /** Whose call the links came from. */
  readonly context: ToolContext;
  /** As in the source's `artifact_extraction`. */
  readonly config?: ResourcesConfig;
  /** How long one read may take; {@link LINK_SECONDS} when left out. */
  readonly timeoutSeconds?: number;
  /**
   * Told of what was read, before the result that the link stands in is finished: the core's list of artifacts has only
   * what it stored by itself.
   */
  readonly onRead?: (reading: ResourceReading) => void;
}

/**
 * A function that reads links for one call and gives a `resources/read` result whose bytes and long texts are references
 * already; undefined where the configuration never lets a link be read. Which links are small enough decides the core.
 */
export function linkReader(terms: LinkTerms): ((uri: string) => Promise<unknown>) | undefined {
  const { reader, context, config = {}, timeoutSeconds = LINK_SECONDS, onRead } = terms;
  if (config.enabled === false || (config.auto_read_if_size_under_bytes ?? 0) === 0) return undefined;
  return async (uri) => {
    // Whoever waits for the result may have given up long ago, and cannot say so here.
    const late = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = context.signal === undefined ? late : AbortSignal.any([context.signal, late]);
    const inner = { ...context, signal };
    const reading = await reader.readResource(uri, inner, { storesText: false });
    onRead?.(reading);
    return { contents: reading.contents.map(linked) };
  };
}

/** In the words of the wire, where there are such: the gate reads it like any other result. */
function linked(content: ReadContent): Readonly<Record<string, unknown>> {
  const { uri, mime_type } = content;
  const type = mime_type !== null && { mimeType: mime_type };
  if (content.kind === "text") return { uri, ...type, text: content.text };
  return { uri, ...type, artifact: namedArtifact(content), summary: content.summary };
}

/** What a model may see of an artifact that was read (design §4). */
export function namedArtifact(
  content: Extract<ReadContent, { readonly kind: "artifact" }>,
): Readonly<Record<string, unknown>> {
  const { id, mime_type, size_bytes, filename } = content;
  return { id, mime_type, size_bytes, ...(filename !== null && { filename }) };
}
