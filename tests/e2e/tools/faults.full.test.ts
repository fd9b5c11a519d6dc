/** What goes wrong on the way to an MCP server over HTTP, through a ToolNode. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ExternalToolConfig, ToolNodeEvent } from "../../../web/src/tools-node.js";
import { PDF } from "../../unit/core/samples.js";
import { serveForTest } from "../../unit/tools/serve.js";
import {
  cutAfter,
  ERAS,
  refuse,
  serveTools,
  text,
  type Fault,
  type FaultyServer,
  type Offered,
} from "./faulty-server.js";
import { inFront, kept, seen, type Fronted } from "./in-front.js";

const REPORT = {
  content: [
    {
      type: "resource" as const,
      resource: { uri: "file:///report.pdf", mimeType: "application/pdf", blob: PDF.toString("base64") },
    },
  ],
};

/** `report` may be called twice, `order` may not. */
function toolsOf(orders: unknown[]): Readonly<Record<string, Offered>> {
  return {
    report: { annotations: { readOnlyHint: true }, answer: () => REPORT },
    order: {
      answer: (args) => {
        orders.push(args);
        return REPORT;
      },
    },
  };
}

/** The tool that is offered beside the source's own. */
const ADDED = ["far.artifact_read", "far.artifact_edit"];

const QUICK = { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };

function config(url: string, more: Partial<ExternalToolConfig> = {}): ExternalToolConfig {
  return { name: "far", transport: "mcp", connection: url, retry_policy: QUICK, ...more };
}

const retries = (events: readonly ToolNodeEvent[]): readonly Extract<ToolNodeEvent, { kind: "retry" }>[] =>
  events.filter((event): event is Extract<ToolNodeEvent, { kind: "retry" }> => event.kind === "retry");

/** A tool that takes and gives one property. */
const shape = (property: string): Offered => ({
  inputSchema: { type: "object", properties: { [property]: { type: "string" } }, required: [property] },
  outputSchema: { type: "object", properties: { [property]: { type: "string" } }, required: [property] },
  answer: () => ({ ...text(property), structuredContent: { [property]: "value" } }),
});

