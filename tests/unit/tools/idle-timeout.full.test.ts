import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { type ExternalToolConfig, ToolNode, type ToolNodeEvent } from "../../../web/src/tools-node.js";
import type { ToolWait } from "../../../web/src/tools/context.js";
import { overAfter, timeoutResult, waitNotices } from "../../../web/src/mcp/wait-notices.js";
import { isCall, listening } from "./sources/mcp/http-server.js";

let current: Server | undefined;

afterEach(() => {
  current?.closeAllConnections();
  current?.close();
  current = undefined;
});

/** Together longer than the limit, each far shorter. */
const PIECES = 8;
const PAUSE = 500;
const PIECE = "x".repeat(20_000);

const TIMED_OUT = timeoutResult(3, null);

/** Answers in pieces, one after the other, and ends or not. */
async function answering(pieces: number, ends: boolean): Promise<string> {
  const slowly = async (response: ServerResponse): Promise<void> => {
    response.setHeader("content-type", "text/plain");
    for (let piece = 0; piece < pieces; piece += 1) {
      response.write(PIECE);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    if (ends) response.end();
  };
  current = createServer((_, response) => void slowly(response));
  current.listen(0, "127.0.0.1");
  await once(current, "listening");
  return `http://127.0.0.1:${(current.address() as AddressInfo).port}/slow`;
}

async function connected(
  config: Pick<ExternalToolConfig, "transport" | "connection" | "utcp_mode">,
): Promise<ToolNode> {
  const node = new ToolNode(
    { name: "slow", timeout_s: 3, notify_after_s: [2, 10, 20], ...config },
    { store: new MemoryArtifactStore() },
  );
  await node.connect();
  return node;
}

test("an HTTP answer in pieces takes as long as it takes", async () => {
  await using node = await connected({
    transport: "http",
    utcp_mode: "base_url",
    connection: await answering(PIECES, true),
  });
  const { artifacts } = await node.call("post", { body: {} });
  expect(artifacts).toMatchObject([{ size_bytes: PIECES * PIECE.length }]);
});

test("one that stops is given up", async () => {
  await using node = await connected({
    transport: "http",
    utcp_mode: "base_url",
    connection: await answering(2, false),
  });
  const { waits, onWait } = told();
  const { value, isError } = await node.call("post", { body: {} }, { onWait });
  expect(isError).toBe(true);
  expect(value).toEqual(TIMED_OUT);
  expect(waits).toEqual([waitNotices([2], 3)[0], overAfter(3)]);
});

test.each([
  ["a request that a manual describes", "utcp", async () => manualOf(await answering(0, false))],
  ["a command", "cli", async () => `"${process.execPath}" -e "setInterval(() => 0, 1000)"`],
] as const)("%s that says nothing is given up, and said to be", async (_, transport, connection) => {
  await using node = await connected({ transport, connection: await connection() });
  const [tool] = node.getTools();
  const { waits, onWait } = told();
  const { value, isError } = await node.call(tool?.name ?? "", {}, { onWait });
  expect(isError).toBe(true);
  expect(value).toEqual(TIMED_OUT);
  expect(waits).toEqual([waitNotices([2], 3)[0], overAfter(3)]);
});

test("closing ends what is under way, and says so", async () => {
  const node = await connected({ transport: "http", utcp_mode: "base_url", connection: await answering(1000, false) });
  const call = node.call("post", { body: {} });
  call.catch(() => undefined);
  await once(current as Server, "request");
  await node.close();
  await expect(call).rejects.toThrow(/was closed: connect it again/);
});

/** A manual of one tool, which asks that address. */
function manualOf(url: string): string {
  const tool_call_template = { call_template_type: "http", http_method: "GET", url };
  return JSON.stringify({ utcp_version: "1.1.0", tools: [{ name: "ask", tool_call_template }] });
}

/** What the user of a call is told. */
function told(): { readonly waits: ToolWait[]; readonly onWait: (wait: ToolWait) => void } {
  const waits: ToolWait[] = [];
  return { waits, onWait: (wait) => void waits.push(wait) };
}

/** A server over stdio that writes its answer in pieces. */
const SCRIPT = `
const write = (text) => process.stdout.write(text);
require("node:readline").createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools: [{ name: "log", inputSchema: { type: "object" } }] },
  };
  if (method !== "tools/call") {
    const unknown = { error: { code: -32601, message: "unknown" } };
    return write(JSON.stringify({ jsonrpc: "2.0", id, ...(results[method] ? { result: results[method] } : unknown) }) + "\\n");
  }
  write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"' + "x".repeat(100000));
  for (let piece = 0; piece < ${PIECES}; piece += 1) {
    await new Promise((resolve) => setTimeout(resolve, ${PAUSE}));
    write("${PIECE}");
  }
  write('"}]}}\\n');
});`;

test("so is a large answer over standard output", async () => {
  const connection = `"${process.execPath}" -e "eval(Buffer.from('${Buffer.from(SCRIPT).toString("hex")}','hex').toString())"`;
  await using node = await connected({ transport: "mcp", connection });
  const { artifacts } = await node.call("log");
  expect(artifacts).toMatchObject([{ size_bytes: 100_000 + PIECES * PIECE.length }]);
});

/** Seconds. Two of them are what a second attempt would take at least. */
const LIMIT = 2;

function nodeOf(config: Omit<ExternalToolConfig, "name">): { node: ToolNode; events: ToolNodeEvent[] } {
  const events: ToolNodeEvent[] = [];
  const retry_policy = { max_attempts: 3, wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };
  const node = new ToolNode(
    { name: "silent", timeout_s: LIMIT, retry_policy, ...config },
    { store: new MemoryArtifactStore(), onEvent: (event) => events.push(event) },
  );
  onTestFinished(() => node.close());
  return { node, events };
}

/** Takes what comes, and answers nothing; gives its address. */
async function silentAddress(): Promise<string> {
  const server = createSocketServer((socket) => void socket.on("error", () => undefined).resume());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const PROGRAM = `"${process.execPath}" -e "process.stdin.resume()"`;
/** Answers that it knows no later era, and then nothing. */
const HALF = `"${process.execPath}" -e "process.stdin.once('data', (line) => console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, error: { code: -32601, message: 'unknown' } }))).resume()"`;

test.each([
  ["an MCP server that is a program", async () => ({ transport: "mcp", connection: PROGRAM }) as const],
  ["a program that is silent at initialize alone", async () => ({ transport: "mcp", connection: HALF }) as const],
  ["an MCP server over HTTP", async () => ({ transport: "mcp", connection: await silentAddress() }) as const],
  ["an API's document", async () => ({ transport: "utcp", connection: await silentAddress() }) as const],
])("one that says nothing takes one time limit: %s", async (_, config) => {
  const { node, events } = nodeOf(await config());
  const begun = performance.now();
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT", isRetryable: true });
  // One limit, and what ending a program may take.
  expect(performance.now() - begun).toBeLessThan(2 * LIMIT * 1000);
  expect(events.filter(({ kind }) => kind === "retry")).toEqual([]);
});

test("a source that becomes silent and is opened anew for a call takes one limit as well", async () => {
  let isSilent = false;
  await using server = await listening("legacy", (came) => {
    if (came.rpc?.method === "tools/list") {
      const tools = [{ name: "hello", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
      came.response.writeHead(200, { "content-type": "application/json" });
      came.response.end(JSON.stringify({ jsonrpc: "2.0", id: came.rpc.id, result: { tools } }));
      return true;
    }
    if (isSilent && isCall(came)) {
      came.response.writeHead(404).end();
      return true;
    }
    return isSilent;
  });
  const { node, events } = nodeOf({ transport: "mcp", connection: server.url });
  await node.connect();
  isSilent = true;
  const begun = performance.now();
  const { isError, value } = await node.call("hello");
  expect([isError, value]).toEqual([
    true,
    expect.objectContaining({ meta_data: expect.objectContaining({ error_code: "E_TIMEOUT" }) }),
  ]);
  expect(performance.now() - begun).toBeLessThan(2 * LIMIT * 1000);
  expect(events.filter(({ kind }) => kind === "retry")).toEqual([]);
});

test("a server that refuses to begin is tried again", async () => {
  let refusals = 2;
  await using server = await listening("legacy", (came) => {
    if (came.rpc === undefined || refusals-- <= 0) return false;
    came.response.writeHead(503).end();
    return true;
  });
  const { node } = nodeOf({ transport: "mcp", connection: server.url });
  await expect(node.connect()).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  expect(refusals).toBeLessThan(0);
});
