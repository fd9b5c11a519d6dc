/**
 * `sluice proxy --listen`: a server offered over Streamable HTTP.
 * @module
 */
import type { Door } from "../../mcp/door.js";
import { asPost, exchange, gatedResponse, idsIn, replying } from "../../mcp/exchange.js";
import type { FetchLike } from "../../mcp/gate-fetch.js";
import { mirroredAgain } from "../../mcp/mirror-headers.js";
import { RpcCode } from "../../mcp/rpc.js";
import { MessageMembers } from "../../transports/members.js";
import type { Terminal } from "../terminal.js";
import { CommandSessions, MCP_PATH } from "./command-sessions.js";
import { clientKey, Doors } from "./doors.js";
import { requestHeaders, type Header } from "./headers.js";
import { ListenGuard, type ListenAddress } from "./listen-address.js";
import { refusal, serveUntilSignal, tell, type HttpRequest } from "./listen-http.js";
import { failureOf, Upstream } from "./upstream.js";

/** Where a proxy listens, and what for. */
export interface ListenTerms {
  readonly address: ListenAddress;
  /** What clients have to have. */
  readonly token: string | undefined;
  /** Makes a door for one more client; left out, everything passes as it is. */
  readonly open: ((user?: string) => Door) | undefined;
  readonly terminal: Terminal;
}

/** Serves until a signal comes; gives the exit code. Throws CommandError when it cannot listen. */
export async function listenAtUrl(
  { url, headers }: { readonly url: URL; readonly headers: readonly Header[] },
  terms: ListenTerms,
): Promise<number> {
  using upstream = new Upstream();
  const guard = new ListenGuard(terms.address, terms.token);
  const proxy = new ListenUrl({
    url,
    headers,
    passesAuthorization: !guard.wantsToken,
    fetch: upstream.fetch,
    ...(terms.open !== undefined && { doors: new Doors(terms.open) }),
    onUnauthorized: () => tell(terms.terminal, UNAUTHORIZED),
  });
  return await serveUntilSignal(terms, guard, url.pathname, (request) => proxy.handle(request));
}

/** The same for a server that is a command: each session has a process of its own. */
export async function listenAtCommand(command: readonly string[], terms: ListenTerms): Promise<number> {
  const guard = new ListenGuard(terms.address, terms.token);
  await using sessions = new CommandSessions({ command, open: terms.open, terminal: terms.terminal });
  return await serveUntilSignal(terms, guard, MCP_PATH, (request) => sessions.handle(request));
}

const UNAUTHORIZED =
  'the server wants authorization: what it says is handed through, but many clients sign in only where they connect to; then pass --header "Authorization: Bearer …"';

interface ListenUrlTerms {
  readonly url: URL;
  /** Headers for every request. */
  readonly headers: readonly Header[];
  /** Whether the header Authorization of clients is the server's to see. */
  readonly passesAuthorization: boolean;
  readonly fetch: FetchLike;
  /** Left out, everything passes as it is. */
  readonly doors?: Doors;
  /** Told once that the server wants authorization. */
  readonly onUnauthorized: () => void;
}

const SESSION = "mcp-session-id";

/** Passes requests to a server, at the path they came to. */
class ListenUrl {
  readonly #terms: ListenUrlTerms;
  #isTold = false;

  constructor(terms: ListenUrlTerms) {
    this.#terms = terms;
  }

  /** Answers a request as the server does. */
  async handle(request: HttpRequest): Promise<Response> {
    try {
      const response = await this.#pass(request);
      if (response.status === 401 && !this.#isTold) {
        this.#isTold = true;
        this.#terms.onUnauthorized();
      }
      return response;
    } catch (error) {
      return unreachable(request, error);
    }
  }

  #pass(request: HttpRequest): Promise<Response> {
    const { doors } = this.#terms;
    const { method, headers, body } = request;
    const sent = new SentOn(this.#terms, request);
    if (doors === undefined) return this.#whole(body, () => sent.asItIs());
    if (method === "POST" && body !== undefined && isJson(headers)) return this.#post(doors, request, body, sent);
    if (method === "GET" && acceptsEvents(headers)) return this.#stream(doors, request, sent);
    if (method === "DELETE") doors.drop(keyOf(headers));
    return this.#whole(body, () => sent.asItIs());
  }

