/**
 * A session of an MCP server over Streamable HTTP, whose requests are answered in the page that makes them. The SDK's server side
 * would be 16 KB of what a first visit waits for.
 * @module
 */
import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";

/** The code of what is wrong on a connection, as the SDKs' servers have it. */
const REFUSED = -32_000;

/** The header that names a session. */
export const SESSION = "mcp-session-id";

type Stream = ReadableStreamDefaultController<Uint8Array>;

/**
 * The server's end of a session (MCP 2025-11-25, "Streamable HTTP"). What belongs to a request goes out on the stream that answers
 * it, everything else on the session's own; without a stream it is lost, as where a client is not listening.
 */
export class HttpSession implements Transport {
  readonly sessionId: string = crypto.randomUUID();
  onclose?: Transport["onclose"];
  onmessage?: Transport["onmessage"];
  /** Those that are open, by the id of the request that they answer; the session's own by none. */
  readonly #streams = new Map<RequestId | undefined, Stream>();

  async start(): Promise<void> {}

  /** Answers a request of the client; with 4xx if it is not a message of this transport. */
  async answer(request: Request): Promise<Response> {
    switch (request.method) {
      case "POST": {
        const message = await readMessage(request);
        return message instanceof Response ? message : this.receive(message);
      }
      case "GET":
        return this.#streams.has(undefined) ? refuse(409, REFUSED, "This session is listened to.") : this.#openStream();
      case "DELETE":
        await this.close();
        return new Response();
      default:
        return new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
    }
  }

  /** Takes a message. The answer to a request is a stream, which ends with its result. */
  receive(message: JSONRPCMessage): Response {
    const isRequest = "method" in message && "id" in message;
    const response = isRequest ? this.#openStream(message.id) : new Response(null, { status: 202 });
    this.onmessage?.(message);
    return response;
  }

  async send(message: JSONRPCMessage, { relatedRequestId }: TransportSendOptions = {}): Promise<void> {
    const isAnswer = !("method" in message);
    const id = isAnswer ? message.id : relatedRequestId;
    const stream = this.#streams.get(id);
    stream?.enqueue(new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
    if (isAnswer) this.#end(id);
  }

  async close(): Promise<void> {
    for (const id of this.#streams.keys()) this.#end(id);
    this.onclose?.();
  }

  #openStream(id?: RequestId): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => void this.#streams.set(id, stream),
      cancel: () => void this.#streams.delete(id),
    });
    const headers = { "content-type": "text/event-stream", [SESSION]: this.sessionId };
    return new Response(body, { headers });
  }

  #end(id: RequestId | undefined): void {
    this.#streams.get(id)?.close();
    this.#streams.delete(id);
  }
}

/** The message of a POST, or the answer to one that has none. */
export async function readMessage(request: Request): Promise<JSONRPCMessage | Response> {
  let said: unknown;
  try {
    said = await request.json();
  } catch {
    return refuse(400, PARSE_ERROR, "This is not JSON.");
  }
  try {
    return parseJSONRPCMessage(said);
  } catch {
    return refuse(400, INVALID_REQUEST, "A request is one message.");
  }
}

/** An answer that is a JSON-RPC error. */
export function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
