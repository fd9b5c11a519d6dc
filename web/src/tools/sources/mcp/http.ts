/**
 * MCP servers over HTTP, also in browsers: Streamable HTTP, and HTTP with server-sent events (2024-11-05).
 * @module
 */
import {
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from "@modelcontextprotocol/client";
import { type FetchLike, fetchThrough } from "../../../mcp/http/gate-fetch.js";
import { McpHeader } from "../../../mcp/http/headers.js";
import { isSessionGone, refusalBody } from "../../../mcp/http/refusal.js";
import { objectOr } from "../../../jsonrpc/rpc.js";
import { adaptFetchError, adaptRefusal, walkCodes } from "../../adapt-error.js";
import { LostSession, toSubject, ToolNodeError, type ToolPlace } from "../../errors.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../../source.js";
import { connectServer, type McpDeps, type OpenedTransport } from "./connection.js";
import { NO_LIMIT } from "./requests.js";
import type { ToolInterceptor } from "./tool-interceptor.js";

export interface McpHttpDeps extends McpDeps {
  /** The server's URL. */
  readonly url: string;
  /** Defaults to `http`: Streamable HTTP, or server-sent events if the server does not support it. */
  readonly transport?: "http" | "sse";
  /** Defaults to the platform's. */
  readonly fetch?: FetchLike;
}

/** Statuses of servers that do not support Streamable HTTP (MCP, "Backwards Compatibility"). */
const NOT_STREAMABLE: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

/** Creates the source of an MCP server over HTTP. */
export function mcpSource(deps: McpHttpDeps): ToolSource {
  return { open: (options) => openConnection(deps, options) };
}

async function openConnection(deps: McpHttpDeps, options: OpenOptions): Promise<SourceConnection> {
  if (deps.transport === "sse") return overEvents(deps, options);
  try {
    return await overHttp(deps, options);
  } catch (error) {
    if (!(error instanceof ToolNodeError) || !NOT_STREAMABLE.has(error.status)) throw error;
    // If the server supports neither, the first error says more.
    return overEvents(deps, options).catch(() => {
      options.signal.throwIfAborted();
      throw error;
    });
  }
}

function overHttp(deps: McpHttpDeps, options: OpenOptions): Promise<SourceConnection> {
  const { era = "auto" } = deps;
  const over = (interceptor: ToolInterceptor): OpenedTransport => {
    const url = new URL(deps.url);
    const way = wayTo(url, interceptor, deps, options, "final");
    const transport = new ToolHttpTransport(url, interceptor, { fetch: way.fetch });
    const leave = async (): Promise<void> => (way.isLost() ? undefined : transport.terminateSession());
    return { ...way, transport, leave };
  };
  return connectServer({ deps, options, era, probeTimeout: NO_LIMIT, transport: over });
}

/** The session lasts as long as the event stream: the SDK would reconnect it, and requests would wait for answers. */
function overEvents(deps: McpHttpDeps, options: OpenOptions): Promise<SourceConnection> {
  const over = (interceptor: ToolInterceptor): OpenedTransport => {
    const url = new URL(deps.url);
    const way = wayTo(url, interceptor, deps, options, "all");
    const transport = new SSEClientTransport(url, { fetch: way.fetch });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    transport.onerror = (error) => {
      if (error instanceof SseError) void transport.close();
    };
    return { ...way, transport };
  };
  return connectServer({ deps, options, era: "legacy", probeTimeout: NO_LIMIT, transport: over });
}

/** Authorized requests to the server. */
interface Way {
  readonly fetch: FetchLike;
  /** Whether the server no longer knows the session. */
  readonly isLost: () => boolean;
  /** The error of the last request. Some clients replace it. */
  readonly reason: () => Error | undefined;
  /** The credentials of the last request. */
  readonly told: () => readonly string[];
}

/** Which statuses are errors: those that the client cannot handle, or all but success. */
type Refuses = "final" | "all";

function wayTo(
  url: URL,
  interceptor: ToolInterceptor,
  { name, fetch = (...args) => globalThis.fetch(...args), secrets = [] }: McpHttpDeps,
  { authorize }: OpenOptions,
  refuses: Refuses,
): Way {
  const place = { source: name };
  let isLost = false;
  let reason: Error | undefined;
  let told: readonly string[] = [];
  const fetchAnswer = async (...[to, init]: Parameters<FetchLike>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    // Other origins get no credentials.
    if (new URL(to).origin === url.origin) {
      const own = Object.entries(await authorize());
      told = own.map(([, value]) => value);
      for (const [header, value] of own) headers.set(header, value);
    }
    const response = await fetchPlace(fetch, to, { ...init, headers }, place);
    const { status } = response;
    if (isRefused(status, refuses)) {
      const refusal = await adaptRefusal(response, place, { secrets: [...secrets, ...told] });
      init?.signal?.throwIfAborted();
      throw refusal;
    }
    if (status < 400) return response;
    // The client would read the body without a limit.
    const { text } = await refusalBody(response);
    init?.signal?.throwIfAborted();
    if (!headers.has(McpHeader.session) || !isSessionGone(status, text)) return withBody(response, text);
    isLost = true;
    // Told only where the session after it is lost too: what was asked once more would be lost again.
    const sentence = `${toSubject(place)} does not keep its sessions: see the source's own log, and what stands in front of it.`;
    throw new LostSession(sentence, { neverSent: true });
  };
  const noteFailure: FetchLike = async (to, init) => {
    try {
      return await fetchAnswer(to, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) reason = error as Error;
      throw error;
    }
  };
  return {
    // Over server-sent events, answers do not arrive in the response to their request.
    fetch: fetchThrough(noteFailure, async (message) =>
      message === undefined || refuses === "all" ? interceptor : interceptor.forExchange(message),
    ),
    isLost: () => isLost,
    reason: () => reason,
    told: () => told,
  };
}

/** A response with a body that was already read. */
function withBody({ status, statusText, headers }: Response, text: string): Response {
  const own = new Headers(headers);
  // These headers describe the encoded body.
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) own.delete(name);
  return new Response(text, { status, statusText, headers: own });
}

