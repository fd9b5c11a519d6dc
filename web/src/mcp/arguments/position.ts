/**
 * Where a value stands in arguments, and what a tool's schema says of that place.
 * @module
 */

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
export function valueForPath<T>(values: Readonly<Record<string, T>>, path: ArgumentPath): T | undefined {
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
export function schemasAt(root: unknown, path: ArgumentPath): readonly SchemaObject[] {
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
