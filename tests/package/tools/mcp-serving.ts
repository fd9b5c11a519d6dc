/**
 * The MCP server over HTTP, both ways of it.
 * @module
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { forPages, listen, type Cors, type Elsewhere } from "./elsewhere.js";
import { mcpServer, type World } from "./mcp-server.js";

/** An MCP server that listens. */
export interface McpServing extends Elsewhere {
  readonly url: string;
  readonly world: World;
  /** Sessions that are open. */
  readonly sessions: ReadonlyMap<string, unknown>;
}

/** What is different from a server for everybody. */
export interface McpServingOptions {
  readonly cors?: Cors;
  /** Who a token is of; null for one that is no good. Left out: nobody needs one. */
  readonly owner?: (token: string) => Promise<string | null>;
  /** Who gives tokens. */
  readonly issuer?: () => string;
  /** The server that a session gets. Defaults to the one of the tests. */
  readonly server?: (world: World) => Pick<Server, "connect">;
}

/** Serves it over Streamable HTTP, at `/mcp`. */
export async function serveMcp({
  cors,
  owner,
  issuer,
  server = mcpServer,
}: McpServingOptions = {}): Promise<McpServing> {
  const world: World = { note: "nothing yet" };
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function transportOf(request: IncomingMessage): Promise<StreamableHTTPServerTransport | undefined> {
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") return sessions.get(id);
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await server(world).connect(transport);
    return transport;
  }

  async function answer(request: IncomingMessage, response: ServerResponse, origin: string): Promise<void> {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource") === true && issuer !== undefined) {
      const metadata = { resource: `${origin}/mcp`, authorization_servers: [issuer()], scopes_supported: ["openid"] };
      response.setHeader("content-type", "application/json").end(JSON.stringify(metadata));
      return;
    }
    if (new URL(request.url ?? "/", origin).pathname !== "/mcp") return void response.writeHead(404).end();
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    const clientId = owner === undefined ? "everybody" : await owner(token);
    if (clientId === null) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
      return;
    }
    const transport = await transportOf(request);
    const auth = { token, clientId, scopes: [] };
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handleRequest(Object.assign(request, { auth }), response);
  }

  const served = await listen((origin) => forPages((...exchange) => void answer(...exchange, origin), cors));
  return { ...served, url: `${served.origin}/mcp`, world, sessions };
}

/** Serves it as servers of 2024-11-05 do, at `/sse`. */
export async function serveEvents(): Promise<McpServing> {
  const world: World = { note: "nothing yet" };
  const sessions = new Map<string, SSEServerTransport>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      response.once("close", () => sessions.delete(transport.sessionId));
      await mcpServer(world).connect(transport);
      return;
    }
    const transport = sessions.get(searchParams.get("sessionId") ?? "");
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handlePostMessage(request, response);
  }

  const served = await listen(() => forPages((...exchange) => void answer(...exchange)));
  return { ...served, url: `${served.origin}/sse`, world, sessions };
}
