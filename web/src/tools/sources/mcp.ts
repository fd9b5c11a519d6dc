/**
 * Tools of MCP servers over HTTP, also in browsers: Streamable HTTP, and server-sent events as of 2024-11-05.
 * @module
 */
import { SSEClientTransport, SseError } from "@modelcontextprotocol/client";
import { fetchThrough, type FetchLike } from "../../mcp/gate-fetch.js";
import { ToolNodeError } from "../errors.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../source.js";
import { answeringFetch } from "./mcp/answering-fetch.js";
import { ToolHttpTransport } from "./mcp/http-transport.js";
import { NO_LIMIT } from "./mcp/limits.js";
import { connected } from "./mcp/opening.js";
import type { McpTerms, OpenedTransport } from "./mcp/terms.js";
import type { ToolDoor } from "./mcp/tool-door.js";

export type { McpEra, McpTerms } from "./mcp/terms.js";

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

/** Requests to the server, and what is known of them. */
interface Way {
  readonly fetch: FetchLike;
  readonly isLost: () => boolean;
  /** What the last request failed with. */
  readonly reason: () => Error | undefined;
}

function wayTo(
  url: URL,
  door: ToolDoor,
  { name, fetch = (...args) => globalThis.fetch(...args) }: McpHttpTerms,
  { authorize }: OpenOptions,
  refuses: "final" | "all",
): Way {
  let isLost = false;
  let reason: Error | undefined;
  const answering = answeringFetch({
    source: name,
    url,
    fetch,
    authorize,
    refuses,
    onSessionLost: () => {
      isLost = true;
    },
    onError: (error) => {
      reason = error;
    },
  });
  return {
    // Answers over server-sent events do not come with the response to their request.
    fetch: fetchThrough(answering, async (message) =>
      message === undefined || refuses === "all" ? door : door.forExchange(message),
    ),
    isLost: () => isLost,
    reason: () => reason,
  };
}
