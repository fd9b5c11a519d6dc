/** What telemetry sees of a planner, its model, and the tools of a real server. */
import { fileURLToPath } from "node:url";
import { context, SpanKind, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { tool } from "../../../web/src/planner/tool.js";
import type { LlmAnswer, LlmClient } from "../../../web/src/planner/llm/client.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { RecordedTelemetry } from "../../support/telemetry.js";
import { EVERYTHING } from "../cli/serve/serving.js";
import { z } from "zod";

let telemetry: RecordedTelemetry;

beforeEach(() => {
  telemetry = new RecordedTelemetry();
});

afterEach(() => telemetry[Symbol.asyncDispose]());

/** A model that calls tools once and then answers. */
function model(...names: readonly string[]): LlmClient {
  const toolCalls = names.map((name, at) => ({ id: `c${at}`, name, arguments: '{"message":"hello"}' }));
  const turns: LlmAnswer[] = [
    { text: "", toolCalls, stopReason: "tool_calls", usage: { inputTokens: 100, outputTokens: 7 } },
    { text: "done", toolCalls: [], stopReason: "stop", usage: { inputTokens: 200, outputTokens: 3 } },
  ];
  return { model: "model-1", provider: "openai", ask: async () => turns.shift() as LlmAnswer };
}

test("a run has its turns and its calls below it, and a server's call tells the server of it", async () => {
  await using node = new ToolNode({
    name: "every",
    transport: "mcp",
    connection: EVERYTHING.map((word) => `"${word}"`).join(" "),
  });
  await node.connect();
  const native = tool({
    name: "native",
    description: "",
    input: z.object({ message: z.string() }),
    run: async () => "ok",
  });
  const planner = new ReactPlanner({ catalog: [node, native], llm: model("every_echo", "native") });
  const outcome = await planner.run("go");
  expect(outcome).toMatchObject({ kind: "result", answer: "done" });
  const byName = new Map(telemetry.spans.map((span) => [span.name, span]));
  expect([...byName.keys()].sort()).toEqual([
    "chat model-1",
    "execute_tool echo",
    "execute_tool native",
    "invoke_agent",
  ]);
  const run = byName.get("invoke_agent");
  const parents = telemetry.spans.filter((span) => span !== run).map((span) => span.parentSpanContext?.spanId);
  expect(new Set(parents)).toEqual(new Set([run?.spanContext().spanId]));
  expect(run).toMatchObject({ kind: SpanKind.INTERNAL, attributes: { "sluice.outcome": "answered" } });
  expect(byName.get("execute_tool echo")).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "echo", "sluice.namespace": "every" },
  });
  expect(byName.get("chat model-1")).toMatchObject({
    kind: SpanKind.CLIENT,
    attributes: { "gen_ai.provider.name": "openai", "gen_ai.response.finish_reasons": ["stop"] },
  });
  const tokens = await telemetry.measured("gen_ai.client.token.usage");
  expect(tokens.map(({ attributes, value, count }) => [attributes["gen_ai.token.type"], value, count])).toEqual([
    ["input", 300, 2],
    ["output", 10, 2],
  ]);
  for (const [name, count] of [
    ["gen_ai.invoke_agent.duration", 1],
    ["gen_ai.client.operation.duration", 1],
    ["gen_ai.execute_tool.duration", 2],
    ["mcp.client.operation.duration", 1],
  ] as const) {
    expect([name, await telemetry.measured(name)]).toEqual([name, expect.objectContaining({ length: count })]);
  }
});

test("the span of the caller is the parent", async () => {
  const native = tool({ name: "native", description: "", input: z.object({ message: z.string() }), run: () => "ok" });
  const planner = new ReactPlanner({ catalog: [native], llm: model("native") });
  const own = trace.getTracer("host").startSpan("host");
  await context.with(trace.setSpan(context.active(), own), () => planner.run("go"));
  const run = telemetry.spans.find(({ name }) => name === "invoke_agent");
  expect(run?.parentSpanContext?.spanId).toBe(own.spanContext().spanId);
});

test("a server that a ToolNode calls is told the span of the call", async () => {
  const server = fileURLToPath(new URL("meta-server.mjs", import.meta.url));
  await using node = new ToolNode({ name: "meta", transport: "mcp", connection: `"${process.execPath}" "${server}"` });
  await node.connect();
  const { text } = await node.call("meta");
  const { traceId = "?", spanId = "?" } =
    telemetry.spans.find(({ name }) => name === "execute_tool meta")?.spanContext() ?? {};
  expect(text).toContain(`00-${traceId}-${spanId}-01`);
});

describe("bytes of a result are received once, however often it is written", () => {
  const bytesOf = async (name: string): Promise<number> =>
    (await telemetry.measured("sluice.result.received"))
      .filter(({ attributes }) => attributes["gen_ai.tool.name"] === name)
      .reduce((sum, { value }) => sum + value, 0);
  const message = "word ".repeat(4000);

  test("by a transformer", async () => {
    await using node = new ToolNode({
      name: "turned",
      transport: "mcp",
      connection: EVERYTHING.map((word) => `"${word}"`).join(" "),
      output_transformer: () => ({ other: message }),
    });
    await node.connect();
    expect((await node.call("echo", { message })).text).toContain("other");
    const bytes = await bytesOf("echo");
    expect(bytes).toBeGreaterThan(message.length);
    expect(bytes).toBeLessThan(message.length + 1000);
  });

  test("by a planner whose model may see less of a step", async () => {
    const native = tool({
      name: "long",
      description: "",
      input: z.object({ message: z.string() }),
      run: () => "word ".repeat(1600),
    });
    const planner = new ReactPlanner({ catalog: [native], llm: model("long", "long"), maxStepChars: 8000 });
    const { trajectory } = await planner.run("go");
    expect(trajectory.steps[0]?.calls[0]?.observation.length).toBeLessThan(8000);
    const bytes = await bytesOf("long");
    expect(bytes).toBeGreaterThan(16_000);
    expect(bytes).toBeLessThan(17_000);
  });
});
