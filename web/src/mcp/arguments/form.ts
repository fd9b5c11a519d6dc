/**
 * The form in which a tool wants a file: what configuration says, else what its schema says of the place.
 * @module
 */

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
const OFFERED = ["base64", "data_uri", "text"] as const;

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
  return describedForm(schemas.map((schema) => textAt(schema, "description").slice(0, MAX_DESCRIPTION)).join("\n"));
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

/** Schemas that are looked at for one step: a server may write as many as it likes. */
const MAX_SCHEMAS = 200;

/** A path as configuration writes it: joined by dots. */
export function pathText(path: ArgumentPath): string {
  return path.join(".");
}

/** What stands under the first path that fits, `*` being any name or index; undefined where none does. */
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

/** All schemas that speak of one place, choices and references (`#/…`) followed, the outermost first. */
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

/** What else is said of a schema's value. */
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

/** What a schema says of one of its value's parts. */
function within(schema: SchemaObject, part: string | number): unknown[] {
  if (typeof part === "string") {
    const named = own(own(schema, "properties"), part);
    // Patterns are a server's: they are not run over what a client sends.
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
  for (const part of ref.slice(2).split("/")) found = own(found, decoded(part));
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}

function own(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as SchemaObject)[name]
    : undefined;
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
