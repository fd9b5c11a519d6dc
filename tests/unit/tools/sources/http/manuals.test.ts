/** UTCP manuals, and how a connection is read. */
import { describe, expect, test } from "vitest";
import { httpSource } from "../../../../../web/src/tools/sources/http/source.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import { api, called, failure, gate, list, manual, names, opened, sendJson } from "../api.js";

/** Opens what is the configuration's own manual. */
async function open(document: unknown): Promise<SourceConnection> {
  const { sluice } = await gate();
  const connection = typeof document === "string" ? document : JSON.stringify(document);
  return opened(httpSource({ name: "api", connection, sluice }));
}

describe("manuals", () => {
  const template = { call_template_type: "http", url: "https://x.example" };

  test("schemas and descriptions are handed on whole, without Python's nulls", async () => {
    const inputs = {
      type: "object",
      properties: { a: { type: "string", description: null, default: null, "x-own": 1 } },
      required: ["a"],
    };
    const source = await open({
      utcp_version: "1.0.1",
      manual_version: "1",
      tools: [
        {
          name: "api.a.b",
          description: "does it",
          inputs,
          outputs: null,
          tags: null,
          average_response_size: null,
          tool_call_template: { ...template, name: null, auth: null, headers: null, header_fields: null },
        },
      ],
    });
    expect(await list(source)).toEqual([
      {
        name: "b",
        description: "does it",
        input_schema: {
          type: "object",
          properties: { a: { type: "string", default: null, "x-own": 1 } },
          required: ["a"],
        },
        isReadOnly: true,
        isRepeatable: true,
      },
    ]);
  });

  test("a tool has the last part of its name, as what stands in front is its manual's", async () => {
    const tools = ["get", "shop.list", "other.users.add", "api.drop"].map((name) => ({
      name,
      tool_call_template: template,
    }));
    expect(await names(await open({ tools }))).toEqual(["get", "list", "add", "drop"]);
  });

  test("of several with the same name none is offered, and all are named", async () => {
    const tools = ["users.get", "orders.get", "list"].map((name) => ({ name, tool_call_template: template }));
    const source = await open({ tools });
    expect(await names(source)).toEqual(["list"]);
    const reason = "another tool of the manual has the same name";
    expect(source.leftOut).toEqual(["users.get", "orders.get"].map((name) => ({ name, type: "http", reason })));
  });

  test("tools of other types are left out, and commands are never run", async () => {
    const cli = { name: "rm", tool_call_template: { call_template_type: "cli", commands: [{ command: "touch ran" }] } };
    expect(await names(await open({ tools: [cli, { name: "get", tool_call_template: template }] }))).toEqual(["get"]);
    expect(await failure(open({ tools: [cli] }))).toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
  });

  test.each([
    [{ tools: [1] }, "tools[0]"],
    [{ tools: [{ tool_call_template: template }] }, "tools[0].name"],
    [{ tools: [{ name: "a" }] }, "tools[0].tool_call_template"],
    [{ tools: [{ name: "a", tool_call_template: {} }] }, "call_template_type"],
    [{ tools: [{ name: "a", tool_call_template: { ...template, url: 1 } }] }, "tools[0].tool_call_template.url"],
    [
      { tools: [{ name: "a", tool_call_template: { ...template, auth: { auth_type: "s3cret" } } }] },
      "tool_call_template.auth",
    ],
    [{ tools: [{ name: "a", inputs: 1, tool_call_template: template }] }, "tools[0].inputs"],
    [
      {
        tools: [
          { name: "a", tool_call_template: template },
          { name: "a", tool_call_template: template },
        ],
      },
      "same name",
    ],
    [
      { tools: Array.from({ length: 2_001 }, (_, n) => ({ name: `t${n}`, tool_call_template: template })) },
      "more than 2000",
    ],
    [{ nothing: true }, "no document"],
    [`{"tools":[],"x":${"[".repeat(300)}${"]".repeat(300)}}`, "deeper than 100"],
  ])("%j is refused with its place", async (document, message) => {
    const error = await failure(open(document));
    expect(error).toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringContaining(message) as string,
      isRetryable: false,
    });
    expect(String(error)).not.toContain("s3cret");
  });

  test("YAML, its bombs and its size", async () => {
    expect(
      await names(
        await open(
          "tools:\n  - name: a\n    tool_call_template: {call_template_type: http, url: 'https://x.example'}\n",
        ),
      ),
    ).toEqual(["a"]);
    const bomb = ["a0: &a0 [x]", ...Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`)];
    expect(await failure(open(`tools: []\n${bomb.join("\n")}\n`))).toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(await failure(open(`tools: []\nx: ${"y".repeat(2_200_000)}\n`))).toMatchObject({
      message: expect.stringContaining("too large") as string,
    });
  });

  test("of more than 16 MiB are not read to their end", async () => {
    const server = await api((_, response) => {
      response.setHeader("content-type", "application/json").write('{"tools":["');
      const piece = Buffer.alloc(1024 * 1024, "x");
      const more = (): void => void (response.writable && response.write(piece, () => setImmediate(more)));
      more();
    });
    const { sluice } = await gate();
    const error = await failure(opened(httpSource({ name: "api", connection: `${server.origin}/utcp`, sluice })));
    expect(error).toMatchObject({ message: expect.stringContaining("too large") as string });
  });

  test("are asked for again when the tools are", async () => {
    let count = 0;
    const server = await api((_, response) => {
      count += 1;
      sendJson(response, manual({ [`tool_${count}`]: { url: server.origin } }));
    });
    const { sluice } = await gate();
    const source = await opened(httpSource({ name: "api", connection: `${server.origin}/utcp`, sluice }));
    expect(await names(source)).toEqual(["tool_1"]);
    expect(await names(source)).toEqual(["tool_2"]);
  });
});

async function answers(document: unknown, status = 200): Promise<{ readonly origin: string }> {
  const server = await api((_, response) => {
    const written: unknown =
      typeof document === "function" ? (document as (own: string) => unknown)(server.origin) : document;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(written));
  });
  return server;
}

async function openAt(connection: string, utcp_mode: "auto" | "manual_url" | "base_url" = "auto"): Promise<string[]> {
  const { sluice } = await gate();
  return names(await opened(httpSource({ name: "api", connection, sluice, utcp_mode })));
}

describe("how a connection is read", () => {
  test("auto: a manual wherever one is found, else one tool that sends POST requests", async () => {
    const { origin } = await answers((own: string) => manual({ get: { url: own } }));
    expect(await openAt(origin)).toEqual(["get"]);
    expect(await openAt(`${origin}/.well-known/utcp`)).toEqual(["get"]);
    expect(await openAt((await answers({ hello: 1 })).origin)).toEqual(["post"]);
    expect(await openAt((await answers({}, 404)).origin)).toEqual(["post"]);
    expect(await openAt((await answers({}, 401)).origin)).toEqual(["post"]);
    expect(await failure(openAt((await answers({}, 503)).origin))).toMatchObject({ code: "E_TOOL_SERVER" });
    expect(await failure(openAt(`${(await answers({ hello: 1 })).origin}/openapi.json`))).toMatchObject({
      code: "E_TOOL_CONFIG",
    });
    expect(await failure(openAt(`${(await answers({}, 404)).origin}/utcp`))).toMatchObject({ code: "E_TOOL_CLIENT" });
  });

  test("manual_url insists on one, base_url does not ask", async () => {
    expect(await failure(openAt((await answers({ hello: 1 })).origin, "manual_url"))).toMatchObject({
      code: "E_TOOL_CONFIG",
    });
    const server = await api(({ method, query, body }, response) =>
      sendJson(response, { method, query: [...query], body }),
    );
    const { sluice } = await gate();
    const source = await opened(
      httpSource({ name: "api", connection: `${server.origin}/v1`, utcp_mode: "base_url", sluice }),
    );
    expect(server.seen).toHaveLength(0);
    const { reduced } = await called(source, "post", { body: { a: 1 }, page: 2 });
    expect(reduced.value).toEqual({ method: "POST", query: [["page", "2"]], body: '{"a":1}' });
  });
});
