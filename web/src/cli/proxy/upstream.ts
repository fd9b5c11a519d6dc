/**
 * HTTP requests to a server: like `fetch`, without its limits on silence, and the headers that may pass through a
 * proxy.
 * @module
 */
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { FetchLike } from "../../mcp/http/gate-fetch.js";
import { UsageError } from "../exit.js";

/** Status codes without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Connections to servers, kept alive for the next request. */
export class Upstream implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true });
  readonly #secure = new SecureAgent({ keepAlive: true });

  /** Follows no redirects and takes bytes as a body. Bodies arrive as the server sent them. */
  readonly fetch: FetchLike = async (url, init = {}) => {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    // Compressed bodies would have to be unpacked, and compression may hold back streams.
    headers.set("accept-encoding", "identity");
    const body = init.body as Uint8Array | undefined;
    if (body !== undefined) headers.set("content-length", String(body.length));
    const options = { method: init.method ?? "GET", headers: Object.fromEntries(headers), signal: init.signal };
    const response = await this.#sendOnce(target, options as RequestOptions, body);
    return toResponse(response);
  };

  [Symbol.dispose](): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  async #sendOnce(url: URL, options: RequestOptions, body: Uint8Array | undefined): Promise<IncomingMessage> {
    try {
      return await this.#send(url, options, body);
    } catch (error) {
      // The server closed a kept connection at the moment it was reused, so the request never reached it.
      if (!(error instanceof StaleConnection)) throw error;
      return this.#send(url, { ...options, agent: false }, body);
    }
  }

  #send(url: URL, options: RequestOptions, body: Uint8Array | undefined): Promise<IncomingMessage> {
    const isSecure = url.protocol === "https:";
    const agent = isSecure ? this.#secure : this.#plain;
    return new Promise((resolve, reject) => {
      const request = (isSecure ? secureRequest : plainRequest)(url, { agent, ...options }, resolve);
      request.on("error", (error: NodeJS.ErrnoException) => {
        const isStale = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        reject(isStale ? new StaleConnection("the connection was closed", { cause: error }) : error);
      });
      request.end(body);
    });
  }
}

class StaleConnection extends Error {}

function toResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502;
  const isBodiless = BODILESS.has(status);
  if (isBodiless) incoming.resume();
  const body = isBodiless ? null : chunkStream(incoming, () => incoming.destroy());
  return new Response(body, {
    status,
    statusText: incoming.statusMessage ?? "",
    headers: withoutConnection(toHeaders(incoming.rawHeaders)),
  });
}

/** Reads chunks only on demand. `stop` is called when the reader cancels. */
function chunkStream(chunks: AsyncIterable<Uint8Array>, stop: () => void): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => stop(),
    },
    { highWaterMark: 0 },
  );
}

const CHECK = "check its address, and that it is running";
const TRUST = "if you trust it, name its issuer in NODE_EXTRA_CA_CERTS";

/** Why a server cannot be reached, and what to do. */
const REASONS: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ECONNREFUSED: ["nothing is listening there", CHECK],
  ENOTFOUND: ["its host name is unknown", "check its address"],
  EAI_AGAIN: ["its host name could not be looked up", "check the network"],
  ETIMEDOUT: ["it did not answer in time", "try again later"],
  EHOSTUNREACH: ["there is no route to it", "check its address and the network"],
  ENETUNREACH: ["there is no network", "connect this machine to one"],
  ECONNRESET: ["it closed the connection", CHECK],
  EPIPE: ["it closed the connection", CHECK],
  CERT_HAS_EXPIRED: ["its certificate has expired", "renew it"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["its certificate is self-signed", TRUST],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["its certificate has an unknown issuer", TRUST],
  SELF_SIGNED_CERT_IN_CHAIN: ["its certificate has an unknown issuer", TRUST],
  ERR_TLS_CERT_ALTNAME_INVALID: ["its certificate is for another name", "use that name in its address"],
};

/** A sentence without the server's address, which its reader need not know. */
export function describeFailure(error: unknown): string {
  const [reason, remedy] = REASONS[readCode(error) ?? ""] ?? ["the connection failed", CHECK];
  return `The server cannot be reached: ${reason}; ${remedy}.`;
}

/** The error code; of several attempts, as for a name with two addresses, the first one's. */
function readCode(error: unknown): string | undefined {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string" && code in REASONS) return code;
  if (errors?.[0] !== undefined) return readCode(errors[0]);
  return cause instanceof Error ? readCode(cause) : undefined;
}

/** Headers of one connection and not of a message (RFC 9110 §7.6.1), and those that each request sets itself. */
const OF_CONNECTION: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
const OF_REQUEST: readonly string[] = ["host", "content-length", "accept-encoding", "expect"];

/** The headers of a client's request that the server may see. */
export function requestHeaders(headers: Headers, more: readonly Header[]): Headers {
  const passed = withoutConnection(headers);
  for (const name of OF_REQUEST) passed.delete(name);
  for (const [name, value] of more) passed.set(name, value);
  return passed;
}

/** Headers without those of one connection. */
export function withoutConnection(headers: Headers): Headers {
  const passed = new Headers(headers);
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...OF_CONNECTION, ...named]) if (isName(name)) passed.delete(name);
  return passed;
}

/** Headers from Node's list of alternating names and values. */
function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] as string, raw[at + 1] as string);
  return headers;
}

/** A name and a value. */
export type Header = readonly [name: string, value: string];

/** Parses `--header "K: V"`. Throws UsageError, which never shows the value, because it may be a secret. */
export function parseHeaders(lines: readonly string[]): readonly Header[] {
  return lines.map((line) =>
    headerIn(line, '--header needs a name and a value, as in --header "Authorization: Bearer …"'),
  );
}

/** Parses headers that are in a variable, one a line. Throws UsageError, which never shows a value. */
export function parseHeaderLines(text: string, variable: string): readonly Header[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const sentence = `each line of ${variable} needs a name and a value, as in Authorization: Bearer …`;
  return lines.map((line) => headerIn(line, sentence));
}

function headerIn(line: string, sentence: string): Header {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon)).trim();
  const value = line.slice(colon + 1).trim();
  const isOurs = [...OF_CONNECTION, ...OF_REQUEST].includes(name.toLowerCase());
  if (isOurs || !canBeSent(name, value)) throw new UsageError(sentence, "proxy");
  return [name, value];
}

function canBeSent(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

function isName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\w]+$/.test(name);
}
