/**
 * The SDK's own server of 2024-11-05, over server-sent events.
 * @module
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A server that listens. */
export interface ServingEvents extends AsyncDisposable {
  readonly url: string;
  /** What it was told of who asks. */
  readonly tokens: ReadonlySet<unknown>;
  /** Breaks the streams of all who are connected. */
  drop(): void;
}

/**
 * Serves two tools. `blob`: an image of `size` bytes, and nothing ever where that is less than 0. `steps`: progress and
 * the result in one write.
 */
export async function servingEvents(): Promise<ServingEvents> {
  const transports = new Map<string, SSEServerTransport>();
  const tokens = new Set<unknown>();
  const drops: (() => void)[] = [];
  const http = createServer((request, response) => {
    tokens.add(request.headers.authorization);
    const url = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      drops.push(() => response.destroy());
      void toolServer(response).connect(transport);
    } else if (request.method === "POST" && url.pathname === "/messages") {
      void transports.get(url.searchParams.get("sessionId") ?? "")?.handlePostMessage(request, response);
    } else {
      response.writeHead(request.method === "POST" ? 405 : 404).end();
    }
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
    tokens,
    drop: () => drops.forEach((drop) => drop()),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

function toolServer(stream: ServerResponse): Server {
  const server = new Server({ name: "old", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ["blob", "steps"].map((name) => ({ name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, sendNotification }) => {
    if (params.name === "steps") {
      const progressToken = _meta?.progressToken ?? "none";
      stream.cork();
      for (const progress of [1, 2]) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 2 } });
      }
      setTimeout(() => stream.uncork(), 50);
      return { content: [{ type: "text", text: "done" }] };
    }
    const size = Number(params.arguments?.["size"]);
    if (size < 0) return new Promise(() => undefined);
    const data = Buffer.alloc(size, 1).fill("\u0089PNG\r\n\u001a\n", 0, 8, "latin1").toString("base64");
    return { content: [{ type: "image", mimeType: "image/png", data }] };
  });
  return server;
}
