/**
 * An MCP server that keeps attachments: `get_attachment` returns a file of a folder as an embedded resource, `add_attachment` takes
 * one in base64, as the servers of issue trackers, wikis and mailboxes do.
 * @module
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [folder] = process.argv.slice(2);
const NAME = { type: "string", description: "The file's name." };

const tools = [
  {
    name: "get_attachment",
    description: "Gets an attachment.",
    inputSchema: { type: "object", properties: { name: NAME }, required: ["name"] },
  },
  {
    name: "add_attachment",
    description: "Adds an attachment to a page.",
    inputSchema: {
      type: "object",
      properties: {
        page: { type: "string" },
        name: NAME,
        data: { type: "string", contentEncoding: "base64", description: "The file's bytes in base64." },
      },
      required: ["page", "name", "data"],
    },
  },
];

const ANSWERS = {
  async get_attachment({ name }) {
    const blob = await readFile(join(folder, basename(name)), "base64");
    const mimeType = name.endsWith(".pdf") ? "application/pdf" : "application/octet-stream";
    return [{ type: "resource", resource: { uri: `attachment:///${name}`, mimeType, blob } }];
  },
  async add_attachment({ page, name, data }) {
    const bytes = Buffer.from(data, "base64");
    await writeFile(join(folder, `added-${basename(name)}`), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return [{ type: "text", text: `Added ${name} to ${page}: ${bytes.length} bytes, sha256 ${sha256}` }];
  },
};

const server = new Server({ name: "attachments", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
  content: await ANSWERS[params.name](params.arguments),
}));
await server.connect(new StdioServerTransport());
