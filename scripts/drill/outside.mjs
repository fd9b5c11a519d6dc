/**
 * What the processes have outside of themselves, in a process of its own: a source of tools over MCP, and a model's server. Prints
 * its port.
 * @module
 */
import { createServer } from "node:http";
import { createScriptedModel } from "../../dist/planner.js";
import { pictures, prose, table } from "./content.mjs";

const TOOLS = ["draw", "table", "report"].map((name) => ({
  name,
  description: `Makes a ${name}.`,
  inputSchema: { type: "object", properties: { number: { type: "integer" }, count: { type: "integer" } } },
  annotations: { readOnlyHint: true, idempotentHint: true },
}));

const text = (value) => ({ content: [{ type: "text", text: value }] });

const CALLS = {
  draw: ({ number, count }) => ({
    content: pictures(number, count).map((bytes) => ({
      type: "image",
      mimeType: "image/png",
      data: bytes.toString("base64"),
    })),
  }),
  table: ({ number, count }) => text(table(number, count)),
  report: ({ number, count }) => text(prose(number, count)),
};

function answered({ method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "drill", version: "1" } };
  }
  if (method === "tools/list") return { tools: TOOLS };
  if (method === "tools/call" && Object.hasOwn(CALLS, params.name)) return CALLS[params.name](params.arguments);
  return undefined;
}

/** Calls one tool, with the number that the question has, and then says that it did. */
const model = createScriptedModel(({ messages, last }) => {
  const [, number = "0"] = /(\d+)/.exec(messages.findLast(({ role }) => role === "user")?.content ?? "") ?? [];
  if (last.role === "tool") return { text: `Drawing ${number} is done.` };
  return { calls: [{ name: "lab.draw", args: { number: Number(number), count: 2 } }] };
});

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function answer(request, response) {
  const body = await bodyOf(request);
  if (request.url?.startsWith("/v1")) {
    const { status, headers, body: stream } = await model(`http://model.test${request.url}`, { method: "POST", body });
    response.writeHead(status, Object.fromEntries(headers));
    for await (const piece of stream ?? []) response.write(piece);
    return response.end();
  }
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(body);
  if (message.id === undefined) return response.writeHead(202).end();
  const result = answered(message);
  const failed = { error: { code: -32601, message: "Method not found" } };
  response.writeHead(200, { "content-type": "application/json" });
  return response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...(result ? { result } : failed) }));
}

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
