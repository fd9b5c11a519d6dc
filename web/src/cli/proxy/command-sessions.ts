/**
 * Streamable HTTP in front of a command: a process for each session, and one for all who need none.
 * @module
 */
import { randomUUID } from "node:crypto";
import { SluiceError } from "../../errors/error.js";
import { requestOf } from "../../mcp/client-request.js";
import type { Door } from "../../mcp/door.js";
import { PlainDoor } from "../../mcp/doorway.js";
import { mismatchIn } from "../../mcp/mirror-headers.js";
import { objectOr, parsedOr, PROTOCOL_VERSION, RpcCode } from "../../mcp/rpc.js";
import { MessageMembers } from "../../transports/members.js";
import { printable, type Terminal } from "../terminal.js";
import { CommandServer, type Post } from "./command-server.js";
import { clientKey, logOf } from "./doors.js";
import { refusal, tell, type HttpRequest } from "./listen-http.js";

interface CommandSessionsTerms {
  readonly command: readonly string[];
  /** Its whole environment; that of this process where left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** Makes a door for one more client; left out, everything passes as it is. */
  readonly open: ((user?: string) => Door) | undefined;
  readonly terminal: Terminal;
  /** Processes that one owner may have at a time; as many as there may be at all where left out. */
  readonly mostOfOwner?: number;
  /** The same of all owners that are one user's. */
  readonly mostOfUser?: number;
}

/** Where a command is offered. */
export const MCP_PATH = "/mcp";

/** Processes that run at a time. */
const MAX_SERVERS = 64;

/** How long, in milliseconds, one is kept that nobody speaks to. */
const IDLE = 30 * 60 * 1000;

/** The same when another client wants its place. */
const SHORT_IDLE = 60 * 1000;

const SESSION = "mcp-session-id";

/** Codes of MCP 2026-07-28. */
const HEADER_MISMATCH = -32_020;

/** Answers HTTP requests with what processes say. */
export class CommandSessions implements AsyncDisposable {
  readonly #terms: CommandSessionsTerms;
  /** By session and client, and by client alone for those without sessions. */
  readonly #servers = new Map<string, Promise<CommandServer>>();
  readonly #started = new Map<string, CommandServer>();
  /** Whose they are, where something else than an authorization tells. */
  readonly #owners = new Map<string, string>();
  /** Whose those owners are. */
  readonly #users = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(terms: CommandSessionsTerms) {
    this.#terms = terms;
    this.#timer = setInterval(() => void this.#sweep(IDLE), SHORT_IDLE).unref();
  }

  /** Never throws. */
  async handle(request: HttpRequest): Promise<Response> {
    const { method, path, headers } = request;
    if (path.split("?")[0] !== MCP_PATH) return new Response(null, { status: 404 });
    if (method === "POST") return this.#post(request);
    const isModern = (headers.get("mcp-protocol-version") ?? "") >= "2026";
    if ((method !== "GET" && method !== "DELETE") || isModern) {
      return new Response(null, { status: 405, headers: { allow: "POST" } });
    }
    const server = await this.#session(request);
    if (server instanceof Response) return server;
    if (method === "GET") return server.stream({ [SESSION]: headers.get(SESSION) ?? "" });
    await server.stop();
    return new Response(null, { status: 200 });
  }

  /** Owners of processes. */
  get owners(): ReadonlySet<string> {
    return new Set(this.#owners.values());
  }

  /** Ends the processes of an owner. Never throws. */
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
      // What is too large or nests too deep to be looked into.
      const { message } = error instanceof SluiceError ? error : new SluiceError("E_MISUSE", "It cannot be passed on.");
      return refusal(read.id, error instanceof NoServer ? 503 : 400, RpcCode.invalidRequest, message);
    }
  }

  async #modern(read: ReadPost, request: HttpRequest): Promise<Response> {
    const { headers } = request;
    const server = await this.#server(keyOf(null, request), request, true);
    if (read.body instanceof MessageMembers) return server.refuse(read.body);
    const wrong = read.id === undefined ? undefined : mismatchIn(headers, read.message, server.tool);
    if (wrong !== undefined) {
      return refusal(read.id, 400, HEADER_MISMATCH, `The header ${wrong} says something else than the request.`);
    }
    return server.post(postOf(read.body, read, request));
  }

  async #legacy(read: ReadPost, request: HttpRequest): Promise<Response> {
    const { method } = objectOr(read.message);
    if (method === "initialize" && read.body instanceof Uint8Array) {
      const session = randomUUID();
      const server = await this.#server(keyOf(session, request), request, false);
      const response = await server.post(postOf(read.body, read, request, { [SESSION]: session }));
      // Nobody has learned the session's name.
      if (request.signal.aborted) await server.stop();
      return response;
    }
    const server = await this.#session(request, read.id);
    if (server instanceof Response) return server;
    return read.body instanceof MessageMembers
      ? server.refuse(read.body)
      : server.post(postOf(read.body, read, request));
  }

  /** The session that a request names. */
  async #session(request: HttpRequest, id?: string): Promise<CommandServer | Response> {
    const { headers } = request;
    const session = headers.get(SESSION);
    const version = headers.get("mcp-protocol-version") ?? "2025-03-26";
    if (!/^202[45]-\d\d-\d\d$/.test(version)) {
      return refusal(id, 400, RpcCode.invalidRequest, "The header MCP-Protocol-Version names no known revision.");
    }
    if (session === null) {
      return refusal(id, 400, RpcCode.invalidRequest, "The header Mcp-Session-Id is missing: begin with initialize.");
    }
    const server = await this.#servers.get(keyOf(session, request));
    return server ?? refusal(id, 404, -32_001, "There is no such session: begin again with initialize.");
  }

  #server(key: string, { owner, user }: HttpRequest, isShared: boolean): Promise<CommandServer> {
    let server = this.#servers.get(key);
    if (server === undefined) {
      if (owner !== undefined) this.#owners.set(key, owner);
      if (user !== undefined) this.#users.set(key, user);
      server = this.#start(key, isShared);
      this.#servers.set(key, server);
      server.catch(() => this.#forget(key));
    }
    return server;
  }

  /** However many owners a user has: others are left room. */
  async #makeRoom(key: string): Promise<void> {
    const { mostOfOwner = MAX_SERVERS, mostOfUser = MAX_SERVERS } = this.#terms;
    await this.#makeRoomAmong(this.#owners, key, mostOfOwner);
    await this.#makeRoomAmong(this.#users, key, mostOfUser);
  }

  /** A page that was loaded again has forgotten the session it had: the one that idles longest goes. */
  async #makeRoomAmong(whose: ReadonlyMap<string, string>, key: string, most: number): Promise<void> {
    const own = whose.get(key);
    const others = [...whose].flatMap(([each, its]) => (its === own && each !== key ? [each] : []));
    if (own === undefined || others.length < most) return;
    const idle = others.map((each) => this.#started.get(each)).filter((server) => server?.isIdle === true);
    const [oldest] = idle.sort((left, right) => (left?.lastUsed ?? 0) - (right?.lastUsed ?? 0));
    if (oldest === undefined) throw new NoServer(`All ${most} sessions are in use: end one.`);
    await oldest.stop();
  }

  async #start(key: string, isShared: boolean): Promise<CommandServer> {
    await this.#makeRoom(key);
    if (this.#servers.size > MAX_SERVERS) await this.#sweep(SHORT_IDLE);
    if (this.#servers.size > MAX_SERVERS) throw new NoServer(`All ${MAX_SERVERS} sessions are in use: end one.`);
    const { command, env, open, terminal } = this.#terms;
    const door = open?.() ?? new PlainDoor(logOf(terminal.errors));
    const terms = { command, door, terminal, isShared, ...(env !== undefined && { env }) };
    const server = await CommandServer.start(terms).catch((error: unknown) => {
      // Whoever gave the command is not who gets the response.
      if (error instanceof SluiceError) tell(terminal, printable(error.message));
      throw error;
    });
    this.#started.set(key, server);
    void this.#dropAfter(key, server);
    return server;
  }

  async #dropAfter(key: string, server: CommandServer): Promise<void> {
    await server.ended;
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#started.delete(key);
    this.#servers.delete(key);
    this.#owners.delete(key);
    this.#users.delete(key);
  }

  /** Ends what has been idle for so long. */
  async #sweep(idle: number): Promise<void> {
    const before = Date.now() - idle;
    const over = [...this.#started.values()].filter((server) => server.isIdle && server.lastUsed < before);
    await Promise.allSettled(over.map((server) => server.stop()));
  }
}

