/**
 * Servers over HTTP that answer by themselves, for what the fixture never does.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A JSON-RPC message. */
export interface Rpc {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly requestId?: unknown };
}

/** A request that came. */
export interface Came {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Undefined for GET and DELETE. */
  readonly rpc: Rpc | undefined;
}

/** Both eras, for `describe.each`. */
export const ERAS = ["legacy", "modern"] as const;

/** What answers; false: the plain answer is given. */
export type Answering = (came: Came) => boolean | Promise<boolean>;

/** A server that listens. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
  /** All requests so far. */
  readonly came: readonly Came[];
}

export const LEGACY_INIT = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "s", version: "1" },
};

export const MODERN_DISCOVER = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
};

/** A server of one era, with one tool `hello`, where `answering` does not answer. */
export async function listening(era: "legacy" | "modern", answering: Answering): Promise<Listening> {
  const came: Came[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const rpc = chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as Rpc);
    const each: Came = { request, response, rpc };
    came.push(each);
    if (!(await answering(each))) plain(era, each);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    came,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Whether a tool is called. */
export function isCall({ rpc }: Came): boolean {
  return rpc?.method === "tools/call";
}

/** Answers with a status, and words that nobody may see. */
export function refuse({ response }: Came, status: number, headers: Record<string, string> = {}): true {
  response.writeHead(status, headers).end("secret words of the server");
  return true;
}

/** Answers with a result as JSON. */
export function answer({ response, rpc }: Came, result: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc?.id, result }));
}

function plain(era: "legacy" | "modern", came: Came): void {
  const { response, rpc } = came;
  if (rpc === undefined) return void response.writeHead(405).end();
  if (rpc.id === undefined) return void response.writeHead(202).end();
  if (rpc.method === "initialize" && era === "legacy") {
    response.setHeader("mcp-session-id", "session");
    return answer(came, LEGACY_INIT);
  }
  if (rpc.method === "server/discover" && era === "modern") return answer(came, MODERN_DISCOVER);
  if (rpc.method === "tools/call") {
    return answer(came, { resultType: "complete", content: [{ type: "text", text: "hello" }] });
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error: { code: -32601, message: "Method not found" } }));
}
