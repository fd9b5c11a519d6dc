/**
 * Tools of MCP servers over HTTP, also in browsers: Streamable HTTP, and server-sent events as of 2024-11-05.
 * @module
 */
import {
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type StreamableHTTPClientTransportOptions,
} from "@modelcontextprotocol/client";
import { fetchThrough, type FetchLike } from "../../mcp/gate-fetch.js";
import { objectOr } from "../../mcp/rpc.js";
import { adaptFetchError, fromStatus } from "../adapt-error.js";
import { codesOf } from "../adapting/cause.js";
import { subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolConnectionError, ToolNodeError } from "../errors.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../source.js";
import { connected, type McpTerms, type OpenedTransport } from "./mcp/connection.js";
import { NO_LIMIT } from "./mcp/requests.js";
import type { ToolDoor } from "./mcp/tool-door.js";

/** What a source of an MCP server over HTTP is made of. */
export interface McpHttpTerms extends McpTerms {
  /** Where the server is. */
  readonly url: string;
  /** `http` when left out: Streamable HTTP, and where the server does not know it, server-sent events. */
  readonly transport?: "http" | "sse";
  /** That of the platform when left out. */
  readonly fetch?: FetchLike;
}

/** Statuses by which servers say that they do not know Streamable HTTP (MCP, "Backwards Compatibility"). */
const NOT_STREAMABLE: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

/** A way to an MCP server over HTTP. */
export function mcpSource(terms: McpHttpTerms): ToolSource {
  return { open: (options) => opened(terms, options) };
}

async function opened(terms: McpHttpTerms, options: OpenOptions): Promise<SourceConnection> {
  if (terms.transport === "sse") return overEvents(terms, options);
  try {
    return await overHttp(terms, options);
  } catch (error) {
    if (!(error instanceof ToolNodeError) || !NOT_STREAMABLE.has(error.status)) throw error;
    // Where the server knows neither, the first refusal says more.
    return overEvents(terms, options).catch(() => {
      options.signal.throwIfAborted();
      throw error;
    });
  }
}

function overHttp(terms: McpHttpTerms, options: OpenOptions): Promise<SourceConnection> {
  const { era = "auto" } = terms;
  const over = (door: ToolDoor): OpenedTransport => {
    const url = new URL(terms.url);
    const way = wayTo(url, door, terms, options, "final");
    const transport = new ToolHttpTransport(url, door, { fetch: way.fetch });
    return { transport, leave: () => transport.terminateSession(), isLost: way.isLost, reason: way.reason };
  };
  return connected({ terms, options, era, probeTimeout: NO_LIMIT, transport: over });
}

/** There is a session as long as the stream of events lasts: the SDK would open another one, and wait for answers. */
function overEvents(terms: McpHttpTerms, options: OpenOptions): Promise<SourceConnection> {
  const over = (door: ToolDoor): OpenedTransport => {
    const url = new URL(terms.url);
    const way = wayTo(url, door, terms, options, "all");
    const transport = new SSEClientTransport(url, { fetch: way.fetch });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    transport.onerror = (error) => {
      if (error instanceof SseError) void transport.close();
    };
    return { transport, isLost: way.isLost, reason: way.reason };
  };
  return connected({ terms, options, era: "legacy", probeTimeout: NO_LIMIT, transport: over });
}

/** Requests to the server, each with what says who asks at that time, and what is known of them. */
interface Way {
  readonly fetch: FetchLike;
  /** Whether the server no longer knows the session. */
  readonly isLost: () => boolean;
  /** What the last request failed with: some clients make other errors of it. */
  readonly reason: () => Error | undefined;
}

/** Statuses that the client has no use for are errors; with `all`, every one that is no success. */
type Refuses = "final" | "all";

const SESSION = "mcp-session-id";

