import { describe, expect, test } from "vitest";
import { edited, OFFER, TEXT_OFFER, widenedOutput } from "./widened.js";

const COLLAPSED = { type: "object", properties: { artifact: OFFER }, required: ["artifact"] };

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
        list: { description: "Rows.", anyOf: [{ type: "array", items: { type: "number" } }, OFFER] },
        inner: {
          anyOf: [{ type: "object", properties: { deep: { anyOf: [{ type: "array" }, OFFER] } } }, OFFER],
        },
        picture: { anyOf: [{ type: "string", format: "byte" }, TEXT_OFFER] },
      },
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
      properties: { ...schema.properties, artifact: OFFER },
      anyOf: [{ required }, COLLAPSED],
    });
  });

  test("a choice gets one more branch", () => {
    const maybe = { anyOf: [{ type: "array" }, { type: "null" }], default: null, title: "Rows" };
    expect(widenedOutput({ type: "object", properties: { maybe } })).toMatchObject({
      properties: { maybe: { ...maybe, anyOf: [...maybe.anyOf, OFFER] } },
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
    expect(edited(text)).toBe(
      text.replace('{"type":"array"}', '{"anyOf":[{"type":"array"},{"type":"string","pattern":"^artifact://"}]}'),
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
});
