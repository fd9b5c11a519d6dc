/**
 * A model behind the HTTP APIs of Anthropic, OpenAI and Gemini, on loopback: it says what a script or a function says, and keeps
 * every prompt.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { apiAt, type ModelApi, writeTurn } from "./model-apis.js";

/** What the model does with one prompt: calls a tool, or says something and is done. */
export type Turn =
  | {
      readonly call: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** Responses: the namespace of the tool. */
      readonly namespace?: string;
    }
  /** Responses: a tool that takes text, such as a script. */
  | { readonly call: string; readonly input: string }
  /** Responses: the host's own search for tools. */
  | { readonly find: string }
  | { readonly say: string };

/** A turn, or what makes one of the prompt that it answers, a request body as JSON text. */
export type Line = Turn | ((prompt: string) => Turn);

/** A request of a host to its model. */
export interface ModelRequest {
  readonly api: ModelApi;
  /** The body, as JSON text. */
  readonly prompt: string;
  /** The id that a call in the answer will have. */
  readonly callId: string;
}

/** Answers requests of four APIs, streamed if they ask for it. */
export class FakeModel implements AsyncDisposable {
  /** The bodies of all requests since the last script, oldest first: what a provider would have been sent. */
  readonly prompts: string[] = [];
  #answer: (request: ModelRequest) => Turn | undefined = () => undefined;
  #answers = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts one on a free port. */
  static async start(): Promise<FakeModel> {
    const server = createServer();
    const model = new FakeModel(server);
    server.on("request", (request, response) => void model.#respond(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return model;
  }

  /** For clients of OpenAI's APIs. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  /** For clients of Anthropic's and Google's APIs, which add the version by themselves. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What it does from now on, prompt by prompt; forgets the prompts that came before. */
  follow(...lines: readonly Line[]): void {
    const left = [...lines];
    this.answerBy(({ prompt }) => {
      const line = left.shift();
      return typeof line === "function" ? line(prompt) : line;
    });
  }

  /** Lets a function answer from now on; `undefined` is an error of the API. Forgets the prompts that came before. */
  answerBy(answer: (request: ModelRequest) => Turn | undefined): void {
    this.#answer = answer;
    this.prompts.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let prompt = "";
    for await (const chunk of request.setEncoding("utf8")) prompt += String(chunk);
    const path = request.url ?? "/";
    if (/count_?tokens/i.test(path)) return send(response, 200, { input_tokens: 1, totalTokens: 1 });
    const api = apiAt(path);
    if (request.method !== "POST" || api === undefined) return send(response, 404, { error: { message: "not found" } });
    this.prompts.push(prompt);
    // Clients take an answer with a known id for a new version of it.
    const number = (this.#answers += 1);
    const turn = this.#answer({ api, prompt, callId: callIdFor(api, number) });
    if (turn === undefined) return send(response, 400, { error: { message: "the script is over", type: "script" } });
    const { events, body } = writeTurn(api, turn, { number, callId: callIdFor(api, number) });
    if (!isStreamed(path, prompt)) return send(response, 200, body);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  }
}

function callIdFor(api: ModelApi, number: number): string {
  return api === "messages" ? `toolu_${number}` : `call_${number}`;
}

function isStreamed(path: string, prompt: string): boolean {
  return path.includes(":streamGenerateContent") || /"stream":\s*true/.test(prompt);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
