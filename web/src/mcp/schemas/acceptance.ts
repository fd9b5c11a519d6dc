/**
 * Whether a schema lets a reference through as it is.
 * @module
 */
import { valueAt, type ObjectNode, type ValueNode } from "../json-text.js";
import { listAt, numberAt, stringAt } from "./keywords.js";
import { baseWithin, follow, referenceOf } from "./references.js";
import { MAX_LOOK, STRING, type Values } from "./values.js";

/** Which schemas are widened: those of results, or those of arguments. */
export type Side = "output" | "input";

/** What a reference that stands alone is, as a pattern. */
export const REFERENCE = "^artifact://";
/** What a text is that holds references in place of its runs. */
export const TEXT_WITH_REFERENCE = "artifact://";

/** No reference is shorter, nor a text that holds one: scheme, and 12 digits of an id. */
const SHORTEST = 24;
/** No reference is longer: an id of at most 129 characters, and a query. */
const LONGEST = 1024;

/** Formats that every reference has, and that a URI keeps when a run within it becomes one. */
const URI_FORMATS: ReadonlySet<string> = new Set(["uri", "uri-reference", "iri", "iri-reference"]);

/** Keywords that may refuse a string for reasons that are not looked into. */
const REFUSING = [
  "const",
  "enum",
  "not",
  "if",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  "$dynamicRef",
  "$recursiveRef",
];

/** Tells which schemas let every reference through; of what it cannot tell, it says no. */
export class Acceptance {
  readonly #side: Side;
  readonly #values: Values;
  readonly #known = new Map<ObjectNode, boolean>();

  constructor(side: Side, values: Values) {
    this.#side = side;
    this.#values = values;
  }

  /** Whether a schema lets every reference through. */
  of(schema: ValueNode, base: ObjectNode, depth: number = 0): boolean {
    if (schema.type !== "Object") return schema.type === "Boolean" && schema.value;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_LOOK) return false;
    this.#known.set(schema, false);
    const accepts = this.#byKeywords(schema) && this.#byApplied(schema, baseWithin(schema, base), depth + 1);
    this.#known.set(schema, accepts);
    return accepts;
  }

  #byKeywords(schema: ObjectNode): boolean {
    if (REFUSING.some((keyword) => valueAt(schema, keyword) !== undefined)) return false;
    const type = valueAt(schema, "type");
    const types = type?.type === "Array" ? listAt(schema, "type") : type === undefined ? [] : [type];
    if (types.length > 0 && !types.some((one) => one.type === "String" && one.value === "string")) return false;
    const pattern = valueAt(schema, "pattern");
    if (pattern !== undefined && !isOurs(stringAt(schema, "pattern"))) return false;
    const format = valueAt(schema, "format");
    if (format !== undefined && !URI_FORMATS.has(stringAt(schema, "format") ?? "")) return false;
    return (numberAt(schema, "minLength") ?? 0) <= SHORTEST && this.#hasRoom(numberAt(schema, "maxLength"));
  }

  #hasRoom(longest: number | undefined): boolean {
    // References in place of short runs may make a text longer than it was.
    return longest === undefined || (this.#side === "input" && longest >= LONGEST);
  }

  #byApplied(schema: ObjectNode, base: ObjectNode, depth: number): boolean {
    const reference = referenceOf(schema, base);
    if (reference !== undefined) {
      const target = follow(reference);
      if (target === undefined || !this.of(target.schema, reference.base, depth)) return false;
    }
    if (!listAt(schema, "allOf").every((part) => this.of(part, base, depth))) return false;
    const branches = listAt(schema, "anyOf");
    if (branches.length > 0 && !branches.some((branch) => this.of(branch, base, depth))) return false;
    return this.#byOneOf(listAt(schema, "oneOf"), base, depth);
  }

  #byOneOf(branches: readonly ValueNode[], base: ObjectNode, depth: number): boolean {
    if (branches.length === 0) return true;
    const forStrings = branches.filter((branch) => (this.#values.of(branch, base) & STRING) !== 0);
    const [only] = forStrings;
    return forStrings.length === 1 && only !== undefined && this.of(only, base, depth);
  }
}

function isOurs(pattern: string | undefined): boolean {
  return pattern === REFERENCE || pattern === TEXT_WITH_REFERENCE;
}