describe.each(ERAS)("%s", (era) => {
  /** A server and a source connected to it. */
  async function setting(more: Partial<ExternalToolConfig> = {}): Promise<{
    readonly server: FaultyServer;
    readonly front: Fronted;
    readonly orders: readonly unknown[];
  }> {
    const orders: unknown[] = [];
    const server = await serveTools(toolsOf(orders), { era });
    onTestFinished(() => server[Symbol.asyncDispose]());
    const front = await inFront(config(server.url, more));
    onTestFinished(() => front[Symbol.asyncDispose]());
    return { server, front, orders };
  }

  test("429 with Retry-After is waited for, also where the call may not be made twice", async () => {
    const { server, front, orders } = await setting();
    server.meets(refuse(429, { "retry-after": "1" }));
    expect(await seen(front, await front.call("order"))).toEqual(kept(PDF));
    expect(orders).toHaveLength(1);
    const [retry] = retries(front.events);
    expect(retry).toMatchObject({
      error: { code: "E_TOOL_RATE_LIMIT", status: 429, retryAfterSeconds: 1 },
      attempt: 1,
    });
    expect(retry?.wait_s).toBeGreaterThanOrEqual(1);
  });

  test("an answer that breaks off is asked for again, and nothing of the half is kept", async () => {
    const { server, front } = await setting();
    server.meets(cutAfter(60_000));
    expect(await seen(front, await front.call("report"))).toEqual(kept(PDF));
    expect(retries(front.events)).toMatchObject([{ error: { code: "E_TOOL_CONNECTION" } }]);
    const sizes: number[] = [];
    for await (const { size_bytes } of front.store.list()) sizes.push(size_bytes);
    expect(sizes).toEqual([PDF.length]);
  });

  test("an answer that breaks off is an error where asking again could do something twice", async () => {
    const { server, front, orders } = await setting();
    server.meets(cutAfter(60_000));
    await expect(front.call("order")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
    expect(orders).toHaveLength(1);
    expect((await front.call("order")).isError).toBe(false);
  });

  test("silence ends with the time limit, and the source is told", async () => {
    const { server, front, orders } = await setting({ timeout_s: 2 });
    let givenUp = 0;
    const silent: Fault = ({ response }) => void response.once("close", () => (givenUp += 1));
    server.meets(silent);
    const late = await front.call("order");
    expect([late.isError, late.value]).toMatchObject([true, { meta_data: { error_code: "E_TIMEOUT" } }]);
    await vi.waitFor(() => expect(givenUp).toBe(1), 20_000);
    expect([server.arrived, orders.length]).toEqual([1, 0]);
    // Its user was told that it is over, so that it is not tried again even where that does no harm.
    server.meets(silent);
    expect((await front.call("report")).isError).toBe(true);
    expect(server.arrived).toBe(2);
    expect(await seen(front, await front.call("report"))).toEqual(kept(PDF));
  });

  test("a server that went and came back is found again, once", async () => {
    const { server, front } = await setting();
    await front.call("report");
    await server[Symbol.asyncDispose]();
    await expect(front.call("report")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
    await using back = await serveTools(toolsOf([]), { era, port: server.port });
    expect(await seen(front, await front.call("report"))).toEqual(kept(PDF));
    // It does not know the session of before, and says so before it does anything.
    expect(back.arrived).toBe(era === "2025-11-25" ? 2 : 1);
  });

  test("a schema that the server changes is handed on, and results are not held against the old one", async () => {
    const { server, front } = await setting();
    server.change({ shape: shape("before") });
    await vi.waitFor(() => expect(front.events.map(({ kind }) => kind)).toContain("tools_changed"), 20_000);
    expect(front.node.getTools().map(({ name }) => name)).toEqual(["far.shape", ...ADDED]);
    // Nobody is told of this one.
    server.tools = { shape: shape("after") };
    expect((await front.call("shape", { after: "x" })).text).toContain("after");
    server.change({ shape: shape("last") });
    await vi.waitFor(
      () => expect(front.node.getTools()[0]?.input_schema).toMatchObject({ required: ["last"], type: "object" }),
      20_000,
    );
  });
});

test("what changes while it is listed is listed again: the last holds", async () => {
  const tool: Offered = { answer: () => text("") };
  await using server = await serveTools({ old: tool });
  await using front = await inFront(config(server.url));
  const names = (): readonly string[] => front.node.getTools().map(({ name }) => name);
  const held = new AbortController();
  server.held = new Promise((resolve) => held.signal.addEventListener("abort", () => resolve()));
  let asked = false;
  server.change({
    get slow() {
      asked = true;
      return tool;
    },
  });
  await vi.waitFor(() => expect(asked).toBe(true), 20_000);
  server.held = Promise.resolve();
  server.change({ fresh: tool });
  held.abort();
  await vi.waitFor(() => expect(names()).toEqual(["far.fresh", ...ADDED]), 20_000);
  await front.call("fresh");
});

test("a server's own tool goes before the one that is made for its resources", async () => {
  const own: Offered = { answer: () => text("my own") };
  await using server = await serveTools({ resources_list: own }, { resources: { "memo:1": "Buy milk." } });
  await using front = await inFront(config(server.url));
  expect((await front.call("resources_list")).value).toBe("my own");
  expect((await front.call("resources_read", { uri: "memo:1" })).text).toContain("Buy milk.");
  const names = ["far.resources_list", "far.resources_read", "far.resources_templates_list", ...ADDED];
  expect(front.node.getTools().map(({ name }) => name)).toEqual(names);
  server.change({});
  await vi.waitFor(() => expect(front.node.getTools().map(({ name }) => name)).toEqual(names), 20_000);
  await vi.waitFor(async () => expect((await front.call("resources_list")).text).toContain("memo:1"), 20_000);
});

test("without a server connecting says so, and works once there is one", async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const url = `http://127.0.0.1:${port}/mcp`;
  await expect(inFront(config(url))).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
  await using server = await serveTools(toolsOf([]), { port });
  await using front = await inFront(config(server.url));
  expect(await seen(front, await front.call("report"))).toEqual(kept(PDF));
});

test.each([
  ["a program", async () => `"${process.execPath}" -e "setInterval(() => 0, 1000)"`],
  ["a server", async () => `${await serveForTest(() => undefined)}/mcp`],
])("%s that never answers is not waited for, and it is said so", async (_, connection) => {
  const silent = config(await connection(), { timeout_s: 1 });
  await expect(inFront(silent)).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT", category: "retryable_server" });
});

test("a place that is no MCP server is told of", async () => {
  const origin = await serveForTest((_, response) => {
    response.setHeader("content-type", "text/html").end("<h1>Hello</h1>");
  });
  const error = await inFront(config(`${origin}/mcp`)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: expect.stringMatching(/^E_TOOL/) as string });
});
