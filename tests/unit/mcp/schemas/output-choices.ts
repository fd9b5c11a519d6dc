/**
 * Schemas that choose: oneOf, allOf, conditions, not.
 * @module
 */
import { BYTES, object, R, WHOLE, type Case } from "./output-case.js";
import { condition } from "./widened.js";

export const CHOICES: readonly Case[] = [
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
