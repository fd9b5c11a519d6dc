/**
 * An MCP server over stdio with one tool, `file`, that answers with the file of a name in the folder that it was started with.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , folder] = process.argv;
const server = new Server({ name: "files", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object", properties: { name: { type: "string" }, mimeType: { type: "string" } } };

server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "file", inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { arguments: given } }) => {
  const { name, mimeType } = given;
  const blob = readFileSync(join(folder, name)).toString("base64");
  return { content: [{ type: "resource", resource: { uri: `file:///${name}`, mimeType, blob } }] };
});
await server.connect(new StdioServerTransport());
