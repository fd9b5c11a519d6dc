/** How widened schemas of arguments and results are written. */
import { describe, expect, test } from "vitest";
import { edited, OFFER, REFERENCE, validator, widenedInput, TEXT_OFFER, widenedOutput } from "./widened.js";

/** What stands at each place of a result, and the definition that it stands for. */
const OFFERED = { $ref: "#/$defs/reference" };
const DEFINED = { reference: TEXT_OFFER };

function branch(pattern: string): object {
  return { properties: { p: { type: "string", pattern } }, required: ["p"] };
}

function parameter(schema: unknown): unknown {
  const { properties } = widenedInput({ type: "object", properties: { p: schema } }) as { properties: { p: unknown } };
  return properties.p;
}

describe("strings that would refuse a reference", () => {
  test.each([
    ["format", { type: "string", format: "byte" }],
    ["maxLength", { type: "string", maxLength: 200 }],
    ["minLength", { type: "string", minLength: 1000 }],
    ["contentEncoding", { type: "string", contentEncoding: "base64" }],
    ["contentMediaType", { type: "string", contentMediaType: "image/png" }],
    ["several types", { type: ["string", "null"], format: "byte" }],
  ])("offer one: %s", (_, schema) => {
    expect(parameter(schema)).toEqual({ anyOf: [schema, OFFER] });
    expect(validator(parameter(schema))(REFERENCE)).toBe(true);
  });

  test("offer one among items that are counted, and more of them may be of the kind then", () => {
    const contains = { properties: { a: { pattern: "^data:" } }, required: ["a"] };
    expect(parameter({ type: "array", contains, maxContains: 2 })).toMatchObject({
      maxContains: Number.MAX_SAFE_INTEGER,
    });
  });

  test.each([
    [
      "with a type",
      { type: "string", description: "A PNG.", pattern: "^data:", "x-mcp-file": { accept: ["image/png"] } },
    ],
    ["without", { pattern: "^a|b$" }],
  ])("let it stand by their pattern: %s", (_, schema) => {
    expect(parameter(schema)).toEqual({ ...schema, pattern: `${schema.pattern}|^artifact://` });
    expect(validator(parameter(schema))(REFERENCE)).toBe(true);
    expect(validator(parameter(schema))(`x${REFERENCE}`)).toBe(false);
  });

  test("keep in sight what hosts show", () => {
    const told = { title: "Picture", description: "A PNG.", default: "data:,", examples: ["data:,"] };
    const schema = { type: "string", ...told, format: "byte", "x-mcp-file": { accept: ["image/png"] } };
    expect(parameter(schema)).toEqual({
      ...told,
      "x-mcp-file": schema["x-mcp-file"],
      anyOf: [{ type: "string", format: "byte", "x-mcp-file": schema["x-mcp-file"] }, OFFER],
    });
  });

  test("are found in choices, lists, members and definitions", () => {
    const picture = { type: "string", format: "byte" };
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: picture },
        by: { type: "object", additionalProperties: { $ref: "#/$defs/P" } },
        maybe: { description: "Maybe.", anyOf: [picture, { type: "null" }] },
      },
      $defs: { P: picture },
    };
    expect(widenedInput(schema)).toEqual({
      ...schema,
      properties: {
        list: { type: "array", items: { anyOf: [picture, OFFER] } },
        by: { type: "object", additionalProperties: { anyOf: [{ $ref: "#/$defs/P" }, OFFER] } },
        maybe: { description: "Maybe.", anyOf: [picture, { type: "null" }, OFFER] },
      },
    });
  });

  test("do not make two branches of a choice match", () => {
    const schema = { type: "object", oneOf: [branch("^a"), branch("^b")] };
    const isValid = validator(widenedInput(schema));
    expect(isValid({ p: REFERENCE })).toBe(true);
    expect(isValid({ p: "abc" })).toBe(true);
    expect(isValid({ p: "c" })).toBe(false);
  });
});

