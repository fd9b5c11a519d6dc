/**
 * A document that describes tools: a UTCP manual or an OpenAPI description, JSON or YAML, from whoever wrote it.
 * @module
 */
import { wrong } from "../../problem.js";

/** A document as it was parsed: an object, within all bounds. */
export type Document = Readonly<Record<string, unknown>>;

/** What a document is. */
type DocumentKind = "manual" | "openapi" | "unknown";

/** Bytes of a document; descriptions of the largest public APIs have about ten million. */
export const MAX_DOCUMENT: number = 16 * 1024 * 1024;
/** Tools that one document may describe. */
export const MAX_TOOLS = 2000;
const MAX_DEPTH = 100;
/** Values in a document, those that YAML's aliases repeat counted each time. */
const MAX_VALUES = 2_000_000;

/**
 * Parses a document.
 *
 * @returns undefined where it is no object in JSON or YAML.
 * @throws ToolNodeError E_TOOL_CONFIG where it is too large; `subject` begins the sentence.
 */
export async function parsedDocument(text: string, subject: string): Promise<Document | undefined> {
  if (text.length > MAX_DOCUMENT) throw tooLarge(subject);
  const value = json(text) ?? (await yaml(text, subject));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  measure(value, subject);
  return value as Document;
}

/** What a document is, by the members that both kinds require. */
export function kindOf(document: Document): DocumentKind {
  const { tools, openapi, swagger, paths } = document;
  if (Array.isArray(tools)) return "manual";
  const isVersion = typeof openapi === "string" || typeof swagger === "string" || typeof swagger === "number";
  return isVersion && isObject(paths) ? "openapi" : "unknown";
}

/** Whether a value is an object and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Bytes as text, as far as they are within the limit; undefined beyond it. */
export async function boundedText(bytes: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > MAX_DOCUMENT) return undefined;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** A document that is too large, said. */
export function tooLarge(subject: string): Error {
  const sizes = `${MAX_DOCUMENT / 1024 / 1024} MiB, or ${MAX_YAML / 1024 / 1024} MiB of YAML`;
  return wrong(`${subject} has a document that is too large: give one of at most ${sizes}, with fewer tools.`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function yaml(text: string, subject: string): Promise<unknown> {
  if (!mayBeYaml(text)) return undefined;
  if (text.length > MAX_YAML) throw tooLarge(subject);
  try {
    return await parsedYaml(text);
  } catch {
    return undefined;
  }
}

/** Throws for what is too deep or too much to be walked through. */
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

/** Characters of a document; a second's work. */
const MAX_YAML: number = 2 * 1024 * 1024;

/** Keys that merges (`<<`) bring, in all of them together. */
const MAX_MERGED = 100_000;
/** Characters and items of lists and texts that aliases repeat. */
const MAX_REPEATED = 1_000_000;

/** A key that one of our documents has at its top; most texts that are none are known by its absence. */
const OUR_KEY = /^[ \t]*["']?(?:openapi|swagger|tools|call_template_type)["']?[ \t]*:/m;

/** Whether a text may be a document of ours in YAML: a look, not a proof. */
export function mayBeYaml(text: string): boolean {
  // A page of a browser, and what begins like JSON, is no YAML that anybody means.
  return !/^\s*[<[{]/.test(text) && OUR_KEY.test(text);
}

/**
 * Reads one document: YAML 1.2, with merges, the last of several keys of the same name, and tags of others left out.
 *
 * @throws Error for what is no YAML, several documents, and what is nested deeper, merged or repeated more than anybody
 * means. Its sentence may quote the text.
 */
export async function parsedYaml(text: string): Promise<unknown> {
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
      // A text that is written out and equals one with an anchor counts too: there is no telling them apart.
      if (anchor !== null) repeated.set(result, weightOf(result));
      else left -= repeated.get(result) ?? 0;
      if (left < 0) throw new Error("Aliases repeat too much.");
    },
  });
}

/** About the length of the text that it would be within a key. */
function weightOf(value: string | readonly unknown[]): number {
  if (typeof value === "string") return 1 + value.length;
  return value.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 1), 1);
}
