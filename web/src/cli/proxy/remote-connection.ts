/**
 * One client's connection to a server at a URL: sends requests, and passes responses to the client's lines.
 * @module
 */
import { McpHeader, MESSAGE_HEADERS } from "../../mcp/http/headers.js";
import { isSessionGone, refusalBody } from "../../mcp/http/refusal.js";
import { parseJson, sliceSource, valueAt } from "../../json/text.js";
import { errorMessage, RpcCode, objectOr, tryParse, stringOr } from "../../jsonrpc/rpc.js";
import { type Header, Upstream } from "./upstream.js";
import { setTimeout } from "node:timers/promises";
import type { Interceptor, MessageWriter } from "../../mcp/interceptor-interface.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { type LineWriter, oneLine } from "../../jsonrpc/lines.js";
import { EventStreamGate, type OpenIncoming } from "../../jsonrpc/sse.js";

const MAX_REDIRECTS = 3;

/** Milliseconds for ending a session. */
const FAREWELL = 2000;

/** One client's connection to one server. */
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

  /** Aborts when the connection is closed. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The session of requests. */
  get session(): string | undefined {
    return this.#session;
  }

  openSession(headers: Headers): void {
    this.#session = headers.get(McpHeader.session) ?? undefined;
  }

  forgetSession(): void {
    this.#session = undefined;
    this.#version = undefined;
  }

  /** The negotiated protocol version. */
  get version(): string | undefined {
    return this.#version;
  }

  agree(version: string): void {
    this.#version = version;
  }

  /** Sends a message. `mirrored` are headers that repeat parts of it. */
  post(body: Uint8Array, mirrored: readonly Header[], signal?: AbortSignal): Promise<Response> {
    const headers = this.#all(MESSAGE_HEADERS);
    for (const [name, value] of mirrored) headers.set(name, value);
    return this.#send("POST", headers, body, signal);
  }

  /** Requests a new session while requests still use the current one. */
  begin(initialize: Uint8Array, signal?: AbortSignal): Promise<Response> {
    const headers = this.#all(MESSAGE_HEADERS);
    for (const name of [McpHeader.session, McpHeader.version]) headers.delete(name);
    return this.#send("POST", headers, initialize, signal);
  }

  /** Requests the stream of messages that belong to no request, or what followed an event. */
  get(lastEventId: string | undefined, signal?: AbortSignal): Promise<Response> {
    const headers = this.#all({ accept: "text/event-stream" });
    if (lastEventId !== undefined) headers.set(McpHeader.lastEventId, lastEventId);
    return this.#send("GET", headers, undefined, signal);
  }

  /** Ends all requests and the session. Never throws. */
  async close(): Promise<void> {
    const session = this.#session;
    const headers = this.#all({});
    this.#abort.abort();
    try {
      if (session === undefined) return;
      const signal = AbortSignal.timeout(FAREWELL);
      const response = await this.#upstream.fetch(this.#url, { method: "DELETE", headers, signal });
      await response.body?.cancel();
    } catch {
      // The server has lost the session already, or will.
    } finally {
      this.#upstream[Symbol.dispose]();
    }
  }

  #all(own: Readonly<Record<string, string>>): Headers {
    const headers = new Headers(own);
    for (const [name, value] of this.#headers) headers.set(name, value);
    if (this.#session !== undefined) headers.set(McpHeader.session, this.#session);
    if (this.#version !== undefined) headers.set(McpHeader.version, this.#version);
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
      const next = redirects < MAX_REDIRECTS ? this.#redirectTarget(response) : undefined;
      if (next === undefined) return response;
      await response.body?.cancel();
      this.#url = next;
    }
  }

  /** The redirect target, if it is on the same server. Headers are not meant for any other. */
  #redirectTarget({ status, headers }: Response): URL | undefined {
    const location = headers.get("location");
    if ((status !== 307 && status !== 308) || location === null || !URL.canParse(location, this.#url)) return undefined;
    const next = new URL(location, this.#url);
    return next.origin === this.#url.origin ? next : undefined;
  }
}

/** Why a request has no answer. */
export interface Refusal {
  /** The error message for an id, which is JSON text. */
  readonly text: (id: string) => string;
  /** Whether the server did nothing because it does not know the session. */
  readonly isSessionGone: boolean;
}

/** Reads a response without an answer. The server's own error wins unless the status needs an explanation. */
async function refusalIn(response: Response, { inSession }: Pick<RequestContext, "inSession">): Promise<Refusal> {
  const { status } = response;
  const body = await refusalBody(response);
  if (status === 401) return refusalWith(UNAUTHORIZED);
  if (inSession && isSessionGone(status, body.text)) return NO_SESSION;
  const own = body.isWhole ? errorIn(body.text) : undefined;
  if (own !== undefined) return { text: (id) => `{"jsonrpc":"2.0","id":${id},"error":${own}}`, isSessionGone: false };
  if (status >= 200 && status < 300) return refusalWith(NO_ANSWER);
  return refusalWith(
    `The server refused the request with HTTP ${status}: ${REASONS.get(status) ?? "see its own log"}.`,
  );
}

/** A refusal with the same sentence for every id. */
export function refusalWith(sentence: string): Refusal {
  return { text: (id) => errorMessage(id, RpcCode.serverError, sentence), isSessionGone: false };
}

const UNAUTHORIZED =
  'The server needs authorization: start the proxy with --header "Authorization: Bearer …", since it cannot sign in itself.';

const NO_ANSWER = "The server answered with something other than an MCP message: check its address.";

const NO_SESSION: Refusal = {
  ...refusalWith("The server no longer knows this session: connect again."),
  isSessionGone: true,
};

const REDIRECTS = "it redirects to another server; use that server's address";

const REASONS: ReadonlyMap<number, string> = new Map([
  [301, REDIRECTS],
  [302, REDIRECTS],
  [307, REDIRECTS],
  [308, REDIRECTS],
  [403, "access is denied; check the credentials"],
  [404, "there is nothing at this address; check it"],
  [405, "this address takes no messages; check it"],
  [406, "it does not speak Streamable HTTP; check its address"],
  [413, "the request is too large; send less"],
  [429, "there were too many requests; wait before the next"],
  [502, "it cannot be reached; try again later"],
  [503, "it is not available; try again later"],
  [504, "it did not answer in time; try again later"],
]);

/** JSON text of a message's error. */
function errorIn(body: string): string | undefined {
  try {
    const message = parseJson(body);
    const error = valueAt(message, "error");
    if (error?.type !== "Object" || valueAt(error, "code")?.type !== "Number") return undefined;
    if (valueAt(error, "message")?.type !== "String") return undefined;
    return sliceSource(body, error).replaceAll(/[\r\n]/g, " ");
  } catch {
    return undefined;
  }
}

interface RemoteReaderDeps {
  readonly interceptor: Interceptor;
  readonly client: LineWriter;
  readonly connection: RemoteConnection;
  /** Sends the server an error in place of an answer. */
  readonly reply: (text: string) => void;
}

interface RequestContext {
  /** As JSON text. */
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  /** Whether it is `initialize`. */
  readonly isOpening: boolean;
  /** Whether it was sent in a session. */
  readonly inSession: boolean;
}

/** Milliseconds before a broken stream is requested again, unless the server says otherwise. */
const RETRY = 1000;
const SHORTEST = 10;
const LONGEST = 30_000;

/** Most failures in a row. */
const MAX_FAILURES = 5;

const BROKEN = "The server's answer ended before it was complete.";

/** Reads responses, several at a time. */
export class RemoteReader {
  readonly #deps: RemoteReaderDeps;

  constructor(deps: RemoteReaderDeps) {
    this.#deps = deps;
  }

  /** Passes a response on. Returns the refusal for requests that were not answered, if there are any. */
  async read(response: Response, asked: RequestContext): Promise<Refusal | undefined> {
    const type = response.headers.get("content-type") ?? "";
    if (response.ok && response.body !== null) {
      if (/^text\/event-stream\b/i.test(type)) return this.#follow(response, asked);
      if (/^application\/json\b/i.test(type)) return this.#whole(response.body, asked);
    }
    return refusalIn(response, asked);
  }

  /** The version in the response to the proxy's own `initialize`. Undefined if there is none. */
  async agreed(response: Response): Promise<string | undefined> {
    if (!isEvents(response)) return response.ok ? versionIn((await refusalBody(response)).text) : undefined;
    let version: string | undefined;
    await using events = new RemoteEvents(() => {
      const pieces: Uint8Array[] = [];
      return {
        write: async (bytes) => void pieces.push(bytes.slice()),
        end: async () => void (version ??= versionIn(Buffer.concat(pieces).toString())),
        [Symbol.asyncDispose]: async () => undefined,
      };
    });
    for await (const chunk of response.body ?? []) {
      await events.write(chunk);
      if (version !== undefined) break;
    }
    return version;
  }

  /** Reads messages that belong to no request, as long as the session lasts. Never throws. */
  async listen(): Promise<void> {
    const { connection } = this.#deps;
    const { session } = connection;
    const ever: RequestContext = { ids: [], signal: connection.signal, isOpening: false, inSession: true };
    const place: Place = { id: undefined, retry: undefined };
    for (let failures = 0; connection.session === session && !connection.signal.aborted;) {
      const response = await connection.get(place.id).catch(() => undefined);
      // Servers without such a stream say so.
      if (response !== undefined && response.status >= 400 && response.status < 500) return;
      if (response !== undefined && isEvents(response)) {
        failures = 0;
        await this.#events(response, ever, place);
      } else {
        failures += 1;
      }
      await response?.body?.cancel().catch(() => undefined);
      await pause(place.retry ?? RETRY * 2 ** failures, connection.signal);
    }
  }

  /** Reads a stream and resumes it if it breaks before all answers came. */
  async #follow(first: Response, asked: RequestContext): Promise<Refusal | undefined> {
    const { interceptor, connection } = this.#deps;
    const place: Place = { id: undefined, retry: undefined };
    let response: Response | undefined = first;
    for (let failures = 0; failures <= MAX_FAILURES;) {
      const before = place.id;
      if (response !== undefined && isEvents(response)) await this.#events(response, asked, place);
      if (!asked.ids.some((id) => interceptor.isWaiting(id))) return undefined;
      if (place.id === undefined || asked.signal.aborted || connection.signal.aborted) return refusalWith(BROKEN);
      failures = place.id === before ? failures + 1 : 0;
      await pause(place.retry ?? RETRY * 2 ** failures, asked.signal);
      response = await connection.get(place.id, asked.signal).catch(() => undefined);
    }
    return refusalWith(BROKEN);
  }

  async #whole(body: ReadableStream<Uint8Array>, asked: RequestContext): Promise<Refusal | undefined> {
    await using taker = this.#open(asked);
    try {
      for await (const chunk of body) await taker.write(chunk);
    } catch (error) {
      if (asked.signal.aborted) throw error;
      return refusalWith(BROKEN);
    }
    await taker.end();
    return refusalWith(NO_ANSWER);
  }

  /** Reads a stream to its end, however it ends. */
  async #events(response: Response, asked: RequestContext, place: Place): Promise<void> {
    await using events = new RemoteEvents(() => this.#open(asked));
    try {
      for await (const chunk of response.body ?? []) await events.write(chunk);
    } catch {
      // It is requested again if possible.
    }
    place.id = events.lastEventId ?? place.id;
    place.retry = events.retry ?? place.retry;
  }

  /** Opens a writer for one message to the client. */
  #open({ isOpening }: RequestContext): MessageWriter {
    const { interceptor, client, connection, reply } = this.#deps;
    const lane = client.sink(MAX_MESSAGE);
    const opening: Uint8Array[] = [];
    const sink = {
      forward: async (bytes: Uint8Array): Promise<void> => {
        if (isOpening) opening.push(bytes);
        await lane.forward(oneLine(bytes));
      },
      complete: async (): Promise<void> => {
        const version = versionIn(Buffer.concat(opening).toString());
        if (version !== undefined) connection.agree(version);
        await lane.complete();
      },
      // Output that is not a message is dropped.
      nonProtocol: async (): Promise<void> => undefined,
    };
    const taker = interceptor.fromServer(sink, reply);
    return {
      write: (bytes) => taker.write(bytes),
      end: () => taker.end(),
      [Symbol.asyncDispose]: async () => {
        await taker[Symbol.asyncDispose]();
        // A broken message is dropped, or ended if it was begun, so that others can be written.
        await lane.drop().catch(() => undefined);
      },
    };
  }
}

