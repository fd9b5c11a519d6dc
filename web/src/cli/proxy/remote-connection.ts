/**
 * Requests to a server at an address in the name of one client, and what is said where it refuses them.
 * @module
 */
import { parseJson, sourceOf, valueAt } from "../../mcp/json-text.js";
import { errorMessage, RpcCode } from "../../mcp/rpc.js";
import type { Header } from "./headers.js";
import { Upstream } from "./upstream.js";

const SESSION = "mcp-session-id";
const VERSION = "mcp-protocol-version";

const MAX_REDIRECTS = 3;

/** How long, in milliseconds, the end of a session may take. */
const FAREWELL = 2000;

/** One client's way to one server. */
export class RemoteConnection {
  readonly #headers: readonly Header[];
  readonly #upstream = new Upstream();
  readonly #abort = new AbortController();
  #url: URL;
  #session: string | undefined;
  #version: string | undefined;

  constructor(url: URL, headers: readonly Header[]) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Aborted when everything ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The session that requests belong to. */
  get session(): string | undefined {
    return this.#session;
  }

  openSession(headers: Headers): void {
    this.#session = headers.get(SESSION) ?? undefined;
  }

  forgetSession(): void {
    this.#session = undefined;
    this.#version = undefined;
  }

  /** The revision that both sides have agreed on. */
  agree(version: string): void {
    this.#version = version;
  }

  /** Sends a message. `mirrored` are the headers that say again what is in it. */
  post(body: Uint8Array, mirrored: readonly Header[], signal?: AbortSignal): Promise<Response> {
    const headers = this.#all([
      ["accept", "application/json, text/event-stream"],
      ["content-type", "application/json"],
    ]);
    for (const [name, value] of mirrored) headers.set(name, value);
    return this.#send("POST", headers, body, signal);
  }

  /** Asks for the stream of what belongs to no request, or for what came after an event. */
  get(lastEventId: string | undefined, signal?: AbortSignal): Promise<Response> {
    const headers = this.#all([["accept", "text/event-stream"]]);
    if (lastEventId !== undefined) headers.set("last-event-id", lastEventId);
    return this.#send("GET", headers, undefined, signal);
  }

  /** Ends every request, and the session. Never throws. */
  async close(): Promise<void> {
    const session = this.#session;
    const headers = this.#all([]);
    this.#abort.abort();
    try {
      if (session === undefined) return;
      const signal = AbortSignal.timeout(FAREWELL);
      const response = await this.#upstream.fetch(this.#url, { method: "DELETE", headers, signal });
      await response.body?.cancel();
    } catch {
      // It has lost the session already, or will.
    } finally {
      this.#upstream[Symbol.dispose]();
    }
  }

  #all(own: readonly Header[]): Headers {
    const headers = new Headers(own.map(([name, value]) => [name, value]));
    for (const [name, value] of this.#headers) headers.set(name, value);
    if (this.#session !== undefined) headers.set(SESSION, this.#session);
    if (this.#version !== undefined) headers.set(VERSION, this.#version);
    return headers;
  }

  async #send(
    method: string,
    headers: Headers,
    body: Uint8Array | undefined,
    own: AbortSignal | undefined,
  ): Promise<Response> {
    const signal = own === undefined ? this.signal : AbortSignal.any([this.signal, own]);
    const init: RequestInit = { method, headers, signal, ...(body !== undefined && { body: body as BodyInit }) };
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#upstream.fetch(this.#url, init);
      const next = redirects < MAX_REDIRECTS ? this.#redirected(response) : undefined;
      if (next === undefined) return response;
      await response.body?.cancel();
      this.#url = next;
    }
  }

  /** Where the same server wants to be asked instead. What is in headers is for no other. */
  #redirected({ status, headers }: Response): URL | undefined {
    const location = headers.get("location");
    if ((status !== 307 && status !== 308) || location === null || !URL.canParse(location, this.#url)) return undefined;
    const next = new URL(location, this.#url);
    return next.origin === this.#url.origin ? next : undefined;
  }
}

/** Bytes of a body that are read for what it says. */
const MAX_BODY = 64 * 1024;

interface Asked {
  /** Whether it was asked in a session. */
  readonly inSession: boolean;
}

/** Tells the text of an error message for an id, which is JSON text. */
export type Refusal = (id: string) => string;

/** Reads a response that carries no answer. The server's own error wins where the status needs no explanation. */
export async function refusalIn(response: Response, { inSession }: Asked): Promise<Refusal> {
  const { status } = response;
  const body = await headOf(response);
  if (status === 401) return saying(UNAUTHORIZED);
  const own = errorIn(body);
  if (status === 404 && inSession && own?.hasId !== true) return saying(NO_SESSION);
  if (own !== undefined) return (id) => `{"jsonrpc":"2.0","id":${id},"error":${own.error}}`;
  if (status >= 200 && status < 300) return saying("The server's response carries no answer.");
  return saying(`The server refuses the request: HTTP ${status}${REASONS.get(status) ?? ""}.`);
}

/** The same sentence for every id. */
export function saying(sentence: string): Refusal {
  return (id) => errorMessage(id, RpcCode.serverError, sentence);
}

const UNAUTHORIZED =
  'The server wants authorization: start the proxy with --header "Authorization: Bearer …", as it cannot sign in itself.';

const NO_SESSION = "The server no longer knows this session: connect again.";

const REASONS: ReadonlyMap<number, string> = new Map([
  [403, ", access is denied"],
  [404, ", there is nothing at this address"],
  [405, ", this address takes no messages"],
  [406, ", it does not speak Streamable HTTP"],
  [413, ", it is too large"],
  [429, ", too many requests: wait before the next"],
  [502, ", it cannot be reached"],
  [503, ", it is not available"],
  [504, ", it did not answer in time"],
]);

interface OwnError {
  /** JSON text. */
  readonly error: string;
  readonly hasId: boolean;
}

function errorIn(body: string): OwnError | undefined {
  try {
    const message = parseJson(body);
    const error = valueAt(message, "error");
    const id = valueAt(message, "id");
    if (error?.type !== "Object" || valueAt(error, "code")?.type !== "Number") return undefined;
    if (valueAt(error, "message")?.type !== "String") return undefined;
    return { error: sourceOf(body, error).replaceAll(/[\r\n]/g, " "), hasId: id !== undefined && id.type !== "Null" };
  } catch {
    return undefined;
  }
}

/** The whole body if it is small; empty if it is not. */
async function headOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      size += piece.length;
      // Leaving the loop cancels the body.
      if (size > MAX_BODY) return "";
      pieces.push(piece);
    }
  } catch {
    return "";
  }
  return Buffer.concat(pieces).toString();
}
