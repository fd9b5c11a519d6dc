/**
 * Requests to an MCP server, each with what says who asks at that time, and answers that are none as errors.
 * @module
 */
import type { FetchLike } from "../../../mcp/gate-fetch.js";
import { adaptFetchError, fromStatus } from "../../adapt-error.js";
import { codesOf } from "../../adapting/cause.js";
import { subjectOf } from "../../adapting/place.js";
import { ToolConnectionError } from "../../errors.js";
import type { Authorize } from "../../source.js";

/** What requests are made with. */
export interface AnsweringTerms {
  /** The source's name. */
  readonly source: string;
  /** Where the server is: nobody else is told who asks. */
  readonly url: URL;
  readonly fetch: FetchLike;
  readonly authorize: Authorize;
  /** Statuses that the client has no use for are errors; with `all`, every one that is no success. */
  readonly refuses: "final" | "all";
  /** The server no longer knows the session. */
  readonly onSessionLost: () => void;
  /** Told of every error that is thrown: some clients make others of them. */
  readonly onError: (error: Error) => void;
}

const SESSION = "mcp-session-id";

/** A `fetch` for the client's transports. */
export function answeringFetch(terms: AnsweringTerms): FetchLike {
  return async (url, init) => {
    try {
      return await answered(terms, url, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) terms.onError(error as Error);
      throw error;
    }
  };
}

async function answered(terms: AnsweringTerms, url: string | URL, init: RequestInit | undefined): Promise<Response> {
  const headers = new Headers(init?.headers);
  if (new URL(url).origin === terms.url.origin) {
    for (const [name, value] of Object.entries(await terms.authorize())) headers.set(name, value);
  }
  const response = await fetched(terms, url, { ...init, headers });
  const { status } = response;
  const isLost = status === 404 && headers.has(SESSION);
  if (!isLost && !isRefused(status, terms.refuses)) return response;
  await response.body?.cancel();
  if (!isLost) throw fromStatus(status, response.headers, { source: terms.source });
  terms.onSessionLost();
  // Without the status, which says that there is no session, and nothing of the call: that one is sent over a new one.
  const sentence = `${subjectOf({ source: terms.source })} has ended the session: call again.`;
  throw new ToolConnectionError(sentence, { neverSent: true });
}

async function fetched(terms: AnsweringTerms, url: string | URL, init: RequestInit): Promise<Response> {
  try {
    return await terms.fetch(url, init);
  } catch (error) {
    // The client tells its own aborts by what was thrown.
    if (init.signal?.aborted === true) throw error;
    if (isProbe(init) && isUnexplained(error)) return NOT_KNOWN();
    throw adaptFetchError(error, { source: terms.source });
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
function isRefused(status: number, refuses: AnsweringTerms["refuses"]): boolean {
  if (refuses === "all") return status >= 400;
  return status === 401 || status === 403 || status === 429 || status >= 500;
}
