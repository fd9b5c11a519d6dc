/**
 * The form in which a tool expects a file: as configured, else as its schema says.
 * @module
 */
import { fragmentToken } from "../../json/pointer.js";
import { isObject } from "../../errors/arguments.js";

/** How an artifact is written into an argument. `path` is the path of a copy, only where configured. */
export type ArtifactForm = "base64" | "data_uri" | "text" | "path";

/** Forms by place. A place is names, indexes and `*` joined by dots. */
export type ArtifactForms = Readonly<Record<string, ArtifactForm>>;

/** What is known of a called tool. */
export interface ArgumentTool {
  /** Its name. */
  readonly name: string;
  /** Its input schema. Undefined if it is not listed yet. */
  readonly inputSchema: unknown;
  /** Its `_meta`, for `openai/fileParams`. */
  readonly meta?: unknown;
  /** Configured forms. */
  readonly forms?: ArtifactForms;
  /** Built-in forms for well-known servers. */
  readonly preset?: ArtifactForms;
}

/** Forms that a caller may request. */
const OFFERED = ["base64", "data_uri", "text"] as const;

const MAX_DESCRIPTION = 4096;

/**
 * The form expected at a place: the first of `?as=`, configuration, preset, and schema. Undefined if none of them says,
 * or if `?as=` is not one of {@link OFFERED}.
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
  return findDescribedForm(schemas.map((schema) => textAt(schema, "description").slice(0, MAX_DESCRIPTION)).join("\n"));
}

interface Rule {
  readonly form: ArtifactForm;
  readonly holds: (schema: SchemaObject) => boolean;
}

const RULES: readonly Rule[] = [
  { form: "data_uri", holds: (schema) => isSet(schema, "x-mcp-file") },
  { form: "base64", holds: (schema) => textAt(schema, "contentEncoding").toLowerCase() === "base64" },
  { form: "base64", holds: (schema) => textAt(schema, "format") === "byte" },
  { form: "data_uri", holds: (schema) => /^data-ur[il]$/.test(textAt(schema, "format")) },
  { form: "data_uri", holds: (schema) => textAt(schema, "pattern").startsWith("^data:") },
  { form: "text", holds: (schema) => textAt(schema, "contentMediaType").toLowerCase().startsWith("text/") },
];

/** Descriptions of data URIs often mention base64. */
const DATA_URI = /(?:\bbase-?64(?:[- ]encoded)? )?\bdata[- ]ur[il]s?\b|\bdata:[^\s"'`]{0,100}/gi;
const BASE64 = /\bbase-?64\b/i;
const TEXT =
  /\btext contents?\b|\bas text\b|\btext of\b|\b(?:plain|raw|html|markdown)[- ]text\b|\b(?:html|markdown) (?:of|source|content|body)\b|'s (?:html|markdown|text)\b|\butf-?8\b/i;

function findDescribedForm(description: string): ArtifactForm | undefined {
  const rest = description.replace(DATA_URI, " ");
  const named: ArtifactForm[] = [];
  if (rest !== description) named.push("data_uri");
  if (BASE64.test(rest)) named.push("base64");
  if (TEXT.test(rest)) named.push("text");
  return named.length === 1 ? named[0] : undefined;
}

/** Whether `openai/fileParams` names the place: a string, an object with a `download_url`, or a list of either. */
function isFileParameter(meta: unknown, [name, ...rest]: ArgumentPath): boolean {
  const names = own(meta, "openai/fileParams");
  if (!Array.isArray(names) || !names.includes(name)) return false;
  const inner = typeof rest[0] === "number" ? rest.slice(1) : rest;
  return inner.length === 0 || (inner.length === 1 && inner[0] === "download_url");
}

function isSet(schema: SchemaObject, keyword: string): boolean {
  const value = own(schema, keyword);
  return value !== undefined && value !== null && value !== false;
}

function textAt(schema: SchemaObject, keyword: string): string {
  const value = own(schema, keyword);
  return typeof value === "string" ? value : "";
}

/** Names and indexes from the outermost value inwards. */
export type ArgumentPath = readonly (string | number)[];

type SchemaObject = Readonly<Record<string, unknown>>;

/** Most schemas that are examined for one step. */
const MAX_SCHEMAS = 200;

/** A path as written in configuration: joined by dots. */
export function pathText(path: ArgumentPath): string {
  return path.join(".");
}

/** The value under the first path that matches, where `*` matches any name or index. */
function valueForPath<T>(values: Readonly<Record<string, T>>, path: ArgumentPath): T | undefined {
  const text = pathText(path);
  if (Object.hasOwn(values, text)) return values[text];
  for (const [pattern, value] of Object.entries(values)) {
    const parts = pattern.split(".");
    if (parts.length !== path.length) continue;
    if (parts.every((part, index) => part === "*" || part === String(path[index]))) return value;
  }
  return undefined;
}

/** All schemas for one place, outermost first. Follows choices and local references (`#/…`). */
function schemasAt(root: unknown, path: ArgumentPath): readonly SchemaObject[] {
  let schemas = spread([root], root);
  for (const part of path) {
    schemas = spread(
      schemas.flatMap((schema) => within(schema, part)),
      root,
    );
  }
  return schemas;
}

function spread(schemas: readonly unknown[], root: unknown): readonly SchemaObject[] {
  const found = new Set<SchemaObject>();
  const waiting = schemas.slice(0, MAX_SCHEMAS);
  for (const next of waiting) {
    if (!isObject(next) || found.has(next)) continue;
    found.add(next);
    if (waiting.length < MAX_SCHEMAS) waiting.push(...besides(next, root).slice(0, MAX_SCHEMAS));
  }
  return [...found];
}

/** Other schemas that apply to the same value. */
function besides(schema: SchemaObject, root: unknown): unknown[] {
  const branches = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => {
    const list = own(schema, keyword);
    return Array.isArray(list) ? (list.slice(0, MAX_SCHEMAS) as unknown[]) : [];
  });
  const ref = own(schema, "$ref");
  return [
    ...branches,
    own(schema, "then"),
    own(schema, "else"),
    typeof ref === "string" ? target(root, ref) : undefined,
  ];
}

/** The schemas that apply to one part of a value. */
function within(schema: SchemaObject, part: string | number): unknown[] {
  if (typeof part === "string") {
    const named = own(own(schema, "properties"), part);
    // `patternProperties` is ignored: a server's patterns are not run over a client's input.
    return named === undefined ? [own(schema, "additionalProperties")] : [named];
  }
  const items = own(schema, "items");
  const first = Array.isArray(items) ? items : own(schema, "prefixItems");
  if (Array.isArray(first) && part < first.length) return [first[part]];
  return [Array.isArray(items) ? own(schema, "additionalItems") : items];
}

function target(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of ref.slice(2).split("/")) found = own(found, fragmentToken(part) ?? part);
  return found;
}

function own(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as SchemaObject)[name]
    : undefined;
}
