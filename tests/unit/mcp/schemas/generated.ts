/**
 * Schemas, values that may fit them, and what the gate may make of values.
 * @module
 */
import * as fc from "fast-check";
import { condition, REFERENCE } from "./widened.js";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Long enough to be taken for bytes. */
const LONG = "data:application/pdf;base64,JVBERi0xLjQKJVBERi0xLjQKJVBERi0xLjQKJVBERi0xLjQK";

const NAMES = ["a", "b", "c", "artifact"] as const;
const name = fc.constantFrom(...NAMES);

/** Values of few names and few leaves, so that schemas of the same fit them often. */
export const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 7, "", "a", "text", LONG, `see ${LONG} there`),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Objects, as most results are. */
export const result: fc.Arbitrary<Json> = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });

const REFS = [
  "#",
  "#/$defs/a",
  "#/$defs/b",
  "#/properties/a",
  "#/properties/b/items",
  "#/anyOf/0",
  "#/oneOf/1",
  "#/not",
];

/** Schemas of all keywords; `$defs` are those that references name. */
export const schema: fc.Arbitrary<Json> = fc.letrec<{ schema: Json; leaf: Json }>((tie) => {
  const sub = tie("schema");
  const subs = fc.array(sub, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(name, sub, { maxKeys: 3, noNullPrototype: true });
  const type = fc.constantFrom("string", "array", "object", "number", "null", "boolean");
  const part = (keys: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Json> =>
    fc.record(keys, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<Json>;
  return {
    leaf: fc.oneof(
      fc.boolean(),
      fc.constant({}),
      type.map((one) => ({ type: one })),
      fc.array(type, { minLength: 1, maxLength: 3 }).map((types) => ({ type: [...new Set(types)] })),
      fc.constantFrom<Json>({ const: "a" }, { enum: ["a", "text", null] }, { const: [1] }, { enum: [LONG, 7] }),
      part({
        type: fc.constant("string"),
        minLength: fc.constantFrom(1, 70),
        pattern: fc.constantFrom("^data:", "t", "^see"),
      }),
      part({ type: fc.constant("string"), maxLength: fc.constantFrom(3, 200), format: fc.constant("uri") }),
      part({ minimum: fc.constant(3), multipleOf: fc.constant(7) }),
      fc.constantFrom(...REFS).map(($ref) => ({ $ref })),
    ),
    schema: fc.oneof(
      { depthSize: "small", maxDepth: 4 },
      tie("leaf"),
      part({ properties: named, required: fc.uniqueArray(name, { maxLength: 2 }), type: fc.constant("object") }),
      part({
        properties: named,
        additionalProperties: sub,
        patternProperties: fc.dictionary(fc.constantFrom("^a", "b"), sub, { noNullPrototype: true }),
      }),
      part({ items: sub, type: fc.constant("array"), minItems: fc.constant(1), uniqueItems: fc.boolean() }),
      part({ prefixItems: subs, items: sub, contains: sub, maxContains: fc.constantFrom(1, 2) }),
      part({ anyOf: subs, description: fc.constant("Any.") }),
      part({ oneOf: subs }),
      part({ allOf: subs, title: fc.constant("All."), unevaluatedProperties: sub, unevaluatedItems: sub }),
      part({ not: sub, properties: named }),
      part(condition(sub, sub, sub, { unevaluatedProperties: fc.boolean() })),
      part({ propertyNames: sub, minProperties: fc.constant(1), maxProperties: fc.constant(2) }),
      part({ dependentSchemas: named, dependentRequired: fc.constant({ a: ["b"] }), type: fc.constant("object") }),
    ),
  };
}).schema;

/** A whole document: where references lead there is something. */
export const document: fc.Arbitrary<Record<string, Json>> = fc
  .tuple(schema, schema, schema, fc.boolean(), fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true }))
  .map(([root, a, b, isOfObjects, properties]) => ({
    ...(isOfObjects && { type: "object" }),
    ...(typeof root === "object" ? (root as Record<string, Json>) : { allOf: [root] }),
    ...(Object.keys(properties).length > 0 && { properties }),
    $defs: { a, b },
  }));

/** What the gate may make of a value: `choices` say, in turn, what is diverted. */
export function reduced(whole: Json, choices: readonly boolean[]): Json {
  let turn = 0;
  const chosen = (): boolean => choices[turn++ % choices.length] ?? false;
  const part = (json: Json): Json => {
    if (typeof json === "string") return json.includes(LONG) && chosen() ? json.replace(LONG, REFERENCE) : json;
    if (json === null || typeof json !== "object") return json;
    if (chosen()) return REFERENCE;
    if (Array.isArray(json)) return json.map(part);
    return Object.fromEntries(Object.entries(json).map(([key, member]) => [key, part(member)]));
  };
  const isObject = whole !== null && typeof whole === "object" && !Array.isArray(whole);
  if (!isObject) return part(whole);
  if (chosen()) return { artifact: REFERENCE };
  return Object.fromEntries(Object.entries(whole).map(([key, member]) => [key, part(member)]));
}
