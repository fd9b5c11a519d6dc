/**
 * An MCP server over stdio whose resources are in trouble, each in its own way: fails, dies, hangs, is none, changes. One of
 * its tools asks first, and then says more than anybody wants to hear.
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

const NO_FIELDS = { type: "object", properties: {} };
const LONG = "and so on, and on; ".repeat(20_000);

/** The call that asks. */
let asked;

function answer({ id, method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: { listChanged: true } },
        serverInfo: { name: "troubled", version: "1.0.0" },
      };
    case "tools/list":
      return { tools: ["change", "tell"].map((name) => ({ name, inputSchema: { type: "object" } })) };
    case "tools/call":
      if (params.name === "tell") {
        asked = id;
        send({ id: "asked", method: "elicitation/create", params: { message: "Really?", requestedSchema: NO_FIELDS } });
        return undefined;
      }
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
  if (message.id === "asked") {
    send({ id: asked, result: { content: [{ type: "text", text: LONG }] } });
    continue;
  }
  const result = answer(message);
  if (result !== undefined && message.id !== undefined) send({ id: message.id, result });
}
