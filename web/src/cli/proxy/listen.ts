/**
 * `sluice proxy --listen`: offers a server over Streamable HTTP.
 * @module
 */
import type { McpInterceptor } from "../../mcp/interceptor.js";
import { keepResponseAlive } from "../../http/event-stream.js";
import { exchange, gateResponse, idsIn, replySender } from "../../mcp/http/exchange.js";
import type { FetchLike } from "../../mcp/http/gate-fetch.js";
import { acceptsEvents, isJson, McpHeader, replaceHeaders } from "../../mcp/http/headers.js";
import { RpcCode } from "../../jsonrpc/rpc.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { clause, printable, tell, type Terminal } from "../terminal/terminal.js";
import { SluiceError } from "../../errors/error.js";
import { LineWriter } from "../../jsonrpc/lines.js";
import { PassThrough } from "../../mcp/pass-through.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import { refuseRequest } from "../../mcp/http/refusal.js";
import {
  clientKey,
  MCP_PATH,
  McpSessions,
  SHARES,
  type HttpRequest,
  type OpenSession,
} from "../../mcp/http/sessions.js";
import { Interceptors, createLog } from "./interceptors.js";
import { requestHeaders, type Header, describeFailure, Upstream } from "./upstream.js";
import type { ListenAccess, ListenOidc } from "./listen-access.js";
import { METRICS_PATH } from "../../telemetry/metrics-endpoint.js";
import { offerMetrics, type MetricsPlace } from "./metrics-listener.js";
import { ListenGuard, type ListenAddress, serveUntilSignal } from "./http-listener.js";
import { lossy, startServer } from "./stdio.js";

/** Options for listening. */
export interface ListenDeps {
  readonly address: ListenAddress;
  /** The bearer token that clients must have. */
  readonly token: string | undefined;
  /** Lets clients in by access tokens of a provider, in place of the token. */
  readonly oidc?: ListenOidc | undefined;
  /** Opens an interceptor for another client. Without it everything passes through unchanged. */
  readonly open: ((scope?: ArtifactScope) => McpInterceptor) | undefined;
  readonly terminal: Terminal;
  /** Where the metrics are. Undefined if nowhere. */
  readonly metrics: MetricsPlace | undefined;
}

/** Offers a server at a URL until a signal arrives. Returns the exit code. Throws CommandError if it cannot listen. */
export async function listenAtUrl(
  { url, headers }: { readonly url: URL; readonly headers: readonly Header[] },
  deps: ListenDeps,
): Promise<number> {
  using upstream = new Upstream();
  const guard = new ListenGuard(deps.address, deps.token, deps.oidc?.publicUrl);
  const access = await accessFor(deps);
  const proxy = new ListenUrl({
    url,
    headers,
    // A token is meant for the proxy alone.
    passesAuthorization: deps.token === undefined && access === undefined,
    fetch: upstream.fetch,
    ...(deps.open !== undefined && { interceptors: new Interceptors(deps.open) }),
    onUnauthorized: () => tell(deps.terminal, UNAUTHORIZED),
  });
  await using offered = await offerMetrics(deps.metrics, deps.terminal);
  // The server may have that path itself.
  const metrics = url.pathname === METRICS_PATH ? undefined : offered.here;
  return await serveUntilSignal({ ...deps, access, metrics }, guard, url.pathname, (request) => proxy.handle(request));
}

/** Offers a command, with one process per session. */
export async function listenAtCommand(command: readonly string[], deps: ListenDeps): Promise<number> {
  const guard = new ListenGuard(deps.address, deps.token, deps.oidc?.publicUrl);
  const access = await accessFor(deps);
  const shares = access === undefined ? {} : SHARES;
  await using sessions = new McpSessions({ open: (request) => openCommand(command, request, deps), ...shares });
  await using offered = await offerMetrics(deps.metrics, deps.terminal);
  const metrics = offered.here;
  return await serveUntilSignal({ ...deps, access, metrics }, guard, MCP_PATH, (request) => sessions.handle(request));
}

/** Starts the process of a session. The operator learns in full why it cannot be started, the client in a sentence. */
async function openCommand(
  command: readonly string[],
  { scope }: HttpRequest,
  { open, terminal }: ListenDeps,
): ReturnType<OpenSession> {
  const interceptor = open?.(scope) ?? new PassThrough(createLog(terminal.errors));
  try {
    const { server } = await startServer(command, terminal);
    return { peer: server, interceptor, nonProtocol: new LineWriter(lossy(terminal.errors)).sink() };
  } catch (error) {
    if (error instanceof SluiceError) tell(terminal, printable(clause(error.message)));
    throw error;
  }
}

async function accessFor({ oidc, terminal }: ListenDeps): Promise<ListenAccess | undefined> {
  if (oidc === undefined) return undefined;
  const { ListenAccess: Access } = await import("./listen-access.js");
  return new Access(oidc, (sentence) => tell(terminal, sentence));
}

