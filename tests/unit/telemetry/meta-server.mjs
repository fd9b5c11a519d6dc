/** A server whose one tool gives the `_meta` of its call. */
import { createInterface } from "node:readline";

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "meta", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "meta", inputSchema: { type: "object" } }] }),
  "tools/call": ({ _meta }) => ({ content: [{ type: "text", text: JSON.stringify(_meta ?? null) }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const result = ANSWERS[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "There is no such method." } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
