/**
 * The demo server: an MCP server in the page, reached through `fetch` as over Streamable HTTP.
 * @module
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type ServerNotification,
  type ServerRequest,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { FILE_TOOLS, otherTools } from "./tools.js";
import { completed, contentsOf, isResource, listedPage, Live, TEMPLATES } from "./resources.js";
import type { DemoCall, DemoTool } from "./tool.js";

/** JSON-RPC and MCP error codes. */
const INVALID_PARAMS = -32_602;
const NOT_FOUND = -32_002;

/** Milliseconds to wait for an answer of the user. */
const TIMEOUT_MS = 600_000;

/** The MCP server of one session. Closing it ends its subscriptions. */
function demoServer(live: Live): Server {
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

/** Adds tools to a server. */
export function addTools(server: Server, tools: readonly DemoTool[]): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ listed }) => listed) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, request) => {
    const tool = tools.find(({ listed }) => listed.name === params.name);
    if (tool === undefined) throw refusal(INVALID_PARAMS, "There is no such tool.");
    return tool.call(params.arguments ?? {}, callOf(server, request));
  });
}

function callOf(server: Server, request: RequestHandlerExtra<ServerRequest, ServerNotification>): DemoCall {
  const { signal, requestId, _meta: { progressToken } = {} } = request;
  return {
    signal,
    progress: async (progress, total, message) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress, total, message };
      await request.sendNotification({ method: "notifications/progress", params });
    },
    ask: (message, requestedSchema) =>
      server.elicitInput({ message, requestedSchema }, { signal, timeout: TIMEOUT_MS, relatedRequestId: requestId }),
  };
}

function addResources(server: Server, live: Live): void {
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const page = listedPage(params?.cursor);
    if (page === undefined) throw refusal(INVALID_PARAMS, "There is no such page of the list.");
    return page;
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [...TEMPLATES] }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const contents = await contentsOf(params.uri, live);
    if (contents === undefined) throw refusal(NOT_FOUND, "There is no such resource.", { uri: params.uri });
    return contents;
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params: { ref, argument } }) => {
    const values = ref.type === "ref/resource" ? completed(ref.uri, argument.name, argument.value) : [];
    return { completion: { values: [...values], total: values.length, hasMore: false } };
  });
}

/** Only listed resources can be subscribed to, which bounds the subscriptions of a session. */
function addSubscriptions(server: Server, live: Live): void {
  const leaving = new Map<string, () => void>();
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
    if (!isResource(uri)) throw refusal(NOT_FOUND, "There is no such resource.", { uri });
    if (!leaving.has(uri))
      leaving.set(
        uri,
        live.follow(uri, () => void server.sendResourceUpdated({ uri }).catch(() => undefined)),
      );
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
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

/** The URL of the demo server, on a reserved domain (RFC 6761). */
export const DEMO_URL = "https://demo.sluice.invalid/mcp";

/** Sessions at a time; one more ends the one that was idle longest. */
const MAX_SESSIONS = 16;

/**
 * A `fetch` that answers from an MCP server in this page, over Streamable HTTP with sessions. Defaults to the demo server.
 * Other URLs are not found.
 */
export function demoFetch(url: string = DEMO_URL, serverOf?: () => Server): typeof globalThis.fetch {
  const live = new Live();
  const host = new DemoHost(url, serverOf ?? (() => demoServer(live)));
  return (input, init) => host.answer(new Request(input, init));
}

/** The sessions of a server. */
class DemoHost {
  readonly #url: string;
  readonly #serverOf: () => Server;
  /** By session id, the one that was idle longest first. */
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(url: string, serverOf: () => Server) {
    this.#url = url;
    this.#serverOf = serverOf;
  }

  async answer(request: Request): Promise<Response> {
    const { signal } = request;
    signal.throwIfAborted();
    if (request.url !== this.#url) return refused("There is nothing here.");
    const response = await this.#answer(request);
    // Aborting a request ends its response, as on a network.
    return new Response(response.body?.pipeThrough(new TransformStream(), { signal }) ?? null, response);
  }

  async #answer(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(request);
    const transport = this.#sessions.get(id);
    if (transport === undefined) return refused("Session not found");
    this.#sessions.delete(id);
    this.#sessions.set(id, transport);
    return transport.handleRequest(request);
  }

  /** Starts a session if the request initialises one; the transport refuses everything else. */
  async #begin(request: Request): Promise<Response> {
    const server = this.#serverOf();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#add(id, transport),
      keepAliveMs: 0,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  #add(id: string, transport: WebStandardStreamableHTTPServerTransport): void {
    const ended = transport.onclose?.bind(transport);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    transport.onclose = () => {
      this.#sessions.delete(id);
      ended?.();
    };
    this.#sessions.set(id, transport);
    for (const [, silent] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      void silent.close();
    }
  }
}

function refused(message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_001, message }, id: null }, { status: 404 });
}
