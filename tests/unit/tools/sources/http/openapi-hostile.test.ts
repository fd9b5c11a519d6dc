/** OpenAPI descriptions that are wrong, odd or hostile. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { called, list } from "../api.js";
import { described, get, tool } from "./descriptions.js";

describe("whatever is written in a description", () => {
  test.each([
    [
      "a loop of references",
      { parameters: [{ $ref: "#/components/parameters/A" }] },
      {
        components: {
          parameters: { A: { $ref: "#/components/parameters/B" }, B: { $ref: "#/components/parameters/A" } },
        },
      },
      {},
    ],
    [
      "references to nowhere",
      { parameters: [{ name: "a", in: "query", schema: { $ref: "#/nothing" } }, { $ref: "https://x.example/y" }] },
      {},
      { a: {} },
    ],
    [
      "a reference to itself",
      { parameters: [{ name: "a", in: "query", schema: { $ref: "#/paths/~1pets/get/parameters/0/schema" } }] },
      {},
      { a: { $ref: "#/$defs/schema" } },
    ],
    [
      "parts that are not what they must be",
      {
        parameters: [1, null, {}, { name: 5 }, { name: "a", in: "query", schema: 7 }],
        tags: [1],
        security: ["x", null],
        requestBody: 3,
        responses: 5,
      },
      {},
      { a: {} },
    ],
    [
      "schemas that a strict reader refuses",
      { parameters: [{ name: "a", in: "query", schema: { type: "file", minimum: "0", required: true, items: 3 } }] },
      {},
      { a: { type: "file", minimum: "0", items: 3 } },
    ],
    [
      "an unsafe address of a token",
      { security: [{ o: [] }] },
      {
        components: {
          securitySchemes: {
            o: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "http://x.example", scopes: {} } } },
          },
        },
      },
      {},
    ],
    [
      "names of Object's own",
      { parameters: [{ name: "constructor", in: "query", schema: { type: "string" } }] },
      {},
      { constructor: { type: "string" } },
    ],
  ])("%s costs no tool", async (_, operation, rest, properties) => {
    const { input_schema: schema } = await tool(get(operation, rest));
    expect(schema["properties"]).toEqual(properties);
  });

  test("operations of the same name are told apart", async () => {
    const operation = { operationId: "same" };
    const { source } = await described(() => ({
      openapi: "3.1.0",
      paths: { "/a": { get: operation, post: operation }, "/b": { get: operation } },
    }));
    expect((await list(source)).map(({ name }) => name)).toEqual(["same", "same_2", "same_3"]);
  });

  test.each([
    [
      "too many operations",
      { openapi: "3.1.0", paths: Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`/${n}`, { get: {} }])) },
      "more than 2000",
    ],
    ["none", { openapi: "3.1.0", paths: {} }, "without operations"],
  ])("%s is an error", async (_, document, message) => {
    await expect(described(() => document)).rejects.toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringContaining(message) as string,
    });
  });

  test("schemas that all refer to each other stay small", async () => {
    const names = Array.from({ length: 150 }, (_, n) => `S${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
    const schemas = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
    const paths = Object.fromEntries(
      names.map((name) => [
        `/${name}`,
        {
          post: {
            requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } },
          },
        },
      ]),
    );
    const { source } = await described(() => ({ openapi: "3.1.0", paths, components: { schemas } }), {});
    const tools = await list(source);
    expect(tools).toHaveLength(150);
    expect(JSON.stringify(tools).length).toBeLessThan(150 * 150_000);
  });

  test("a schema that is too much is cut where it allows more, and stays one", async () => {
    const branch = (depth: number): Record<string, unknown> =>
      depth === 0
        ? { enum: ["a", 1] }
        : {
            type: "object",
            required: ["a"],
            properties: { a: branch(depth - 1), b: branch(depth - 1) },
            anyOf: [branch(depth - 1)],
          };
    const parameters = [
      { name: "deep", in: "query", schema: branch(8) },
      { name: "last", in: "query", required: true, schema: { type: "string" } },
    ];
    const { input_schema: schema } = await tool(get({ parameters }));
    expect(schema).toMatchObject({ type: "object", required: ["last"], properties: { last: {} } });
    expect(JSON.stringify(schema).length).toBeLessThan(200_000);
    expect(() => new Ajv2020({ strict: false }).compile(schema)).not.toThrow();
  });

  test("nothing is printed", async () => {
    const written: unknown[] = [];
    const methods = ["log", "info", "warn", "error", "debug"] as const;
    const before = methods.map((method) => console[method]);
    for (const method of methods) console[method] = (...args: unknown[]) => void written.push(args);
    try {
      const document = {
        openapi: "3.1.0",
        paths: { "/a": { head: { operationId: "h" }, trace: { operationId: "t" }, get: {} } },
      };
      const { source } = await described(() => document);
      await called(source, "get_a");
    } finally {
      methods.forEach((method, at) => (console[method] = before[at] as typeof console.log));
    }
    expect(written).toEqual([]);
  });
});
