/**
 * HTTP as Node serves it, for those who answer requests with responses.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { HeldMessage } from "../../mcp/lines.js";
import { errorMessage, RpcCode } from "../../mcp/rpc.js";
import type { MessageMembers } from "../../transports/members.js";
import { CommandError, Exit, systemReason } from "../exit.js";
import type { Terminal } from "../terminal.js";
import { headersOf, withoutConnection } from "./headers.js";
import { shown, type ListenAddress, type ListenGuard } from "./listen-address.js";

interface ServiceTerms {
  readonly address: ListenAddress;
  readonly terminal: Terminal;
}

/** Signals that end the service, and its exit codes. */
const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Serves, tells its URL, and gives the exit code once a signal came. Throws CommandError when it cannot listen. */
export async function serveUntilSignal(
  { address, terminal }: ServiceTerms,
  guard: ListenGuard,
  path: string,
  handler: HttpHandler,
): Promise<number> {
  const ended = signalled();
  await using service = await serveHttp(address, guard, handler);
  tell(terminal, `listening on ${shown(address.host, service.port, path)}`);
  return await ended;
}

/** Writes a line on standard error; it does not wait for whoever reads it. */
export function tell({ errors }: Terminal, sentence: string): void {
  errors.write(`sluice: ${sentence}\n`).catch(() => undefined);
}

/** The exit code of the first signal that comes; a second one ends the process at once. */
export function signalled(): Promise<number> {
  return new Promise((resolve) => {
    for (const [signal, code] of ENDS) process.once(signal, () => resolve(code));
  });
}

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

/** Answers requests. What it throws becomes a response that tells nothing. */
type HttpHandler = (request: HttpRequest) => Promise<Response>;

interface HttpService extends AsyncDisposable {
  readonly port: number;
}

const MAX_CONNECTIONS = 1024;

/** Listens until it is disposed of; that ends every request. Throws CommandError where it cannot. */
async function serveHttp(
  { host, port }: ListenAddress,
  guard: ListenGuard,
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
  guard: ListenGuard,
  handler: HttpHandler,
): Promise<void> {
  const abort = new AbortController();
  outgoing.once("close", () => abort.abort());
  const headers = headersOf(incoming.rawHeaders);
  const { method = "GET", url: path = "/" } = incoming;
  const refused = guard.refusal(headers);
  if (refused !== undefined) return send(outgoing, refused);
  const body = await bodyOf(incoming);
  let response: Response;
  try {
    response = await handler({ method, path, headers, body, signal: abort.signal });
  } catch {
    response = refusal(undefined, 500, RpcCode.internal, "The request could not be answered.");
  }
  await send(outgoing, response);
}

/** An error response. `id` is JSON text. */
export function refusal(id: string | undefined, status: number, code: number, sentence: string): Response {
  const headers = { "content-type": "application/json" };
  return new Response(errorMessage(id ?? "null", code, sentence), { status, headers });
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
