import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { type ExternalToolConfig, ToolNode } from "../../../web/src/tools-node.js";
import type { ToolWait } from "../../../web/src/tools/options.js";
import { overAfter, timeoutResult, waitNotices } from "../../../web/src/tools/tool-call.js";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
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
  server = createServer((_, response) => void slowly(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/slow`;
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
  await once(server as Server, "request");
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
