/**
 * A real MCP server over HTTP, in either era, and what may happen on the way to its tools.
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server, type CallToolResult, type Tool } from "@modelcontextprotocol/server";

/** With sessions, or without. */
export type Era = "2025-11-25" | "2026-07-28";

export const ERAS: readonly Era[] = ["2025-11-25", "2026-07-28"];

/** A tool of the server. */
export interface Offered extends Omit<Tool, "name" | "inputSchema"> {
  readonly inputSchema?: Tool["inputSchema"];
  /** @param asker whose token came, where tokens are wanted. */
  readonly answer: (args: Readonly<Record<string, unknown>>, asker: string) => CallToolResult | Promise<CallToolResult>;
}

/** The call of a tool, before the tool gets it. */
export interface Exchange {
  readonly response: ServerResponse;
  /** Goes on as if nothing happened. */
  readonly serve: () => Promise<void>;
}

/** What happens to a call in place of being answered. */
export type Fault = (exchange: Exchange) => void | Promise<void>;

/** How a server is started. */
export interface ServerOptions {
  readonly era?: Era;
  /** The same port again, for one that comes back. */
  readonly port?: number;
  /** Who gave a token, null when it is no good; left out, nobody is asked for one. */
  readonly owner?: (token: string) => Promise<string | null>;
  /** Texts by URI; left out, it has no resources. */
  readonly resources?: Readonly<Record<string, string>>;
}

export const text = (value: unknown): CallToolResult => ({ content: [{ type: "text", text: String(value) }] });

export const refuse =
  (status: number, headers: Readonly<Record<string, string>> = {}): Fault =>
  ({ response }) =>
    void response.writeHead(status, headers).end("An explanation with hunter2 in it.");

export const pass: Fault = ({ serve }) => serve();

/** The connection ends when so many bytes of the answer were sent. */
export const cutAfter =
  (bytes: number): Fault =>
  async ({ response, serve }) => {
    let left = bytes;
    const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
    response.write = ((chunk: Uint8Array) => {
      const part = Buffer.from(chunk).subarray(0, left);
      left -= part.length;
      if (left > 0) return write(part);
      write(part);
      response.socket?.end();
      return false;
    }) as typeof response.write;
    await serve();
  };

/** Listens on a free port of this machine. */
export async function serveTools(
  tools: Readonly<Record<string, Offered>>,
  options: ServerOptions = {},
): Promise<FaultyServer> {
  const server = new FaultyServer(tools, options);
  await server.listen(options.port);
  return server;
}

/** A running server. */
export class FaultyServer implements AsyncDisposable {
  /** Offered from now on; `change` says so to whoever is connected. */
  tools: Readonly<Record<string, Offered>>;
  /** What is asked to be listed is listed as it is now, and sent when this is over. */
  held: Promise<void> = Promise.resolve();
  /** Who used each session. */
  readonly sessions = new Map<string, Set<string>>();
  readonly #asker = new AsyncLocalStorage<string>();
  readonly #faults: Fault[] = [];
  readonly #owner: NonNullable<ServerOptions["owner"]>;
  readonly #way: Way;
  readonly #http = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });
  #port = 0;
  #arrived = 0;
  #inFlight = 0;
  #mostInFlight = 0;

  constructor(
    tools: Readonly<Record<string, Offered>>,
    { era = "2025-11-25", owner = async () => "", resources }: ServerOptions,
  ) {
    this.tools = tools;
    this.#owner = owner;
    const make = (): Server => this.#make(resources);
    this.#way = era === "2025-11-25" ? withSessions(make) : withoutSessions(make);
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#http.listen(port, "127.0.0.1", resolve));
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Calls of tools that came, whatever became of them. */
  get arrived(): number {
    return this.#arrived;
  }

  /** The most calls that were here at the same time. */
  get mostInFlight(): number {
    return this.#mostInFlight;
  }

  /** What the next calls of tools meet, one after the other. */
  meets(...faults: readonly Fault[]): void {
    this.#faults.push(...faults);
  }

  change(tools: Readonly<Record<string, Offered>>): void {
    this.tools = tools;
    this.#way.changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#way.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const serve = (): Promise<void> => this.#serve(request, response, body);
    if ((body as { method?: unknown } | undefined)?.method !== "tools/call") return serve();
    this.#arrived += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, (this.#inFlight += 1));
    response.once("close", () => (this.#inFlight -= 1));
    const fault = this.#faults.shift() ?? pass;
    await fault({ response, serve });
  }

  async #serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const who = await this.#owner(request.headers.authorization?.replace("Bearer ", "") ?? "");
    if (who === null) {
      response.writeHead(401, { "www-authenticate": 'Bearer error="invalid_token"' }).end();
      return;
    }
    const session = request.headers["mcp-session-id"];
    if (typeof session === "string") this.sessions.set(session, (this.sessions.get(session) ?? new Set()).add(who));
    await this.#asker.run(who, () => this.#way.serve(request, response, body));
  }

  #make(resources: ServerOptions["resources"]): Server {
    const capabilities = { tools: { listChanged: true }, ...(resources !== undefined && { resources: {} }) };
    const server = new Server({ name: "faulty", version: "1.0.0" }, { capabilities });
    server.setRequestHandler("tools/list", async () => {
      const tools = Object.entries(this.tools).map(listed);
      await this.held;
      return { tools };
    });
    server.setRequestHandler("tools/call", async ({ params }) => {
      const tool = this.tools[params.name];
      if (tool === undefined) throw new Error("There is no such tool.");
      return tool.answer(params.arguments ?? {}, this.#asker.getStore() ?? "");
    });
    if (resources === undefined) return server;
    server.setRequestHandler("resources/list", () => ({
      resources: Object.keys(resources).map((uri) => ({ uri, name: uri })),
    }));
    server.setRequestHandler("resources/read", ({ params: { uri } }) => ({
      contents: [{ uri, text: resources[uri] ?? "" }],
    }));
    return server;
  }
}

function listed([name, { answer: _, inputSchema = { type: "object" as const }, ...rest }]: [string, Offered]): Tool {
  return { name, inputSchema, ...rest };
}

/** How one era is served. */
interface Way {
  serve(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  changed(): void;
  close(): Promise<void>;
}

function withSessions(make: () => Server): Way {
  const sessions = new Map<string, { server: Server; transport: NodeStreamableHTTPServerTransport }>();
  return {
    async serve(request, response, body) {
      const id = request.headers["mcp-session-id"];
      const known = typeof id === "string" ? sessions.get(id) : undefined;
      if (known !== undefined) return known.transport.handleRequest(request, response, body);
      if (id !== undefined) return void response.writeHead(404).end();
      const server = make();
      const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, { server, transport }),
        onsessionclosed: (session) => void sessions.delete(session),
      });
      await server.connect(transport);
      await transport.handleRequest(request, response, body);
    },
    changed: () => {
      for (const { server } of sessions.values()) void server.sendToolListChanged();
    },
    close: async () => {
      await Promise.all(Array.from(sessions.values(), ({ server }) => server.close()));
    },
  };
}

function withoutSessions(make: () => Server): Way {
  const handler = createMcpHandler(make, { legacy: "reject" });
  const node = toNodeHandler(handler) as unknown as Way["serve"];
  return { serve: node, changed: () => handler.notify.toolsChanged(), close: () => handler.close() };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as unknown);
}
