/**
 * Documents that describe tools: UTCP manuals and OpenAPI descriptions, in JSON or YAML. Untrusted.
 * @module
 */
import { wrong } from "../../errors.js";
import { isObject } from "../../../errors/arguments.js";
import { readBounded, decodePieces } from "../../../jsonrpc/bytes.js";
import { tryParse } from "../../../jsonrpc/rpc.js";

/** A parsed document: an object within all limits. */
export type Document = Readonly<Record<string, unknown>>;

/** The kind of a document. */
type DocumentKind = "manual" | "openapi" | "unknown";

/** Maximum bytes of a document. The largest public APIs have about ten million. */
export const MAX_DOCUMENT: number = 16 * 1024 * 1024;
/** Maximum tools of a document. */
export const MAX_TOOLS = 2000;
const MAX_DEPTH = 100;
/** Maximum values of a document. Values that YAML aliases repeat count each time. */
const MAX_VALUES = 2_000_000;

/**
 * Parses a document.
 *
 * @param subject the start of error messages.
 * @returns undefined if it is not an object in JSON or YAML.
 * @throws ToolNodeError E_TOOL_CONFIG if it is too large.
 */
export async function parseDocument(text: string, subject: string): Promise<Document | undefined> {
  if (text.length > MAX_DOCUMENT) throw tooLarge(subject);
  const value = tryParse(text) ?? (await yaml(text, subject));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  measure(value, subject);
  return value as Document;
}

/** The kind of a document, by its required members. */
export function detectKind(document: Document): DocumentKind {
  const { tools, openapi, swagger, paths } = document;
  if (Array.isArray(tools)) return "manual";
  const isVersion = typeof openapi === "string" || typeof swagger === "string" || typeof swagger === "number";
  return isVersion && isObject(paths) ? "openapi" : "unknown";
}

/** Decodes bytes. Undefined if there are too many. */
export async function readBoundedText(chunks: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const bytes = await readBounded(chunks, MAX_DOCUMENT);
  return bytes && decodePieces([bytes]);
}

/** The error for a document that is too large. */
export function tooLarge(subject: string): Error {
  const sizes = `${MAX_DOCUMENT / 1024 / 1024} MiB, or ${MAX_YAML / 1024 / 1024} MiB of YAML`;
  return wrong(`${subject} has a document that is too large: use one of at most ${sizes}, with fewer tools.`);
}

async function yaml(text: string, subject: string): Promise<unknown> {
  if (!mayBeYaml(text)) return undefined;
  if (text.length > MAX_YAML) throw tooLarge(subject);
  try {
    return await parseYaml(text);
  } catch {
    return undefined;
  }
}

/** Throws if a document is too deep or too large. */
function measure(value: object, subject: string): void {
  let left = MAX_VALUES;
  const walk = (node: unknown, depth: number): void => {
    if (--left < 0) throw tooLarge(subject);
    if (typeof node !== "object" || node === null) return;
    if (depth > MAX_DEPTH) throw wrong(`${subject} has a document that is nested deeper than ${MAX_DEPTH} levels.`);
    for (const child of Object.values(node)) walk(child, depth + 1);
  };
  walk(value, 0);
}

/** Maximum characters of YAML, which takes about a second to parse. */
const MAX_YAML: number = 2 * 1024 * 1024;

/** Maximum number of keys from merges (`<<`). */
const MAX_MERGED = 100_000;
/** Maximum number of characters and list items that aliases repeat. */
const MAX_REPEATED = 1_000_000;

/** A top-level key of our documents. Most other texts have none. */
const OUR_KEY = /^[ \t]*["']?(?:openapi|swagger|tools|call_template_type)["']?[ \t]*:/m;

/** Whether a text may be one of our documents in YAML. Only a quick check. */
export function mayBeYaml(text: string): boolean {
  // HTML and broken JSON are not YAML documents.
  return !/^\s*[<[{]/.test(text) && OUR_KEY.test(text);
}

/**
 * Parses a YAML 1.2 document, with merges. Of duplicate keys the last one counts; unknown tags are ignored.
 *
 * @throws Error for invalid YAML, several documents, and excessive depth, merges or aliases. The message may quote
 *   the text.
 */
export async function parseYaml(text: string): Promise<unknown> {
  const { load, CORE_SCHEMA, Type, types } = await import("js-yaml");
  const kinds = ["scalar", "sequence", "mapping"] as const;
  const others = kinds.map((kind) => new Type("", { kind, multi: true }));
  const repeated = new Map<unknown, number>();
  let left = MAX_REPEATED;
  return load(text, {
    schema: CORE_SCHEMA.extend({ implicit: [types.merge], explicit: others }),
    json: true,
    maxDepth: MAX_DEPTH,
    maxTotalMergeKeys: MAX_MERGED,
    listener: (event, { anchor, result }) => {
      if (event === "open" || (typeof result !== "string" && !Array.isArray(result))) return;
      // A string that equals an anchored one is counted as an alias, since the two cannot be told apart.
      if (anchor !== null) repeated.set(result, weighValue(result));
      else left -= repeated.get(result) ?? 0;
      if (left < 0) throw new Error("Aliases repeat too much.");
    },
  });
}

/** Approximate length of a value as text. */
function weighValue(value: string | readonly unknown[]): number {
  if (typeof value === "string") return 1 + value.length;
  return value.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 1), 1);
}