const UNAUTHORIZED =
  'the server needs authorization: clients are told so, but many sign in only at the address that they connect to; for these, pass --header "Authorization: Bearer …"';

interface ListenUrlDeps {
  readonly url: URL;
  /** Headers for every request. */
  readonly headers: readonly Header[];
  /** Whether clients' Authorization header is passed on to the server. */
  readonly passesAuthorization: boolean;
  readonly fetch: FetchLike;
  /** Without them everything passes through unchanged. */
  readonly interceptors?: Interceptors;
  /** Called once when the server wants authorization. */
  readonly onUnauthorized: () => void;
}

/** Passes requests to a server, at the path they arrived at. */
export class ListenUrl {
  readonly #deps: ListenUrlDeps;
  readonly #owners = new SessionOwners();
  #isTold = false;

  constructor(deps: ListenUrlDeps) {
    this.#deps = deps;
  }

  /** Answers a request like the server does. */
  async handle(request: HttpRequest): Promise<Response> {
    const { owner, headers } = request;
    const session = headers.get(McpHeader.session);
    if (owner !== undefined && session !== null && !this.#owners.isOwn(session, owner)) return noSession(request);
    try {
      const response = keepResponseAlive(await this.#pass(request));
      if (owner !== undefined) this.#note(request, response, owner);
      if (response.status === 401 && !this.#isTold) {
        this.#isTold = true;
        this.#deps.onUnauthorized();
      }
      return owner === undefined ? response : await withoutChallenge(request, response);
    } catch (error) {
      return answerUnreachable(request, error);
    }
  }

  #note({ method, headers }: HttpRequest, response: Response, owner: string): void {
    const [asked, given] = [headers.get(McpHeader.session), response.headers.get(McpHeader.session)];
    if (!response.ok) return;
    if (asked === null && given !== null) this.#owners.note(given, owner);
    if (asked !== null && method === "DELETE") this.#owners.forget(asked);
  }

  #pass(request: HttpRequest): Promise<Response> {
    const { interceptors } = this.#deps;
    const { method, headers, body } = request;
    const sent = new UpstreamRequest(this.#deps, request);
    if (interceptors === undefined) return this.#whole(body, () => sent.asItIs());
    if (method === "POST" && body !== undefined && isJson(headers))
      return this.#post(interceptors, request, body, sent);
    if (method === "GET" && acceptsEvents(headers)) return this.#stream(interceptors, request, sent);
    if (method === "DELETE") interceptors.drop(toClientKey(request));
    return this.#whole(body, () => sent.asItIs());
  }

  async #post(
    interceptors: Interceptors,
    request: HttpRequest,
    body: Uint8Array | JsonRpcScanner,
    sent: UpstreamRequest,
  ): Promise<Response> {
    const { headers } = request;
    if (headers.has("content-encoding")) return new Response(null, { status: 415 });
    const key = toClientKey(request);
    const isOpening = methodIn(body) === '"initialize"';
    const known = isOpening ? undefined : interceptors.find(key);
    const interceptor = known ?? interceptors.open(this.#authorization(headers), request.scope);
    // Without sessions several clients may use equal ids.
    const passes = isOpening || headers.has(McpHeader.session) ? interceptor : interceptor.forExchange();
    let unanswered = 0;
    const keep = (response: Response): void => {
      const session = response.headers.get(McpHeader.session);
      if (response.ok) interceptors.keep(isOpening ? toClientKey(request, session) : key, interceptor);
    };
    const response = await exchange(passes, body, {
      send: async (bytes) => {
        unanswered += 1;
        const answered = await sent.message(passes, bytes);
        unanswered -= 1;
        keep(answered);
        return answered;
      },
      takesEvents: acceptsEvents(headers),
      // A client that the server has never admitted must not see what is stored.
      admit: async () => (known === undefined ? sent.probe() : undefined),
    });
    // A response that begins before the server's does not say that the client is admitted.
    if (unanswered === 0) keep(response);
    return response;
  }

  async #stream(interceptors: Interceptors, request: HttpRequest, sent: UpstreamRequest): Promise<Response> {
    const key = toClientKey(request);
    const interceptor =
      interceptors.find(key) ?? interceptors.open(this.#authorization(request.headers), request.scope);
    const response = await sent.asItIs();
    if (response.ok) interceptors.keep(key, interceptor);
    return gateResponse(interceptor, response, { reply: replySender((bytes) => sent.message(interceptor, bytes)) });
  }

  /** The client's identity to the server. Null if all clients share the proxy's token. */
  #authorization(headers: Headers): string | null {
    return this.#deps.passesAuthorization ? headers.get("authorization") : null;
  }

  async #whole(body: HttpRequest["body"], pass: () => Promise<Response>): Promise<Response> {
    return body instanceof JsonRpcScanner ? new Response(null, { status: 413 }) : pass();
  }
}

/** Most sessions of a server that are remembered with their owners. */
const MAX_SESSIONS = 10_000;

/**
 * Whose the sessions of a server are. The server knows all clients by the proxy's credentials, so it cannot tell whether a
 * client uses another user's session.
 */
