/**
 * Requests to a server at an address: as `fetch` makes them, without its limits on how long a server may be silent.
 * @module
 */
import { Agent as PlainAgent, request as plainRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { FetchLike } from "../../mcp/gate-fetch.js";
import { headersOf } from "./headers.js";

/** Responses that have no body, whatever they say of one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Connections to one kind of server, kept for the next request. */
export class Upstream implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true });
  readonly #secure = new SecureAgent({ keepAlive: true });

  /** Follows no redirects, and takes bytes as a body. Bodies come as the server sent them. */
  readonly fetch: FetchLike = async (url, init = {}) => {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    // What is compressed would have to be unpacked before it is looked at, and streams may be held back for it.
    headers.set("accept-encoding", "identity");
    const body = init.body as Uint8Array | undefined;
    if (body !== undefined) headers.set("content-length", String(body.length));
    const options = { method: init.method ?? "GET", headers: Object.fromEntries(headers), signal: init.signal };
    const response = await this.#sent(target, options as RequestOptions, body);
    return responseOf(response);
  };

  [Symbol.dispose](): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  async #sent(url: URL, options: RequestOptions, body: Uint8Array | undefined): Promise<IncomingMessage> {
    try {
      return await this.#send(url, options, body);
    } catch (error) {
      // The server closed a kept connection in the moment it was used again: the request never reached it.
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

function responseOf(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502;
  const isBodiless = BODILESS.has(status);
  if (isBodiless) incoming.resume();
  const body = isBodiless ? null : chunkStream(incoming, () => incoming.destroy());
  return new Response(body, {
    status,
    statusText: incoming.statusMessage ?? "",
    headers: headersOf(incoming.rawHeaders),
  });
}

/** Takes chunks no sooner than they are read. `stop` is called when nobody reads any more. */
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

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name could not be looked up",
  ETIMEDOUT: "it did not answer in time",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no network",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by nobody known",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by nobody known",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** A sentence that names no address: whoever gets it need not know where the server is. */
export function failureOf(error: unknown): string {
  return `The server cannot be reached: ${REASONS[codeOf(error) ?? ""] ?? "the connection failed"}.`;
}

/** Of several attempts, as for a name with two addresses, the first one's. */
function codeOf(error: unknown): string | undefined {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string" && code in REASONS) return code;
  if (errors?.[0] !== undefined) return codeOf(errors[0]);
  return cause instanceof Error ? codeOf(cause) : undefined;
}