describe("what stays as it is", () => {
  test.each([
    ["a plain string", { type: "string", minLength: 1, description: "Any." }],
    ["a long enough one", { type: "string", maxLength: 10_000 }],
    ["a URI", { type: "string", format: "uri" }],
    ["a choice of words", { enum: ["a", "b"] }],
    ["long words to choose from", { type: "string", enum: ["x".repeat(100)], pattern: "^x" }],
    ["a constant", { const: "x".repeat(100) }],
    ["a date", { type: "string", format: "date-time" }],
    ["a short string", { type: "string", maxLength: 20, pattern: "^[A-Z]+$" }],
    ["what may be anything", {}],
    ["a list, an object, a number", { type: ["array", "object", "number"] }],
    ["what refers to nothing known", { $ref: "https://example.com/other" }],
    ["a choice with a plain string", { anyOf: [{ type: "string" }, { type: "string", format: "byte" }] }],
    ["oneOf and not without references", { oneOf: [{ type: "array" }, { items: {} }], not: { items: {} } }],
  ])("%s", (_, schema) => {
    expect(parameter(schema)).toEqual(schema);
  });
});

test("the root of arguments is never a choice", () => {
  const schema = { type: "object", properties: { p: { type: "string", pattern: "x" } }, required: ["p"] };
  expect(widenedInput(schema)).toEqual({ ...schema, properties: { p: { type: "string", pattern: "x|^artifact://" } } });
});

test("hostile schemas are gone through in bounded time, and stay JSON", () => {
  const many = 20_000;
  const chain = Object.fromEntries(
    Array.from({ length: many }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${(index + 1) % many}` }]),
  );
  const fan = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [
      `f${index}`,
      { oneOf: Array.from({ length: 2 }, () => ({ $ref: `#/$defs/f${index + 1}` })), not: { $ref: "#/$defs/f0" } },
    ]),
  );
  const intoData = {
    properties: { a: { default: { items: { pattern: "x" } }, pattern: "x" } },
    $ref: "#/properties/a/default",
  };
  const names = Object.fromEntries(Array.from({ length: many }, (_, index) => [`k${index}`, 1]));
  for (const schema of [
    { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs: chain },
    { type: "object", properties: { a: { $ref: "#/$defs/f0" } }, $defs: fan },
    { type: "object", ...intoData },
    { ...names, not: {}, $ref: "#/k1" },
    { $ref: "#/%", properties: "none", allOf: {}, anyOf: [], oneOf: null, items: [[]], enum: {}, type: 3 },
    { type: "object", properties: { __proto__: {}, constructor: { type: "toString" } } },
  ]) {
    const once = edited({ outputSchema: schema, inputSchema: schema });
    expect(JSON.parse(once)).toHaveProperty("outputSchema");
  }
});

const COLLAPSED = { required: ["artifact"] };