class SessionOwners {
  /** The longest unused first. */
  readonly #owners = new Map<string, string>();

  /** Remembers the owner of a new session. */
  note(session: string, owner: string): void {
    this.#owners.delete(session);
    this.#owners.set(session, owner);
    const [oldest] = this.#owners.keys();
    if (this.#owners.size > MAX_SESSIONS && oldest !== undefined) this.#owners.delete(oldest);
  }

  /** Whether a session is known, and belongs to the caller. */
  isOwn(session: string, owner: string): boolean {
    if (this.#owners.get(session) !== owner) return false;
    this.note(session, owner);
    return true;
  }

  /** Forgets a session that has ended. */
  forget(session: string): void {
    this.#owners.delete(session);
  }
}

/** A client's request as it is sent to the server. */
class UpstreamRequest {
  readonly #deps: ListenUrlDeps;
  readonly #request: HttpRequest;
  readonly #headers: Headers;
  readonly #url: URL;

  constructor(deps: ListenUrlDeps, request: HttpRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#headers = requestHeaders(request.headers, []);
    if (!deps.passesAuthorization) this.#headers.delete("authorization");
    for (const [name, value] of deps.headers) this.#headers.set(name, value);
    this.#url = toTarget(deps.url, request.path);
  }

  asItIs(): Promise<Response> {
    const { body } = this.#request;
    return this.#send(this.#headers, body instanceof JsonRpcScanner ? undefined : body);
  }

  /** Sends a message in place of the original, if there is one. */
  message(interceptor: McpInterceptor, bytes: Uint8Array | undefined): Promise<Response> {
    if (bytes === undefined) return this.asItIs();
    const headers = replaceHeaders(this.#headers, bytes, (name) => interceptor.tool(name));
    return this.#send(headers, bytes, "POST");
  }

  /** Sends the request itself, and returns the response if the server refuses it. */
  async probe(): Promise<Response | undefined> {
    const response = await this.asItIs();
    // An unknown session may be refused in any way. Without a session, only these codes refuse the client and not the
    // request.
    const { status, ok } = response;
    const isRefused = this.#headers.has(McpHeader.session) ? !ok : status === 401 || status === 403 || status >= 500;
    if (isRefused) return response;
    await response.body?.cancel();
    return undefined;
  }

  async #send(headers: Headers, body: Uint8Array | undefined, method = this.#request.method): Promise<Response> {
    const { signal } = this.#request;
    const init = { method, headers, signal, ...(body !== undefined && { body: body as BodyInit }) };
    const response = await this.#deps.fetch(this.#url, init);
    const location = response.headers.get("location");
    if (location !== null) response.headers.set("location", relativeLocation(location, this.#deps.url));
    return response;
  }
}

/** The URL at the server for a path. Adds the query of the server's own address. */
function toTarget(url: URL, path: string): URL {
  // A path with two leading slashes would name another host.
  const { pathname, search } = new URL(`http://localhost/${path.replace(/^\/+/, "")}`);
  const target = new URL(url);
  target.pathname = pathname;
  target.search = search === "" && pathname === url.pathname ? url.search : search;
  target.hash = "";
  return target;
}

/** Makes a redirect to the server's own origin relative, so that the client follows it through the proxy. */
function relativeLocation(location: string, { origin }: URL): string {
  return location === origin || location.startsWith(`${origin}/`) ? location.slice(origin.length) || "/" : location;
}

function toClientKey({ headers, owner }: HttpRequest, session = headers.get(McpHeader.session)): string {
  return clientKey(session, owner ?? headers.get("authorization"));
}

/** The same error for an unknown session and for another user's. */
function noSession({ body }: HttpRequest): Response {
  const [id] = body instanceof Uint8Array ? idsIn(body) : [];
  return refuseRequest(id, 404, -32_001, "There is no such session: start again with initialize.");
}

/** The client's own token is good: it must not look for another one at the server's provider. */
async function withoutChallenge({ body }: HttpRequest, response: Response): Promise<Response> {
  if (response.status !== 401) {
    if (!response.headers.has("www-authenticate")) return response;
    const own = new Response(response.body, response);
    own.headers.delete("www-authenticate");
    return own;
  }
  await response.body?.cancel();
  const [id] = body instanceof Uint8Array ? idsIn(body) : [];
  return refuseRequest(
    id,
    502,
    RpcCode.serverError,
    "The server behind this proxy does not accept the proxy's credentials.",
  );
}

function methodIn(body: Uint8Array | JsonRpcScanner): string | undefined {
  if (body instanceof JsonRpcScanner) return body.text("method");
  const members = new JsonRpcScanner();
  members.push(body);
  return members.text("method")?.trim();
}

function answerUnreachable({ body }: HttpRequest, error: unknown): Response {
  const [id] = body instanceof Uint8Array ? idsIn(body) : [];
  return refuseRequest(id, 502, RpcCode.serverError, describeFailure(error));
}
