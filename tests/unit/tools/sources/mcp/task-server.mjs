/**
 * An MCP server of 2025-11-25 whose tools run as tasks, written with the official SDK: over stdio, or over HTTP where it is
 * told to (`--http`, then it prints its address).
 * @module
 */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const POLL = 100;
const text = (value) => ({ content: [{ type: "text", text: value }] });
const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const cancelled = [];

class Store extends InMemoryTaskStore {
  async updateTaskStatus(id, status, ...more) {
    if (status === "cancelled") cancelled.push(id);
    return super.updateTaskStatus(id, status, ...more);
  }
}

/** What tools do once their task is made; each ends its task, or does not. */
const work = {
  async file(id, { bytes }, { taskStore }) {
    for (const stage of ["Reading", "Writing"]) {
      await taskStore.updateTaskStatus(id, "working", `${stage}\u001b[31m…`);
      await later(2 * POLL);
    }
    const blob = Buffer.alloc(bytes, 7).fill("%PDF-1.7\n", 0, 9).toString("base64");
    const resource = { uri: "file:///a.pdf", mimeType: "application/pdf", blob };
    await taskStore.storeTaskResult(id, "completed", { content: [{ type: "resource", resource }] });
  },
  async fail(id, _args, { taskStore }) {
    await taskStore.storeTaskResult(id, "failed", { ...text("it went wrong"), isError: true });
  },
  async broken(id, _args, { taskStore }) {
    await taskStore.updateTaskStatus(id, "failed", "secret words");
  },
  async dropped(id, _args, { taskStore }) {
    await taskStore.updateTaskStatus(id, "cancelled");
  },
  async ask(id, { fields }, { taskStore, sendRequest }) {
    await taskStore.updateTaskStatus(id, "input_required");
    const requestedSchema = { type: "object", properties: { [fields]: { type: "string" } } };
    const params = { message: `What ${fields}?`, requestedSchema };
    const answer = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema, {
      relatedTask: { taskId: id },
    });
    await taskStore.updateTaskStatus(id, "working");
    await taskStore.storeTaskResult(id, "completed", text(JSON.stringify(answer)));
  },
  async hang() {},
};

function serve() {
  const capabilities = { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  const stores = { taskStore: new Store(), taskMessageQueue: new InMemoryTaskMessageQueue() };
  const server = new McpServer({ name: "tasks", version: "1" }, { capabilities, ...stores });
  const inputSchema = { bytes: z.number().default(10), fields: z.string().default("name") };
  for (const [name, run] of Object.entries(work)) register(server, name, inputSchema, "required", run);
  register(server, "optional", inputSchema, "optional", (id, _args, { taskStore }) =>
    taskStore.storeTaskResult(id, "completed", text("as you like")),
  );
  server.registerTool("cancelled", {}, () => text(String(cancelled.length)));
  server.registerTool("pid", {}, () => text(JSON.stringify({ pid: process.pid })));
  server.registerTool("elicit", { inputSchema: { url: z.string().optional() } }, async ({ url }) => {
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
    const question = { message: "Who?", requestedSchema };
    const page = { mode: "url", message: "Open it", url, elicitationId: "1" };
    return text(JSON.stringify(await server.server.elicitInput(url === undefined ? question : page)));
  });
  return server;
}

function register(server, name, inputSchema, taskSupport, run) {
  const outputSchema = undefined;
  server.experimental.tasks.registerToolTask(
    name,
    { inputSchema, outputSchema, execution: { taskSupport } },
    {
      async createTask(args, extra) {
        const task = await extra.taskStore.createTask({ ttl: 60_000, pollInterval: POLL });
        void run(task.taskId, args, extra).catch((error) => console.error(error));
        return { task };
      },
      getTask: (_args, { taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: (_args, { taskStore, taskId }) => taskStore.getTaskResult(taskId),
    },
  );
}

if (process.argv.includes("--http")) {
  const sessions = new Map();
  const handle = async (request, response) => {
    const known = sessions.get(request.headers["mcp-session-id"]);
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await serve().connect(transport);
    return transport.handleRequest(request, response);
  };
  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
} else {
  await serve().connect(new StdioServerTransport());
}
