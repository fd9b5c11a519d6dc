/** What is cut of a schema allows everything, and leaves nothing over that would refuse what it allowed. */
import { expect, test } from "vitest";
import { cutSchema } from "../../../../../web/src/tools/sources/http/schemas.js";

const nowhere = (): null => null;
const large = { enum: Array.from({ length: 100 }, (_, index) => index) };

const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`^${index}`, {}]));

test.each([
  ["patterns", { patternProperties: many, additionalProperties: false }, { patternProperties: {} }],
  ["first items", { prefixItems: Array.from({ length: 60 }, () => large), items: false }, {}],
  [
    "a part of all",
    { allOf: [{ properties: { a: large } }], unevaluatedProperties: false },
    { allOf: [{ properties: { a: {} } }] },
  ],
  ["what is to be contained", { contains: large, maxContains: 1 }, { contains: {} }],
  ["a reference to nowhere", { $ref: "#/nowhere", unevaluatedProperties: false }, {}],
])("%s that do not fit take with them what is left over by them", (_, schema, cut) => {
  expect(cutSchema(schema, 20, nowhere).value).toEqual(cut);
});

test("a pattern whose schema does not fit still says which names there are", () => {
  const schema = { patternProperties: { "^a": large }, additionalProperties: false };
  const cut = { patternProperties: { "^a": {} }, additionalProperties: false };
  expect(cutSchema(schema, 20, nowhere).value).toEqual(cut);
});

test("what fits stays whole", () => {
  const schema = { properties: { a: { type: "string" } }, additionalProperties: false };
  expect(cutSchema(schema, 20, nowhere).value).toEqual(schema);
});
