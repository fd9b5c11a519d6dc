import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolNode } from "../../../../../web/src/tools.js";
import { cutSchema } from "../../../../../web/src/tools/sources/http/openapi.js";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import { api, called, failure, gate, list, opened, sendJson } from "../api.js";
import { described, get, tool as offered } from "./descriptions.js";

describe("OpenAPI", () => {
  const SHOP = (origin: string) => ({
    openapi: "3.0.3",
    info: { title: "Shop", version: "1" },
    servers: [{ url: `${origin}/{version}/`, variables: { version: { default: "v2" } } }],
    security: [{ key: [] }],
    paths: {
      "/pets/{petId}": {
        parameters: [{ $ref: "#/components/parameters/PetId" }],
        get: {
          operationId: "getPet",
          summary: "One pet",
          description: "Gives one pet.",
          parameters: [
            { name: "fields", in: "query", schema: { type: "array", items: { type: "string" } } },
            { name: "X-Trace", in: "header", schema: { type: "string" } },
            { name: "sid", in: "cookie", schema: { type: "string" } },
          ],
          responses: {
            "200": {
              description: "",
              content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
            },
          },
        },
        put: {
          requestBody: {
            required: true,
            description: "The pet",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
          },
          responses: {},
        },
        options: { operationId: "no" },
      },
    },
    components: {
      parameters: { PetId: { name: "petId", in: "path", schema: { type: "integer", description: "Its number" } } },
      schemas: {
        Pet: {
          type: "object",
          properties: {
            name: { type: "string", required: true },
            friend: { $ref: "#/components/schemas/Pet" },
            owner: { $ref: "#/components/schemas/Owner" },
          },
        },
        Owner: { type: "object", properties: { pets: { type: "array", items: { $ref: "#/components/schemas/Pet" } } } },
      },
      securitySchemes: { key: { type: "apiKey", in: "query", name: "key" } },
    },
  });

  const PET_DEFINITIONS = {
    Pet: {
      type: "object",
      properties: { name: { type: "string" }, friend: { $ref: "#/$defs/Pet" }, owner: { $ref: "#/$defs/Owner" } },
    },
    Owner: { type: "object", properties: { pets: { type: "array", items: { $ref: "#/$defs/Pet" } } } },
  };

  test("operations are tools with schemas that stand by themselves, loops and all", async () => {
    const { source } = await described(SHOP);
    expect(await list(source)).toEqual([
      {
        name: "getPet",
        description: "One pet\n\nGives one pet.",
        input_schema: {
          type: "object",
          properties: {
            petId: { type: "integer", description: "Its number" },
            fields: { type: "array", items: { type: "string" } },
            "X-Trace": { type: "string" },
          },
          required: ["petId"],
          additionalProperties: false,
        },
        output_schema: { $ref: "#/$defs/Pet", $defs: PET_DEFINITIONS },
        isReadOnly: true,
        isRepeatable: true,
      },
      {
        name: "put_pets_petId",
        description: "",
        input_schema: {
          type: "object",
          properties: {
            petId: { type: "integer", description: "Its number" },
            body: { $ref: "#/$defs/Pet", description: "The pet" },
          },
          required: ["petId", "body"],
          additionalProperties: false,
          $defs: PET_DEFINITIONS,
        },
        isReadOnly: false,
        isRepeatable: true,
      },
    ]);
  });

  test("their requests go where the description says, with the key that the configuration has", async () => {
    const { source } = await described(SHOP, { auth_config: { api_key: "k3y" } });
    const { reduced } = await called(source, "getPet", { petId: 7, fields: ["a", "b"], "X-Trace": "t" });
    expect(reduced.value).toMatchObject({
      method: "GET",
      path: "/v2/pets/7",
      query: [
        ["fields", "a"],
        ["fields", "b"],
        ["key", "k3y"],
      ],
      headers: { "x-trace": "t" },
    });
    const put = await called(source, "put_pets_petId", { petId: 7, body: { name: "Rex" } });
    expect(put.reduced.value).toMatchObject({ method: "PUT", body: '{"name":"Rex"}' });
  });

  test("a key that is not configured is left out: the API says whether it is needed", async () => {
    const { source } = await described(SHOP);
    expect((await called(source, "getPet", { petId: 7 })).reduced.value).toMatchObject({ query: [] });
  });

  const YAML = `openapi: 3.0.0
paths:
  /pets:
    get:
      operationId: pets
      x-date: 2020-01-01
`;

  test("YAML is read as JSON is", async () => {
    for (const path of ["/openapi.yaml", "/spec"]) {
      const { source } = await described(() => YAML, { type: "application/yaml", path });
      expect((await list(source)).map(({ name }) => name)).toEqual(["pets"]);
      expect((await called(source, "pets")).reduced.value).toMatchObject({ path: "/pets" });
    }
  });

  test("version 2: host, base path, body, form", async () => {
    const { source, server } = await described(
      (origin) => ({
        swagger: "2.0",
        host: origin.slice("http://".length),
        basePath: "/api",
        schemes: ["http"],
        securityDefinitions: { basic: { type: "basic" } },
        security: [{ basic: [] }],
        paths: {
          "/pets": {
            get: {
              operationId: "find",
              parameters: [{ name: "limit", in: "query", type: "integer", maximum: 5, required: false }],
            },
            post: {
              operationId: "add",
              parameters: [{ name: "pet", in: "body", required: true, schema: { $ref: "#/definitions/Pet" } }],
            },
            patch: { operationId: "form", parameters: [{ name: "a", in: "formData", type: "string", required: true }] },
          },
        },
        definitions: { Pet: { type: "object" } },
      }),
      { auth_config: { username: "me", password: "pw" } },
    );
    const [find, add, form] = await list(source);
    expect(find?.input_schema).toMatchObject({ properties: { limit: { type: "integer", maximum: 5 } } });
    expect(add?.input_schema).toMatchObject({ properties: { body: { $ref: "#/$defs/Pet" } }, required: ["body"] });
    expect(form?.input_schema).toMatchObject({
      properties: { body: { properties: { a: { type: "string" } }, required: ["a"] } },
    });
    await called(source, "form", { body: { a: "x y" } });
    await called(source, "add", { body: { name: "Rex" } });
    expect(server.seen.slice(-2)).toMatchObject([
      {
        path: "/api/pets",
        body: "a=x+y",
        headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Basic ${btoa("me:pw")}` },
      },
      { path: "/api/pets", body: '{"name":"Rex"}', headers: { "content-type": "application/json" } },
    ]);
  });

  test("version 2: a form with a file has parts, an answer has its schema, and what is left out is the description's", async () => {
    const { source, server } = await described((origin) => ({
      swagger: "2.0",
      host: origin.slice("http://".length),
      paths: {
        "/pets": {
          post: {
            operationId: "upload",
            parameters: [
              { name: "file", in: "formData", type: "file", required: true },
              { name: "note", in: "formData", type: "string" },
            ],
            responses: {
              201: { description: "", schema: { type: "object", properties: { id: { type: "integer" } } } },
            },
          },
        },
      },
    }));
    const [upload] = await list(source);
    expect(upload?.output_schema).toMatchObject({ properties: { id: { type: "integer" } } });
    await called(source, "upload", { body: { file: "bytes", note: "small" } });
    const { path, headers, body } = server.seen.at(-1) ?? {};
    expect(path).toBe("/pets");
    expect(headers?.["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(body).toContain('name="note"\r\n\r\nsmall');
  });

  test("a parameter may be of a media type, and the argument of a body gives way to one of its name", async () => {
    const { source, server } = await described(() =>
      get({
        parameters: [
          { name: "filter", in: "query", content: { "application/json": { schema: { type: "object" } } } },
          { name: "odd", in: "query", content: { "text/plain": null } },
          { name: "body", in: "query", schema: { type: "string" } },
        ],
        requestBody: { content: { "application/json": { schema: { type: "array" } } } },
      }),
    );
    const [pets] = await list(source);
    expect(pets?.input_schema).toMatchObject({
      properties: { filter: { type: "object" }, odd: {}, body: { type: "string" }, request_body: { type: "array" } },
    });
    await called(source, "pets", { body: "of a query" });
    expect(server.seen.at(-1)?.query.get("body")).toBe("of a query");
  });

  test("an operation that asks for no key gets none, and one whose own is not known gets the document's", async () => {
    const paths = Object.fromEntries(
      [[], [{ unknown: [] }], [{ key: [], unknown: [] }]].map((security, n) => [
        `/${n}`,
        { get: { operationId: `t${n}`, security } },
      ]),
    );
    const { source } = await described((origin) => ({ ...SHOP(origin), paths }), { auth_config: { api_key: "k3y" } });
    const asked = async (name: string): Promise<unknown> => (await called(source, name)).reduced.value;
    expect(await asked("t0")).toMatchObject({ query: [] });
    for (const name of ["t1", "t2"]) expect(await asked(name)).toMatchObject({ query: [["key", "k3y"]] });
  });

  test("the type of a body is the one that the operation takes", async () => {
    const { source, server } = await described((origin) => ({
      openapi: "3.1.0",
      servers: [{ url: origin }],
      paths: Object.fromEntries(
        ["application/merge-patch+json", "text/plain", "*/*"].map((type, n) => [
          `/${n}`,
          { post: { operationId: `t${n}`, requestBody: { content: { [type]: { schema: {} } } } } },
        ]),
      ),
    }));
    for (const name of ["t0", "t1", "t2"]) await called(source, name, { body: "x" });
    expect(server.seen.slice(1).map(({ body, headers }) => [headers["content-type"], body])).toEqual([
      ["application/merge-patch+json", '"x"'],
      ["text/plain", "x"],
      ["application/json", '"x"'],
    ]);
  });

  describe("servers", () => {
    test("are relative to the description, or its own", async () => {
      for (const servers of [undefined, [], [{ url: "/" }], [{ url: "." }]]) {
        const { source, server } = await described(() => get({}, servers === undefined ? {} : { servers }), {
          path: "/openapi.json",
        });
        await called(source, "pets");
        expect(server.seen[1]?.path).toBe("/pets");
      }
    });

    test("that are nowhere, or chosen by an argument, are an error", async () => {
      const { sluice } = await gate();
      const open = (document: unknown) =>
        opened(httpSource({ name: "shop", connection: JSON.stringify(document), sluice }));
      await expect(open(get())).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
      await expect(open(get({}, { servers: [{ url: "/v1" }] }))).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
      const source = await open(get({}, { servers: [{ url: "https://{tenant}.example" }] }));
      await expect(called(source, "pets", { tenant: "evil" })).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
    });
  });

  describe("a description in the configuration", () => {
    const operation = {
      operationId: "pets",
      parameters: [{ name: "limit", in: "query", schema: { type: "integer" } }],
    };
    const description = (url: string): Record<string, unknown> => ({
      openapi: "3.1.0",
      servers: [{ url }],
      paths: { "/pets": { get: operation } },
    });
    const yaml = (url: string): string =>
      `# Pets\nopenapi: 3.1.0\nservers: [{url: "${url}"}]\npaths: {/pets: {get: ${JSON.stringify(operation)}}}\n`;

    test.each<[string, "http" | "utcp", (url: string) => string]>([
      ["JSON", "http", (url) => JSON.stringify(description(url))],
      ["YAML", "http", yaml],
      ["JSON", "utcp", (url) => JSON.stringify(description(url))],
      ["YAML", "utcp", yaml],
    ])("as %s for the transport %s is the API of the server that it names", async (_, transport, text) => {
      const server = await api(({ path, query, headers }, response) =>
        sendJson(response, { path, query: [...query], key: headers["x-api-key"] }),
      );
      const auth = { auth_type: "api_key", auth_config: { api_key: "k3y" } } as const;
      const node = new ToolNode({ name: "shop", transport, connection: text(`${server.origin}/v1/`), ...auth });
      onTestFinished(() => node.close());
      await node.connect();
      expect(server.seen).toEqual([]);
      expect((await node.call("shop.pets", { limit: 2 })).value).toEqual({
        path: "/v1/pets",
        query: [["limit", "2"]],
        key: "k3y",
      });
    });

    test.each([
      [
        "names no server",
        { openapi: "3.1.0", paths: { "/pets": { get: operation } } },
        /"servers" must have a full URL/,
      ],
      ["is none", { openapi: "3.1.0" }, /no document that describes its tools/],
    ])("that %s is refused with the remedy", async (_, document, message) => {
      const node = new ToolNode({ name: "shop", transport: "http", connection: JSON.stringify(document) });
      const error = await failure(node.connect());
      expect(error).toMatchObject({ code: "E_TOOL_CONFIG", message: expect.stringMatching(message) as string });
    });
  });

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
});

/** OpenAPI descriptions that are wrong, odd or hostile. */
describe("hostile documents", () => {
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
      const { input_schema: schema } = await offered(get(operation, rest));
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
        {
          openapi: "3.1.0",
          paths: Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`/${n}`, { get: {} }])),
        },
        "more than 2000",
      ],
      ["none", { openapi: "3.1.0", paths: {} }, "without callable operations"],
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
      const { input_schema: schema } = await offered(get({ parameters }));
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
});
