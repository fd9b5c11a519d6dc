/**
 * A `fetch` for Streamable HTTP transports whose answers have passed the gate.
 * @module
 */
import type { Doorway } from "./doorway.js";
import { asPost, exchange, gatedResponse, replying } from "./exchange.js";
import { mirroredAgain } from "./mirror-headers.js";
import { openDoor, type DoorOptions } from "./open-door.js";

/** What SDKs take as their `fetch`. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Wraps a `fetch` for one client: results are reduced while they arrive, the tool that reads artifacts is added, and
 * artifacts are put into arguments. What is no MCP message passes as it is.
 *
 * @example
 * const transport = new StreamableHTTPClientTransport(url, { fetch: gateFetch(fetch, { store, namespace: "files" }) });
 */
export function gateFetch(fetch: FetchLike, options: DoorOptions = {}): FetchLike {
  let door: Promise<Doorway> | undefined;
  return fetchThrough(fetch, () => (door ??= openDoor(options)));
}

/** The same with doors of the caller's own: each is asked for with the message that is sent, if one is. */
export function fetchThrough(
  fetch: FetchLike,
  doorFor: (message: Uint8Array | undefined) => Promise<Doorway>,
): FetchLike {
  return async (url, init) => {
    const body = messageOf(init);
    if (body === undefined && !isEventStream(init)) return fetch(url, init);
    const door = await doorFor(body);
    return throughDoor(door, body, (changed) => fetch(url, changed === undefined ? init : changed(init)));
  };
}

/** Sends a request as it was, or changed. */
type Sends = (changed?: (init: RequestInit | undefined) => RequestInit) => Promise<Response>;

function throughDoor(door: Doorway, body: Uint8Array | undefined, fetched: Sends): Promise<Response> {
  const post = (bytes: Uint8Array): Promise<Response> =>
    fetched((init) => ({
      ...init,
      method: "POST",
      headers: mirroredAgain(asPost(new Headers(init?.headers)), bytes, (name) => door.tool(name)),
      body: new TextDecoder().decode(bytes),
    }));
  const send = (bytes?: Uint8Array): Promise<Response> => (bytes === undefined ? fetched() : post(bytes));
  if (body !== undefined) return exchange(door, body, { send });
  return fetched().then((response) => gatedResponse(door, response, { reply: replying(post) }));
}

/** The JSON-RPC message that a request carries. */
function messageOf(init: RequestInit | undefined): Uint8Array | undefined {
  if (init?.method?.toUpperCase() !== "POST") return undefined;
  const type = new Headers(init.headers).get("content-type") ?? "";
  if (!/^application\/json\b/i.test(type)) return undefined;
  const { body } = init;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return undefined;
}

/** Whether a request opens the stream of what the server sends unasked. */
function isEventStream(init: RequestInit | undefined): boolean {
  if ((init?.method ?? "GET").toUpperCase() !== "GET") return false;
  return /\btext\/event-stream\b/i.test(new Headers(init?.headers).get("accept") ?? "");
}
