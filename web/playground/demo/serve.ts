/**
 * A way to the demo server that needs no network.
 * @module
 */
import { WebStandardStreamableHTTPServerTransport, type Server } from "@modelcontextprotocol/server";
import { Live } from "./live.js";
import { demoServer } from "./server.js";

/** Where the demo server is; nothing is there on any network (RFC 6761). */
export const DEMO_URL = "https://demo.sluice.invalid/mcp";

/** Sessions at a time; with one more, the one that was silent longest ends. */
const MAX_SESSIONS = 16;

/**
 * Answers requests as `fetch` does, from a server of its own that lives as long as what it gives, the demo unless another is
 * given: MCP over Streamable HTTP, with sessions. Whatever is not at `url` is not found.
 */
export function demoFetch(url: string = DEMO_URL, serverOf?: () => Server): typeof globalThis.fetch {
  const live = new Live();
  const host = new DemoHost(url, serverOf ?? (() => demoServer(live)));
  return (input, init) => host.answer(new Request(input, init));
}

/** The sessions, and what they share. */
class DemoHost {
  readonly #url: string;
  readonly #serverOf: () => Server;
  /** By their ids, the one that was silent longest first. */
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
    // The stream of an answer ends with its request, as it does on a network.
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

  /** A session, if that is what the request wants: the transport refuses everything else. */
  async #begin(request: Request): Promise<Response> {
    const server = this.#serverOf();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#add(id, transport),
      // Nothing on the way loses patience.
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