/** Where to resume a stream. */
interface Place {
  id: string | undefined;
  retry: number | undefined;
}

function isEvents(response: Response): boolean {
  return response.ok && /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

/** The version in an answer to `initialize`. */
function versionIn(message: string): string | undefined {
  const { result } = objectOr(tryParse(message));
  const version = stringOr(objectOr(result)["protocolVersion"]);
  return version !== undefined && /^[\w.-]{1,32}$/.test(version) ? version : undefined;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return wait(Math.min(LONGEST, Math.max(SHORTEST, milliseconds)), signal);
}

/** Waits. Resolves early when the signal aborts. */
export async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Longest line that matters here. */
const MAX_LINE = 8 * 1024;

const LF = 0x0a;

/** Reads an event stream for its messages, which go where `open` says, and for where to resume. */
export class RemoteEvents implements AsyncDisposable {
  /** The id to resume after. */
  lastEventId: string | undefined;
  /** Milliseconds that the server wants to wait before a reconnect. */
  retry: number | undefined;
  readonly #gate: EventStreamGate;
  #line: Uint8Array[] = [];
  #size = 0;
  #id: string | undefined;

  constructor(open: () => ReturnType<OpenIncoming>) {
    this.#gate = new EventStreamGate(open, async (bytes) => this.#take(bytes));
  }

  /** Takes bytes, which the caller must not reuse. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#gate.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gate[Symbol.asyncDispose]();
  }

  /** Takes pieces of lines other than data. */
  #take(bytes: Uint8Array): void {
    if (bytes.length === 1 && bytes[0] === LF) {
      this.#end();
      return;
    }
    this.#size += bytes.length;
    if (this.#size <= MAX_LINE) this.#line.push(bytes);
  }

  #end(): void {
    const line = this.#size > MAX_LINE ? "" : Buffer.concat(this.#line).toString();
    const isBlank = this.#size === 0;
    this.#line = [];
    this.#size = 0;
    // Only a dispatched event need not be sent again.
    if (isBlank) this.lastEventId = this.#id ?? this.lastEventId;
    const [, field, value = ""] = /^(id|retry)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "id" && isHeaderValue(value)) this.#id = value === "" ? undefined : value;
    if (field === "retry" && /^\d{1,9}$/.test(value)) this.retry = Number(value);
  }
}

/** Whether a header can hold the value. */
function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}
