/**
 * A server of MCP on its standard streams: a picture, work that takes its time, a question, and a file of the user.
 * @module
 */
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { makePng } from "../../scripts/demo/png.mjs";

const PICTURE = {
  content: [{ type: "image", data: makePng({ width: 320, height: 200 }).toString("base64"), mimeType: "image/png" }],
};

const server = new McpServer({ name: "served-tools", version: "1.0.0" });

server.registerTool("picture", { description: "Draws a picture.", inputSchema: {} }, () => PICTURE);

server.registerTool(
  "slow",
  { description: "Draws a picture once a file is there.", inputSchema: { file: z.string() } },
  async ({ file }, { sendNotification, _meta: { progressToken } = {}, signal }) => {
    for (let progress = 1; !existsSync(file); progress += 1) {
      signal.throwIfAborted();
      if (progressToken !== undefined) {
        const params = { progressToken, progress, message: `Looked ${progress} times` };
        await sendNotification({ method: "notifications/progress", params });
      }
      await delay(100);
    }
    return PICTURE;
  },
);

server.registerTool("asks", { description: "Asks for a name.", inputSchema: {} }, async () => {
  const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const { action, content } = await server.server.elicitInput({ message: "Who are you?", requestedSchema });
  const text = action === "accept" ? `Hello, ${String(content?.name)}.` : "Nobody answers.";
  return { content: [{ type: "text", text }] };
});

server.registerTool("report", { description: "Makes a report and shows it.", inputSchema: {} }, () => {
  const file = {
    name: "report.csv",
    mime: "text/csv",
    b64: Buffer.from("region,revenue\nNorth,12\n").toString("base64"),
  };
  const display = { open_canvas: true, notification: "The report is made." };
  const result = { results: { summary: "One region." }, artifacts: [file], display };
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
});

server.registerTool(
  "erase",
  {
    title: "Erase a note",
    description: "Erases what was noted.",
    inputSchema: {},
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  () => ({ content: [{ type: "text", text: "Erased." }] }),
);

await server.connect(new StdioServerTransport());
