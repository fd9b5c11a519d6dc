/**
 * An MCP server over stdio whose resources are in trouble, each in its own way: fails, dies, hangs, is none, changes.
 * @module
 */
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const resources = ["trouble:fails", "trouble:dies", "trouble:hangs", "trouble:malformed", "trouble:nothing"];

const reads = {
  "trouble:fails": (id) => send({ id, error: { code: -32603, message: "the table /var/lib/users is locked by root" } }),
  "trouble:dies": () => process.exit(3),
  "trouble:hangs": () => undefined,
  "trouble:malformed": (id) =>
    send({
      id,
      result: { contents: [{ uri: "trouble:malformed", mimeType: "image/png", blob: "iVBORw0KGgo=!!!=%%%" }] },
    }),
  "trouble:nothing": (id) => send({ id, result: { contents: "nothing" } }),
};

function answer({ id, method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: { listChanged: true } },
        serverInfo: { name: "troubled", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: [{ name: "change", inputSchema: { type: "object" } }] };
    case "tools/call":
      resources.push(`trouble:${resources.length}`);
      send({ method: "notifications/resources/list_changed" });
      return { content: [{ type: "text", text: "changed" }] };
    case "resources/list":
      return { resources: resources.map((uri) => ({ uri, name: uri })) };
    case "resources/read":
      reads[params.uri]?.(id);
      return undefined;
    case "ping":
      return {};
    default:
      if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const result = answer(message);
  if (result !== undefined && message.id !== undefined) send({ id: message.id, result });
}
