/**
 * An MCP server over stdio in front of a folder: `file` gives a file of it, `save` writes one.
 * @module
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { createInterface } from "node:readline";

const [folder] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const TYPES = {
  ".pdf": "application/pdf",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".zip": "application/zip",
};

const NAME = { type: "string" };
const tools = [
  { name: "file", inputSchema: { type: "object", properties: { name: NAME } } },
  {
    name: "save",
    inputSchema: { type: "object", properties: { name: NAME, data: { type: "string", contentEncoding: "base64" } } },
  },
];

const at = (name) => join(folder, basename(name));

const calls = {
  file: ({ name }) => {
    const blob = readFileSync(at(name)).toString("base64");
    return {
      content: [{ type: "resource", resource: { uri: `file:///${name}`, mimeType: TYPES[extname(name)], blob } }],
    };
  },
  save: ({ name, data }) => {
    const bytes = Buffer.from(data, "base64");
    writeFileSync(at(name), bytes);
    return { content: [{ type: "text", text: `${bytes.length} bytes are in ${name}` }] };
  },
};

/** The result of a request; undefined for methods that it does not have. */
function answer({ method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "office", version: "1.0.0" } };
  }
  if (method === "tools/list") return { tools };
  return method === "tools/call" ? calls[params.name]?.(params.arguments ?? {}) : undefined;
}

const UNKNOWN = { code: -32_601, message: "Method not found" };

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) continue;
  const result = answer(message);
  send({ id: message.id, ...(result === undefined ? { error: UNKNOWN } : { result }) });
}
