/**
 * A server with many tools, and with long names of all that has one.
 * @module
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { makePng } from "../../scripts/demo/png.mjs";

/** Tools of the server. */
export const TOOLS = 309;

/** A name of 120 characters, in which no line can be broken at a space. */
export const LONG_NAME = "long_".padEnd(120, "name_of_something");

const IMAGE = makePng({ width: 33, height: 20 }).toString("base64");

/** The server of a session. */
export function largeServer(): McpServer {
  const server = new McpServer({ name: "large", version: "1.0.0" });
  const long = { description: "Has long names.", inputSchema: { [LONG_NAME]: z.string().optional() } };
  server.registerTool(LONG_NAME, long, () => ({
    content: [{ type: "resource", resource: { uri: `file:///${LONG_NAME}.png`, mimeType: "image/png", blob: IMAGE } }],
  }));
  for (let at = 1; at < TOOLS; at += 1) {
    const name = `tool_${String(at).padStart(3, "0")}`;
    server.registerTool(name, { description: `Does one of ${TOOLS} things.` }, () => ({
      content: [{ type: "text", text: name }],
    }));
  }
  server.registerResource(LONG_NAME, `file:///${LONG_NAME}.txt`, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, text: LONG_NAME }],
  }));
  return server;
}
