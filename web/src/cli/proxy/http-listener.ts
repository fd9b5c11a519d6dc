/**
 * Listens for HTTP requests of allowed clients and answers them with web responses.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BoundedMessage } from "../../mcp/stdio/lines.js";
import { errorMessage, RpcCode } from "../../jsonrpc/rpc.js";
import type { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { cannotListen, Exit, UsageError } from "../exit.js";
import type { Terminal } from "../terminal/terminal.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import type { Admission, ListenAccess } from "./listen-access.js";
import { headersOf, withoutConnection } from "./upstream.js";
import { createHash, timingSafeEqual } from "node:crypto";
import { hostname } from "node:os";
import { METRICS_PATH, metricsResponse, type MetricsOptions } from "../../telemetry/metrics-endpoint.js";
import { readSecret } from "../configuration.js";
import { onAbort } from "../../core/abort.js";
import { Connections, isStanding, onceASecond, workSentence } from "../../server/http/connections.js";

interface ServiceDeps {
  readonly address: ListenAddress;
  /** Lets clients in by access tokens, if configured. */
  readonly access?: ListenAccess | undefined;
  readonly terminal: Terminal;
  /** Offers the metrics at this address, too. */
  readonly metrics?: MetricsOptions | undefined;
}

/** Signals that end the service, and their exit codes. */
const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Serves, prints its URL, and returns the exit code after a signal. Throws CommandError if it cannot listen. */
export async function serveUntilSignal(
  { address, access, terminal, metrics }: ServiceDeps,
  guard: ListenGuard,
  path: string,
  handler: HttpHandler,
): Promise<number> {
  const ended = signalled();
  await using service = await serveHttp(address, { guard, access, handler, metrics });
  const url = shown(address.host, service.port, path);
  access?.listeningAt(url);
  tell(terminal, `listening on ${url}`);
  const code = await ended;
  const left = await service.close((open) =>
    tell(terminal, `stopping: waiting for ${open}; a second signal stops at once`),
  );
  if (left !== "") tell(terminal, `stopped: after ${GRACE_SECONDS} s there were still ${left}, which were ended`);
  return code;
}

/** Seconds for running requests at the end. */
const GRACE_SECONDS = 10;

/** Writes a line on standard error without waiting. */
export function tell({ errors }: Terminal, sentence: string): void {
  errors.write(`sluice: ${sentence}\n`).catch(() => undefined);
}

/**
 * Resolves to the exit code of the first signal. A second signal ends the process at once. With `until`, waits no longer than that
 * is aborted, and signals end the process from then on.
 */
export function signalled(until?: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const forget = (): void => {
      for (const [signal, resolved] of waits) process.off(signal, resolved);
    };
    const waits = [...ENDS].map(([signal, code]) => {
      const resolved = (): void => {
        forget();
        resolve(code);
      };
      return [signal, resolved] as const;
    });
    for (const [signal, resolved] of waits) process.once(signal, resolved);
    until?.addEventListener("abort", forget, { once: true });
  });
}

/** A request with its body read. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  /** The owner, if something other than the authorization identifies it. */
  readonly owner?: string;
  /** The user that the owner belongs to, if a user may have several. */
  readonly user?: string;
  /** Whose artifacts are, if something other than the authorization says so. */
  readonly scope?: ArtifactScope;
  /** When the access token expires that the request came with, in milliseconds since 1970. */
  readonly until?: number;
  /** Holds one of the programs that the user may have. Throws SluiceError E_RATE_LIMIT if there is none left. */
  readonly holdProgram?: () => Promise<Disposable>;
  /** The body, or a scan of one that is too large to forward. Undefined if there is none. */
  readonly body: Uint8Array | JsonRpcScanner | undefined;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Answers requests. An exception becomes a response without details. */
type HttpHandler = (request: HttpRequest) => Promise<Response>;

interface HttpService extends AsyncDisposable {
  readonly port: number;
  /**
   * Takes no more connections, ends event streams that last until their client leaves, and waits ten seconds for the rest.
   * `onWaiting` is told at most once a second what for. Gives what did not finish, in words; empty if all did.
   */
  close(onWaiting?: (sentence: string) => void): Promise<string>;
}

