/**
 * Requests to a server at an address, with the headers that each one has to have.
 * @module
 */
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
