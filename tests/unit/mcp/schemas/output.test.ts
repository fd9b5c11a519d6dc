/** Schemas of results, with values that they accept before and after the gate. */
import { REFERENCE, type Draft, condition, validator, widenedOutput } from "./widened.js";
import { describe, expect, test } from "vitest";

const BYTES = "QUJD".repeat(400);

/** A schema of results, with values that fit it. */
interface Case {
  readonly name: string;
  readonly schema: object;
  readonly valid: unknown;
  /** What may come of `valid`. */
  readonly reduced: readonly unknown[];
  /** What must still be refused. */
  readonly refused?: readonly unknown[];
  readonly draft?: Draft;
}

const R = REFERENCE;
const WHOLE = { artifact: R };
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

const REFERENCES: readonly Case[] = [
  {
    name: "$ref and $defs, recursive",
    schema: object(
      { tree: { $ref: "#/$defs/Tree" } },
      {
        required: ["tree"],
        $defs: { Tree: object({ kids: { type: "array", items: { $ref: "#/$defs/Tree" } } }, { required: ["kids"] }) },
      },
    ),
    valid: { tree: { kids: [{ kids: [] }] } },
    reduced: [WHOLE, { tree: R }, { tree: { kids: R } }, { tree: { kids: [R] } }, { tree: { kids: [{ kids: R }] } }],
    refused: [{}, { tree: {} }, { tree: { kids: [1] } }, { tree: "other" }],
  },
  {
    name: "a reference into a place that is wrapped",
    schema: object({
      a: { type: "array", items: { type: "array", items: { type: "number" } } },
      b: { $ref: "#/properties/a/items" },
    }),
    valid: { a: [[1]], b: [1] },
    reduced: [
      { a: [R], b: R },
      { a: R, b: [1] },
    ],
    refused: [{ b: ["x"] }, { b: 1 }],
  },
  {
    name: "references through members of the root that move, escaped and encoded",
    schema: object(
      { b: { $ref: "#/allOf/0/properties/x%20~1y" } },
      { allOf: [object({ "x /y": { type: "array", items: { type: "null" } } })] },
    ),
    valid: { b: [null] },
    reduced: [{ b: R }, WHOLE],
    refused: [{ b: [1] }],
  },
  {
    name: "the root as definition of its own parts",
    schema: object({ next: { $ref: "#" }, v: { type: "array" } }, { required: ["v"] }),
    valid: { v: [], next: { v: [] } },
    reduced: [{ v: R, next: R }, { v: [], next: { v: R } }, WHOLE],
    refused: [{ v: [], next: 1 }, { v: 1 }],
  },
  {
    name: "the root by reference, draft-07",
    schema: {
      type: "object",
      $ref: "#/definitions/R",
      definitions: { R: object({ a: { type: "array" } }, { required: ["a"] }) },
    },
    valid: { a: [] },
    reduced: [{ a: R }, WHOLE],
    refused: [{}, { a: 1 }],
    draft: "draft-07",
  },
  {
    name: "an identified root and an absolute reference",
    schema: {
      $id: "https://example.com/r",
      ...object({ a: { $ref: "https://example.com/r#/$defs/A" }, b: { $ref: "#/$defs/A" } }),
      $defs: { A: { type: "array", items: { type: "array" } } },
    },
    valid: { a: [[]], b: [[]] },
    reduced: [
      { a: R, b: [R] },
      { a: [R], b: R },
    ],
    refused: [{ a: [1] }],
  },
  {
    name: "a schema with an $id of its own within",
    schema: object({
      a: {
        $id: "https://example.com/inner",
        type: "array",
        items: { $ref: "#/$defs/I" },
        $defs: { I: { type: "array" } },
      },
    }),
    valid: { a: [[]] },
    reduced: [{ a: R }, { a: [R] }],
    refused: [{ a: [1] }],
  },
  {
    name: "anchors",
    schema: object(
      { a: { $ref: "#list" } },
      { $defs: { L: { $anchor: "list", type: "array", items: { type: "array" } } } },
    ),
    valid: { a: [[]] },
    reduced: [{ a: R }, { a: [R] }],
    refused: [{ a: [1] }],
  },
  {
    name: "definitions used on both sides of a not",
    schema: object(
      { a: { $ref: "#/$defs/A" }, b: { not: { $ref: "#/$defs/A" } } },
      { $defs: { A: object({ x: { type: "array" } }, { required: ["x"] }) } },
    ),
    valid: { a: { x: [] }, b: { x: 1, y: [] } },
    reduced: [
      { a: { x: R }, b: { x: 1, y: R } },
      { a: R, b: R },
    ],
    refused: [{ a: { x: 1 } }],
  },
];