  async #post(
    doors: Doors,
    { headers }: HttpRequest,
    body: Uint8Array | MessageMembers,
    sent: SentOn,
  ): Promise<Response> {
    if (headers.has("content-encoding")) return new Response(null, { status: 415 });
    const key = keyOf(headers);
    const isOpening = methodIn(body) === '"initialize"';
    const known = isOpening ? undefined : doors.find(key);
    const door = known ?? doors.open(this.#authorization(headers));
    // Without sessions there may be several clients whose ids are the same.
    const passes = isOpening || headers.has(SESSION) ? door : door.forExchange();
    const response = await exchange(passes, body, {
      send: (bytes) => sent.message(passes, bytes),
      // Whom the server has never let in does not get to see what is stored either.
      admit: async () => (known === undefined ? sent.judged() : undefined),
    });
    if (response.ok) doors.keep(isOpening ? keyOf(headers, response.headers.get(SESSION)) : key, door);
    return response;
  }

  async #stream(doors: Doors, { headers }: HttpRequest, sent: SentOn): Promise<Response> {
    const key = keyOf(headers);
    const door = doors.find(key) ?? doors.open(this.#authorization(headers));
    const response = await sent.asItIs();
    if (response.ok) doors.keep(key, door);
    return gatedResponse(door, response, { reply: replying((bytes) => sent.message(door, bytes)) });
  }

  /** Who a client is to the server; nobody is anybody where all have the proxy's own token. */
  #authorization(headers: Headers): string | null {
    return this.#terms.passesAuthorization ? headers.get("authorization") : null;
  }

  async #whole(body: HttpRequest["body"], pass: () => Promise<Response>): Promise<Response> {
    return body instanceof MessageMembers ? new Response(null, { status: 413 }) : pass();
  }
}

/** A request on its way to the server. */
class SentOn {
  readonly #terms: ListenUrlTerms;
  readonly #request: HttpRequest;
  readonly #headers: Headers;
  readonly #url: URL;

  constructor(terms: ListenUrlTerms, request: HttpRequest) {
    this.#terms = terms;
    this.#request = request;
    this.#headers = requestHeaders(request.headers, []);
    if (!terms.passesAuthorization) this.#headers.delete("authorization");
    for (const [name, value] of terms.headers) this.#headers.set(name, value);
    this.#url = targetOf(terms.url, request.path);
  }

  asItIs(): Promise<Response> {
    const { body } = this.#request;
    return this.#send(this.#headers, body instanceof MessageMembers ? undefined : body);
  }

  /** Sends a message in place of the one that came, if there is one. */
  message(door: Door, bytes: Uint8Array | undefined): Promise<Response> {
    if (bytes === undefined) return this.asItIs();
    const headers = mirroredAgain(asPost(new Headers(this.#headers)), bytes, (name) => door.tool(name));
    return this.#send(headers, bytes, "POST");
  }

  /** What the server says to the request itself, if that is no. */
  async judged(): Promise<Response | undefined> {
    const response = await this.asItIs();
    // A session that is not known is refused in any way; without one, what is refused may be what was asked for.
    const { status, ok } = response;
    const isRefused = this.#headers.has(SESSION) ? !ok : status === 401 || status === 403 || status >= 500;
    if (isRefused) return response;
    await response.body?.cancel();
    return undefined;
  }

  async #send(headers: Headers, body: Uint8Array | undefined, method = this.#request.method): Promise<Response> {
    const { signal } = this.#request;
    const init = { method, headers, signal, ...(body !== undefined && { body: body as BodyInit }) };
    const response = await this.#terms.fetch(this.#url, init);
    const location = response.headers.get("location");
    if (location !== null) response.headers.set("location", nearer(location, this.#terms.url));
    return response;
  }
}

/** The same path at the server; what its own address asks for is asked again. */
function targetOf(url: URL, path: string): URL {
  // A path that begins with two slashes would name another machine.
  const { pathname, search } = new URL(`http://localhost/${path.replace(/^\/+/, "")}`);
  const target = new URL(url);
  target.pathname = pathname;
  target.search = search === "" && pathname === url.pathname ? url.search : search;
  target.hash = "";
  return target;
}

/** Where the server points to itself, without its name: whoever follows comes through here again. */
function nearer(location: string, { origin }: URL): string {
  return location === origin || location.startsWith(`${origin}/`) ? location.slice(origin.length) || "/" : location;
}

function keyOf(headers: Headers, session = headers.get(SESSION)): string {
  return clientKey(session, headers.get("authorization"));
}

function methodIn(body: Uint8Array | MessageMembers): string | undefined {
  if (body instanceof MessageMembers) return body.text("method");
  const members = new MessageMembers();
  members.push(body);
  return members.text("method")?.trim();
}

function isJson(headers: Headers): boolean {
  return /^application\/json\b/i.test(headers.get("content-type") ?? "");
}

function acceptsEvents(headers: Headers): boolean {
  return /\btext\/event-stream\b/i.test(headers.get("accept") ?? "");
}

function unreachable({ body }: HttpRequest, error: unknown): Response {
  const [id] = body instanceof Uint8Array ? idsIn(body) : [];
  return refusal(id, 502, RpcCode.serverError, failureOf(error));
}
