/**
 * Servers of other origins than a page's, and what they let it do.
 * @module
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens. */
export interface Elsewhere extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly origin: string;
}

/** What a server lets pages of other origins do. */
export interface Cors {
  /** Headers that they may send. */
  readonly allows: string;
  /** Headers that they may read. */
  readonly exposes: string;
}

/** What docs/tools.md asks of servers, name by name. */
export const DOCUMENTED: Cors = {
  allows: "Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
  exposes: "Mcp-Session-Id, WWW-Authenticate, Retry-After, Content-Disposition",
};

/** What servers of the earlier era allow, which do not know the headers of the later one. */
export const OF_EARLIER_ERA: Cors = {
  allows: "Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Session-Id",
  exposes: "Mcp-Session-Id",
};

/** Listens on a free port; the server is told its own address before the first request. */
export async function listen(answerAt: (origin: string) => RequestListener): Promise<Elsewhere> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on("request", answerAt(origin));
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The same answers, for pages of all origins. */
export function forPages(answer: RequestListener, { allows, exposes }: Cors = DOCUMENTED): RequestListener {
  return (request, response) => {
    response.setHeader("access-control-allow-origin", "*").setHeader("access-control-expose-headers", exposes);
    if (request.method !== "OPTIONS") {
      answer(request, response);
      return;
    }
    response.setHeader("access-control-allow-headers", allows);
    response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
    response.writeHead(204).end();
  };
}

/** The whole body of a request. */
export async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
