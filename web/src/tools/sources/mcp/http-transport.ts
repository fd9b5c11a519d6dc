/**
 * The client's Streamable HTTP transport, where no request waits for an answer that cannot come any more.
 * @module
 */
import {
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type StreamableHTTPClientTransportOptions,
} from "@modelcontextprotocol/client";
import { objectOr } from "../../../mcp/rpc.js";
import type { ToolDoor } from "./tool-door.js";

type SendOptions = NonNullable<Parameters<StreamableHTTPClientTransport["send"]>[1]>;

const ENDED = "The server ended its answer before it was complete.";

/**
 * When the stream of an answer ends without one, the SDK's transport tells subscriptions only; requests would wait for
 * their time limit. And in the earlier era a request that was cancelled keeps its connection until the server ends it.
 */
export class ToolHttpTransport extends StreamableHTTPClientTransport {
  readonly #door: ToolDoor;
  /** What ends the connections of requests, by the requests' ids. */
  readonly #connections = new Map<unknown, AbortController>();

  constructor(url: URL, door: ToolDoor, options: StreamableHTTPClientTransportOptions) {
    super(url, options);
    this.#door = door;
  }

  override async send(message: JSONRPCMessage, options: SendOptions = {}): Promise<void> {
    if (!("method" in message)) return super.send(message, options);
    if (!("id" in message)) return this.#notify(message, options);
    const { id } = message;
    const own = options.requestSignal === undefined ? new AbortController() : undefined;
    if (own !== undefined) this.#connections.set(id, own);
    try {
      await super.send(message, {
        ...options,
        ...(own !== undefined && { requestSignal: own.signal }),
        onRequestStreamEnd: () => {
          options.onRequestStreamEnd?.();
          this.#ended(id);
        },
      });
    } catch (error) {
      this.#connections.delete(id);
      throw error;
    }
    // What is no stream has been delivered by now.
    if (!this.#door.isWaiting(JSON.stringify(id))) this.#connections.delete(id);
  }

  override async close(): Promise<void> {
    this.#connections.clear();
    await super.close();
  }

  async #notify(message: JSONRPCMessage, options: SendOptions): Promise<void> {
    try {
      await super.send(message, options);
    } finally {
      const { method, params } = message as { method?: unknown; params?: unknown };
      const { requestId } = objectOr(params);
      if (method === "notifications/cancelled") {
        this.#connections.get(requestId)?.abort();
        this.#connections.delete(requestId);
      }
    }
  }

  #ended(id: string | number): void {
    this.#connections.delete(id);
    const answer = this.#door.lose(JSON.stringify(id), ENDED);
    if (answer !== undefined) this.onmessage?.(JSON.parse(answer) as JSONRPCMessage);
  }
}
