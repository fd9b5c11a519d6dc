/**
 * Whether a schema judges a value the same before and after parts of it were diverted. Only then may its opposite be
 * asked for, or its answer choose a branch.
 * @module
 */
import { valueAt, type ObjectNode, type ValueNode } from "../json-text.js";
import { hasOnly, isHeedless, listAt, subschemasOf } from "./keywords.js";
import { baseWithin, follow, referenceOf } from "./references.js";
import { DIVERTIBLE, MAX_LOOK, STRING, type Values } from "./values.js";

/** Keywords that ask about the parts of a value which no diversion changes, as long as it is not diverted itself. */
const STEADY: ReadonlySet<string> = new Set(
  (
    "type const enum required dependentRequired minProperties maxProperties minItems maxItems " +
    "minLength maxLength pattern format"
  ).split(" "),
);

/** Keywords about numbers: what is diverted passes them before and after. */
const NUMERIC: ReadonlySet<string> = new Set("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(" "));

/** Keywords whose answer is that of the schemas in them. */
const APPLIED: ReadonlySet<string> = new Set(
  (
    "allOf anyOf oneOf not if then else dependentSchemas $ref properties additionalProperties " +
    "items prefixItems additionalItems contains minContains maxContains"
  ).split(" "),
);

/** Tells which schemas are steady; of what it cannot tell, it says no. */
export class Steadiness {
  readonly #values: Values;
  readonly #known = new Map<ValueNode, boolean>();

  constructor(values: Values) {
    this.#values = values;
  }

  /** About a value that is not diverted itself, only parts of it. */
  ofWhole(schema: ValueNode, base: ObjectNode, depth: number = 0): boolean {
    if (schema.type !== "Object") return true;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_LOOK) return false;
    this.#known.set(schema, false);
    const isSteady = this.#isSteady(schema, baseWithin(schema, base), depth + 1);
    this.#known.set(schema, isSteady);
    return isSteady;
  }

  /** About a value that may be diverted itself. */
  ofPart(schema: ValueNode, base: ObjectNode): boolean {
    if (schema.type !== "Object") return true;
    const kinds = this.#values.of(schema, base);
    // Neither what is diverted nor the reference to it passes, where only numbers do or only short constants.
    if ((kinds & STRING) === 0 && (kinds & DIVERTIBLE) === 0) return true;
    if ((kinds & DIVERTIBLE) === 0 && (valueAt(schema, "const") ?? valueAt(schema, "enum")) !== undefined) return true;
    return hasOnly(schema, isNumeric);
  }

  #isSteady(schema: ObjectNode, base: ObjectNode, depth: number): boolean {
    if (!hasOnly(schema, (name) => STEADY.has(name) || APPLIED.has(name) || isNumeric(name))) return false;
    const constant = valueAt(schema, "const");
    if (listAt(schema, "enum").some(isCompound) || (constant !== undefined && isCompound(constant))) return false;
    const reference = referenceOf(schema, base);
    if (reference !== undefined) {
      const target = follow(reference);
      // The root itself also becomes an object that names the artifact.
      if (target === undefined || target.steps.length === 0) return false;
      if (!this.ofWhole(target.schema, reference.base, depth)) return false;
    }
    for (const { keyword, about, node } of subschemasOf(schema)) {
      if (isHeedless(keyword)) continue;
      if (!(about === "same" ? this.ofWhole(node, base, depth) : this.ofPart(node, base))) return false;
    }
    return true;
  }
}

function isNumeric(name: string): boolean {
  return NUMERIC.has(name) || isHeedless(name);
}

function isCompound(value: ValueNode): boolean {
  return value.type === "Array" || value.type === "Object";
}
