/**
 * Models behind OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter and all who speak it too.
 * @module
 */
import { adaptFetchError } from "../../../tools/adapt-error.js";
import type { LlmAnswer, LlmClient, LlmOptions, LlmRequest } from "../client.js";
import { Asking, type AskingOptions, type TurnAttempt } from "../asking.js";
import { checkClient, endpointOf } from "./options.js";
import { answerOf } from "./reading.js";
import { bodyOf } from "./request.js";

/** Which model, and where. */
export interface OpenAiClientOptions extends AskingOptions {
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
  readonly #asking: Asking;

  /** Throws E_INVALID_ARGUMENT for an option that is wrong, or that there is not: what is sent as a header must be one. */
  constructor(options: OpenAiClientOptions) {
    checkClient(options);
    const { model, baseUrl = OPENAI } = options;
    this.model = model;
    this.#url = endpointOf(baseUrl);
    this.#options = options;
    this.#asking = new Asking(model, options);
  }

  async ask(request: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    const { body: more = {}, apiKey: secret } = this.#options;
    const body = JSON.stringify(bodyOf(request, this.model, more));
    return this.#asking.turn(async (attempt) => {
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