describe("the form of a widened schema", () => {
  test("members that may be diverted offer a reference, others stay", () => {
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "number" }, description: "Rows." },
        inner: { type: "object", properties: { deep: { type: "array" } } },
        any: {},
        text: { type: "string", description: "Any." },
        count: { type: "integer", minimum: 0 },
        when: { type: "string", format: "date-time" },
        kind: { enum: ["a", "b"] },
        picture: { type: "string", format: "byte" },
      },
    };
    expect(widenedOutput(schema)).toEqual({
      type: "object",
      properties: {
        ...schema.properties,
        list: { description: "Rows.", anyOf: [{ type: "array", items: { type: "number" } }, OFFERED] },
        inner: {
          anyOf: [{ type: "object", properties: { deep: { anyOf: [{ type: "array" }, OFFERED] } } }, OFFERED],
        },
        picture: { anyOf: [{ type: "string", format: "byte" }, OFFERED] },
      },
      $defs: DEFINED,
    });
  });

  test("the root keeps its type and its properties in sight; what it demands becomes one of two choices", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "Result",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const { required, ...rest } = schema;
    expect(widenedOutput(schema)).toEqual({
      ...rest,
      properties: { ...schema.properties, artifact: OFFERED },
      anyOf: [{ required }, COLLAPSED],
      $defs: DEFINED,
    });
  });

  test("a choice gets one more branch", () => {
    const maybe = { anyOf: [{ type: "array" }, { type: "null" }], default: null, title: "Rows" };
    expect(widenedOutput({ type: "object", properties: { maybe } })).toMatchObject({
      properties: { maybe: { ...maybe, anyOf: [...maybe.anyOf, OFFERED] } },
    });
  });

  test("items that may become equal need no longer differ; at the root that asks for nothing in their place", () => {
    expect(widenedOutput({ uniqueItems: true, $defs: { a: {} } })).toEqual({ uniqueItems: false, $defs: { a: {} } });
    expect(widenedOutput({ uniqueItems: false })).toEqual({ uniqueItems: false });
  });

  test("what is not touched keeps its spelling", () => {
    const text =
      '{ "outputSchema" : {"type":"object",\n "properties" : { "n":{"type":"number","maximum":12345678901234567890.10},' +
      '"\\u0061" : {"type":"array"} } } , "name":"\\u0074" }';
    const definition = ',"$defs":{"reference":{"type":"string","pattern":"artifact://"}}}';
    expect(edited(text)).toBe(
      text
        .replace('{"type":"array"} } }', `{"type":"array"} } ${definition}`)
        .replace('{"type":"array"}', '{"anyOf":[{"type":"array"},{"$ref":"#/$defs/reference"}]}'),
    );
  });

  test("nothing changes where nothing may be diverted", () => {
    const tool = {
      name: "t",
      outputSchema: { type: "object", properties: { n: { type: "number" }, s: { type: "string" } } },
    };
    expect(edited(tool)).toBe(JSON.stringify(tool));
  });

  test("keep changes nothing, drop takes outputSchema and a comma", () => {
    const outputSchema = { type: "object", properties: { a: { type: "array" } } };
    const inputSchema = { type: "object", properties: { a: { type: "string", pattern: "x" } } };
    for (const tool of [{ outputSchema, name: "t" }, { name: "t", outputSchema }, { outputSchema }]) {
      expect(edited({ ...tool, inputSchema }, "keep")).toBe(JSON.stringify({ ...tool, inputSchema }));
      const { outputSchema: _, ...rest } = tool as { outputSchema: unknown; name?: string };
      expect(JSON.parse(edited(tool, "drop", "  "))).toEqual(rest);
    }
  });

  test("the definition has a name of its own, and where an id begins another document, it is not referred to", () => {
    const inner = { $id: "https://example.com/inner", type: "object", properties: { deep: { type: "array" } } };
    const schema = { type: "object", properties: { inner }, $defs: { reference: { type: "number" } } };
    const other = { $ref: "#/$defs/reference_of_sluice" };
    expect(widenedOutput(schema)).toEqual({
      type: "object",
      properties: {
        inner: { anyOf: [{ ...inner, properties: { deep: { anyOf: [{ type: "array" }, TEXT_OFFER] } } }, other] },
      },
      $defs: { ...schema.$defs, reference_of_sluice: TEXT_OFFER },
    });
  });
});

describe("a schema that would grow too much", () => {
  const lists = (count: number): Record<string, object> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`tags_of_row_${at}`, { type: "array", items: { type: "string" } }]),
    );

  test("of results lets any text stand in place of what is diverted", () => {
    const schema = { type: "object", properties: { count: { type: "integer" }, ...lists(12) }, required: ["count"] };
    const widened = widenedOutput(schema);
    expect(widened).toMatchObject({
      properties: { count: { type: "integer" }, tags_of_row_0: { type: ["array", "string"] } },
    });
    const isValid = validator(widened);
    expect(
      [{ count: 1, tags_of_row_3: REFERENCE }, { artifact: REFERENCE }, { count: 1, tags_of_row_3: ["a"] }].map(
        isValid,
      ),
    ).toEqual([true, true, true]);
    expect([{ count: "1" }, {}, { count: 1, tags_of_row_3: 1 }].map(isValid)).toEqual([false, false, false]);
  });

  test("of results is at last any object, and of arguments as it was", () => {
    const schema = {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: "array" }])),
    };
    expect(widenedOutput(schema)).toEqual({ type: "object" });
    const inputs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: "string", format: "byte" }]),
    );
    expect(widenedInput({ type: "object", properties: inputs })).toEqual({ type: "object", properties: inputs });
  });
});
