/** Descriptions of many operations over many schemas that refer to each other. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { list } from "../api.js";
import { described } from "./descriptions.js";

const names = Array.from({ length: 300 }, (_, n) => `S${n}`);
const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
const schemas = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
const media = (n: number): object => ({
  content: { "application/json": { schema: { $ref: `#/components/schemas/S${n % 300}` } } },
});
const operation = (n: number): object => ({ requestBody: media(n), responses: { "200": media(n + 1) } });

test("definitions are copied once for all operations, and stay within bounds", async () => {
  const paths = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`/o${n}`, { post: operation(n) }]));
  const { source } = await described(() => ({ openapi: "3.1.0", paths, components: { schemas } }));
  const tools = await list(source);
  expect(tools).toHaveLength(1_500);
  const definitions = tools.map(({ input_schema: schema }) => schema["$defs"] as Record<string, unknown>);
  expect(definitions[1]?.["S1"]).toBe(definitions[2]?.["S1"]);
  expect(
    Math.max(...tools.filter((_, n) => n % 100 === 0).map((tool) => JSON.stringify(tool.input_schema).length)),
  ).toBeLessThan(150_000);
  for (const { input_schema, output_schema } of [tools[0]!, tools[1_499]!]) {
    for (const schema of [input_schema, output_schema!]) {
      const defined = Object.keys(schema["$defs"] as object);
      const referred = JSON.stringify(schema).match(/#\/\$defs\/S\d+/g) ?? [];
      expect(referred.filter((one) => !defined.includes(one.slice("#/$defs/".length)))).toEqual([]);
    }
  }
});

test("what is cut allows more, never less", async () => {
  const wide = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`p${n}`, { type: "string" }]));
  const closed = { type: "object", properties: wide, additionalProperties: false };
  const long = Array.from({ length: 9_000 }, (_, n) => `p${n}`);
  const parameters = [
    { name: "closed", in: "query", schema: closed },
    { name: "enum", in: "query", schema: { enum: long } },
    { name: "not", in: "query", schema: { not: closed } },
    { name: "list", in: "query", schema: { enum: [closed, 1] } },
    { name: "one", in: "query", schema: { oneOf: [{ type: "string" }, closed] } },
    { name: "named", in: "query", schema: { $ref: "#/components/schemas/__proto__" } },
  ];
  const document = `{"openapi":"3.1.0","paths":{"/a":{"get":${JSON.stringify({ operationId: "a", parameters })}}},
    "components":{"schemas":{"__proto__":{"type":"integer"}}}}`;
  const { source } = await described(() => document);
  const [tool] = await list(source);
  const validate = new Ajv2020({ strict: false }).compile(tool!.input_schema);
  validate({ closed: { p1: "x" }, enum: "p8999", not: 5, list: 2, one: { p8999: "x" }, named: 7 });
  expect(validate.errors).toBeNull();
  expect(validate({ named: "x" })).toBe(false);
});