const CHOICES: readonly Case[] = [
  {
    name: "oneOf whose branches differ in what is diverted",
    schema: object({
      v: {
        oneOf: [
          object({ a: { type: "string" } }, { required: ["a"] }),
          object({ a: { type: "array" } }, { required: ["a"] }),
        ],
      },
    }),
    valid: { v: { a: [1] } },
    reduced: [{ v: { a: R } }, { v: R }],
    refused: [{ v: { a: 1 } }, { v: 1 }],
  },
  {
    name: "oneOf by type stays exclusive",
    schema: object({ v: { oneOf: [{ type: "array" }, { type: "null" }, object({ x: { type: "array" } })] } }),
    valid: { v: [1] },
    reduced: [{ v: R }, { v: { x: R } }],
    refused: [{ v: 3 }],
  },
  {
    name: "oneOf at the root, and a reference into it",
    schema: object(
      { again: { $ref: "#/oneOf/1/properties/b" } },
      {
        oneOf: [
          object({ a: { type: "array" } }, { required: ["a"] }),
          object({ b: { type: "array" } }, { required: ["b"] }),
        ],
      },
    ),
    valid: { b: [], again: [] },
    reduced: [{ b: R, again: R }, WHOLE],
    refused: [{}, { again: [] }, { b: [], again: 1 }],
  },
  {
    name: "allOf of objects, and of one string",
    schema: object({
      o: { allOf: [object({ a: { type: "array" } }), object({ b: { type: "array" } }, { required: ["b"] })] },
      s: { allOf: [{ type: "string" }, { pattern: "^QUJD" }] },
    }),
    valid: { o: { a: [], b: [] }, s: BYTES },
    reduced: [
      { o: R, s: R },
      { o: { a: R, b: R }, s: `QUJD ${R}` },
    ],
    refused: [{ o: {} }, { s: "x" }],
  },
  {
    name: "if, then and else that hang on what is diverted",
    schema: object(
      { a: {}, n: {} },
      condition<unknown>({ properties: { a: { type: "array" } } }, { required: ["n"] }, { properties: { n: false } }),
    ),
    valid: { a: [1], n: 1 },
    reduced: [{ a: R, n: 1 }, WHOLE],
  },
  {
    name: "if, then and else that hang on a constant",
    schema: object(
      { kind: { type: "string" }, rows: { type: "array" } },
      condition<unknown>({ properties: { kind: { const: "rows" } }, required: ["kind"] }, { required: ["rows"] }, true),
    ),
    valid: { kind: "rows", rows: [] },
    reduced: [{ kind: "rows", rows: R }, WHOLE],
    refused: [{ kind: "rows" }],
  },
  {
    name: "unevaluatedProperties behind a condition",
    schema: object(
      { a: {} },
      condition<unknown>(
        { properties: { a: { type: "array" } } },
        { properties: { b: {} } },
        {},
        { unevaluatedProperties: false },
      ),
    ),
    valid: { a: [1], b: 1 },
    reduced: [{ a: R, b: 1 }, WHOLE],
  },
  {
    name: "a condition that a reference turns true",
    schema: object(
      { a: {} },
      condition<unknown>({ properties: { a: { type: "string" } } }, { required: ["n"] }, { required: ["a"] }),
    ),
    valid: { a: [1] },
    reduced: [{ a: R }, WHOLE],
  },
  {
    name: "unevaluatedProperties behind a condition that a reference turns true",
    schema: object(
      { a: {} },
      condition<unknown>(
        { properties: { a: { type: "string" } } },
        { required: ["a"] },
        { properties: { b: {} } },
        { unevaluatedProperties: false },
      ),
    ),
    valid: { a: [1], b: 1 },
    reduced: [{ a: R, b: 1 }, WHOLE],
  },
  {
    name: "not",
    schema: object(
      { a: {}, k: { type: "string" } },
      { allOf: [{ not: object({ a: { type: "string" } }, { required: ["a"] }) }, { not: { required: ["z"] } }] },
    ),
    valid: { a: [1] },
    reduced: [{ a: R }, WHOLE],
    refused: [{ z: 1 }],
  },
];

