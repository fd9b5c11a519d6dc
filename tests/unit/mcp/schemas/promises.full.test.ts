import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../../web/src/index.js";
import { amount } from "../../../support/full.js";
import { condition, type Draft, edited, REFERENCE, validator, widenedInput, widenedOutput } from "./widened.js";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Long enough to be taken for bytes. */
const LONG = "data:application/pdf;base64,JVBERi0xLjQKJVBERi0xLjQKJVBERi0xLjQKJVBERi0xLjQK";

const NAMES = ["a", "b", "c", "artifact"] as const;
const anyName = fc.constantFrom(...NAMES);

/** Values of few names and few leaves, so that schemas of the same fit them often. */
const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 7, "", "a", "text", LONG, `see ${LONG} there`),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(anyName, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** Objects, as most results are. */
const result: fc.Arbitrary<Json> = fc.dictionary(anyName, anyValue, { maxKeys: 4, noNullPrototype: true });

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

/** Schemas of all keywords; `$defs` are those that references anyName. */
const anySchema: fc.Arbitrary<Json> = fc.letrec<{ schema: Json; leaf: Json }>((tie) => {
  const sub = tie("schema");
  const subs = fc.array(sub, { minLength: 1, maxLength: 3 });
  const named = fc.dictionary(anyName, sub, { maxKeys: 3, noNullPrototype: true });
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
      part({ properties: named, required: fc.uniqueArray(anyName, { maxLength: 2 }), type: fc.constant("object") }),
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
const document: fc.Arbitrary<Record<string, Json>> = fc
  .tuple(
    anySchema,
    anySchema,
    anySchema,
    fc.boolean(),
    fc.dictionary(anyName, anySchema, { maxKeys: 3, noNullPrototype: true }),
  )
  .map(([root, a, b, isOfObjects, properties]) => ({
    ...(isOfObjects && { type: "object" }),
    ...(typeof root === "object" ? (root as Record<string, Json>) : { allOf: [root] }),
    ...(Object.keys(properties).length > 0 && { properties }),
    $defs: { a, b },
  }));

/** What the gate may make of a value: `choices` say, in turn, what is diverted. */
function reduced(whole: Json, choices: readonly boolean[]): Json {
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

const values = fc.array(fc.oneof({ weight: 2, arbitrary: result }, { weight: 1, arbitrary: anyValue }), {
  minLength: 6,
  maxLength: 6,
});
const choices = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), { minLength: 3, maxLength: 3 });

/** A validator, or undefined for a document that none takes: references to nothing, or round in a circle. */
function compiled(schema: Json): ((json: unknown) => boolean) | undefined {
  if (!everyReferenceLeads(schema, schema)) return undefined;
  try {
    return validator(schema);
  } catch {
    return undefined;
  }
}

function everyReferenceLeads(json: Json, root: Json): boolean {
  if (json === null || typeof json !== "object") return true;
  return Object.entries(json).every(([key, member]) =>
    key === "$ref" ? typeof member === "string" && leads(member, root) : everyReferenceLeads(member, root),
  );
}

function leads(ref: string, root: Json): boolean {
  let found: unknown = root;
  for (const name of ref.split("/").slice(1)) found = (found as Record<string, unknown> | null | undefined)?.[name];
  return (typeof found === "object" && found !== null) || typeof found === "boolean";
}

/** Whether a value is valid; undefined where validators overflow, as for schemas that refer round in a circle. */
function judged(isValid: (json: unknown) => boolean, json: unknown): boolean | undefined {
  try {
    return isValid(json);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

test("results valid under a schema are valid under the widened one, before and after the gate", () => {
  let held = 0;
  fc.assert(
    fc.property(document, values, choices, (schema, candidates, ways) => {
      const isValid = compiled(schema);
      if (isValid === undefined) return;
      const valid = candidates.filter((one) => judged(isValid, one) === true);
      // Where none is, the schema may refer round in a circle, and compiling it overflows too.
      if (valid.length === 0) return;
      const widened = widenedOutput(schema);
      const isValidWidened = validator(widened);
      for (const json of valid) {
        held += 1;
        const all = [json, ...ways.map((way) => reduced(json, way))];
        const refused = all.filter((one) => judged(isValidWidened, one) === false);
        expect({ json, refused, widened }).toEqual({ json, refused: [], widened });
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
  expect(held).toBeGreaterThan(amount(40, 100));
});

test("widening twice is widening once, and makes no schema much longer", () => {
  fc.assert(
    fc.property(document, (schema) => {
      const once = edited({ outputSchema: schema, inputSchema: schema });
      expect(edited(once)).toBe(once);
      const { length } = JSON.stringify(schema);
      const { outputSchema, inputSchema } = JSON.parse(once) as Record<string, unknown>;
      for (const widened of [outputSchema, inputSchema])
        expect(JSON.stringify(widened).length).toBeLessThanOrEqual(length * 1.2 + 200);
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
});

test("arguments valid under a schema are valid under the widened one", () => {
  fc.assert(
    fc.property(document, values, (schema, candidates) => {
      const isValid = compiled(schema);
      if (isValid === undefined) return;
      const valid = candidates.filter((one) => judged(isValid, one) === true);
      if (valid.length === 0) return;
      const isValidWidened = validator(widenedInput(schema));
      expect(valid.filter((one) => judged(isValidWidened, one) === false)).toEqual([]);
    }),
    { numRuns: Number(process.env["RUNS"] ?? amount(100, 400)) },
  );
});

// The schemas of results against what the gate itself makes of them.

let sluice: Sluice;

beforeAll(async () => {
  sluice = await createSluice({
    store: new MemoryArtifactStore({ retention: null }),
    config: { max_inline_size: 256, binary_detection: { min_size_for_detection: 64 } },
  });
});

async function gated(structuredContent: unknown): Promise<unknown> {
  const { value } = await sluice.transform({ content: [], structuredContent }, { dialect: "mcp", namespace: "ns" });
  return (value as { structuredContent: unknown }).structuredContent;
}

/** The same, with more of it than stays: longer texts, longer lists. */
function inflated(json: Json, length: number): Json {
  if (typeof json === "string") return json === "text" ? "text of many words ".repeat(length > 1 ? 40 : 1) : json;
  if (json === null || typeof json !== "object") return json;
  if (!Array.isArray(json)) {
    return Object.fromEntries(Object.entries(json).map(([name, member]) => [name, inflated(member, length)]));
  }
  const [first, ...rest] = json.map((element: Json) => inflated(element, length));
  return first === undefined || JSON.stringify(first).length > 10
    ? json
    : [...Array.from({ length }, () => first), ...rest];
}

test("results valid under any schema, gated, are valid under the widened one", async () => {
  const runs = amount(80, 500);
  let diverted = 0;
  await fc.assert(
    fc.asyncProperty(document, fc.array(result, { minLength: 5, maxLength: 5 }), async (schema, candidates) => {
      const validate = tried(() => validator(schema));
      const validateWidened = tried(() => validator(widenedOutput(schema)));
      for (const json of candidates.flatMap((one) => [inflated(one, 1), inflated(one, 15_000)])) {
        if (tried(() => validate?.(json)) !== true) continue;
        const after = await gated(json);
        if (JSON.stringify(after) !== JSON.stringify(json)) diverted += 1;
        expect(tried(() => validateWidened?.(after)) ?? true).toBe(true);
      }
    }),
    { numRuns: runs },
  );
  // Some 55 in 200 runs as a rule: nothing would be shown by results that pass as they are.
  expect(diverted).toBeGreaterThan(runs / 8);
});

const PDF = Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.alloc(3000, 7)]);
const rows = Array.from({ length: 9000 }, (_, id) => ({ id, name: `n${id}` }));
const open = { type: "object" };

test.each<[string, object, unknown, Draft]>([
  ["base64, whole", { b: { type: "string", format: "byte" } }, { b: PDF.toString("base64") }, "2020-12"],
  ["hex", { h: { type: "string", pattern: "^[0-9a-f]+$" } }, { h: PDF.toString("hex") }, "draft-07"],
  ["a list of bytes", { l: { type: "array", items: { type: "integer" } } }, { l: [...PDF] }, "2020-12"],
  ["bytes in a list of lists", { l: { items: { items: { type: "integer" } } } }, { l: [[...PDF]] }, "draft-07"],
  ["rows", { rows: { type: "array", items: { ...open, required: ["id"] } } }, { rows }, "2020-12"],
  ["an object of many", { o: open }, { o: Object.fromEntries(rows.map(({ name, id }) => [name, id])) }, "2020-12"],
  ["the whole result", {}, Object.fromEntries(rows.map(({ name, id }) => [name, { id }])), "draft-07"],
])("%s", async (_, properties, value, draft) => {
  const schema = { type: "object", properties, minProperties: 1, propertyNames: { maxLength: 20 } };
  expect(validator(schema, draft)(value)).toBe(true);
  const after = await gated(value);
  expect(JSON.stringify(after)).toContain("artifact://");
  expect(validator(widenedOutput(schema), draft)(after)).toBe(true);
});

/** Undefined where validators fail: for references to nothing, or round in a circle. */
function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
