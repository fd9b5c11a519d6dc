/**
 * A JSON Schema of somebody else's, copied as far as it fits: what is cut allows everything.
 * @module
 */
import { isObject, type Document } from "../utcp/document.js";

/** A copy. */
export interface Cut<Definition> {
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
export function cutSchema<Definition extends { readonly name: string }>(
  schema: unknown,
  limit: number,
  find: (pointer: string) => Definition | null,
): Cut<Definition> {
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

class Copy<Definition extends { readonly name: string }> {
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
