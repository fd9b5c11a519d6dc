/** What telemetry sees of a client and a server that talk through an interceptor. */
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { McpInterceptor } from "../../../web/src/mcp/interceptor.js";
import { interceptorDeps, type InterceptorOptions } from "../../../web/src/mcp/interceptor-options.js";
import { RecordedTelemetry } from "../../support/telemetry.js";
import { image, Talk } from "../mcp/interceptor/talk.js";

let telemetry: RecordedTelemetry;

beforeEach(() => {
  telemetry = new RecordedTelemetry();
});

afterEach(() => telemetry[Symbol.asyncDispose]());

/** An interceptor as a proxy has it. */
async function proxied(options: InterceptorOptions): Promise<McpInterceptor> {
  return new McpInterceptor(await interceptorDeps(options));
}

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A call, as text. */
const call = (id: unknown, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });

test("a request of a client is a server's span below the client's, and its duration", async () => {
  const talk = new Talk({ namespace: "spans" }, proxied);
  await talk.list({ name: "shot" });
  const { forwarded = "" } = await talk.say(call(7, { name: "shot", _meta: { traceparent: PARENT } }));
  await talk.hear({ jsonrpc: "2.0", id: 7, result: { content: [image()] } });
  const span = telemetry.spans.find(({ name }) => name === "tools/call shot");
  expect(span).toMatchObject({
    kind: SpanKind.SERVER,
    parentSpanContext: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", isRemote: true },
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "shot",
      "gen_ai.operation.name": "execute_tool",
      "jsonrpc.request.id": "7",
    },
    status: { code: SpanStatusCode.UNSET },
  });
  const { traceId = "", spanId = "" } = span?.spanContext() ?? {};
  expect(JSON.parse(forwarded)).toMatchObject({ params: { _meta: { traceparent: `00-${traceId}-${spanId}-01` } } });
  expect(await telemetry.measured("mcp.server.operation.duration")).toContainEqual(
    expect.objectContaining({
      unit: "s",
      count: 1,
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "shot",
        "sluice.namespace": "spans",
        "gen_ai.operation.name": "execute_tool",
      },
    }),
  );
});

test("a request of a host with a client of its own is a client's span", async () => {
  const talk = new Talk({ namespace: "hosts" });
  await talk.list({ name: "shot" });
  expect(telemetry.spans.map(({ name, kind }) => [name, kind])).toEqual([["tools/list", SpanKind.CLIENT]]);
  expect(await telemetry.measured("mcp.client.operation.duration")).toHaveLength(1);
});

test.each([
  ["an error of the server's", { error: { code: -32602, message: "no" } }, "-32602"],
  ["a failed tool", { result: { content: [{ type: "text", text: "no" }], isError: true } }, "tool_error"],
])("%s is told by its code", async (_, answer, code) => {
  const talk = new Talk({ namespace: "errors" }, proxied);
  await talk.say(call(1, { name: "shot" }));
  await talk.hear({ jsonrpc: "2.0", id: 1, ...answer });
  expect(telemetry.spans.at(-1)).toMatchObject({
    name: "tools/call _OTHER",
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": code },
  });
});

test("what ends otherwise is told too: cancelled, answered here, or the server gone", async () => {
  const talk = new Talk({ namespace: "ends" }, proxied);
  await talk.say(call(1, { name: "shot" }));
  await talk.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await talk.say(call(2, { name: "ends_artifact_read", arguments: { uri: "artifact://ends_000000000000" } }));
  await talk.say(call(3, { name: "shot" }));
  (await talk.interceptor).abandon("gone");
  expect(telemetry.spans.map(({ attributes }) => [attributes["jsonrpc.request.id"], attributes["error.type"]])).toEqual(
    [
      ["1", "E_CANCELLED"],
      ["2", "tool_error"],
      ["3", "E_TOOL_CONNECTION"],
    ],
  );
});

test.each([
  ["no params", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  ["empty params", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{ } }'],
  ["params", '{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"n":1.0, "n":12345678901234567890}}'],
  ["empty _meta", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{}, "name":"\\u0061"}}'],
  ["_meta", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{ "a":1e2 },"name":"a"}}'],
  ["its own", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"traceparent":"${PARENT}","a":1}}}`],
])("the context is put into the text of a request with %s, and nothing else changes", async (_, text) => {
  const talk = new Talk({ namespace: "edits" }, proxied);
  const { forwarded = "" } = await talk.say(text);
  const { _meta } = (JSON.parse(forwarded) as { params: { _meta: { traceparent: string } } }).params;
  const { traceparent } = _meta;
  expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(traceparent).not.toBe(PARENT);
  const without = (all: string): string =>
    all
      .replace(/,?"params":\{"_meta":\{"traceparent":"[^"]*"\}\}/, "")
      .replace(/,?"traceparent":"[^"]*",?/, "")
      .replace('"_meta":{},', "")
      .replace('"_meta":{}', "");
  expect(without(forwarded)).toBe(without(text));
});

test("without an SDK every byte stays as it was", async () => {
  await telemetry[Symbol.asyncDispose]();
  const talk = new Talk({ namespace: "quiet" }, proxied);
  const text = call(1, { name: "shot", _meta: { traceparent: PARENT } });
  expect((await talk.say(text)).forwarded).toBe(text);
});

test("the bytes of a result are counted: received, kept out, stored", async () => {
  const talk = new Talk({ namespace: "bytes" }, proxied);
  await talk.list({ name: "shot" });
  await talk.call("shot", { content: [image(50_000)] });
  const attributes = { "gen_ai.tool.name": "shot", "sluice.namespace": "bytes" };
  const [received] = await telemetry.measured("sluice.result.received");
  expect(received).toMatchObject({ unit: "By", attributes });
  expect(received?.value).toBeGreaterThan(66_000);
  const [kept] = await telemetry.measured("sluice.result.kept_out");
  expect(kept?.value).toBeGreaterThan(65_000);
  const [stored] = await telemetry.measured("sluice.artifact.stored");
  expect(stored).toMatchObject({ unit: "By", attributes, count: 1 });
  // The list of references is stored beside the image.
  expect(stored?.value).toBeGreaterThan(50_008);
  expect(stored?.value).toBeLessThan(50_300);
});
