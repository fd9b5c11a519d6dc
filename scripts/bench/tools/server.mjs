/**
 * An MCP server for the benchmarks: `small` answers at once with 1 KB, `slow` in a few milliseconds with its number, and
 * `most` tells how many calls of `slow` there were at the same time.
 * @module
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const SMALL = "small ".repeat(170);
const NAMES = ["small", "slow", "most"];
const tools = NAMES.map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }));

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });

let inFlight = 0;
let most = 0;

async function called({ name, arguments: { number } = {} }) {
  if (name === "small") return text(SMALL);
  if (name === "most") return text(String(most));
  inFlight += 1;
  most = Math.max(most, inFlight);
  await sleep(2 + (number % 7));
  inFlight -= 1;
  return text(String(number));
}

async function answer({ id, method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "bench", version: "1" } },
    });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") send({ id, result: await called(params) });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}

for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line));
