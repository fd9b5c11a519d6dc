/**
 * JSON Schemas cut out of a document: what they refer to comes along in `$defs`, loops and all, within bounds.
 * @module
 */
import { isObject, type Document } from "../utcp/document.js";

/** Values in one tool's schema beside the names of its properties; no model reads more. */
const MAX_VALUES = 5000;
/** Values that each may have, however many tools there are. */
const MIN_VALUES = 500;
/** Values in the schemas of all tools together, beyond which each has that little. */
const MAX_TOTAL = 1_000_000;
/** Values of a definition, by how much room there is for it. */
const SIZES: readonly number[] = [MAX_VALUES, 400, 100];
/** Values that are copied of definitions, which tools share. */
const MAX_COPIED = 4_000_000;
/** How far a reference to a reference is followed. */
const MAX_HOPS = 8;

/** What a reference leads to. */
interface Definition {
  /** In `$defs`. */
  readonly name: string;
  readonly schema: unknown;
  /** The largest first; made once it is needed. */
  copies?: readonly Cut[];
}

/** Cuts schemas out of one document. */
export class Schemas {
  readonly #document: Document;
  /** By pointer; null where one leads nowhere. */
  readonly #definitions = new Map<string, Definition | null>();
  /** How often a name was wanted. */
  readonly #names = new Map<string, number>();
  readonly #find = (pointer: string): Definition | null => this.#definition(pointer);
  #total = MAX_TOTAL;
  #copied = 0;

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
   * A copy that stands by itself, whose definitions other copies share. References within the document lead to its
   * `$defs`; those that lead elsewhere, and what is too much, allow everything.
   *
   * @param names properties that are named whatever else is cut.
   */
  standalone(schema: Readonly<Record<string, unknown>>, names: number = 0): Readonly<Record<string, unknown>> {
    const room = names + Math.max(MIN_VALUES, Math.min(MAX_VALUES, this.#total));
    const { value: root, size, needs } = cutSchema(schema, room, this.#find);
    let left = room - size;
    // A set keeps what is added to it while it is walked through.
    const needed = new Set(needs);
    const definitions = Array.from(needed, (definition): [string, unknown] => {
      const copy = this.#copyOf(definition, left);
      if (copy === undefined) return [definition.name, {}];
      left -= copy.size;
      for (const one of copy.needs) needed.add(one);
      return [definition.name, copy.value];
    });
    this.#total = Math.max(0, this.#total - (room - left));
    if (definitions.length === 0) return root;
    const own = isObject(root["$defs"]) ? root["$defs"] : {};
    return { ...root, $defs: { ...own, ...Object.fromEntries(definitions) } };
  }

  /** As much of a definition as there is room for; undefined where that is nothing. */
  #copyOf(definition: Definition, room: number): Cut | undefined {
    if (room <= 0) return undefined;
    if (definition.copies === undefined) {
      if (this.#copied > MAX_COPIED) return undefined;
      definition.copies = SIZES.map((limit) => cutSchema(definition.schema, limit, this.#find));
      for (const { size } of definition.copies) this.#copied += size;
    }
    return definition.copies.find(({ size }) => size <= room);
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
    let n = (this.#names.get(wanted) ?? 0) + 1;
    while (n > 1 && this.#names.has(`${wanted}_${n}`)) n += 1;
    this.#names.set(wanted, n);
    if (n === 1) return wanted;
    this.#names.set(`${wanted}_${n}`, 1);
    return `${wanted}_${n}`;
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

/** A copy. */
interface Cut {
  readonly value: Document;
  /** Values in it: at most the limit. */
  readonly size: number;
  /** What its references lead to, each once. */
  readonly needs: readonly Definition[];
}

/**
 * Copies a schema within a limit of values; what is no schema allows everything.
 *
 * @param find what a reference leads to, which is in `$defs` under its name; null where it leads nowhere.
 */
export function cutSchema(schema: unknown, limit: number, find: (pointer: string) => Definition | null): Cut {
  const copy = new Copy(limit, find);
  const value = copy.of(schema);
  return { value: isObject(value) ? value : {}, size: copy.used, needs: [...copy.needs] };
}

/** Stands for what does not fit. */
const TOO_MUCH: unique symbol = Symbol("too much");

/**
 * Keywords that are left out where anything of their value does not fit: with what allows more in it, or with a part of the
 * list, the schema would allow something else, or less.
 */
const ALL_OR_NOTHING: ReadonlySet<string> = new Set("const default enum example examples not if oneOf".split(" "));
/** Keywords whose members are names, each with a schema. */
const NAMES: ReadonlySet<string> = new Set(
  "properties patternProperties dependentSchemas $defs definitions".split(" "),
);

/** What is about what a keyword leaves over: where that allows more than it did, less would be left. */
const LEFT_OVER: Readonly<Record<string, readonly string[]>> = {
  patternProperties: ["additionalProperties"],
  prefixItems: ["items"],
  items: ["additionalItems"],
  contains: ["maxContains"],
};

class Copy {
  readonly #limit: number;
  readonly #find: (pointer: string) => Definition | null;
  readonly needs = new Set<Definition>();
  used = 1;
  /** How often something did not fit. */
  #cuts = 0;

  constructor(limit: number, find: (pointer: string) => Definition | null) {
    this.#limit = limit;
    this.#find = find;
  }

  /** The room for a node's children is taken before they are looked at, so that none takes that of its siblings. */
  of(node: unknown, isNames: boolean = false): unknown {
    if (typeof node !== "object" || node === null) return node;
    if (Array.isArray(node)) return this.#take(node.length) ? this.#items(node) : TOO_MUCH;
    const entries = Object.entries(node);
    if (!this.#take(entries.length)) return TOO_MUCH;
    return isNames
      ? Object.fromEntries(entries.map(([name, value]) => [name, orAnything(this.of(value))]))
      : this.#members(entries);
  }

  #take(values: number): boolean {
    const fits = this.used + values <= this.#limit;
    if (fits) this.used += values;
    else this.#cuts += 1;
    return fits;
  }

  #items(node: readonly unknown[]): unknown {
    const items = node.map((item) => this.of(item));
    return items.includes(TOO_MUCH) ? TOO_MUCH : items;
  }

  #members(entries: readonly (readonly [string, unknown])[]): unknown {
    const copied: [string, unknown][] = [];
    const before = this.#cuts;
    const refusing = new Set<string>();
    for (const [key, value] of entries) {
      if (key === "$ref" && typeof value === "string") {
        this.#refer(value, copied);
        continue;
      }
      // OpenAPI 2 and 3.0 let many say so of a single property, which JSON Schema does not know.
      if (key === "required" && typeof value === "boolean") continue;
      const cuts = this.#cuts;
      const part = this.of(value, NAMES.has(key));
      // Without the names of its properties a schema that takes no others would take none.
      if (part === TOO_MUCH && key === "properties") return {};
      const isCut = this.#cuts > cuts;
      // A pattern of which only the schema is cut is still a pattern.
      if (part === TOO_MUCH || (isCut && key === "contains")) {
        for (const other of LEFT_OVER[key] ?? []) refusing.add(other);
      }
      if (isCut && ALL_OR_NOTHING.has(key)) continue;
      if (part !== TOO_MUCH || !Array.isArray(value)) copied.push([key, orAnything(part)]);
    }
    if (this.#cuts > before) for (const key of ["unevaluatedProperties", "unevaluatedItems"]) refusing.add(key);
    return Object.fromEntries(copied.filter(([key]) => !refusing.has(key)));
  }

  #refer(pointer: string, copied: [string, unknown][]): void {
    const definition = this.#find(pointer);
    if (definition === null) {
      this.#cuts += 1;
      return;
    }
    this.needs.add(definition);
    copied.push(["$ref", `#/$defs/${definition.name}`]);
  }
}

function orAnything(part: unknown): unknown {
  return part === TOO_MUCH ? {} : part;
}