const KEYWORDS: readonly Case[] = [
  {
    name: "prefixItems and items",
    schema: object({
      t: { type: "array", prefixItems: [{ type: "array" }, { type: "number" }], items: { type: "object" } },
    }),
    valid: { t: [[1], 2, {}] },
    reduced: [{ t: [R, 2, R] }, { t: R }],
    refused: [{ t: [[1], R] }, { t: [1] }],
  },
  {
    name: "items as a list, additionalItems, draft-07",
    schema: object({
      t: { type: "array", items: [{ type: "array" }, { type: "number" }], additionalItems: { type: "object" } },
    }),
    valid: { t: [[1], 2, {}] },
    reduced: [{ t: [R, 2, R] }, { t: R }],
    refused: [{ t: [[1], R] }],
    draft: "draft-07",
  },
  {
    name: "additionalProperties false with patterns, where a name holds bytes",
    schema: object({
      o: { type: "object", patternProperties: { "^data:": { type: "number" } }, additionalProperties: false },
    }),
    valid: { o: { [`data:text/plain;base64,${BYTES}`]: 1 } },
    reduced: [{ o: { [R]: 1 } }, { o: R }],
    refused: [{ o: { x: 1 } }],
  },
  {
    name: "propertyNames",
    schema: object({ o: { type: "object", propertyNames: { pattern: "^data:" } } }),
    valid: { o: { [`data:text/plain;base64,${BYTES}`]: 1 } },
    reduced: [{ o: { [R]: 1 } }, { o: R }],
    refused: [{ o: { x: 1 } }],
  },
  {
    name: "patternProperties and additionalProperties with schemas",
    schema: object(
      {},
      {
        patternProperties: { "^r": { type: "array" }, "^a": { type: "number" } },
        additionalProperties: { type: "object" },
      },
    ),
    valid: { rows: [], a: 1, z: {} },
    reduced: [{ rows: R, a: 1, z: R }, WHOLE],
    refused: [{ rows: 1 }, { z: 1 }, { a: "x" }],
  },
  {
    name: "a member that is called artifact",
    schema: object({ artifact: { type: "number" } }, { required: ["artifact"] }),
    valid: { artifact: 3 },
    reduced: [WHOLE],
    refused: [{}, { artifact: "x" }],
  },
  {
    name: "dependentSchemas and dependentRequired",
    schema: object(
      { a: { type: "array" } },
      {
        dependentSchemas: { a: object({ b: { type: "array" } }, { required: ["b"] }), artifact: false },
        dependentRequired: { b: ["a"] },
      },
    ),
    valid: { a: [], b: [] },
    reduced: [{ a: R, b: R }, WHOLE],
    refused: [{ a: [] }, { b: [] }],
  },
  {
    name: "dependencies of both kinds, draft-07",
    schema: object(
      {},
      { dependencies: { a: object({ b: { type: "array" } }, { required: ["b"] }), c: ["a"], artifact: ["z"] } },
    ),
    valid: { a: 1, b: [] },
    reduced: [{ a: 1, b: R }, WHOLE],
    refused: [{ a: 1 }, { c: 1 }],
    draft: "draft-07",
  },
  {
    name: "constants, short and large",
    schema: object({ k: { const: "a" }, big: { const: [1, 2] }, one: { enum: ["x", { y: 1 }, BYTES] } }),
    valid: { k: "a", big: [1, 2], one: { y: 1 } },
    reduced: [{ k: "a", big: R, one: R }],
    refused: [{ k: R }, { big: [1] }, { one: "z" }],
  },
  {
    name: "boolean schemas",
    schema: object({ yes: true, no: false }, { additionalProperties: true }),
    valid: { yes: [1] },
    reduced: [{ yes: R, more: R }, WHOLE],
    refused: [{ no: R }],
  },
  {
    name: "counts and uniqueness",
    schema: object({ l: { type: "array", minItems: 2, maxItems: 2, uniqueItems: true } }, { minProperties: 2 }),
    valid: { l: [[1], [2]], b: 1 },
    reduced: [{ l: [R, R], b: 1 }, { l: R, b: 1 }, WHOLE],
    refused: [{ l: [1], b: 1 }, { l: [1, 2] }],
  },
  {
    name: "contains with bounds",
    schema: object({ l: { type: "array", contains: { type: "string" }, minContains: 1, maxContains: 1 } }),
    valid: { l: ["a", [1]] },
    reduced: [{ l: ["a", R] }, { l: R }],
    refused: [{ l: [1] }],
  },
  {
    name: "strings with demands, whole and with runs within",
    schema: object({
      p: { type: "string", pattern: "^data:" },
      m: { type: ["string", "null"], minLength: 1000 },
      e: { type: "string", contentEncoding: "base64", pattern: "^QUJD" },
      u: { type: "string", format: "uri" },
      f: { type: "string", format: "byte" },
    }),
    valid: { p: `data:x;base64,${BYTES}`, m: `${BYTES} end`, e: BYTES, u: `data:x;base64,${BYTES}`, f: BYTES },
    reduced: [
      { p: R, m: R, e: R, u: R, f: R },
      { p: `data:x,${R}`, m: `${R} end`, u: `https://a/?x=${R}` },
    ],
    refused: [{ p: "x" }, { m: "short" }, { f: "?" }],
  },
  {
    name: "a Buffer as JSON has it",
    schema: object({
      b: object(
        { type: { const: "Buffer" }, data: { type: "array", items: { type: "integer" } } },
        { additionalProperties: false },
      ),
    }),
    valid: { b: { type: "Buffer", data: [1] } },
    reduced: [{ b: { type: "Buffer", data: R } }, { b: R }],
    refused: [{ b: { type: "x", data: [] } }],
  },
  {
    name: "a schema without type",
    schema: { properties: { a: { type: "array" } }, required: ["a"], $defs: { X: { type: "array" } } },
    valid: { a: [] },
    reduced: [{ a: R }, WHOLE, R],
    refused: [{}, { a: 1 }],
  },
  {
    name: "a root that is an array, a string or a choice",
    schema: {
      title: "Rows",
      type: ["array", "null"],
      items: { $ref: "#/$defs/Row" },
      $defs: { Row: object({ a: { type: "array" } }, { required: ["a"] }) },
    },
    valid: [{ a: [] }],
    reduced: [R, [R], [{ a: R }]],
    refused: ["x", [{}], {}],
  },
  {
    name: "a root that is a constrained string",
    schema: { type: "string", pattern: "^QUJD" },
    valid: BYTES,
    reduced: [R, `QUJD ${R}`],
    refused: ["x", {}],
  },
];

describe.each([...REFERENCES, ...CHOICES, ...KEYWORDS])(
  "$name",
  ({ schema, valid, reduced, refused = [], draft = "2020-12" }) => {
    const isValid = validator(schema, draft);
    const widened = widenedOutput(schema);
    const isValidWidened = validator(widened, draft);

    test("what was valid stays valid, what is refused was refused", () => {
      expect(isValid(valid)).toBe(true);
      expect(isValidWidened(valid)).toBe(true);
      for (const value of refused)
        expect([value, isValid(value), isValidWidened(value)]).toEqual([value, false, false]);
    });

    test("references are let through", () => {
      for (const value of reduced) expect([value, isValidWidened(value)]).toEqual([value, true]);
    });

    test("widening it again changes nothing", () => {
      expect(widenedOutput(widened)).toEqual(widened);
    });

    test("the root keeps its type", () => {
      const type = (schema as { type?: unknown }).type;
      expect((widened as { type?: unknown }).type ?? type).toEqual(type);
    });
  },
);