async function fetchPlace(fetch: FetchLike, url: string | URL, init: RequestInit, place: ToolPlace): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    // The client recognises its own aborts by the error.
    if (init.signal?.aborted === true) throw error;
    if (isProbe(init) && isUnexplained(error)) return NOT_KNOWN();
    throw adaptFetchError(error, place);
  }
}

/** Whether a request is the probe for the modern era. */
function isProbe({ headers }: RequestInit): boolean {
  return new Headers(headers).get(McpHeader.method) === "server/discover";
}

/**
 * Whether the cause of a failed request is unknown. It always is in browsers, where legacy servers usually do not
 * allow the probe's headers (CORS). If there is another cause, the next request fails too.
 */
function isUnexplained(error: unknown): boolean {
  return error instanceof TypeError && [...walkCodes(error)].length === 0;
}

/**
 * The answer of a legacy server to the probe. For thrown errors, the client falls back to the legacy era by itself,
 * but not in workers.
 */
const NOT_KNOWN = (): Response => new Response(null, { status: 400 });

/** The client handles redirects and unsupported methods. Statuses that it would only wrap are thrown here. */
function isRefused(status: number, refuses: Refuses): boolean {
  if (refuses === "all") return status >= 400;
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

const ENDED = "The server ended its answer before it was complete.";

/**
 * The SDK's transport does not fail a request when its answer's stream ends early, except for subscriptions: it would
 * wait for its time limit. In the legacy era it also keeps the connection of a cancelled request open.
 */
class ToolHttpTransport extends StreamableHTTPClientTransport {
  readonly #interceptor: ToolInterceptor;
  /** Aborts the connections of requests, by request id. */
  readonly #connections = new Map<unknown, AbortController>();

  constructor(url: URL, interceptor: ToolInterceptor, options: StreamableHTTPClientTransportOptions) {
    super(url, options);
    this.#interceptor = interceptor;
  }

  override async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (!("method" in message)) return super.send(message, options);
    if (!("id" in message)) return this.#notify(message, options);
    const { id } = message;
    const own = options.requestSignal === undefined ? new AbortController() : undefined;
    if (own !== undefined) this.#connections.set(id, own);
    try {
      await super.send(message, {
        ...options,
        ...(own !== undefined && { requestSignal: own.signal }),
        onRequestStreamEnd: () => {
          options.onRequestStreamEnd?.();
          this.#onEnd(id);
        },
      });
    } catch (error) {
      this.#connections.delete(id);
      throw error;
    }
    // Answers that are not streams have been delivered by now.
    if (!this.#interceptor.isWaiting(JSON.stringify(id))) this.#connections.delete(id);
  }

  override async close(): Promise<void> {
    this.#connections.clear();
    await super.close();
  }

  async #notify(message: JSONRPCMessage, options: SendOptions): Promise<void> {
    try {
      await super.send(message, options);
    } finally {
      const { method, params } = message as { method?: unknown; params?: unknown };
      const { requestId } = objectOr(params);
      if (method === "notifications/cancelled") {
        this.#connections.get(requestId)?.abort();
        this.#connections.delete(requestId);
      }
    }
  }

  #onEnd(id: string | number): void {
    this.#connections.delete(id);
    const answer = this.#interceptor.lose(JSON.stringify(id), ENDED);
    if (answer !== undefined) this.onmessage?.(JSON.parse(answer) as JSONRPCMessage);
  }
}
