/**
 * Schemas keyword by keyword: lists, members, counts, strings, constants.
 * @module
 */
import { BYTES, object, R, WHOLE, type Case } from "./output-case.js";

export const KEYWORDS: readonly Case[] = [
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
