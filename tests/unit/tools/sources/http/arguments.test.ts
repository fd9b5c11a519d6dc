/** Arguments are held against what a tool takes before anything is sent. */
import { describe, expect, test } from "vitest";
import { called, failure, list, served } from "../api.js";
import { described, get } from "./descriptions.js";

const parameters = [
  { name: "city", in: "query", required: true, schema: { type: "string" } },
  { name: "limit", in: "query", schema: { type: "integer" } },
];

const saying = (message: string): object => ({
  name: "ToolClientError",
  code: "E_TOOL_CLIENT",
  isRetryable: false,
  message: expect.stringContaining(message) as string,
});

describe("of an operation", () => {
  test.each<[Record<string, unknown>, string]>([
    [
      { limit: 1 },
      'The tool "pets" of the source "shop" needs the argument "city", which was not given: it takes "city", "limit".',
    ],
    [{ city: null }, 'needs the argument "city"'],
    [{ city: "Oslo", limt: 1 }, 'takes no argument "limt": did you mean "limit"?'],
    [{ city: "Oslo", secret: "s3cret" }, 'takes no argument "secret": it takes "city", "limit".'],
    [{ city: "Oslo", toString: "s3cret" }, 'takes no argument "toString"'],
    [{ city: "Oslo", "\u202Ex\n": 1 }, 'takes no argument "x"'],
  ])("%j are not sent", async (args, message) => {
    const { source, server } = await described(() => get({ parameters }));
    const error = await failure(called(source, "pets", args));
    expect(error).toMatchObject(saying(message));
    expect(String(error)).not.toContain("s3cret");
    expect(server.seen).toHaveLength(1);
  });

  test("what it takes is told to planners, and sent", async () => {
    const { source } = await described(() => get({ parameters }));
    expect((await list(source))[0]?.input_schema).toMatchObject({ required: ["city"], additionalProperties: false });
    const { reduced } = await called(source, "pets", { city: "Oslo", limit: undefined });
    expect(reduced.value).toMatchObject({ query: [["city", "Oslo"]] });
  });

  test("one without any says so", async () => {
    const { source } = await described(() => get());
    expect(await failure(called(source, "pets", { a: 1 }))).toMatchObject(saying("it takes none."));
  });

  test("a part of the path that nobody describes is one all the same", async () => {
    const { source } = await described(() => ({
      openapi: "3.1.0",
      paths: { "/pets/{id}": { get: { operationId: "pet" } } },
    }));
    expect((await list(source))[0]?.input_schema).toMatchObject({
      properties: { id: { type: "string" } },
      required: ["id"],
    });
    expect((await called(source, "pet", { id: 7 })).reduced.value).toMatchObject({ path: "/pets/7" });
    expect(await failure(called(source, "pet"))).toMatchObject(saying('"id"'));
  });

  test("hundreds of parameters are all known, however large their schemas are", async () => {
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`p${n}`, { enum: ["a", "b"] }])),
    };
    const many = Array.from({ length: 450 }, (_, n) => ({
      name: `q${n}`,
      in: "query",
      required: n > 440,
      schema: wide,
    }));
    const { source } = await described(() => get({ parameters: many }));
    const args = Object.fromEntries(many.slice(440).map(({ name }) => [name, "x"]));
    expect((await called(source, "pets", args)).reduced.value).toMatchObject({ path: "/pets" });
    expect(await failure(called(source, "pets", { ...args, r: 1 }))).toMatchObject(saying('takes no argument "r"'));
    expect(await failure(called(source, "pets", { ...args, q449: null }))).toMatchObject(
      saying('needs the argument "q449"'),
    );
  });
});

describe("of a manual's tool", () => {
  const inputs = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

  test("the rest goes into the query, unless its schema is closed", async () => {
    const { source, server } = await served((url) => ({
      open: { url, inputs },
      closed: { url, inputs: { ...inputs, additionalProperties: false } },
      patterns: { url, inputs: { additionalProperties: false, patternProperties: { "^x": {} } } },
    }));
    const query = [
      ["city", "Oslo"],
      ["page", "2"],
    ];
    expect((await called(source, "open", { city: "Oslo", page: 2 })).reduced.value).toMatchObject({ query });
    expect((await called(source, "patterns", { xa: 1 })).reduced.value).toMatchObject({ query: [["xa", "1"]] });
    expect(await failure(called(source, "closed", { city: "Oslo", page: 2 }))).toMatchObject(
      saying('takes no argument "page"'),
    );
    expect(await failure(called(source, "open", { page: 2 }))).toMatchObject(saying('needs the argument "city"'));
    expect(server.seen).toHaveLength(3);
  });

  test.each([
    { required: "city" },
    { required: [5, null] },
    { properties: [] },
    { additionalProperties: false, properties: 5 },
  ])("a schema such as %j breaks nothing", async (odd) => {
    const { source } = await served((url) => ({ get: { url, inputs: odd } }));
    expect((await called(source, "get")).reduced.value).toMatchObject({ query: [] });
  });
});
