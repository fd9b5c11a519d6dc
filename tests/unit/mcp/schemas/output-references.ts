/**
 * Schemas that refer: to definitions, to their own parts, to themselves.
 * @module
 */
import { object, R, WHOLE, type Case } from "./output-case.js";

export const REFERENCES: readonly Case[] = [
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
