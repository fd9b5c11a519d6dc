/**
 * A client and a server that talk through an interceptor.
 * @module
 */
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import type { McpInterceptor } from "../../../../web/src/mcp/interceptor.js";
import { createInterceptor, type InterceptorOptions } from "../../../../web/src/mcp/interceptor-options.js";
import type { InterceptorEvent } from "../../../../web/src/mcp/interceptor-event.js";
import { greyPng } from "../../../support/pictures.js";
import { MAX_MESSAGE } from "../../../../web/src/jsonrpc/limits.js";
import { JsonRpcScanner } from "../../../../web/src/jsonrpc/json-rpc-scanner.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message as tests read it. */
export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A client and a server on both sides of an interceptor. */
export class Talk {
  readonly events: InterceptorEvent[] = [];
  readonly store: MemoryArtifactStore;
  readonly replies: string[] = [];
  nonProtocol = "";
  #interceptor: Promise<McpInterceptor>;
  #lastId = 0;

  /** `open` makes another interceptor than hosts have. */
  constructor(options: InterceptorOptions = {}, open = createInterceptor) {
    this.store = (options.store as MemoryArtifactStore | undefined) ?? new MemoryArtifactStore({ retention: null });
    const onEvent = (event: InterceptorEvent): void => void this.events.push(event);
    this.#interceptor = open({ namespace: "srv", onEvent, ...options, store: this.store });
  }

  get interceptor(): Promise<McpInterceptor> {
    return this.#interceptor;
  }

  /** Sends what a client says: what the server gets, and what the client is answered at once. */
  async say(message: object | string): Promise<{ forwarded: string | undefined; answers: Message[] }> {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const { forward, answers } = await (await this.#interceptor).fromClient(encoder.encode(text));
    return {
      forwarded: forward && decoder.decode(forward),
      answers: (await Promise.all(answers))
        .filter((answer) => answer !== undefined)
        .map((answer) => JSON.parse(answer) as Message),
    };
  }

  /** Sends what a server says: what the client gets. */
  async hear(message: object | string): Promise<string[]> {
    const lines: string[] = [];
    let line = "";
    const incoming = (await this.#interceptor).fromServer(
      {
        forward: async (bytes) => void (line += decoder.decode(bytes)),
        complete: async () => {
          lines.push(line);
          line = "";
        },
        nonProtocol: async (bytes) => void (this.nonProtocol += decoder.decode(bytes)),
      },
      (text) => void this.replies.push(text),
    );
    const text = typeof message === "string" ? message : JSON.stringify(message);
    // Pieces as a pipe gives them.
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length; at += 65_536) {
      const piece = Buffer.from(bytes.subarray(at, at + 65_536));
      await incoming.write(piece);
      // Its memory is read into again.
      piece.fill(0x23);
    }
    await incoming.end();
    return lines;
  }

  /** A request, and the answer to it. */
  async ask(method: string, params: object, result: object): Promise<Message> {
    const id = (this.#lastId += 1);
    const { answers } = await this.say({ jsonrpc: "2.0", id, method, params });
    if (answers[0] !== undefined) return answers[0];
    const [answer] = await this.hear({ jsonrpc: "2.0", id, result });
    return JSON.parse(answer ?? "null") as Message;
  }

  call(name: string, result: object, args: object = {}): Promise<Message> {
    return this.ask("tools/call", { name, arguments: args }, result);
  }

  list(...tools: object[]): Promise<Message> {
    return this.ask("tools/list", {}, { tools: tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })) });
  }
}

export const png = (size: number): string => Buffer.from(greyPng(size)).toString("base64");
export const image = (size = 5000): object => ({ type: "image", mimeType: "image/png", data: png(size) });
export const textOf = ({ result }: Message): string =>
  ((result?.["content"] ?? []) as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
export const uriIn = (message: Message): string => /artifact:\/\/srv_[0-9a-f]+/.exec(textOf(message))?.[0] ?? "none";

/** The members of a message that no server would take. */
export function large(head: string): JsonRpcScanner {
  const members = new JsonRpcScanner();
  members.push(encoder.encode(`{${head},"params":"${"x".repeat(MAX_MESSAGE)}"}`));
  return members;
}

export const namesOf = ({ result }: Message): string[] =>
  ((result?.["tools"] ?? []) as { name: string }[]).map(({ name }) => name);

/** A client of this name connects. */
export function begin(talk: Talk, name: string): Promise<Message> {
  return talk.ask("initialize", { clientInfo: { name, version: "1" } }, {});
}

/** A call that waits for its answer. */
export function wait(talk: Talk, id: unknown): Promise<unknown> {
  return talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "shot" } });
}
