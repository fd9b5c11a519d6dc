/**
 * Models behind OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter and all who speak it too.
 * @module
 */
import { SluiceError } from "../../../errors/error.js";
import { adaptFetchError, type ToolPlace } from "../../../tools/adapt-error.js";
import { Resilience, type RetryNotice } from "../../../tools/resilience/resilience.js";
import type { ResiliencePolicy } from "../../../tools/resilience/policy.js";
import type { LlmAnswer, LlmClient, LlmOptions, LlmRequest } from "../client.js";
import { asLlmError } from "../error.js";
import { answerOf } from "./reading.js";
import { bodyOf } from "./request.js";

/** Which model, and where. */
export interface OpenAiClientOptions {
  /** As its server calls it, such as `gpt-4o` or `llama3.2`. */
  readonly model: string;
  /** Up to and without `/chat/completions`, such as `http://localhost:11434/v1`; OpenAI's own when left out. */
  readonly baseUrl?: string;
  /** Sent as a bearer token; left out for servers that want none. It stands in no error and no log. */
  readonly apiKey?: string;
  /** Headers that a server wants beside it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields that the request has beside ours, such as `temperature` or `max_completion_tokens`. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** How patient the server is treated; what is left out is as for sources of tools, with 120 s of silence. */
  readonly resilience?: Partial<ResiliencePolicy>;
  /** Told when an attempt failed and another follows. What it throws is lost. */
  readonly onRetry?: (notice: RetryNotice) => void;
  /** How HTTP is spoken; as the platform does when left out. */
  readonly fetch?: typeof globalThis.fetch;
}

const OPENAI = "https://api.openai.com/v1";

/** A model may think for long before its first word. */
const PATIENCE: ResiliencePolicy = {
  timeout_s: 120,
  max_concurrency: 10,
  retry_policy: {
    max_attempts: 3,
    wait_exponential_min_s: 0.5,
    wait_exponential_max_s: 8,
    retry_on_status: [408, 429, 500, 502, 503, 504],
  },
};

/** One model at one server. */
export class OpenAiClient implements LlmClient {
  readonly model: string;
  readonly #url: URL;
  readonly #options: OpenAiClientOptions;
  readonly #place: ToolPlace;
  readonly #resilience: Resilience;

  /** Throws E_INVALID_ARGUMENT where the model has no name or the address is none. */
  constructor(options: OpenAiClientOptions) {
    const { model, baseUrl = OPENAI, resilience, onRetry } = options;
    if (typeof model !== "string" || model === "") throw invalid("model must be the name of a model.", "model");
    this.model = model;
    this.#url = endpointOf(baseUrl);
    this.#options = options;
    this.#place = { source: model, kind: "model" };
    this.#resilience = new Resilience(
      this.#place,
      { ...PATIENCE, ...resilience },
      onRetry === undefined ? {} : { onRetry },
    );
  }

  async ask(request: LlmRequest, { signal, onText, onRestart }: LlmOptions = {}): Promise<LlmAnswer> {
    const body = JSON.stringify(bodyOf(request, this.model, this.#options.body ?? {}));
    let hasText = false;
    try {
      return await this.#resilience.run(
        async (attempt) => {
          if (hasText) onRestart?.();
          hasText = false;
          const response = await this.#sent(body, attempt.signal);
          return answerOf(response, {
            place: this.#place,
            signal: attempt.signal,
            alive: () => attempt.progressed(),
            secret: this.#options.apiKey,
            onText: (piece) => {
              // Of an attempt that was given up nobody wants to hear.
              if (attempt.signal.aborted) return;
              hasText = true;
              onText?.(piece);
            },
          });
        },
        // A turn changes nothing at the server.
        { isRepeatable: true, ...(signal !== undefined && { signal }) },
      );
    } catch (error) {
      signal?.throwIfAborted();
      throw asLlmError(error);
    }
  }

  async #sent(body: string, signal: AbortSignal): Promise<Response> {
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
        // A key is for this server, and for none that it sends us on to.
        redirect: "error",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptFetchError(error, this.#place);
    }
  }
}

function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    const remedy = "such as http://localhost:11434/v1; say who asks by apiKey";
    throw invalid(`baseUrl must be an http(s) URL without a user, ${remedy}.`, "baseUrl");
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  url.hash = "";
  return url;
}

function invalid(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
