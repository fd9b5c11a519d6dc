/**
 * Streamable HTTP for a command: one process per session, and one shared by clients without sessions.
 * @module
 */
import { randomUUID } from "node:crypto";
import type { ArtifactScope } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { requestOf } from "../../mcp/client-request.js";
import type { McpInterceptor } from "../../mcp/interceptor.js";
import { PassThrough } from "../../mcp/pass-through.js";
import { mismatchIn } from "../../mcp/http/mirror-headers.js";
import { objectOr, parsedOr, PROTOCOL_VERSION, RpcCode } from "../../jsonrpc/rpc.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { record } from "../../telemetry/metrics.js";
import { clause, printable, tell, type Terminal } from "../terminal/terminal.js";
import { CommandServer, type Post } from "./command-server.js";
import { clientKey, logOf } from "./interceptors.js";
import { refusal, type HttpRequest } from "./http-listener.js";

interface CommandSessionsDeps {
  readonly command: readonly string[];
  /** Its whole environment. Defaults to that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Opens an interceptor for another client. Without it everything passes through unchanged. */
  readonly open: ((scope?: ArtifactScope) => McpInterceptor) | undefined;
  readonly terminal: Terminal;
  /** The server's namespace, for telemetry of what passes through unchanged. */
  readonly namespace?: string;
  /** Most processes of one owner. Defaults to the limit for all. */
  readonly mostOfOwner?: number;
  /** Most processes of all owners of one user. */
  readonly mostOfUser?: number;
}

/** Limits where there are several users: half of the total for each, so that no user gets all of it. */
export const SHARES = { mostOfOwner: 8, mostOfUser: 32 } as const;

/** The path of the endpoint. */
export const MCP_PATH = "/mcp";

/** Most processes at a time. */
const MAX_SERVERS = 64;

/** Milliseconds that an idle process is kept. */
const IDLE = 30 * 60 * 1000;

/** The same if another client needs its place. */
const SHORT_IDLE = 60 * 1000;

const SESSION = "mcp-session-id";
const VERSION = "mcp-protocol-version";

const NOT_KEPT =
  "The events after this Last-Event-ID are no longer stored: open the stream without it, or send the request again.";

/** Error code of MCP 2026-07-28. */
const HEADER_MISMATCH = -32_020;

