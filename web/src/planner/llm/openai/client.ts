/**
 * Models behind OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter and all who speak it too.
 * (platform.openai.com/docs/api-reference/chat/create)
 * @module
 */
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../../../errors/arguments.js";
import { adaptFetchError } from "../../../tools/adapt-error.js";
import {
  jsonIn,
  type LlmAnswer,
  type LlmClient,
  type LlmMessage,
  type LlmOptions,
  type LlmRequest,
  type LlmTool,
  type LlmToolCall,
} from "../client.js";
import { LlmCaller, ASKING, type LlmRequestOptions, type TurnAttempt, wrongOption } from "../resilience.js";
import { answerOf } from "./answer.js";

/** Which model, and where. */
export interface OpenAiClientOptions extends LlmRequestOptions {
  /** As its server calls it, such as `gpt-4o` or `llama3.2`. */
  readonly model: string;
  /** Up to and without `/chat/completions`, such as `http://localhost:11434/v1`; OpenAI's own when left out. */
  readonly baseUrl?: string;
  /** Sent as a bearer token, without spaces and line breaks; left out for servers that want none. It stands in no error and no log. */
  readonly apiKey?: string;
  /** Headers that a server wants beside it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields that the request has beside ours, such as `temperature` or `max_completion_tokens`. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** How HTTP is spoken; as the platform does when left out. */
  readonly fetch?: typeof globalThis.fetch;
}

const OPENAI = "https://api.openai.com/v1";

/** One model at one server. */
export class OpenAiClient implements LlmClient {
  readonly model: string;
  readonly #url: URL;
  readonly #options: OpenAiClientOptions;
  readonly #caller: LlmCaller;

  /** Throws E_INVALID_ARGUMENT for an option that is wrong, or that there is not: what is sent as a header must be one. */
  constructor(options: OpenAiClientOptions) {
    checkClient(options);
    const { model, baseUrl = OPENAI } = options;
    this.model = model;
    this.#url = endpointOf(baseUrl);
    this.#options = options;
    this.#caller = new LlmCaller(model, options);
  }

  async ask(request: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    const { body: more = {}, apiKey: secret } = this.#options;
    const body = JSON.stringify(bodyOf(request, this.model, more));
    return this.#caller.turn(async (attempt) => {
      const response = await this.#sent(body, attempt);
      return answerOf(response, { ...attempt, secret });
    }, options);
  }

  async #sent(body: string, { signal, place }: TurnAttempt): Promise<Response> {
    const { apiKey, headers, fetch = globalThis.fetch } = this.#options;
    try {
      return await fetch(this.#url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "text/event-stream, application/json",
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        body,
        // A key is for this server, and for none that it sends us on to: that is told, and not followed.
        redirect: "manual",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptFetchError(error, place);
    }
  }
}

/** What a bearer token may be in a header; nothing is trimmed, so that it can be found where a server quotes it. */
const KEY = /^[\x21-\x7e\xa1-\xff]*$/;

/** What is not tested here is tested where it is used. */
const OPTIONS: OptionTests<OpenAiClientOptions> = {
  ...ASKING,
  model: ["the name of a model", (value) => typeof value === "string" && value !== ""],
  baseUrl: ANYTHING,
  apiKey: [
    "a text of Latin-1 characters without spaces and line breaks",
    (value) => typeof value === "string" && KEY.test(value),
  ],
  headers: ["an object of header names, each with a text of Latin-1 characters without line breaks", isHeaders],
  body: OBJECT,
  fetch: FUNCTION,
};

/** Throws E_INVALID_ARGUMENT, with the option's name as `path`. No value stands in its sentence: it may be a secret. */
function checkClient(options: OpenAiClientOptions): void {
  checkOptions(options, OPTIONS, "an OpenAiClient", wrongOption, ["model"]);
}

/** Where turns are asked for. Throws E_INVALID_ARGUMENT. */
function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    const remedy = "such as http://localhost:11434/v1; say who asks by apiKey";
    throw wrongOption(`baseUrl must be an http(s) URL without a user, ${remedy}.`, "baseUrl");
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  url.hash = "";
  return url;
}

/** As the platform itself takes them. `Headers` have no properties of their own: they would be lost. */
function isHeaders(value: unknown): boolean {
  if (!OBJECT[1](value) || value instanceof Headers) return false;
  const pairs = Object.entries(value as object);
  if (!pairs.every(([, text]) => typeof text === "string")) return false;
  try {
    const taken = new Headers(pairs as [string, string][]);
    return pairs.every(([name]) => taken.has(name));
  } catch {
    return false;
  }
}

/** The body of a request, to be written as JSON. */
function bodyOf(
  { messages, tools }: LlmRequest,
  model: string,
  more: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    ...more,
    model,
    messages: messages.map(messageOf),
    // An empty list is refused by some.
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function messageOf(message: LlmMessage): object {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const { content, toolCalls } = message;
  if (toolCalls.length === 0) return { role: "assistant", content };
  // Null beside calls: an empty text is refused by some.
  return { role: "assistant", content: content === "" ? null : content, tool_calls: toolCalls.map(callOf) };
}

function toolOf({ name, description, inputSchema }: LlmTool): unknown {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

/** Servers that read a model's own arguments back refuse the turn for what is no JSON. */
function callOf({ id, name, arguments: text }: LlmToolCall): unknown {
  return { id, type: "function", function: { name, arguments: jsonIn(text) === undefined ? "{}" : text } };
}
