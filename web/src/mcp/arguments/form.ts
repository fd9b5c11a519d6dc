/**
 * The form in which a tool wants a file: what configuration says, else what its schema says of the place.
 * @module
 */
import { schemasAt, valueForPath, type ArgumentPath } from "./position.js";

/** How an artifact is written into an argument. `path`: that of a copy, and only where configured. */
export type ArtifactForm = "base64" | "data_uri" | "text" | "path";

/** Forms by place: names, indexes and `*`, joined by dots. */
export type ArtifactForms = Readonly<Record<string, ArtifactForm>>;

/** What is known of a tool that arguments are for. */
export interface ArgumentTool {
  /** Its name. */
  readonly name: string;
  /** As its server listed it; undefined where it was not listed yet. */
  readonly inputSchema: unknown;
  /** Its `_meta`, for `openai/fileParams`. */
  readonly meta?: unknown;
  /** What configuration says of it. */
  readonly forms?: ArtifactForms;
  /** What is known of well-known servers. */
  readonly preset?: ArtifactForms;
}

/** Forms that a caller may ask for. */
export const OFFERED = ["base64", "data_uri", "text"] as const;

const MAX_DESCRIPTION = 4096;

/**
 * The form wanted at a place; the first of configuration, preset, `?as=`, and what the schema says. Undefined where
 * nobody says, or where `?as=` says what is none of {@link OFFERED}.
 */
export function formAt(tool: ArgumentTool, path: ArgumentPath, as: string | undefined): ArtifactForm | undefined {
  const asked = OFFERED.find((form) => form === as);
  if (asked !== undefined) return asked;
  const configured = valueForPath(tool.forms ?? {}, path) ?? valueForPath(tool.preset ?? {}, path);
  if (configured !== undefined) return configured;
  if (as !== undefined) return undefined;
  if (isFileParameter(tool.meta, path)) return "data_uri";
  const schemas = schemasAt(tool.inputSchema, path);
  for (const rule of RULES) if (schemas.some(rule.holds)) return rule.form;
  return describedForm(schemas.map((schema) => text(schema, "description").slice(0, MAX_DESCRIPTION)).join("\n"));
}

interface Rule {
  readonly form: ArtifactForm;
  readonly holds: (schema: Readonly<Record<string, unknown>>) => boolean;
}

const RULES: readonly Rule[] = [
  { form: "data_uri", holds: (schema) => isSet(schema, "x-mcp-file") },
  { form: "base64", holds: (schema) => text(schema, "contentEncoding").toLowerCase() === "base64" },
  { form: "base64", holds: (schema) => text(schema, "format") === "byte" },
  { form: "data_uri", holds: (schema) => /^data-ur[il]$/.test(text(schema, "format")) },
  { form: "data_uri", holds: (schema) => text(schema, "pattern").startsWith("^data:") },
  { form: "text", holds: (schema) => text(schema, "contentMediaType").toLowerCase().startsWith("text/") },
];

/** Words for a data URI often say, within, that it is base64. */
const DATA_URI = /(?:\bbase-?64(?:[- ]encoded)? )?\bdata[- ]ur[il]s?\b|\bdata:[^\s"'`]{0,100}/gi;
const BASE64 = /\bbase-?64\b/i;
const TEXT = /\btext contents?\b|\bcontents? as text\b|\b(?:plain|raw)[- ]text\b|\butf-?8\b/i;

function describedForm(description: string): ArtifactForm | undefined {
  const rest = description.replace(DATA_URI, " ");
  const named: ArtifactForm[] = [];
  if (rest !== description) named.push("data_uri");
  if (BASE64.test(rest)) named.push("base64");
  if (TEXT.test(rest)) named.push("text");
  return named.length === 1 ? named[0] : undefined;
}

/** `openai/fileParams` names parameters; each is a string, an object with a `download_url`, or a list of either. */
function isFileParameter(meta: unknown, [name, ...rest]: ArgumentPath): boolean {
  if (typeof meta !== "object" || meta === null) return false;
  const names = (meta as Readonly<Record<string, unknown>>)["openai/fileParams"];
  if (!Array.isArray(names) || !names.includes(name)) return false;
  const within = typeof rest[0] === "number" ? rest.slice(1) : rest;
  return within.length === 0 || (within.length === 1 && within[0] === "download_url");
}

function isSet(schema: Readonly<Record<string, unknown>>, keyword: string): boolean {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return value !== undefined && value !== null && value !== false;
}

function text(schema: Readonly<Record<string, unknown>>, keyword: string): string {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return typeof value === "string" ? value : "";
}