/** Answers HTTP requests with the processes' messages. */
export class CommandSessions implements AsyncDisposable {
  readonly #deps: CommandSessionsDeps;
  /** By session and client, or by client alone for those without sessions. */
  readonly #servers = new Map<string, Promise<CommandServer>>();
  readonly #started = new Map<string, CommandServer>();
  /** Their owners, if something other than the authorization identifies them. */
  readonly #owners = new Map<string, string>();
  /** The users of those owners. */
  readonly #users = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: CommandSessionsDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#sweep(IDLE), SHORT_IDLE).unref();
  }

  /** Answers a request. Never throws. */
  async handle(request: HttpRequest): Promise<Response> {
    const { method, path, headers } = request;
    if (path.split("?")[0] !== MCP_PATH) return new Response(null, { status: 404 });
    if (method === "POST") return this.#post(request);
    const isModern = (headers.get(VERSION) ?? "") >= "2026";
    if ((method !== "GET" && method !== "DELETE") || isModern) {
      return new Response(null, { status: 405, headers: { allow: "POST" } });
    }
    const server = await this.#session(request);
    if (server instanceof Response) return server;
    if (method === "GET") return streamOf(server, request);
    await server.stop();
    return new Response(null, { status: 200 });
  }

  /** Owners of processes. */
  get owners(): ReadonlySet<string> {
    return new Set(this.#owners.values());
  }

  /** Stops the processes of an owner. Never throws. */
  async end(owner: string): Promise<void> {
    const keys = [...this.#owners].filter(([, each]) => each === owner).map(([key]) => key);
    await Promise.allSettled(keys.map(async (key) => (await this.#servers.get(key))?.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#servers.values()].map(async (server) => (await server).stop()));
  }

  async #post(request: HttpRequest): Promise<Response> {
    const read = readPost(request);
    if (read instanceof Response) return read;
    try {
      return await (read.isModern ? this.#modern(read, request) : this.#legacy(read, request));
    } catch (error) {
      // The message is too large or nested too deep to parse.
      const { message } =
        error instanceof SluiceError ? error : new SluiceError("E_MISUSE", "The message cannot be passed on.");
      return refusal(read.id, statusOf(error), RpcCode.invalidRequest, message);
    }
  }

  async #modern(read: ReadPost, request: HttpRequest): Promise<Response> {
    const { headers } = request;
    const server = await this.#server(keyOf(null, request), request, true);
    if (read.body instanceof JsonRpcScanner) return server.refuse(read.body);
    const wrong = read.id === undefined ? undefined : mismatchIn(headers, read.message, server.tool);
    if (wrong !== undefined) {
      return refusal(read.id, 400, HEADER_MISMATCH, `The header ${wrong} does not match the request.`);
    }
    return server.post(postOf(read.body, read, request));
  }

  async #legacy(read: ReadPost, request: HttpRequest): Promise<Response> {
    const { method } = objectOr(read.message);
    if (method === "initialize" && read.body instanceof Uint8Array) {
      const session = randomUUID();
      const server = await this.#server(keyOf(session, request), request, false);
      const response = await server.post(postOf(read.body, read, request, { [SESSION]: session }));
      // Nobody has learned the session's id.
      if (request.signal.aborted) await server.stop();
      return response;
    }
    const server = await this.#session(request, read.id);
    if (server instanceof Response) return server;
    return read.body instanceof JsonRpcScanner
      ? server.refuse(read.body)
      : server.post(postOf(read.body, read, request));
  }

  /** The session of a request. */
  async #session(request: HttpRequest, id?: string): Promise<CommandServer | Response> {
    const { headers } = request;
    const session = headers.get(SESSION);
    const version = headers.get(VERSION) ?? "2025-03-26";
    if (!/^202[45]-\d\d-\d\d$/.test(version)) {
      return refusal(id, 400, RpcCode.invalidRequest, "The header MCP-Protocol-Version names an unknown revision.");
    }
    if (session === null) {
      return refusal(id, 400, RpcCode.invalidRequest, "The header Mcp-Session-Id is missing: start with initialize.");
    }
    const server = await this.#servers.get(keyOf(session, request));
    return server ?? refusal(id, 404, -32_001, "There is no such session: start again with initialize.");
  }

  #server(key: string, request: HttpRequest, isShared: boolean): Promise<CommandServer> {
    const { owner, user } = request;
    let server = this.#servers.get(key);
    if (server === undefined) {
      if (owner !== undefined) this.#owners.set(key, owner);
      if (user !== undefined) this.#users.set(key, user);
      server = this.#start(key, request, isShared);
      this.#servers.set(key, server);
      server.catch(() => this.#forget(key));
    }
    return server;
  }

  /** Limits the processes of each owner and user, so that others have room. */
  async #makeRoom(key: string): Promise<void> {
    const { mostOfOwner = MAX_SERVERS, mostOfUser = MAX_SERVERS } = this.#deps;
    await this.#makeRoomAmong(this.#owners, key, mostOfOwner);
    await this.#makeRoomAmong(this.#users, key, mostOfUser);
  }

  /** Stops the longest idle process if there are too many. A page that was reloaded has forgotten its session. */
  async #makeRoomAmong(whose: ReadonlyMap<string, string>, key: string, most: number): Promise<void> {
    const others = othersOf(whose, key);
    if (others.length < most) return;
    if (!(await this.#stopIdle(others))) throw new NoServer(`All ${most} sessions are in use: end one.`);
  }

  /** Stops the longest idle of some processes. Returns false if none is idle. */
  async #stopIdle(keys: readonly string[]): Promise<boolean> {
    const idle = keys.map((each) => this.#started.get(each)).filter((server) => server?.isIdle === true);
    const [oldest] = idle.sort((left, right) => (left?.lastUsed ?? 0) - (right?.lastUsed ?? 0));
    await oldest?.stop();
    return oldest !== undefined;
  }

  /** Holds one of the user's programs, in place of one that is idle where there are too many. */
  async #held(key: string, hold: HttpRequest["holdProgram"]): Promise<Disposable | undefined> {
    try {
      return await hold?.();
    } catch (error) {
      if (!isLimit(error) || !(await this.#stopIdle(othersOf(this.#users, key)))) throw error;
      return hold?.();
    }
  }

  async #start(key: string, { scope, holdProgram }: HttpRequest, isShared: boolean): Promise<CommandServer> {
    await this.#makeRoom(key);
    if (this.#servers.size > MAX_SERVERS) await this.#sweep(SHORT_IDLE);
    if (this.#servers.size > MAX_SERVERS) throw new NoServer(`All ${MAX_SERVERS} sessions are in use: end one.`);
    const held = await this.#held(key, holdProgram);
    const { command, env, open, terminal, namespace } = this.#deps;
    const interceptor = open?.(scope) ?? new PassThrough(logOf(terminal.errors), namespace);
    const begun = performance.now();
    const deps = { command, interceptor, terminal, isShared, ...(env !== undefined && { env }) };
    const server = await CommandServer.start(deps).catch((error: unknown) => {
      // The operator sees the error, not the client.
      if (error instanceof SluiceError) tell(terminal, printable(clause(error.message)));
      held?.[Symbol.dispose]();
      throw error;
    });
    this.#started.set(key, server);
    void this.#dropAfter(key, server, { begun, held });
    return server;
  }

  async #dropAfter(
    key: string,
    server: CommandServer,
    { begun, held }: { readonly begun: number; readonly held: Disposable | undefined },
  ): Promise<void> {
    await server.ended;
    held?.[Symbol.dispose]();
    record("mcp.server.session.duration", (performance.now() - begun) / 1000);
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#started.delete(key);
    this.#servers.delete(key);
    this.#owners.delete(key);
    this.#users.delete(key);
  }

  /** Stops processes that have been idle for so long. */
  async #sweep(idle: number): Promise<void> {
    const before = Date.now() - idle;
    const over = [...this.#started.values()].filter((server) => server.isIdle && server.lastUsed < before);
    await Promise.allSettled(over.map((server) => server.stop()));
  }
}

/** Streams messages that belong to no request, or resumes the stream of the client's last event. */
function streamOf(server: CommandServer, { headers, signal }: HttpRequest): Response {
  const primes = primesIn(headers.get(VERSION));
  const get = { headers: { [SESSION]: headers.get(SESSION) ?? "" }, primes, signal };
  const lastEventId = headers.get("last-event-id") ?? "";
  if (lastEventId === "") return server.stream(get);
  // Not 404, which would tell the client that its session is lost.
  return server.resume(lastEventId, get) ?? refusal(undefined, 400, RpcCode.invalidRequest, NOT_KEPT);
}

function primesIn(revision: unknown): boolean {
  return typeof revision === "string" && revision >= "2025-11-25";
}

function keyOf(session: string | null, { owner, headers }: HttpRequest): string {
  return clientKey(session, owner ?? headers.get("authorization"));
}

/** The other keys of the same owner or user. */
function othersOf(whose: ReadonlyMap<string, string>, key: string): readonly string[] {
  const own = whose.get(key);
  if (own === undefined) return [];
  return [...whose].flatMap(([each, its]) => (its === own && each !== key ? [each] : []));
}

/** Whether an error says that a user has reached a limit. */
function isLimit(error: unknown): error is SluiceError {
  return error instanceof SluiceError && error.code === "E_RATE_LIMIT";
}

function statusOf(error: unknown): number {
  if (isLimit(error)) return 429;
  return error instanceof NoServer ? 503 : 400;
}

class NoServer extends SluiceError {
  constructor(sentence: string) {
    super("E_MISUSE", sentence);
  }
}

function postOf(
  body: Uint8Array,
  { message, acceptsEvents, lacksEnvelope }: ReadPost,
  { headers: asked, signal }: HttpRequest,
  headers: Record<string, string> = {},
): Post {
  // An `initialize` has no header yet and carries the version itself.
  const primes = primesIn(asked.get(VERSION) ?? objectOr(objectOr(message)["params"])["protocolVersion"]);
  return { body, acceptsEvents, lacksEnvelope, primes, headers, signal };
}

interface ReadPost {
  /** The body, or a scan of one that is too large. */
  readonly body: Uint8Array | JsonRpcScanner;
  /** The parsed message. */
  readonly message: unknown;
  /** JSON text of a request's id. */
  readonly id: string | undefined;
  /** Whether it is of revision 2026-07-28 or later. */
  readonly isModern: boolean;
  /** Whether it lacks the metadata that requests of such revisions need. */
  readonly lacksEnvelope: boolean;
  readonly acceptsEvents: boolean;
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** Parses a POST, or returns the response that refuses it. */
function readPost({ headers, body }: HttpRequest): ReadPost | Response {
  const isJson = /^application\/json\b/i.test(headers.get("content-type") ?? "");
  if (!isJson || headers.has("content-encoding")) return new Response(null, { status: 415 });
  const accept = headers.get("accept") ?? "*/*";
  const acceptsEvents = /\btext\/(?:event-stream|\*)|\*\/\*/i.test(accept);
  if (!acceptsEvents && !/\bapplication\/(?:json|\*)/i.test(accept)) return new Response(null, { status: 406 });
  const header = headers.get(VERSION) ?? "";
  if (body instanceof JsonRpcScanner) {
    return {
      body,
      message: undefined,
      id: body.text("id"),
      isModern: header >= "2026",
      lacksEnvelope: false,
      acceptsEvents,
    };
  }
  const message = parsedOr(new TextDecoder().decode(body));
  if (typeof message !== "object" || message === null) {
    return refusal(undefined, 400, RpcCode.parseError, "The body is not a JSON-RPC message.");
  }
  const bytes = body ?? new Uint8Array(0);
  const { method, params } = objectOr(message);
  const meta = objectOr(objectOr(params)["_meta"]);
  const claims = PROTOCOL_VERSION in meta || method === "server/discover";
  const isModern = claims || header >= "2026";
  const id = requestOf(bytes)?.id;
  if (isModern && Array.isArray(message)) {
    return refusal(id, 400, RpcCode.invalidRequest, "This revision has no batches: send the messages one at a time.");
  }
  const { [PROTOCOL_VERSION]: version, [CAPABILITIES]: capabilities } = meta;
  const lacksEnvelope = isModern && (typeof version !== "string" || typeof capabilities !== "object");
  return { body: bytes, message, id, isModern, lacksEnvelope, acceptsEvents };
}
