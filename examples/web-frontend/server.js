/**
 * An MCP server in the page, spoken to as if it were elsewhere: it sells things that do not exist.
 * @module
 */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** Nothing is there on any network. */
export const SERVER_URL = "https://shop.invalid/mcp";

const DAYS = 365;

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const inputSchema = z.object({});
  server.registerTool("orders", { description: "All orders of last year, as CSV.", inputSchema }, () => ({
    content: [{ type: "text", text: ["day,item,price", ...sales().map((row) => row.join(","))].join("\n") }],
  }));
  server.registerTool("chart", { description: "A chart of last year's sales.", inputSchema }, async () => ({
    content: [{ type: "image", mimeType: "image/png", data: await chart() }],
  }));
  return server;
});

/**
 * Answers as the platform's `fetch` does.
 *
 * @type {typeof globalThis.fetch}
 */
export const serverFetch = (input, init) => handler.fetch(new Request(input, init));

/** @returns {[day: string, item: string, price: number][]} */
function sales() {
  return Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(Date.UTC(2025, 0, 1 + at)).toISOString().slice(0, 10);
    return [day, at % 3 === 0 ? "a lamp for the winter garden" : "a chair", 40 + Math.round(30 * Math.sin(at / 20))];
  });
}

/** A picture as base64, as servers send them. */
async function chart() {
  const canvas = new OffscreenCanvas(DAYS * 2, 200);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser draws nothing.");
  context.fillStyle = "seagreen";
  for (const [at, [, , price]] of sales().entries()) context.fillRect(at * 2, 200 - price * 2, 1, price * 2);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
}
