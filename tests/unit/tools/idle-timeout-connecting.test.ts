import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { type ExternalToolConfig, ToolNode, type ToolNodeEvent } from "../../../web/src/tools-node.js";
import { isCall, listening } from "./sources/mcp/http-server.js";

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
  const server = createServer((socket) => void socket.on("error", () => undefined).resume());
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
