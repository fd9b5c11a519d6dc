import { describe, expect, onTestFinished, test } from "vitest";
import { ToolNode } from "../../../../../web/src/tools.js";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { api, called, failure, gate, list, manual, opened, sendJson, served } from "../api.js";
import { described, get } from "./descriptions.js";

describe("requests", () => {
  test("path, query, header fields and body, each in its place", async () => {
    const { source } = await served((origin) => ({
      put: {
        url: `${origin}/users/{id}/notes?v=1`,
        http_method: "PUT",
        headers: { "x-static": "yes" },
        header_fields: ["X-Request"],
        body_field: "note",
      },
    }));
    const args = {
      id: "a/b ?ü",
      "X-Request": 7,
      note: { text: "hi" },
      tag: ["x", "y"],
      deep: { a: 1 },
      none: null,
      all: true,
    };
    const { reduced } = await called(source, "put", args);
    expect(reduced.value).toMatchObject({
      method: "PUT",
      path: "/users/a%2Fb%20%3F%C3%BC/notes",
      query: [
        ["v", "1"],
        ["tag", "x"],
        ["tag", "y"],
        ["deep", '{"a":1}'],
        ["all", "true"],
      ],
      headers: { "x-static": "yes", "x-request": "7", "content-type": "application/json" },
      body: '{"text":"hi"}',
    });
  });

  test("forms, text, and no body with GET", async () => {
    const { source } = await served((url) => ({
      form: { url, http_method: "POST", content_type: "application/x-www-form-urlencoded" },
      parts: { url, http_method: "POST", content_type: "multipart/form-data" },
      text: { url, http_method: "POST", content_type: "text/markdown" },
      get: { url },
    }));
    const body = { a: "1 2", b: ["x", "y"] };
    expect((await called(source, "form", { body })).reduced.value).toMatchObject({ body: "a=1+2&b=x&b=y" });
    const parts = (await called(source, "parts", { body })).reduced.value as {
      headers: Record<string, string>;
      body: string;
    };
    expect(parts.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(parts.body).toContain('name="a"\r\n\r\n1 2');
    const text = { headers: { "content-type": "text/markdown" }, body: "# hi" };
    expect((await called(source, "text", { body: "# hi" })).reduced.value).toMatchObject(text);
    expect((await called(source, "get", { body: "x" })).reduced.value).toMatchObject({
      query: [["body", "x"]],
      body: "",
    });
  });

  test("an argument changes neither the server nor the path beyond its place", async () => {
    const { source, server } = await served((origin) => ({
      one: { url: `${origin}/users/{id}/delete` },
      host: { url: "https://{host}/x" },
      glued: { url: `${origin}{path}` },
    }));
    for (const id of ["..", "."]) {
      expect(await failure(called(source, "one", { id }))).toMatchObject({ code: "E_TOOL_CLIENT" });
    }
    for (const id of ["%2e%2e", ".%2E"]) await called(source, "one", { id });
    expect(server.seen.map(({ path }) => path)).toEqual(["/utcp", "/users/%252e%252e/delete", "/users/.%252E/delete"]);
    expect(await failure(called(source, "one"))).toMatchObject({
      code: "E_TOOL_CLIENT",
      message: expect.stringContaining('"id"') as string,
    });
    expect(await failure(called(source, "host", { host: "evil.example" }))).toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(await failure(called(source, "glued", { path: ".evil.example" }))).toMatchObject({ code: "E_TOOL_CONFIG" });
  });

  test("a header is one line, and its value is not told", async () => {
    const { source } = await served((url) => ({ get: { url, header_fields: ["x-a", "host"] } }));
    const error = await failure(called(source, "get", { "x-a": "a\r\nx-evil: s3cret" }));
    expect(error).toMatchObject({ code: "E_TOOL_CLIENT" });
    expect(String(error)).not.toContain("s3cret");
    const { headers } = (await called(source, "get", { host: "evil.example" })).reduced.value as {
      headers: Record<string, string>;
    };
    expect(headers["host"]).not.toBe("evil.example");
  });

  test("which of them may be made twice", async () => {
    const { source } = await served((url) =>
      Object.fromEntries(
        ["GET", "POST", "PUT", "PATCH", "DELETE"].map((http_method) => [http_method, { url, http_method }]),
      ),
    );
    const repeatable = (await list(source)).filter(({ isRepeatable }) => isRepeatable).map(({ name }) => name);
    expect(repeatable).toEqual(["GET", "PUT", "DELETE"]);
  });
});

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
      'The tool "pets" of the source "shop" needs the argument "city", which is missing: it takes "city", "limit".',
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

  test("an undescribed part of the path is an argument all the same", async () => {
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

interface Told {
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
}

/** What a server is told of the key. */
async function told(document: (origin: string) => unknown, auth: Record<string, unknown> = {}): Promise<Told> {
  const server = await api(({ path, query, headers }, response) => {
    if (path === "/openapi.json") return sendJson(response, document(server.origin));
    const those = Object.entries(headers).filter(([, value]) => String(value).includes("k3y"));
    sendJson(response, { query: Object.fromEntries(query), headers: Object.fromEntries(those) });
  });
  const connection = `${server.origin}/openapi.json`;
  const config = { name: "shop", transport: "http", connection, auth_type: "api_key" } as const;
  const node = new ToolNode({ ...config, auth_config: { api_key: "k3y", ...auth } });
  onTestFinished(() => node.close());
  await node.connect();
  return (await node.call("pets")).value as Told;
}

const description = (scheme?: Record<string, unknown>) => () => ({
  openapi: "3.1.0",
  paths: { "/pets": { get: { operationId: "pets" } } },
  ...(scheme !== undefined && { security: [{ key: [] }], components: { securitySchemes: { key: scheme } } }),
});

test.each<[string, Record<string, unknown> | undefined, Record<string, string>, Told]>([
  ["nothing", undefined, {}, { query: {}, headers: { "x-api-key": "k3y" } }],
  ["a query", { type: "apiKey", in: "query", name: "key" }, {}, { query: { key: "k3y" }, headers: {} }],
  ["a header", { type: "apiKey", in: "header", name: "X-Shop" }, {}, { query: {}, headers: { "x-shop": "k3y" } }],
  ["a cookie", { type: "apiKey", in: "cookie", name: "sid" }, {}, { query: {}, headers: { cookie: "sid=k3y" } }],
  ["a bearer", { type: "http", scheme: "bearer" }, {}, { query: {}, headers: { authorization: "Bearer k3y" } }],
  ["a token's server", { type: "oauth2", flows: {} }, {}, { query: {}, headers: { "x-api-key": "k3y" } }],
  [
    "a query, and the configuration a header",
    { type: "apiKey", in: "query", name: "key" },
    { header: "X-Mine" },
    { query: {}, headers: { "x-mine": "k3y" } },
  ],
])("a description that says %s", async (_, scheme, auth, expected) => {
  expect(await told(description(scheme), auth)).toEqual(expected);
});

test("a manual's own key is another, and goes along", async () => {
  const auth = { auth_type: "api_key", api_key: "other", var_name: "appid", location: "query" };
  const { query, headers } = await told((origin) => manual({ pets: { url: `${origin}/pets`, auth } }));
  expect(query).toEqual({ appid: "other" });
  expect(headers).toEqual({ "x-api-key": "k3y" });
});

/** What goes wrong at an API, and on the way to it. */
describe("what goes wrong", () => {
  test.each([
    [429, "E_TOOL_RATE_LIMIT", true],
    [503, "E_TOOL_SERVER", true],
    [401, "E_TOOL_AUTH", false],
    [403, "E_TOOL_AUTH", false],
    [500, "E_TOOL_SERVER", true],
  ])("a status %i, with Retry-After and without the body", async (status, code, isRetryable) => {
    const { source } = await served(
      (url) => ({ get: { url } }),
      (_, response) => response.writeHead(status, { "retry-after": "7" }).end("s3cret body"),
    );
    const error = await failure(called(source, "get"));
    expect(error).toMatchObject({ code, status, isRetryable, retryAfterSeconds: 7 });
    expect(String(error)).not.toContain("s3cret");
  });

  test("a body that breaks off, binary or JSON, leaves nothing behind", async () => {
    for (const type of ["application/pdf", "application/json"]) {
      const { source, store } = await served(
        (url) => ({ get: { url } }),
        (_, response) => {
          response.writeHead(200, { "content-type": type, "content-length": "1000000" });
          response.write(`["${"x".repeat(1000)}`, () => response.destroy());
        },
      );
      expect(await failure(called(source, "get"))).toMatchObject({ code: "E_TOOL_CONNECTION", isRetryable: true });
      for await (const ref of store.list()) throw new Error(`${ref.id} was left behind.`);
    }
  });

  test("no server", async () => {
    const { sluice } = await gate();
    const source = httpSource({ name: "api", connection: "http://127.0.0.1:9/utcp", sluice });
    const error = await failure(opened(source));
    expect(error).toMatchObject({ code: expect.stringMatching(/^E_TOOL_CONN/) as string, isRetryable: true });
  });

  test("a call that is given up throws the reason, while waiting and while reading", async () => {
    const { source } = await served(
      (origin) => ({ wait: { url: `${origin}/wait` }, read: { url: `${origin}/read` } }),
      ({ path }, response) => {
        if (path === "/read") response.writeHead(200, { "content-type": "application/pdf" }).write("x");
      },
    );
    for (const tool of ["wait", "read"]) {
      const giving = new AbortController();
      const call = called(source, tool, {}, { signal: giving.signal });
      const reason = new Error("enough");
      setTimeout(() => giving.abort(reason), 100);
      await expect(call).rejects.toBe(reason);
    }
  });

  test("a tool that is not there, and a connection that was closed", async () => {
    const { source } = await served((url) => ({ get: { url } }));
    expect(await failure(called(source, "other"))).toMatchObject({ code: "E_TOOL_CLIENT" });
    await source[Symbol.asyncDispose]();
    expect(source.isOpen).toBe(false);
    expect(await failure(called(source, "get"))).toMatchObject({ code: "E_TOOL_CONNECTION" });
  });

  test.each([
    ["ws://x.example/", "E_TOOL_UNSUPPORTED"],
    ["wss://x.example/?token=s3cret", "E_TOOL_UNSUPPORTED"],
    ["file:///etc/passwd", "E_TOOL_CONFIG"],
    ["https://user:s3cret@x.example", "E_TOOL_CONFIG"],
    ["x.example", "E_TOOL_CONFIG"],
    ["", "E_TOOL_CONFIG"],
    ["{", "E_TOOL_CONFIG"],
  ])("the connection %j", async (connection, code) => {
    const { sluice } = await gate();
    const error = await failure(opened(httpSource({ name: "api", connection, sluice })));
    expect(error).toMatchObject({ code, isRetryable: false });
    expect(String(error)).not.toContain("s3cret");
  });
});
