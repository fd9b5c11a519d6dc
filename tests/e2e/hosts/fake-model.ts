/**
 * A model behind an OpenAI-compatible HTTP API, on loopback: it says what a script says, and keeps every prompt.
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** What the model does with one prompt: calls a tool, or says something and is done. */
export type Turn =
  | { readonly call: string; readonly args: Readonly<Record<string, unknown>> }
  | { readonly say: string };

/** A turn, or what makes one of the prompt that it answers, a request body as JSON text. */
export type Line = Turn | ((prompt: string) => Turn);

/** Answers chat completions and responses, neither of them streamed. */
export class FakeModel implements AsyncDisposable {
  /** The bodies of all requests since the last script, oldest first: what a provider would have been sent. */
  readonly prompts: string[] = [];
  #lines: Line[] = [];
  #answers = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts one on a free port. */
  static async start(): Promise<FakeModel> {
    const server = createServer();
    const model = new FakeModel(server);
    server.on("request", (request, response) => void model.#answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return model;
  }

  /** For clients' `baseURL`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** What it does from now on, prompt by prompt; forgets the prompts that came before. */
  follow(...lines: readonly Line[]): void {
    this.#lines = [...lines];
    this.prompts.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let prompt = "";
    for await (const chunk of request.setEncoding("utf8")) prompt += String(chunk);
    this.prompts.push(prompt);
    const line = this.#lines.shift();
    if (line === undefined) return send(response, 400, { error: { message: "the script is over", type: "script" } });
    const turn = typeof line === "function" ? line(prompt) : line;
    // Clients take an answer with a known id for a new version of it.
    const number = (this.#answers += 1);
    const write = request.url?.endsWith("/responses") === true ? responses : completion;
    send(response, 200, write(turn, number));
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function completion(turn: Turn, number: number): object {
  const calls = "call" in turn;
  const message = calls
    ? {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: `call_${number}`,
            type: "function",
            function: { name: turn.call, arguments: JSON.stringify(turn.args) },
          },
        ],
      }
    : { role: "assistant", content: turn.say };
  return {
    id: `chatcmpl-${number}`,
    object: "chat.completion",
    created: 0,
    model: "fake",
    choices: [{ index: 0, message, finish_reason: calls ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function responses(turn: Turn, number: number): object {
  const item =
    "call" in turn
      ? {
          type: "function_call",
          id: `fc_${number}`,
          call_id: `call_${number}`,
          name: turn.call,
          arguments: JSON.stringify(turn.args),
          status: "completed",
        }
      : {
          type: "message",
          id: `msg_${number}`,
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: turn.say, annotations: [] }],
        };
  return {
    id: `resp_${number}`,
    object: "response",
    created_at: 0,
    model: "fake",
    status: "completed",
    output: [item],
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
