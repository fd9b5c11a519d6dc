/**
 * A `fetch` for Streamable HTTP transports that passes messages through an interceptor.
 * @module
 */
import type { Interceptor } from "../interceptor-interface.js";
import { createInterceptor, INTERCEPTOR_OPTIONS, type InterceptorOptions } from "../interceptor-options.js";
import { exchange, gateResponse, replySender } from "./exchange.js";
import { acceptsEvents, isJson, replaceHeaders } from "./headers.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** The `fetch` that SDKs accept. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Wraps a `fetch` for one client: results are reduced while they arrive, a tool that reads artifacts is added, and
 * artifacts are put into arguments. Requests that are not MCP messages pass through unchanged.
 *
 * @example
 * const transport = new StreamableHTTPClientTransport(url, { fetch: gateFetch(fetch, { store, namespace: "files" }) });
 */
export function gateFetch(fetch: FetchLike, options: InterceptorOptions = {}): FetchLike {
  checkOptionNames(options, "gateFetch", INTERCEPTOR_OPTIONS);
  let interceptor: Promise<Interceptor> | undefined;
  return fetchThrough(fetch, () => (interceptor ??= createInterceptor(options)));
}

/** The same with your own interceptors. Each is requested with the message to be sent, if there is one. */
export function fetchThrough(
  fetch: FetchLike,
  interceptorFor: (message: Uint8Array | undefined) => Promise<Interceptor>,
): FetchLike {
  return async (url, init) => {
    const body = readMessage(init);
    if (body === undefined && !isEventStream(init)) return fetch(url, init);
    const interceptor = await interceptorFor(body);
    return interceptRequest(interceptor, body, (changed) => fetch(url, changed === undefined ? init : changed(init)));
  };
}

/** Sends a request, unchanged or changed. */
type Sends = (changed?: (init: RequestInit | undefined) => RequestInit) => Promise<Response>;

function interceptRequest(interceptor: Interceptor, body: Uint8Array | undefined, fetched: Sends): Promise<Response> {
  const post = (bytes: Uint8Array): Promise<Response> =>
    fetched((init) => ({
      ...init,
      method: "POST",
      headers: replaceHeaders(init?.headers, bytes, (name) => interceptor.tool(name)),
      body: new TextDecoder().decode(bytes),
    }));
  const send = (bytes?: Uint8Array): Promise<Response> => (bytes === undefined ? fetched() : post(bytes));
  if (body !== undefined) return exchange(interceptor, body, { send });
  return fetched().then((response) => gateResponse(interceptor, response, { reply: replySender(post) }));
}

/** The JSON-RPC message in a request. */
function readMessage(init: RequestInit | undefined): Uint8Array | undefined {
  if (init?.method?.toUpperCase() !== "POST") return undefined;
  if (!isJson(new Headers(init.headers))) return undefined;
  const { body } = init;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return undefined;
}

/** Whether a request opens the server's stream of unsolicited messages. */
function isEventStream(init: RequestInit | undefined): boolean {
  if ((init?.method ?? "GET").toUpperCase() !== "GET") return false;
  return acceptsEvents(new Headers(init?.headers));
}
