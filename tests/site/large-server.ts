/**
 * A server with much of everything: tools, images in one result, and long names of all that has one.
 * @module
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { makePng } from "../../scripts/demo/png.mjs";

/** Tools of the server. */
export const TOOLS = 309;

/** A name of 120 characters, in which no line can be broken at a space. */
export const LONG_NAME = "long_".padEnd(120, "name_of_something");

/** A block with an image that is like no other of a thousand. */
export const image = (at: number): { type: "image"; data: string; mimeType: string } => ({
  type: "image",
  data: makePng({ width: 32 + (at % 1000), height: 20 }).toString("base64"),
  mimeType: "image/png",
});

/** The server of a session. */
export function largeServer(): McpServer {
  const server = new McpServer({ name: LONG_NAME, version: "1.0.0" });
  const inputSchema = { count: z.number().int() };
  server.registerTool("images", { description: "Draws images.", inputSchema }, ({ count }) => ({
    content: Array.from({ length: count }, (_, at) => image(at)),
  }));
  const long = { description: "Has long names.", inputSchema: { [LONG_NAME]: z.string().optional() } };
  server.registerTool(LONG_NAME, long, () => ({
    content: [{ type: "resource", resource: { ...image(1), uri: `file:///${LONG_NAME}.png`, blob: image(1).data } }],
  }));
  for (let at = 1; at <= TOOLS - 2; at += 1) {
    const name = `tool_${String(at).padStart(3, "0")}`;
    server.registerTool(name, { description: `Does one of ${TOOLS} things.` }, () => ({
      content: [{ type: "text", text: name }],
    }));
  }
  server.registerResource(LONG_NAME, `file:///${LONG_NAME}.txt`, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, text: LONG_NAME }],
  }));
  const argsSchema = { [LONG_NAME]: z.string().optional() };
  server.registerPrompt(LONG_NAME, { title: LONG_NAME, description: "Has long names.", argsSchema }, () => ({
    messages: [{ role: "user", content: { type: "text", text: LONG_NAME } }],
  }));
  return server;
}