const MAX_CONNECTIONS = 1024;

/** What a request passes before it is answered. */
interface Answering {
  readonly guard: ListenGuard;
  readonly access?: ListenAccess | undefined;
  readonly handler: HttpHandler;
  /** The metrics at their path, by a token of their own. */
  readonly metrics?: MetricsOptions | undefined;
}

/** Listens until it is disposed of. Throws CommandError if it cannot. */
export async function serveHttp(address: ListenAddress, answering: Answering): Promise<HttpService> {
  const { host, port } = address;
  const { metrics } = answering;
  const metricsGuard = new ListenGuard(address, undefined);
  const connections = new Connections();
  const closing = new AbortController();
  const ending = { connections, closing: closing.signal };
  const server = createServer((request, response) => {
    if (!connections.enter(request, response)) return;
    const isMetrics = metrics !== undefined && request.url?.split("?")[0] === METRICS_PATH;
    const served = isMetrics
      ? serve(request, response, { guard: metricsGuard, handler: (asked) => metricsResponse(asked, metrics) }, ending)
      : serve(request, response, answering, ending);
    // A failure here costs one client its connection.
    served.catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket) => connections.add(socket));
  await bind(server, host, port);
  let ended: Promise<string> | undefined;
  const close = async (onWaiting?: (sentence: string) => void): Promise<string> => {
    closing.abort();
    return workSentence(
      await connections.close(server, { grace: GRACE_SECONDS * 1000, onWaiting: onWaiting && onceASecond(onWaiting) }),
    );
  };
  return {
    port: (server.address() as AddressInfo).port,
    close: (onWaiting) => (ended ??= close(onWaiting)),
    [Symbol.asyncDispose]: async () => void (await (ended ??= close())),
  };
}

/** How the end of a service meets its requests. */
interface Ending {
  readonly connections: Connections;
  /** Aborted when it begins. */
  readonly closing: AbortSignal;
}

async function bind(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(cannotListen(Exit.failure, shown(host, port, ""), "--listen HOST:PORT", error));
    });
    server.listen(port, host, resolve);
  });
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { guard, access, handler }: Answering,
  ending: Ending,
): Promise<void> {
  const abort = new AbortController();
  outgoing.once("close", () => abort.abort());
  const headers = headersOf(incoming.rawHeaders);
  const { method = "GET", url: path = "/" } = incoming;
  const answer = (given: Response): Promise<void> => send(incoming, outgoing, given, ending);
  const refused = guard.refusal(headers);
  if (refused !== undefined) return answer(refused);
  const admitted: Admission | Response = (await access?.admit({ method, path, headers })) ?? {};
  if (admitted instanceof Response) return answer(admitted);
  const body = await bodyOf(incoming);
  let response: Response;
  try {
    response = await handler({ ...admitted, method, path, headers, body, signal: abort.signal });
    if (admitted.until !== undefined) response = await whileValid({ method, headers }, response, admitted.until);
  } catch {
    response = refusal(undefined, 500, RpcCode.internal, "The request could not be answered.");
  }
  await answer(response);
}

/** An error response. `id` is JSON text. */
export function refusal(id: string | undefined, status: number, code: number, sentence: string): Response {
  const headers = { "content-type": "application/json" };
  return new Response(errorMessage(id ?? "null", code, sentence), { status, headers });
}

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array | JsonRpcScanner | undefined> {
  const { "content-length": length, "transfer-encoding": coding } = incoming.headers;
  if (length === undefined && coding === undefined) return undefined;
  const held = new BoundedMessage();
  for await (const chunk of incoming) held.push(chunk as Uint8Array);
  return held.whole() ?? held.members;
}

async function whileValid(
  request: Pick<HttpRequest, "method" | "headers">,
  response: Response,
  until: number,
): Promise<Response> {
  const { whileValid: limited } = await import("../../server/oidc/protected-resource.js");
  return limited(request, response, until);
}

