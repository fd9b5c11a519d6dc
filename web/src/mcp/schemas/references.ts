/**
 * `$ref` within one schema document: where it points, and where that stands once schemas around it have moved.
 * @module
 */
import { valueAt, type ObjectNode, type StringNode, type ValueNode } from "../json-text.js";
import { DATA, stringAt } from "./keywords.js";

/** A `$ref`, and the schema its pointers start from: the root, or the nearest one around it with an `$id`. */
export interface Reference {
  readonly node: StringNode;
  readonly base: ObjectNode;
}

/** What a `$ref` points at. */
export interface Target {
  readonly schema: ValueNode;
  /** Parts of the pointer as they are written, and the node each leads to. */
  readonly steps: readonly { readonly part: string; readonly name: string; readonly node: ValueNode }[];
}

/** The schema that pointers within `schema` start from. */
export function baseWithin(schema: ObjectNode, base: ObjectNode): ObjectNode {
  const id = stringAt(schema, "$id");
  return id === undefined || id.startsWith("#") ? base : schema;
}

/** The `$ref` of a schema, if it has one. */
export function referenceOf(schema: ObjectNode, base: ObjectNode): Reference | undefined {
  const node = valueAt(schema, "$ref");
  return node?.type === "String" ? { node, base: baseWithin(schema, base) } : undefined;
}

/** Follows a reference; undefined where it leaves the document, names an anchor, or ends in what is no schema. */
export function follow({ node: { value: ref }, base }: Reference): Target | undefined {
  const hash = ref.indexOf("#");
  const document = hash < 0 ? ref : ref.slice(0, hash);
  const pointer = hash < 0 ? "" : ref.slice(hash + 1);
  if (document !== "" && document !== stringAt(base, "$id")?.replace(/#$/, "")) return undefined;
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  const steps: { part: string; name: string; node: ValueNode }[] = [];
  let schema: ValueNode = base;
  for (const part of pointer.split("/").slice(1)) {
    const name = nameIn(part);
    const node: ValueNode | undefined = name === undefined ? undefined : child(schema, name);
    if (name === undefined || node === undefined) return undefined;
    steps.push({ part, name, node });
    schema = node;
  }
  return { schema, steps };
}

/** Whether a pointer leads through something that is data, such as a default. */
export function isThroughData({ steps }: Target): boolean {
  // What follows `properties` is a name that somebody chose, whatever it reads like.
  let isName = false;
  for (const { name } of steps) {
    if (!isName && DATA.has(name)) return true;
    isName = !isName && NAMING.has(name);
  }
  return false;
}

const NAMING: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);

function child(node: ValueNode, name: string): ValueNode | undefined {
  if (node.type !== "Array") return valueAt(node, name);
  return /^(?:0|[1-9]\d{0,9})$/.test(name) ? node.elements[Number(name)]?.value : undefined;
}

/** What a part of a pointer in a URI fragment names. */
function nameIn(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
