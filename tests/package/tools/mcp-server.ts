/**
 * An MCP server made with the SDK: files, progress, calls that are given up, and a note that changes.
 * @module
 */
import { setTimeout as delay } from "node:timers/promises";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { makePdf } from "../../../scripts/demo/pdf.mjs";

/** What the tool `report` and the resource `file:///report.pdf` give. */
export const REPORT: Buffer = makePdf({ title: "Sales", pages: 3 });

/** What all connections to a server see. */
export interface World {
  /** The text of `note:///today`. */
  note: string;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const TOOLS = [
  {
    name: "report",
    description: "Sales of a year, as PDF",
    // What a validator would make code of.
    inputSchema: {
      type: "object" as const,
      properties: { year: { type: "integer", minimum: 2000 }, region: { type: "string", pattern: "^[A-Z]{2}$" } },
      required: ["year"],
    },
    outputSchema: {
      type: "object" as const,
      properties: { pages: { type: "integer", minimum: 1 } },
      required: ["pages"],
    },
  },
  { name: "wait", description: "Waits until it is given up", inputSchema: { type: "object" as const } },
  { name: "given_up", description: "Why the last one was", inputSchema: { type: "object" as const } },
  { name: "write", description: "Changes the note", inputSchema: { type: "object" as const } },
  { name: "whoami", description: "Who asks", inputSchema: { type: "object" as const } },
  { name: "ask", description: "Asks a person, and a model", inputSchema: { type: "object" as const } },
];

const RESOURCES = [
  { uri: "note:///today", name: "Today", mimeType: "text/plain" },
  { uri: "file:///report.pdf", name: "Sales", mimeType: "application/pdf" },
];

/** A server for one connection. */
export function mcpServer(world: World): Server {
  const capabilities = { tools: {}, resources: { subscribe: true } };
  const server = new Server({ name: "far", version: "1" }, { capabilities });
  const subscribed = new Set<string>();
  let reason: Promise<string> = Promise.resolve("nothing was");
  const write = async (text: string): Promise<CallToolResult> => {
    world.note = text;
    if (subscribed.has("note:///today")) await server.sendResourceUpdated({ uri: "note:///today" });
    return says("written");
  };
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }, extra) => {
    if (name === "report") return report(extra);
    if (name === "write") return write(String(given["text"]));
    if (name === "whoami") return says(String(extra.authInfo?.clientId));
    if (name === "given_up") return says(await reason);
    if (name === "ask") return ask(server);
    reason = givenUp(extra);
    await progress(extra, 1);
    return says(await reason);
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: RESOURCES }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
    contents: [uri === "note:///today" ? { uri, mimeType: "text/plain", text: world.note } : pdf(uri)],
  }));
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.add(uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
    subscribed.delete(uri);
    return {};
  });
  return server;
}

async function report(extra: Extra): Promise<CallToolResult> {
  await progress(extra, 1, 2);
  // A page that waits in between shows that it does not come all at once.
  await delay(50);
  await progress(extra, 2, 2);
  return { content: [{ type: "resource", resource: pdf("file:///report.pdf") }], structuredContent: { pages: 3 } };
}

async function ask(server: Server): Promise<CallToolResult> {
  const { content: year } = await server.elicitInput({
    message: "Which year?",
    requestedSchema: { type: "object", properties: { year: { type: "integer" } }, required: ["year"] },
  });
  const content = { type: "text" as const, text: "How was it?" };
  const { content: said } = await server.createMessage({ messages: [{ role: "user", content }], maxTokens: 10 });
  return says(JSON.stringify([year, said]));
}

async function givenUp({ signal }: Extra): Promise<string> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return String(signal.reason);
}

async function progress({ _meta, sendNotification }: Extra, done: number, total?: number): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return;
  const params = { progressToken, progress: done, ...(total !== undefined && { total }) };
  await sendNotification({ method: "notifications/progress", params });
}

function says(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function pdf(uri: string): { uri: string; mimeType: string; blob: string } {
  return { uri, mimeType: "application/pdf", blob: REPORT.toString("base64") };
}