function keyOf(session: string | null, { owner, headers }: HttpRequest): string {
  return clientKey(session, owner ?? headers.get("authorization"));
}

class NoServer extends SluiceError {
  constructor(sentence: string) {
    super("E_MISUSE", sentence);
  }
}

function postOf(
  body: Uint8Array,
  { acceptsEvents, lacksEnvelope }: ReadPost,
  { signal }: HttpRequest,
  headers: Record<string, string> = {},
): Post {
  return { body, acceptsEvents, lacksEnvelope, headers, signal };
}

interface ReadPost {
  /** What it is about, where it is too large. */
  readonly body: Uint8Array | MessageMembers;
  /** The message, parsed. */
  readonly message: unknown;
  /** JSON text of a request's id. */
  readonly id: string | undefined;
  /** Whether it is of revision 2026-07-28 or later. */
  readonly isModern: boolean;
  /** Whether it lacks what requests of such revisions have to say of themselves. */
  readonly lacksEnvelope: boolean;
  readonly acceptsEvents: boolean;
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const PARSE_ERROR = -32_700;

/** Reads a POST, or gives the response that refuses it. */
function readPost({ headers, body }: HttpRequest): ReadPost | Response {
  const isJson = /^application\/json\b/i.test(headers.get("content-type") ?? "");
  if (!isJson || headers.has("content-encoding")) return new Response(null, { status: 415 });
  const accept = headers.get("accept") ?? "*/*";
  const acceptsEvents = /\btext\/(?:event-stream|\*)|\*\/\*/i.test(accept);
  if (!acceptsEvents && !/\bapplication\/(?:json|\*)/i.test(accept)) return new Response(null, { status: 406 });
  const header = headers.get("mcp-protocol-version") ?? "";
  if (body instanceof MessageMembers) {
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
    return refusal(undefined, 400, PARSE_ERROR, "The body is no JSON-RPC message.");
  }
  const bytes = body ?? new Uint8Array(0);
  const { method, params } = objectOr(message);
  const meta = objectOr(objectOr(params)["_meta"]);
  const claims = PROTOCOL_VERSION in meta || method === "server/discover";
  const isModern = claims || header >= "2026";
  const id = requestOf(bytes)?.id;
  if (isModern && Array.isArray(message)) {
    return refusal(id, 400, RpcCode.invalidRequest, "This revision has no batches: send messages one by one.");
  }
  const { [PROTOCOL_VERSION]: version, [CAPABILITIES]: capabilities } = meta;
  const lacksEnvelope = isModern && (typeof version !== "string" || typeof capabilities !== "object");
  return { body: bytes, message, id, isModern, lacksEnvelope, acceptsEvents };
}
