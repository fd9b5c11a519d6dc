/**
 * Analyses which values a schema accepts, as far as its keywords tell and otherwise more rather than fewer; whether it
 * accepts references; and whether it judges values alike before and after diversions.
 * @module
 */
import { valueAt, type ObjectNode, type ValueNode } from "../../json/text.js";
import {
  baseWithin,
  follow,
  hasOnly,
  constrainsNothing,
  listAt,
  numberAt,
  readReference,
  stringAt,
  listSubschemas,
} from "./keywords.js";

/** Kinds of values, as bits. */
const SHORT_STRING = 1;
/** A string that may contain bytes, or a text that is too long to stay. */
export const LONG_STRING = 2;
const ARRAY = 4;
export const OBJECT = 8;
const NUMBER = 16;
const BOOLEAN = 32;
const NULL = 64;
export const STRING: number = SHORT_STRING | LONG_STRING;
export const ANYTHING: number = STRING | ARRAY | OBJECT | NUMBER | BOOLEAN | NULL;

/** Kinds that the gate may divert. */
export const DIVERTIBLE: number = LONG_STRING | ARRAY | OBJECT;

/** Shorter strings never contain bytes: the shortest detected run is a data URI of this length. */
const SHORTEST_RUN = 64;

/** Formats whose values are always short. */
const SHORT_FORMATS: ReadonlySet<string> = new Set(
  "date time date-time duration ipv4 ipv6 uuid email idn-email hostname idn-hostname".split(" "),
);

const BY_TYPE: Readonly<Record<string, number>> = {
  string: STRING,
  array: ARRAY,
  object: OBJECT,
  number: NUMBER,
  integer: NUMBER,
  boolean: BOOLEAN,
  null: NULL,
};

/** Maximum depth of the analysis, references included. Only endless references reach it. */
const MAX_LOOK = 300;

/** Determines the kinds of values that schemas accept. Caches results, because schemas may share definitions. */
export class Values {
  readonly #known = new Map<ObjectNode, number>();

  /** Bits of all kinds that a value may have, never too few. */
  of(schema: ValueNode, base: ObjectNode, depth: number = 0): number {
    if (schema.type === "Boolean") return schema.value ? ANYTHING : 0;
    if (schema.type !== "Object") return ANYTHING;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_LOOK) return ANYTHING;
    // A schema that refers to itself adds no constraint.
    this.#known.set(schema, ANYTHING);
    const kinds = ownKinds(schema) & this.#findAppliedKinds(schema, baseWithin(schema, base), depth + 1);
    this.#known.set(schema, kinds);
    return kinds;
  }

  #findAppliedKinds(schema: ObjectNode, base: ObjectNode, depth: number): number {
    let kinds = ANYTHING;
    const reference = readReference(schema, base);
    if (reference !== undefined) {
      const target = follow(reference);
      kinds &= target === undefined ? ANYTHING : this.of(target.schema, reference.base, depth);
    }
    for (const part of listAt(schema, "allOf")) kinds &= this.of(part, base, depth);
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = listAt(schema, keyword);
      if (branches.length > 0) kinds &= branches.reduce((all, branch) => all | this.of(branch, base, depth), 0);
    }
    return kinds;
  }
}

function ownKinds(schema: ObjectNode): number {
  let kinds = ANYTHING;
  const type = valueAt(schema, "type");
  const types = type?.type === "Array" ? type.elements.map(({ value }) => value) : type === undefined ? [] : [type];
  if (types.length > 0) kinds &= types.reduce((all, one) => all | kindOfType(one), 0);
  const constant = valueAt(schema, "const");
  if (constant !== undefined) kinds &= kindOfValue(constant);
  const values = listAt(schema, "enum");
  if (values.length > 0) kinds &= values.reduce((all, value) => all | kindOfValue(value), 0);
  const isShort =
    (numberAt(schema, "maxLength") ?? Infinity) < SHORTEST_RUN || SHORT_FORMATS.has(stringAt(schema, "format") ?? "");
  return isShort ? kinds & ~LONG_STRING : kinds;
}

function kindOfType(type: ValueNode): number {
  // An unknown type may be anything.
  if (type.type !== "String" || !Object.hasOwn(BY_TYPE, type.value)) return ANYTHING;
  return BY_TYPE[type.value] as number;
}

function kindOfValue(value: ValueNode): number {
  switch (value.type) {
    case "String":
      return value.value.length < SHORTEST_RUN ? SHORT_STRING : STRING;
    case "Array":
      return ARRAY;
    case "Object":
      return OBJECT;
    case "Boolean":
      return BOOLEAN;
    case "Null":
      return NULL;
    default:
      return NUMBER;
  }
}

/** Whether a schema is of results or of arguments. */
export type Side = "output" | "input";

/** Pattern of a reference on its own. */
export const REFERENCE = "^artifact://";
/** Pattern of a text that contains references in place of its runs. */
export const TEXT_WITH_REFERENCE = "artifact://";

