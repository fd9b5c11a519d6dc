/**
 * One session's MCP server.
 * @module
 */
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import { FILE_TOOLS } from "./file-tools.js";
import type { Live } from "./live.js";
import { otherTools } from "./other-tools.js";
import { completed, contentsOf, isResource, listedPage, TEMPLATES } from "./resources.js";
import type { DemoCall, DemoTool } from "./tool.js";

/** JSON-RPC and MCP error codes. */
const INVALID_PARAMS = -32_602;
const NOT_FOUND = -32_002;

/** Milliseconds that a person may take to answer. */
const PATIENCE = 600_000;

/** A server over what all sessions share; closing it ends what it follows. */
export function demoServer(live: Live): Server {
  const server = new Server(
    { name: "sluice-demo", title: "Demo server", version: "1" },
    {
      capabilities: { tools: {}, resources: { subscribe: true, listChanged: true }, completions: {} },
      instructions: "A shop that does not exist. Everything is made on the spot, without a network.",
    },
  );
  addTools(server, [...FILE_TOOLS, ...otherTools(live)]);
  addResources(server, live);
  addSubscriptions(server, live);
  return server;
}

/** Has a server list and call tools. */
export function addTools(server: Server, tools: readonly DemoTool[]): void {
  server.setRequestHandler("tools/list", () => ({ tools: tools.map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = tools.find(({ listed }) => listed.name === params.name);
    if (tool === undefined) throw refusal(INVALID_PARAMS, "There is no such tool.");
    return tool.call(params.arguments ?? {}, callOf(context));
  });
}

function callOf({ mcpReq }: ServerContext): DemoCall {
  const { signal, _meta: { progressToken } = {} } = mcpReq;
  return {
    signal,
    progress: async (progress, total, message) => {
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total, message } });
    },
    ask: (message, requestedSchema) => mcpReq.elicitInput({ message, requestedSchema }, { signal, timeout: PATIENCE }),
  };
}

function addResources(server: Server, live: Live): void {
  server.setRequestHandler("resources/list", ({ params }) => {
    const page = listedPage(params?.cursor);
    if (page === undefined) throw refusal(INVALID_PARAMS, "There is no such page of the list.");
    return page;
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    const contents = await contentsOf(params.uri, live);
    if (contents === undefined) throw refusal(NOT_FOUND, "There is no such resource.", { uri: params.uri });
    return contents;
  });
  server.setRequestHandler("completion/complete", ({ params: { ref, argument } }) => {
    const values = ref.type === "ref/resource" ? completed(ref.uri, argument.name, argument.value) : [];
    return { completion: { values: [...values], total: values.length, hasMore: false } };
  });
}

/** Only what is listed can be followed: so a session has few subscriptions. */
function addSubscriptions(server: Server, live: Live): void {
  const leaving = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (!isResource(uri)) throw refusal(NOT_FOUND, "There is no such resource.", { uri });
    if (!leaving.has(uri))
      leaving.set(
        uri,
        live.follow(uri, () => void server.sendResourceUpdated({ uri }).catch(() => undefined)),
      );
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    leaving.get(uri)?.();
    leaving.delete(uri);
    return {};
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has none
  server.onclose = () => {
    for (const leave of leaving.values()) leave();
    leaving.clear();
  };
}

function refusal(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}