/** Sends a response as fast as the client reads it. */
async function send(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  response: Response,
  { connections, closing }: Ending,
): Promise<void> {
  if (closing.aborted) outgoing.shouldKeepAlive = false;
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
  const isEvents = headers.get("content-type")?.startsWith("text/event-stream") === true;
  connections.answering(incoming, outgoing, isEvents);
  const gone = (): void => void reader.cancel().catch(() => undefined);
  outgoing.once("close", gone);
  // Nothing else ends it, and its client comes back.
  const forget = isEvents && isStanding(incoming) ? onAbort(closing, gone) : undefined;
  if (forget !== undefined && closing.aborted) gone();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (outgoing.destroyed) return;
      if (!outgoing.write(next.value)) await drain(outgoing);
    }
    outgoing.end();
  } catch {
    // The response broke off, so ours does too.
    outgoing.destroy();
  } finally {
    outgoing.off("close", gone);
    forget?.();
  }
}

async function drain(outgoing: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
    if (outgoing.destroyed) done();
  });
}

/** The address of `--listen HOST:PORT`. */
export interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** The environment variable that holds the bearer token. */
const TOKEN_VARIABLE = "SLUICE_PROXY_TOKEN";

const SHORTEST_TOKEN = 16;

/** Parses the option of a command. Throws UsageError. */
export function listenAddress(said: string, command: string = "proxy", option: string = "listen"): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(said) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    const sentence = `--${option} needs HOST:PORT, as in --${option} 127.0.0.1:8080; port 0 picks a free one`;
    throw new UsageError(sentence, command);
  }
  return { host, port: Number(port) };
}

/** The token that clients must have, if any. Throws UsageError for a public address without one. */
export function listenToken(env: NodeJS.ProcessEnv, { host }: ListenAddress): string | undefined {
  const token = readSecret(env, TOKEN_VARIABLE, SHORTEST_TOKEN, "proxy");
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--listen on an address that other machines can reach needs a bearer token in ${TOKEN_VARIABLE}, or in the file named in ${TOKEN_VARIABLE}_FILE`,
      "proxy",
    );
  }
  return token;
}

const WANTS_TOKEN = "This proxy needs its own bearer token in the Authorization header.";

/** Decides whether a request is admitted. */
export class ListenGuard {
  readonly #host: string;
  readonly #token: string | undefined;
  readonly #publicHost: string | undefined;

  /** @param publicUrl the URL that clients use, if a proxy is in front. */
  constructor({ host }: ListenAddress, token: string | undefined, publicUrl?: URL) {
    this.#host = host.toLowerCase();
    this.#token = token;
    this.#publicHost = publicUrl && hostIn(publicUrl.href);
  }

  /** The refusal of a request; undefined if it is admitted. */
  refusal(headers: Headers): Response | undefined {
    const origin = headers.get("origin");
    const isOurs = this.#isOurs(hostIn(`http://${headers.get("host") ?? ""}`));
    // A page from elsewhere can reach us by a host name of its own, but cannot hide its origin.
    if (!isOurs || (origin !== null && !this.#isOurs(hostIn(origin)))) {
      return refusal(
        undefined,
        403,
        RpcCode.invalidRequest,
        "Only requests that use this machine's own name and come from its own pages are answered.",
      );
    }
    if (this.#token === undefined) return undefined;
    const [, token = ""] = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    // Digests compare in constant time for all tokens.
    if (timingSafeEqual(digest(token), digest(this.#token))) return undefined;
    const wanted = refusal(undefined, 401, RpcCode.invalidRequest, WANTS_TOKEN);
    wanted.headers.set("www-authenticate", "Bearer");
    return wanted;
  }

  #isOurs(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (isLoopback(host) || host === this.#host || host === this.#publicHost) return true;
    // A wildcard address accepts every address and the machine's name. Another name could belong to anybody.
    return isEverywhere(this.#host) && (isAddress(host) || host === hostname().toLowerCase());
  }
}

/** The address as a URL. */
export function shown(host: string, port: number, path: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}

function hostIn(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  } catch {
    return undefined;
  }
}

/** Whether a host is this machine only. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** Whether a host stands for all addresses of this machine. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
