/**
 * An MCP server over stdio that gives files and takes them: what it was given, it says.
 * @module
 */
import { readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const tool = (name, properties = {}) => ({ name, inputSchema: { type: "object", properties } });

const PDF = Buffer.concat([Buffer.from("%PDF-1.4\n"), Buffer.alloc(3000, 7)]);
const resource = { uri: "file:///report.pdf", mimeType: "application/pdf", blob: PDF.toString("base64") };

const tools = [
  tool("pdf"),
  tool("log"),
  tool("upload", { data: { type: "string", contentEncoding: "base64" }, note: { type: "string" } }),
  tool("open", { path: { type: "string" } }),
  { ...tool("see", { image: { type: "string" } }), _meta: { "openai/fileParams": ["image"] } },
];

let uploads = 0;

const calls = {
  pdf: () => ({ content: [{ type: "resource", resource }] }),
  log: () => text(Array.from({ length: 5000 }, (_, line) => `line ${line + 1}`).join("\n")),
  upload: ({ data, note }) => {
    uploads += 1;
    const same = Buffer.from(String(data), "base64").equals(PDF);
    return text(JSON.stringify({ same, note, uploads }));
  },
  see: ({ image }) => text(String(image).slice(0, 40)),
  open: ({ path }) => text(`${readFileSync(path).equals(PDF)} ${(statSync(path).mode & 0o777).toString(8)} ${path}`),
};

function answer({ method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "files", version: "1.0.0" } };
  }
  if (method === "tools/list") return { tools };
  return method === "tools/call" ? calls[params.name](params.arguments ?? {}) : undefined;
}

/** A client asks first for what only newer servers have. */
const UNKNOWN = { error: { code: -32_601, message: "There is no such method." } };

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) continue;
  const result = answer(message);
  send({ id: message.id, ...(result === undefined ? UNKNOWN : { result }) });
}
