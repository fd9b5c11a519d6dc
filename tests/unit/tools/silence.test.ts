/** The time limit of a call is one of silence: an answer that comes slowly is waited for, one that stops is not. */
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, type ExternalToolConfig } from "../../../web/src/tools-node.js";

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
    { name: "slow", timeout_s: 3, retry_policy: { max_attempts: 1 }, ...config },
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
  await expect(node.call("post", { body: {} })).rejects.toMatchObject({ code: "E_TOOL_TIMEOUT" });
});

test("closing ends what is under way, and says so", async () => {
  const node = await connected({ transport: "http", utcp_mode: "base_url", connection: await answering(1000, false) });
  const call = node.call("post", { body: {} });
  call.catch(() => undefined);
  await once(server as Server, "request");
  await node.close();
  await expect(call).rejects.toThrow(/was closed: connect it again/);
});

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
