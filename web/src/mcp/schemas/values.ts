/**
 * Which values a schema lets through: as far as it can be told from its keywords, and otherwise more rather than fewer.
 * @module
 */
import { valueAt, type ObjectNode, type ValueNode } from "../json-text.js";
import { listAt, numberAt, stringAt } from "./keywords.js";
import { baseWithin, follow, referenceOf } from "./references.js";

/** Kinds of values, as bits. */
export const SHORT_STRING = 1;
/** A string that may hold bytes, or a text too long to stay. */
export const LONG_STRING = 2;
export const ARRAY = 4;
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
export const MAX_LOOK = 300;

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