/** Shortest reference, or text with one: the scheme and a 12-digit id. */
const SHORTEST = 24;
/** Longest reference: an id of at most 129 characters and a query. */
const LONGEST = 1024;

/** Formats that every reference has, and that a URI keeps if a run in it becomes a reference. */
const URI_FORMATS: ReadonlySet<string> = new Set(["uri", "uri-reference", "iri", "iri-reference"]);

/** Keywords that may refuse a string for reasons that are not analysed. */
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

/** Determines which schemas accept every reference. If unsure, it says no. */
export class Acceptance {
  readonly #side: Side;
  readonly #values: Values;
  readonly #known = new Map<ObjectNode, boolean>();

  constructor(side: Side, values: Values) {
    this.#side = side;
    this.#values = values;
  }

  /** Whether a schema accepts every reference. */
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
    // References in place of short runs may make a text longer.
    return longest === undefined || (this.#side === "input" && longest >= LONGEST);
  }

  #byApplied(schema: ObjectNode, base: ObjectNode, depth: number): boolean {
    const reference = readReference(schema, base);
    if (reference !== undefined) {
      const target = follow(reference);
      if (target === undefined || !this.of(target.schema, reference.base, depth)) return false;
    }
    if (!listAt(schema, "allOf").every((part) => this.of(part, base, depth))) return false;
    const branches = listAt(schema, "anyOf");
    if (branches.length > 0 && !branches.some((branch) => this.of(branch, base, depth))) return false;
    return this.#isOneByKind(listAt(schema, "oneOf"), base, depth);
  }

  #isOneByKind(branches: readonly ValueNode[], base: ObjectNode, depth: number): boolean {
    if (branches.length === 0) return true;
    const forStrings = branches.filter((branch) => (this.#values.of(branch, base) & STRING) !== 0);
    const [only] = forStrings;
    return forStrings.length === 1 && only !== undefined && this.of(only, base, depth);
  }
}

function isOurs(pattern: string | undefined): boolean {
  // An alternative holds from the last `|` on, in whatever it is the last one of.
  return pattern !== undefined && /(?:^|\|)\^?artifact:\/\/$/.test(pattern);
}

/** Keywords about parts of a value that no diversion changes, unless the value itself is diverted. */
const STEADY: ReadonlySet<string> = new Set(
  (
    "type const enum required dependentRequired minProperties maxProperties minItems maxItems " +
    "minLength maxLength pattern format"
  ).split(" "),
);

/** Keywords about numbers, which diverted values pass before and after. */
const NUMERIC: ReadonlySet<string> = new Set("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(" "));

/** Keywords whose result is that of their subschemas. */
const APPLIED: ReadonlySet<string> = new Set(
  (
    "allOf anyOf oneOf not if then else dependentSchemas $ref properties additionalProperties " +
    "items prefixItems additionalItems contains minContains maxContains"
  ).split(" "),
);

/**
 * Determines which schemas judge a value the same before and after parts of it were diverted. If unsure, it says no.
 * Only these may be negated or used as a condition.
 */
export class Steadiness {
  readonly #values: Values;
  readonly #known = new Map<ValueNode, boolean>();

  constructor(values: Values) {
    this.#values = values;
  }

  /** For a value that is not diverted itself, only parts of it. */
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

  /** For a value that may be diverted itself. */
  ofPart(schema: ValueNode, base: ObjectNode): boolean {
    if (schema.type !== "Object") return true;
    const kinds = this.#values.of(schema, base);
    // Neither a diverted value nor its reference passes, if only numbers or short constants do.
    if ((kinds & STRING) === 0 && (kinds & DIVERTIBLE) === 0) return true;
    if ((kinds & DIVERTIBLE) === 0 && (valueAt(schema, "const") ?? valueAt(schema, "enum")) !== undefined) return true;
    return hasOnly(schema, isNumeric);
  }

  #isSteady(schema: ObjectNode, base: ObjectNode, depth: number): boolean {
    if (!hasOnly(schema, (name) => STEADY.has(name) || APPLIED.has(name) || isNumeric(name))) return false;
    const constant = valueAt(schema, "const");
    if (listAt(schema, "enum").some(isCompound) || (constant !== undefined && isCompound(constant))) return false;
    const reference = readReference(schema, base);
    if (reference !== undefined) {
      const target = follow(reference);
      // The root may also become an object that names the artifact.
      if (target === undefined || target.steps.length === 0) return false;
      if (!this.ofWhole(target.schema, reference.base, depth)) return false;
    }
    for (const { keyword, about, node } of listSubschemas(schema)) {
      if (constrainsNothing(keyword)) continue;
      if (!(about === "same" ? this.ofWhole(node, base, depth) : this.ofPart(node, base))) return false;
    }
    return true;
  }
}

function isNumeric(name: string): boolean {
  return NUMERIC.has(name) || constrainsNothing(name);
}

function isCompound(value: ValueNode): boolean {
  return value.type === "Array" || value.type === "Object";
}
