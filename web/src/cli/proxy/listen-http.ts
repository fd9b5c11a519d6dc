/**
 * HTTP as Node serves it, for those who answer requests with responses.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HeldMessage } from "../../mcp/lines.js";
import { errorMessage, RpcCode } from "../../mcp/rpc.js";
import type { MessageMembers } from "../../transports/members.js";
import { CommandError, Exit } from "../exit.js";
import { systemReason } from "../system-reason.js";
import { withoutConnection } from "./headers.js";
import type { ListenAddress } from "./listen-address.js";

/** A request with its body read. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  /** Who asks, where something else than its authorization tells. */
  readonly owner?: string;
  /** Whose that owner is, where one user may have several. */
  readonly user?: string;
  /** What a body is about that is larger than may be sent on; undefined where there is none. */
  readonly body: Uint8Array | MessageMembers | undefined;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
}

/** Decides whether a request may come in, before its body is read. */
export interface HttpGuard {
  /** The refusal of a request; undefined for one that may come in. `path` has the query. */
  refusal(headers: Headers, method: string, path: string): Response | undefined;
}

/** Answers requests. What it throws becomes a response that tells nothing. */
export type HttpHandler = (request: HttpRequest) => Promise<Response>;

/** Something that listens. */
export interface HttpService extends AsyncDisposable {
  readonly port: number;
}

const MAX_CONNECTIONS = 1024;

/** Listens until it is disposed of; that ends every request. Throws CommandError where it cannot. */
export async function serveHttp(
  { host, port }: ListenAddress,
  guard: HttpGuard,
  handler: HttpHandler,
): Promise<HttpService> {
  const server = createServer((request, response) => {
    // Whatever fails here has cost one client its connection.
    serve(request, response, guard, handler).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listening(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(new CommandError(Exit.failure, `cannot listen there: ${systemReason(error)}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  guard: HttpGuard,
  handler: HttpHandler,
): Promise<void> {
  const abort = new AbortController();
  outgoing.once("close", () => abort.abort());
  const headers = headersOf(incoming);
  const { method = "GET", url: path = "/" } = incoming;
  const refusal = guard.refusal(headers, method, path);
  if (refusal !== undefined) return send(outgoing, refusal);
  const body = await bodyOf(incoming);
  let response: Response;
  try {
    response = await handler({ method, path, headers, body, signal: abort.signal });
  } catch {
    response = new Response(errorMessage("null", RpcCode.internal, "The request could not be answered."), {
      status: 500,
      headers: { "content-type": "application/json" },
    });
  }
  await send(outgoing, response);
}

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array | MessageMembers | undefined> {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  if (length === undefined && coding === undefined) return undefined;
  const held = new HeldMessage();
  for await (const chunk of incoming) held.push(chunk as Uint8Array);
  return held.whole() ?? held.members;
}

/** Writes no faster than the client reads. */
async function send(outgoing: ServerResponse, response: Response): Promise<void> {
  const headers = withoutConnection(response.headers);
  const cookies = headers.getSetCookie();
  headers.delete("set-cookie");
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  outgoing.writeHead(response.status, response.statusText, Object.fromEntries(headers));
  const reader = response.body?.getReader();
  if (reader === undefined) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const gone = (): void => void reader.cancel().catch(() => undefined);
  outgoing.once("close", gone);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(next.value)) await drained(outgoing);
    }
    outgoing.end();
  } catch {
    // The response broke off: so does ours.
    outgoing.destroy();
  } finally {
    outgoing.off("close", gone);
  }
}

async function drained(outgoing: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
    if (outgoing.destroyed) done();
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  }
  return headers;
}
