/**
 * An MCP server over stdio that does what the tests ask for: dies, changes its tools, counts, hangs.
 * @module
 */
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [state] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const tool = (name, annotations) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object" },
  annotations,
});

let tools = [
  tool("echo", { readOnlyHint: true }),
  tool("die"),
  tool("die_once", { readOnlyHint: true }),
  tool("change"),
  tool("clash"),
  tool("hang"),
  tool("pdf"),
  tool("fail"),
  tool("pid"),
  tool("cancelled"),
  tool("token"),
  tool("nest"),
];
let cancelled = 0;

const calls = {
  echo: ({ message }) => text(String(message)),
  die: () => process.exit(3),
  die_once: () => {
    if (existsSync(state)) return text("alive again");
    writeFileSync(state, "");
    return process.exit(3);
  },
  change: () => {
    tools = [tool("echo"), tool("added")];
    send({ method: "notifications/tools/list_changed" });
    return text("changed");
  },
  clash: () => {
    tools = [tool("echo"), tool("echo")];
    send({ method: "notifications/tools/list_changed" });
    return text("clashing");
  },
  added: () => text("added"),
  hang: () => {
    send({ method: "notifications/tools/list_changed" });
    return undefined;
  },
  cancelled: () => text(String(cancelled)),
  pdf: () => ({
    content: [
      {
        type: "resource",
        resource: {
          uri: "file:///report.pdf",
          mimeType: "application/pdf",
          blob: Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.alloc(3000, 7)]).toString("base64"),
        },
      },
    ],
  }),
  nest: ({ levels }) => ({
    content: [],
    structuredContent: JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`),
  }),
  fail: () => ({ ...text("no such view"), isError: true }),
  token: () => text(String(process.env.OWN_TOKEN)),
  pid: () => text(String(process.pid)),
};

function answer({ id, method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "changing", version: "1.0.0" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return calls[params.name]?.(params.arguments ?? {});
    case "notifications/cancelled":
      cancelled += 1;
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
