/**
 * JSON Schemas cut out of a document: what they refer to comes along in `$defs`, loops and all, within bounds.
 * @module
 */
import { isObject, type Document } from "../utcp/document.js";

/** Values in one tool's schema; no model reads more. */
const MAX_VALUES = 5000;
/** Values that each may have, however many tools there are. */
const MIN_VALUES = 500;
/** Values in the schemas of all tools together, beyond which each has that little. */
const MAX_TOTAL = 1_000_000;
/** How far a reference to a reference is followed. */
const MAX_HOPS = 8;

/** What a reference leads to, and its name in `$defs`. */
interface Definition {
  readonly name: string;
  readonly schema: unknown;
}

/** Cuts schemas out of one document. */
export class Schemas {
  readonly #document: Document;
  /** By pointer; null where one leads nowhere. */
  readonly #definitions = new Map<string, Definition | null>();
  readonly #names = new Set<string>();
  #total = MAX_TOTAL;

  constructor(document: Document) {
    this.#document = document;
  }

  /** What a reference within the document refers to; the value itself where it is none, undefined where there is nothing. */
  resolved(value: unknown): Readonly<Record<string, unknown>> | undefined {
    let node = value;
    for (let hops = 0; isObject(node) && typeof node["$ref"] === "string"; hops++) {
      if (hops >= MAX_HOPS) return undefined;
      node = this.#definition(node["$ref"])?.schema;
    }
    return isObject(node) ? node : undefined;
  }

  /**
   * A copy that stands by itself. References within the document lead to its `$defs`; those that lead elsewhere, and
   * what is too much, allow everything.
   */
  standalone(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const copy = new Copy(Math.max(MIN_VALUES, Math.min(MAX_VALUES, this.#total)), (pointer) =>
      this.#definition(pointer),
    );
    const result = copy.of(schema);
    this.#total = Math.max(0, this.#total - copy.used);
    return isObject(result) ? result : {};
  }

  #definition(pointer: string): Definition | null {
    let definition = this.#definitions.get(pointer);
    if (definition === undefined) {
      const schema = valueAt(this.#document, pointer);
      definition = schema === undefined ? null : { name: this.#nameFor(pointer), schema };
      this.#definitions.set(pointer, definition);
    }
    return definition;
  }

  #nameFor(pointer: string): string {
    const wanted = undoPercent(pointer.split("/").pop() ?? "").replace(/\W/g, "_") || "definition";
    let name = wanted;
    for (let n = 2; this.#names.has(name); n++) name = `${wanted}_${n}`;
    this.#names.add(name);
    return name;
  }
}

/** One copy and the definitions that it needs. */
class Copy {
  readonly #limit: number;
  readonly #definition: (pointer: string) => Definition | null;
  /** A set keeps what is added to it while it is walked through. */
  readonly #needed = new Set<Definition>();
  used = 0;

  constructor(limit: number, definition: (pointer: string) => Definition | null) {
    this.#limit = limit;
    this.#definition = definition;
  }

  of(schema: Readonly<Record<string, unknown>>): unknown {
    const root = this.#copied(schema);
    const definitions: Record<string, unknown> = {};
    for (const needed of this.#needed) definitions[needed.name] = this.#copied(needed.schema);
    if (!isObject(root) || this.#needed.size === 0) return root;
    return { ...root, $defs: { ...(isObject(root["$defs"]) ? root["$defs"] : {}), ...definitions } };
  }

  #copied(node: unknown): unknown {
    this.used += 1;
    if (typeof node !== "object" || node === null) return node;
    if (Array.isArray(node)) return node.map((item) => this.#copied(item));
    if (this.used > this.#limit) return {};
    const entries = Object.entries(node).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
      if (key === "$ref" && typeof value === "string") return this.#reference(value);
      // OpenAPI 2 and 3.0 let many say so of a single property, which JSON Schema does not know.
      if (key === "required" && typeof value === "boolean") return [];
      // A list of schemas that is cut short would allow less, or nothing.
      if (this.used > this.#limit && Array.isArray(value) && value.some(isObject)) return [];
      return [[key, this.#copied(value)]];
    });
    return Object.fromEntries(entries);
  }

  #reference(pointer: string): [string, unknown][] {
    const definition = this.#definition(pointer);
    if (definition === null) return [];
    this.#needed.add(definition);
    return [["$ref", `#/$defs/${definition.name}`]];
  }
}

/** The value at a JSON pointer in a URI fragment. */
function valueAt(document: Document, pointer: string): unknown {
  if (!pointer.startsWith("#/")) return undefined;
  let node: unknown = document;
  for (const part of pointer.slice(2).split("/")) {
    const key = undoPercent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Readonly<Record<string, unknown>>)[key];
  }
  return node;
}

function undoPercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
