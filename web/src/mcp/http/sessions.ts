/**
 * Streamable HTTP for servers that speak lines of JSON-RPC: one server per session, and one shared by clients without sessions.
 * @module
 */
import { createHash, randomUUID } from "node:crypto";
import type { ArtifactScope } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { objectOr, tryParse, PROTOCOL_VERSION, RpcCode } from "../../jsonrpc/rpc.js";
import { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { record } from "../../telemetry/metrics.js";
import { readRequest } from "../client-request.js";
import { isJson, McpHeader, mismatchIn } from "./headers.js";
import { refuseRequest } from "./refusal.js";
import { McpSession, type McpSessionDeps, type Post } from "./session.js";

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
  /** The body, or a scan of one that is too large to forward. Undefined if it is empty. */
  readonly body: Uint8Array | JsonRpcScanner | undefined;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Opens the server of a new session. What it throws as a SluiceError is told to the client. */
export type OpenSession<R extends HttpRequest = HttpRequest> = (
  request: R,
) => Promise<Omit<McpSessionDeps, "isShared">>;

interface McpSessionsDeps<R extends HttpRequest> {
  readonly open: OpenSession<R>;
  /** Most sessions at a time. Defaults to 64, since each may be a process. */
  readonly most?: number;
  /** Most sessions of one owner. Defaults to the limit for all. */
  readonly mostOfOwner?: number;
  /** Most sessions of all owners of one user. */
  readonly mostOfUser?: number;
  /** Whether clients of earlier revisions may send batches, which no limit on requests sees into. Defaults to true. */
  readonly takesBatches?: boolean;
}

/** Limits where there are several users: half of the total for each, so that no user gets all of it. */
export const SHARES = { mostOfOwner: 8, mostOfUser: 32 } as const;

/** The path of the endpoint. */
export const MCP_PATH = "/mcp";

/** Most sessions at a time. */
const MAX_SESSIONS = 64;

/** Milliseconds that an idle session is kept. */
const IDLE = 30 * 60 * 1000;

/** The same if another client needs its place. */
const SHORT_IDLE = 60 * 1000;

const NOT_KEPT = `The events after this ${McpHeader.lastEventId} are no longer stored: open the stream without it, or send the request again.`;

/** Error code of MCP 2026-07-28. */
const HEADER_MISMATCH = -32_020;

/** Answers HTTP requests with the servers' messages. */
export class McpSessions<R extends HttpRequest = HttpRequest> implements AsyncDisposable {
  readonly #deps: McpSessionsDeps<R>;
  /** By session and client, or by client alone for those without sessions. */
  readonly #sessions = new Map<string, Promise<McpSession>>();
  readonly #opened = new Map<string, McpSession>();
  /** Their owners, if something other than the authorization identifies them. */
  readonly #owners = new Map<string, string>();
  /** The users of those owners. */
  readonly #users = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: McpSessionsDeps<R>) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#sweep(IDLE), SHORT_IDLE).unref();
  }

  /** Answers a request. Never throws. */
  async handle(request: R): Promise<Response> {
    const { method, path, headers } = request;
    if (path.split("?")[0] !== MCP_PATH) return new Response(null, { status: 404 });
    if (method === "POST") return this.#post(request);
    const isModern = (headers.get(McpHeader.version) ?? "") >= "2026";
    if ((method !== "GET" && method !== "DELETE") || isModern) {
      return new Response(null, { status: 405, headers: { allow: "POST" } });
    }
    const server = await this.#session(request);
    if (server instanceof Response) return server;
    if (method === "GET") return openStream(server, request);
    await server.stop();
    return new Response(null, { status: 200 });
  }

  /** Owners of sessions. */
  get owners(): ReadonlySet<string> {
    return new Set(this.#owners.values());
  }

  /** Ends the sessions of an owner. Never throws. */
  async end(owner: string): Promise<void> {
    const keys = [...this.#owners].filter(([, each]) => each === owner).map(([key]) => key);
    await Promise.allSettled(keys.map(async (key) => (await this.#sessions.get(key))?.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#sessions.values()].map(async (server) => (await server).stop()));
  }

  async #post(request: R): Promise<Response> {
    const read = readPost(request, this.#deps.takesBatches ?? true);
    if (read instanceof Response) return read;
    try {
      return await (read.isModern ? this.#modern(read, request) : this.#legacy(read, request));
    } catch (error) {
      // The message is too large or nested too deep to parse.
      const { message } =
        error instanceof SluiceError ? error : new SluiceError("E_MISUSE", "The message cannot be passed on.");
      return refuseRequest(read.id, chooseStatus(error), RpcCode.invalidRequest, message);
    }
  }

  async #modern(read: ReadPost, request: R): Promise<Response> {
    const { headers } = request;
    const server = await this.#getOrOpen(createKey(null, request), request, true);
    if (read.body instanceof JsonRpcScanner) return server.refuse(read.body);
    const wrong = read.id === undefined ? undefined : mismatchIn(headers, read.message, server.tool);
    if (wrong !== undefined) {
      return refuseRequest(read.id, 400, HEADER_MISMATCH, `The header ${wrong} does not match the request.`);
    }
    return server.post(toPost(read.body, read, request));
  }

  async #legacy(read: ReadPost, request: R): Promise<Response> {
    const { method } = objectOr(read.message);
    if (method === "initialize" && read.body instanceof Uint8Array) {
      const session = randomUUID();
      const server = await this.#getOrOpen(createKey(session, request), request, false);
      const response = await server.post(toPost(read.body, read, request, { [McpHeader.session]: session }));
      // The client never learned the id of the session.
      if (request.signal.aborted) await server.stop();
      return response;
    }
    const server = await this.#session(request, read.id);
    if (server instanceof Response) return server;
    return read.body instanceof JsonRpcScanner
      ? server.refuse(read.body)
      : server.post(toPost(read.body, read, request));
  }

  /** The session of a request. */
  async #session(request: R, id?: string): Promise<McpSession | Response> {
    const { headers } = request;
    const session = headers.get(McpHeader.session);
    const version = headers.get(McpHeader.version) ?? "2025-03-26";
    if (!/^202[45]-\d\d-\d\d$/.test(version)) {
      return refuseRequest(
        id,
        400,
        RpcCode.invalidRequest,
        `The header ${McpHeader.version} names an unknown revision.`,
      );
    }
    if (session === null) {
      return refuseRequest(
        id,
        400,
        RpcCode.invalidRequest,
        `The header ${McpHeader.session} is missing: start with initialize.`,
      );
    }
    const server = await this.#sessions.get(createKey(session, request));
    return server ?? refuseRequest(id, 404, -32_001, "There is no such session: start again with initialize.");
  }

  /** The session under a key, which is opened if there is none. */
  #getOrOpen(key: string, request: R, isShared: boolean): Promise<McpSession> {
    const { owner, user } = request;
    let session = this.#sessions.get(key);
    if (session === undefined) {
      if (owner !== undefined) this.#owners.set(key, owner);
      if (user !== undefined) this.#users.set(key, user);
      session = this.#open(key, request, isShared);
      this.#sessions.set(key, session);
      session.catch(() => this.#forget(key));
    }
    return session;
  }

  /** Limits the sessions of all, and of each owner and user, so that others have room. */
  async #makeRoom(key: string): Promise<void> {
    const { most = MAX_SESSIONS, mostOfOwner = most, mostOfUser = most } = this.#deps;
    await this.#makeRoomAmong(this.#owners, key, mostOfOwner);
    await this.#makeRoomAmong(this.#users, key, mostOfUser);
    if (this.#sessions.size > most) await this.#sweep(SHORT_IDLE);
    if (this.#sessions.size > most) throw new TooManySessions(most);
  }

  /** Stops the longest idle session if there are too many. A page that was reloaded has forgotten its session. */
  async #makeRoomAmong(whose: ReadonlyMap<string, string>, key: string, most: number): Promise<void> {
    const own = whose.get(key);
    if (own === undefined) return;
    const others = [...whose].flatMap(([each, its]) => (its === own && each !== key ? [each] : []));
    if (others.length < most) return;
    const idle = others.map((each) => this.#opened.get(each)).filter((session) => session?.isIdle === true);
    const [oldest] = idle.sort((left, right) => (left?.lastUsed ?? 0) - (right?.lastUsed ?? 0));
    if (oldest === undefined) throw new TooManySessions(most);
    await oldest.stop();
  }

  async #open(key: string, request: R, isShared: boolean): Promise<McpSession> {
    await this.#makeRoom(key);
    const begun = performance.now();
    const session = new McpSession({ ...(await this.#deps.open(request)), isShared });
    this.#opened.set(key, session);
    void this.#dropAfter(key, session, begun);
    return session;
  }

  async #dropAfter(key: string, session: McpSession, begun: number): Promise<void> {
    await session.ended;
    record("mcp.server.session.duration", (performance.now() - begun) / 1000);
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#opened.delete(key);
    this.#sessions.delete(key);
    this.#owners.delete(key);
    this.#users.delete(key);
  }

  /** Stops sessions that have been idle for so long. */
  async #sweep(idle: number): Promise<void> {
    const before = Date.now() - idle;
    const over = [...this.#opened.values()].filter((server) => server.isIdle && server.lastUsed < before);
    await Promise.allSettled(over.map((server) => server.stop()));
  }
}

/** Streams messages that belong to no request, or resumes the stream of the client's last event. */
function openStream(server: McpSession, { headers, signal }: HttpRequest): Response {
  const primes = primesIn(headers.get(McpHeader.version));
  const get = { headers: { [McpHeader.session]: headers.get(McpHeader.session) ?? "" }, primes, signal };
  const lastEventId = headers.get(McpHeader.lastEventId) ?? "";
  if (lastEventId === "") return server.stream(get);
  // Not 404, which would tell the client that its session is lost.
  return server.resume(lastEventId, get) ?? refuseRequest(undefined, 400, RpcCode.invalidRequest, NOT_KEPT);
}

function primesIn(revision: unknown): boolean {
  return typeof revision === "string" && revision >= "2025-11-25";
}

function createKey(session: string | null, { owner, headers }: HttpRequest): string {
  return clientKey(session, owner ?? headers.get("authorization"));
}

/** Identifies a client by its session and authorization, neither of which is kept in the clear. */
export function clientKey(session: string | null, authorization: string | null): string {
  return createHash("sha256")
    .update(JSON.stringify([session, authorization]))
    .digest("base64");
}

function chooseStatus(error: unknown): number {
  if (error instanceof SluiceError && error.code === "E_RATE_LIMIT") return 429;
  return error instanceof TooManySessions ? 503 : 400;
}

class TooManySessions extends SluiceError {
  constructor(most: number) {
    super("E_MISUSE", `All ${most} sessions are in use: end one.`);
  }
}

function toPost(
  body: Uint8Array,
  { message, acceptsEvents, lacksEnvelope }: ReadPost,
  { headers: asked, signal }: HttpRequest,
  headers: Record<string, string> = {},
): Post {
  // An `initialize` has no header yet and carries the version itself.
  const primes = primesIn(asked.get(McpHeader.version) ?? objectOr(objectOr(message)["params"])["protocolVersion"]);
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
function readPost({ headers, body }: HttpRequest, takesBatches: boolean): ReadPost | Response {
  if (!isJson(headers) || headers.has("content-encoding")) return new Response(null, { status: 415 });
  const accept = headers.get("accept") ?? "*/*";
  const acceptsEvents = /\btext\/(?:event-stream|\*)|\*\/\*/i.test(accept);
  if (!acceptsEvents && !/\bapplication\/(?:json|\*)/i.test(accept)) return new Response(null, { status: 406 });
  const header = headers.get(McpHeader.version) ?? "";
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
  const message = tryParse(new TextDecoder().decode(body));
  if (typeof message !== "object" || message === null) {
    return refuseRequest(undefined, 400, RpcCode.parseError, "The body is not a JSON-RPC message.");
  }
  const bytes = body ?? new Uint8Array(0);
  const { method, params } = objectOr(message);
  const meta = objectOr(objectOr(params)["_meta"]);
  const claims = PROTOCOL_VERSION in meta || method === "server/discover";
  const isModern = claims || header >= "2026";
  const id = readRequest(bytes)?.id;
  if (Array.isArray(message) && (isModern || !takesBatches)) {
    return refuseRequest(
      id,
      400,
      RpcCode.invalidRequest,
      "Batches are not taken here: send the messages one at a time.",
    );
  }
  const { [PROTOCOL_VERSION]: version, [CAPABILITIES]: capabilities } = meta;
  const lacksEnvelope = isModern && (typeof version !== "string" || typeof capabilities !== "object");
  return { body: bytes, message, id, isModern, lacksEnvelope, acceptsEvents };
}
