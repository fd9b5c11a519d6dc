/**
 * The server of `npm run hosts`, on standard input and output: `node server.mjs [--late MS] [--without TOOLS]`. `--late` is how
 * long `initialize` waits for its answer.
 * @module
 */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { GROWN, RESULTS, SCHEMAS } from "./results.mjs";

const { values } = parseArgs({ options: { late: { type: "string" }, without: { type: "string" } } });

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const without = values.without?.split(",") ?? [];

let isGrown = false;

function listTools() {
  return Object.keys(RESULTS)
    .filter((name) => !without.includes(name) && (name !== GROWN || isGrown))
    .concat("err_rpc")
    .map((name) => ({
      name,
      description: `Answers with the sample ${name}.`,
      inputSchema: SCHEMAS[name] ?? { type: "object", properties: {} },
      ...(name === "refused_value" && { outputSchema: REFUSING }),
    }));
}

/** A schema that refuses what its tool answers. */
const REFUSING = { type: "object", properties: { value: { type: "number" } }, required: ["value"] };

function initialize(id, { protocolVersion }) {
  const result = {
    protocolVersion: protocolVersion > "2025-11-25" ? "2025-11-25" : protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "fix", version: "1" },
    instructions: "Samples of results: instruction-7001.",
  };
  setTimeout(() => send({ id, result }), Number(values.late ?? 0));
}

function call(id, { name, arguments: args = {} }) {
  if (name === "err_rpc") return send({ id, error: { code: -32602, message: "Bad sample: RPC-1177" } });
  if (!Object.hasOwn(RESULTS, name)) return send({ id, error: { code: -32602, message: `Unknown tool: ${name}` } });
  send({ id, result: RESULTS[name](args) });
  if (name !== "grow") return undefined;
  isGrown = true;
  return send({ method: "notifications/tools/list_changed" });
}

function answer({ id, method, params = {} }) {
  if (id === undefined || method === undefined) return undefined;
  if (method === "initialize") return initialize(id, params);
  if (method === "tools/list") return send({ id, result: { tools: listTools() } });
  if (method === "tools/call") return call(id, params);
  if (method === "ping") return send({ id, result: {} });
  return send({ id, error: { code: -32601, message: "Method not found" } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.trim() !== "") answer(JSON.parse(line));
});