function wayTo(
  url: URL,
  door: ToolDoor,
  { name, fetch = (...args) => globalThis.fetch(...args) }: McpHttpTerms,
  { authorize }: OpenOptions,
  refuses: Refuses,
): Way {
  const place = { source: name };
  let isLost = false;
  let reason: Error | undefined;
  const answered = async (...[to, init]: Parameters<FetchLike>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    // Nobody else is told who asks.
    if (new URL(to).origin === url.origin) {
      for (const [header, value] of Object.entries(await authorize())) headers.set(header, value);
    }
    const response = await fetched(fetch, to, { ...init, headers }, place);
    const { status } = response;
    const isUnknown = status === 404 && headers.has(SESSION);
    if (!isUnknown && !isRefused(status, refuses)) return response;
    await response.body?.cancel();
    if (!isUnknown) throw fromStatus(status, response.headers, place);
    isLost = true;
    // Without the status, which says that there is no session, and nothing of the call: that one is sent over a new one.
    const sentence = `${subjectOf(place)} has ended the session: call again.`;
    throw new ToolConnectionError(sentence, { neverSent: true });
  };
  const noted: FetchLike = async (to, init) => {
    try {
      return await answered(to, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) reason = error as Error;
      throw error;
    }
  };
  return {
    // Answers over server-sent events do not come with the response to their request.
    fetch: fetchThrough(noted, async (message) =>
      message === undefined || refuses === "all" ? door : door.forExchange(message),
    ),
    isLost: () => isLost,
    reason: () => reason,
  };
}

async function fetched(fetch: FetchLike, url: string | URL, init: RequestInit, place: ToolPlace): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    // The client tells its own aborts by what was thrown.
    if (init.signal?.aborted === true) throw error;
    if (isProbe(init) && isUnexplained(error)) return NOT_KNOWN();
    throw adaptFetchError(error, place);
  }
}

/** Whether a request asks a server for the later era, with that era's headers. */
function isProbe({ headers }: RequestInit): boolean {
  return new Headers(headers).get("mcp-method") === "server/discover";
}

/**
 * Whether nothing says why a request did not leave. Browsers never do, and as a rule a server of the earlier era allows
 * pages no headers that it does not know (CORS). What else it may be, the next request meets as well.
 */
function isUnexplained(error: unknown): boolean {
  return error instanceof TypeError && [...codesOf(error)].length === 0;
}

/** What servers of the earlier era answer. The client falls back by itself for what was thrown, but in workers it does not. */
const NOT_KNOWN = (): Response => new Response(null, { status: 400 });

/** What a redirect or a refusal of one method means, the client knows; what it would only wrap is thrown here. */
function isRefused(status: number, refuses: Refuses): boolean {
  if (refuses === "all") return status >= 400;
  return status === 401 || status === 403 || status === 429 || status >= 500;
}

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

const ENDED = "The server ended its answer before it was complete.";

/**
 * When the stream of an answer ends without one, the SDK's transport tells subscriptions only; requests would wait for
 * their time limit. And in the earlier era a request that was cancelled keeps its connection until the server ends it.
 */
class ToolHttpTransport extends StreamableHTTPClientTransport {
  readonly #door: ToolDoor;
  /** What ends the connections of requests, by the requests' ids. */
  readonly #connections = new Map<unknown, AbortController>();

  constructor(url: URL, door: ToolDoor, options: StreamableHTTPClientTransportOptions) {
    super(url, options);
    this.#door = door;
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
          this.#ended(id);
        },
      });
    } catch (error) {
      this.#connections.delete(id);
      throw error;
    }
    // What is no stream has been delivered by now.
    if (!this.#door.isWaiting(JSON.stringify(id))) this.#connections.delete(id);
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

  #ended(id: string | number): void {
    this.#connections.delete(id);
    const answer = this.#door.lose(JSON.stringify(id), ENDED);
    if (answer !== undefined) this.onmessage?.(JSON.parse(answer) as JSONRPCMessage);
  }
}
