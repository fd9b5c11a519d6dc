/**
 * JSON Schema keywords by what they contain, for all drafts at once: a keyword that a draft does not know does not
 * occur in its schemas. Also resolves `$ref` within a document.
 * @module
 */
import { fragmentToken } from "../../json/pointer.js";
import { mapMembers, readName, valueAt, type ObjectNode, type StringNode, type ValueNode } from "../../json/text.js";

/** A subschema that applies to the same value (`same`), or to a part of it (`part`): an item, a member, a name. */
export interface Subschema {
  readonly keyword: string;
  readonly about: "same" | "part";
  readonly node: ValueNode;
}

interface Holder {
  readonly about: Subschema["about"];
  /** Whether the subschemas are keyed by arbitrary names. */
  readonly named: boolean;
}

const HOLDERS: ReadonlyMap<string, Holder> = new Map([
  ...holders({ about: "part", named: false }, "items prefixItems additionalItems unevaluatedItems contains"),
  ...holders({ about: "part", named: false }, "additionalProperties unevaluatedProperties propertyNames"),
  ...holders({ about: "part", named: true }, "properties patternProperties"),
  ...holders({ about: "same", named: false }, "allOf anyOf oneOf not if then else"),
  ...holders({ about: "same", named: true }, "dependentSchemas dependencies $defs definitions"),
]);

/** Keywords that describe a position without constraining it. Hosts show them. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

/** Keywords that belong to the document's root, whatever happens to its constraints. */
const IDENTITY: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "id",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$vocabulary",
  "$comment",
  "$defs",
  "definitions",
]);

/** Keywords that contain data and not schemas, even if a reference points there. */
const DATA: ReadonlySet<string> = new Set([...ANNOTATIONS, "const", "enum"]);

/** Whether a keyword constrains nothing. */
export function constrainsNothing(name: string): boolean {
  return ANNOTATIONS.has(name) || IDENTITY.has(name) || isExtension(name);
}

/** Whether a keyword is an extension. */
export function isExtension(name: string): boolean {
  return name.startsWith("x-");
}

/** The direct subschemas of a schema, in textual order. */
export function* listSubschemas(schema: ObjectNode): Generator<Subschema, void, void> {
  for (const [keyword, { value }] of mapMembers(schema)) {
    const holder = HOLDERS.get(keyword);
    if (holder === undefined) continue;
    for (const node of listHeld(value, holder.named)) yield { keyword, about: holder.about, node };
  }
}

function* listHeld(value: ValueNode, named: boolean): Generator<ValueNode, void, void> {
  // Of a duplicate name only the last is in force, and references resolve to it too.
  if (named && value.type === "Object") for (const member of mapMembers(value).values()) yield member.value;
  if (!named && value.type === "Array") for (const element of value.elements) yield element.value;
  if (!named && isSchema(value)) yield value;
}

function isSchema(node: ValueNode | undefined): boolean {
  return node?.type === "Object" || node?.type === "Boolean";
}

/** The string value of a keyword. */
export function stringAt(schema: ValueNode, keyword: string): string | undefined {
  const node = valueAt(schema, keyword);
  return node?.type === "String" ? node.value : undefined;
}

/** The number value of a keyword. */
export function numberAt(schema: ValueNode, keyword: string): number | undefined {
  const node = valueAt(schema, keyword);
  return node?.type === "Number" ? node.value : undefined;
}

/** The elements of a keyword's array, or none. */
export function listAt(schema: ValueNode, keyword: string): ValueNode[] {
  const node = valueAt(schema, keyword);
  return node?.type === "Array" ? node.elements.map(({ value }) => value) : [];
}

/** Whether a schema is `true` or `{}`. */
export function isOpen(schema: ValueNode | undefined): boolean {
  return schema?.type === "Boolean" ? schema.value : schema?.type === "Object" && schema.members.length === 0;
}

/** Whether all names of an object are allowed. */
export function hasOnly(object: ObjectNode, allowed: (name: string) => boolean): boolean {
  return object.members.every((member) => allowed(readName(member)));
}

/** Whether a schema refuses some members that it does not name. */
export function isClosed(schema: ObjectNode): boolean {
  return ["additionalProperties", "unevaluatedProperties"].some((keyword) => {
    const rest = valueAt(schema, keyword);
    return rest !== undefined && !isOpen(rest);
  });
}

function holders(holder: Holder, keywords: string): [string, Holder][] {
  return keywords.split(" ").map((keyword) => [keyword, holder]);
}

/** A `$ref`, and the schema that its pointer starts from: the root, or the nearest enclosing schema with an `$id`. */
export interface Reference {
  readonly node: StringNode;
  readonly base: ObjectNode;
}

interface Target {
  readonly schema: ValueNode;
  /** Parts of the pointer as written, and the node that each leads to. */
  readonly steps: readonly { readonly part: string; readonly name: string; readonly node: ValueNode }[];
}

/** The schema that pointers within `schema` start from. */
export function baseWithin(schema: ObjectNode, base: ObjectNode): ObjectNode {
  const id = stringAt(schema, "$id");
  return id === undefined || id.startsWith("#") ? base : schema;
}

/** The `$ref` of a schema, if it has one. */
export function readReference(schema: ObjectNode, base: ObjectNode): Reference | undefined {
  const node = valueAt(schema, "$ref");
  return node?.type === "String" ? { node, base: baseWithin(schema, base) } : undefined;
}

/** Resolves a reference. Undefined if it leaves the document, names an anchor, or does not lead to a schema. */
export function follow({ node: { value: ref }, base }: Reference): Target | undefined {
  const hash = ref.indexOf("#");
  const document = hash < 0 ? ref : ref.slice(0, hash);
  const pointer = hash < 0 ? "" : ref.slice(hash + 1);
  if (document !== "" && document !== stringAt(base, "$id")?.replace(/#$/, "")) return undefined;
  if (pointer !== "" && !pointer.startsWith("/")) return undefined;
  const steps: { part: string; name: string; node: ValueNode }[] = [];
  let schema: ValueNode = base;
  for (const part of pointer.split("/").slice(1)) {
    const name = fragmentToken(part);
    const node: ValueNode | undefined = name === undefined ? undefined : child(schema, name);
    if (name === undefined || node === undefined) return undefined;
    steps.push({ part, name, node });
    schema = node;
  }
  return { schema, steps };
}

/** Whether a pointer leads through data, such as a default. */
export function isThroughData({ steps }: Target): boolean {
  // The token after `properties` is an arbitrary name, not a keyword.
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
