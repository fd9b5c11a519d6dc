/** Names without end, contexts that are none, and secrets: what telemetry makes of hostile clients and servers. */
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { McpInterceptor } from "../../../web/src/mcp/interceptor.js";
import { interceptorDeps, type InterceptorOptions } from "../../../web/src/mcp/interceptor-options.js";
import { ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { tool } from "../../../web/src/planner/tool.js";
import type { LlmAnswer } from "../../../web/src/planner/llm/client.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { RecordedTelemetry } from "../../support/telemetry.js";
import { EVERYTHING } from "../cli/serve/serving.js";
import { image, Talk } from "../mcp/interceptor/talk.js";
import { Visitor } from "../server/visitor.js";

let telemetry: RecordedTelemetry;

beforeEach(() => {
  telemetry = new RecordedTelemetry();
});

afterEach(() => telemetry[Symbol.asyncDispose]());

async function proxied(options: InterceptorOptions): Promise<McpInterceptor> {
  return new McpInterceptor(await interceptorDeps(options));
}

/** All values that an attribute has. */
async function valuesOf(attribute: string): Promise<ReadonlySet<unknown>> {
  const all = [...telemetry.spans, ...(await telemetry.measured())].map(({ attributes }) => attributes[attribute]);
  return new Set(all.filter((value) => value !== undefined));
}

const PROTOTYPE = ["__proto__", "constructor", "toString", "hasOwnProperty"];

test("a client that makes up 10,000 tools and methods makes up no series", async () => {
  const talk = new Talk({ namespace: "made-up" }, proxied);
  await talk.list({ name: "real" });
  for (let each = 0; each < 5000; each += 1) {
    await talk.say({ jsonrpc: "2.0", id: each, method: "tools/call", params: { name: `tool-${each}` } });
    await talk.hear({ jsonrpc: "2.0", id: each, error: { code: -32602 - (each % 50_000), message: "no" } });
    await talk.say({ jsonrpc: "2.0", id: each, method: `method/${each}` });
    await talk.hear({ jsonrpc: "2.0", id: each, result: {} });
  }
  for (const name of [...PROTOTYPE, "x".repeat(1_000_000), "\u202e\u0000\n", 'a"} 1\nevil{b="'])
    await talk.call(name, { content: [image()] });
  expect([...(await valuesOf("gen_ai.tool.name"))].map(String).sort()).toEqual(["_OTHER"]);
  expect([...(await valuesOf("mcp.method.name"))].map(String).sort()).toEqual(["_OTHER", "tools/call", "tools/list"]);
  const series = await telemetry.measured("mcp.server.operation.duration");
  // Its errors may have codes without end; not each is a type of its own.
  expect(series.length).toBeLessThan(100);
});

test("a server that lists 10,000 tools gets 200 of them named", async () => {
  const talk = new Talk({ namespace: "many" }, proxied);
  await talk.list(...Array.from({ length: 10_000 }, (_, each) => ({ name: `listed-${each}` })));
  for (let each = 0; each < 400; each += 1) await talk.call(`listed-${each}`, { content: [] });
  expect((await valuesOf("gen_ai.tool.name")).size).toBeLessThanOrEqual(201);
});

test.each([...PROTOTYPE, "\u202ename", "a b", "x".repeat(129), ""])(
  "a listed tool %j is named like others",
  async (name) => {
    const talk = new Talk({ namespace: "odd" }, proxied);
    await talk.list({ name });
    await talk.call(name, { content: [] });
    for (const value of await valuesOf("gen_ai.tool.name")) expect(value).toMatch(/^[\w./:-]{1,128}$/);
  },
);

test.each([
  { traceparent: "00-zz" },
  { traceparent: "x".repeat(1_000_000) },
  { traceparent: 7, tracestate: {}, baggage: [] },
  { tracestate: "a=b,".repeat(100_000) },
  { baggage: `userId=${"x".repeat(1_000_000)}` },
  { traceparent: "00-00000000000000000000000000000000-0000000000000000-01" },
  { traceparent: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"] },
  JSON.parse('{"__proto__":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}') as object,
])("a context that is none (%#) is no parent, and the request goes on with its own", async (_meta) => {
  const { forwarded, span } = await sent(_meta);
  expect(span?.parentSpanContext).toBeUndefined();
  expect(metaIn(forwarded)).toMatchObject({ traceparent: expect.stringContaining(span?.spanContext().traceId ?? "?") });
  expect(forwarded.length).toBeLessThan(1000);
});

test.each([[[]], ["traceparent"], [null], [7]])("a _meta that is no object, %j, goes on as it is", async (_meta) => {
  const { forwarded, span } = await sent(_meta);
  expect(span?.parentSpanContext).toBeUndefined();
  expect(metaIn(forwarded)).toEqual(_meta);
});

/** What a server gets of a call with such a `_meta`, and the span of it. */
async function sent(_meta: unknown): Promise<{ readonly forwarded: string; readonly span: ReadableSpan | undefined }> {
  const talk = new Talk({ namespace: "contexts" }, proxied);
  const params = { name: "a", _meta };
  const { forwarded = "" } = await talk.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await talk.hear({ jsonrpc: "2.0", id: 1, result: {} });
  return { forwarded, span: telemetry.spans[0] };
}

function metaIn(message: string): unknown {
  const { _meta } = (JSON.parse(message) as { params: { _meta: unknown } }).params;
  return _meta;
}

test("no content, no owner and no secret is in any span or metric", async () => {
  const SECRET = "s3cr3t";
  const secret = (what: string): string => `${SECRET}-${what}`;
  const scope = { tenant_id: secret("tenant"), user_id: secret("user"), session_id: secret("session") };
  // A client of a proxy.
  const talk = new Talk({ namespace: "quiet", scope }, proxied);
  await talk.list({ name: "shot", description: secret("description") });
  const content = [image(), { type: "text", text: secret("result ").repeat(5000) }];
  await talk.call("shot", { content, isError: true }, { query: secret("argument") });
  await talk.ask("resources/read", { uri: `file:///${secret("uri")}` }, { contents: [] });
  await talk.ask("prompts/get", { name: secret("prompt") }, {});
  const params = { name: secret("name"), _meta: { baggage: `userId=${secret("baggage")}`, [secret("key")]: 1 } };
  await talk.say({ jsonrpc: "2.0", id: secret("id"), method: "tools/call", params });
  const error = { code: -32000, message: secret("message"), data: secret("data") };
  await talk.hear({ jsonrpc: "2.0", id: secret("id"), error });
  // A planner.
  await using node = new ToolNode({
    name: "every",
    transport: "mcp",
    connection: EVERYTHING.map((word) => `"${word}"`).join(" "),
    env: { TOKEN: secret("environment") },
  });
  await node.connect();
  const fails = tool({
    name: "fails",
    description: "",
    input: z.object({ message: z.string() }),
    run: () => {
      throw new Error(secret("failure"));
    },
  });
  const call = (name: string): object => ({ id: secret(name), name, arguments: `{"message":"${secret("said")}"}` });
  const toolCalls = ["every_echo", "fails", secret("unknown")].map(call) as unknown as LlmAnswer["toolCalls"];
  const turns: LlmAnswer[] = [
    { text: secret("thought"), toolCalls, stopReason: "tool_calls", usage: { inputTokens: 1, outputTokens: 1 } },
    { text: secret("answer"), toolCalls: [], stopReason: "stop" },
  ];
  const llm = { model: "model", ask: async () => turns.shift() as LlmAnswer };
  await new ReactPlanner({ catalog: [node, fails], llm }).run(secret("query"), { scope, toolContext: { a: SECRET } });
  await expect(node.call("echo", { message: 7 }, { scope })).resolves.toBeDefined();
  // A server.
  const server = new SluiceServer({
    store: new MemoryArtifactStore(),
    authenticate: () => ({ user_id: secret("user"), tenant_id: secret("tenant") }),
  });
  const visitor = await Visitor.of(server);
  const authorization = `Bearer ${visitor.token}`;
  for (const path of [`artifacts/${secret("artifact")}`, `artifacts?trace=${secret("trace")}`, secret("path")]) {
    await server.fetch(
      new Request(`http://127.0.0.1/${path}`, { headers: { authorization, cookie: secret("cookie") } }),
    );
  }
  await server[Symbol.asyncDispose]();
  const spans = telemetry.spans.map(({ name, attributes, status, events, links }) => ({
    name,
    attributes,
    status,
    events,
    links,
  }));
  expect(spans.length).toBeGreaterThan(14);
  const all = JSON.stringify([spans, await telemetry.measured()]);
  expect(all).not.toContain(SECRET);
  expect(all).not.toContain(visitor.id);
  expect(all).not.toContain(visitor.token);
  // By the operation that answers, and not by the patterns of what looks at it before.
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["GET /artifacts/:id", "GET /artifacts"]));
});
