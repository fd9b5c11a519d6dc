/**
 * Which values a schema lets through: as far as it can be told from its keywords, and otherwise more rather than fewer;
 * whether references are among them, and whether it judges values alike before and after diversions.
 * @module
 */
import { valueAt, type ObjectNode, type ValueNode } from "../json-text.js";
import {
  baseWithin,
  follow,
  hasOnly,
  isHeedless,
  listAt,
  numberAt,
  referenceOf,
  stringAt,
  subschemasOf,
} from "./keywords.js";

/** Kinds of values, as bits. */
const SHORT_STRING = 1;
/** A string that may hold bytes, or a text too long to stay. */
export const LONG_STRING = 2;
const ARRAY = 4;
export const OBJECT = 8;
const NUMBER = 16;
const BOOLEAN = 32;
const NULL = 64;
export const STRING: number = SHORT_STRING | LONG_STRING;
export const ANYTHING: number = STRING | ARRAY | OBJECT | NUMBER | BOOLEAN | NULL;

/** What the gate may take away. */
export const DIVERTIBLE: number = LONG_STRING | ARRAY | OBJECT;

/** Strings below this never hold bytes: the shortest run that is found is a data URI of that many characters. */
const SHORTEST_RUN = 64;

/** Formats whose values are short whatever they say. */
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

/** How deep schemas are looked into, references included. A text nests less: only what refers on and on is cut off. */
const MAX_LOOK = 300;

/** Tells the kinds of values that schemas let through. Remembers what it told: schemas may share definitions. */
export class Values {
  readonly #known = new Map<ObjectNode, number>();

  /** Bits of all kinds that a value may have; never too few. */
  of(schema: ValueNode, base: ObjectNode, depth: number = 0): number {
    if (schema.type === "Boolean") return schema.value ? ANYTHING : 0;
    if (schema.type !== "Object") return ANYTHING;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_LOOK) return ANYTHING;
    // What refers to itself on the way says nothing more.
    this.#known.set(schema, ANYTHING);
    const kinds = ownKinds(schema) & this.#appliedKinds(schema, baseWithin(schema, base), depth + 1);
    this.#known.set(schema, kinds);
    return kinds;
  }

  #appliedKinds(schema: ObjectNode, base: ObjectNode, depth: number): number {
    let kinds = ANYTHING;
    const reference = referenceOf(schema, base);
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
  // Of a name that nobody knows anything may come.
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

/**
 * Tells which schemas judge a value the same before and after parts of it were diverted; of what it cannot tell, it says
 * no. Only of these may the opposite be asked for, or the answer choose a branch.
 */
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
