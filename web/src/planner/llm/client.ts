/**
 * The interface of models: one turn at a time, its errors, and its retries.
 * @module
 */
import { type ErrorCode, SluiceError } from "../../errors/error.js";
import { type ErrorCategory, type ToolErrorCode, ToolNodeError, type ToolPlace } from "../../tools/errors.js";
import type { JsonSchema } from "../../tools/source-features.js";
import { checkOptions, COUNT, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../../errors/arguments.js";
import type { Attempt } from "../../tools/resilience/attempt.js";
import {
  Resilience,
  type ResiliencePolicy,
  type RetryNotice,
  type RetryRules,
} from "../../tools/resilience/resilience.js";

/** The messages of a conversation, in order. */
export type LlmMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Instructions for the model. */
interface SystemMessage {
  /** The host's message. */
  readonly role: "system";
  /** A text. */
  readonly content: string;
}

/** A person's message. */
export interface UserMessage {
  /** The person's message. */
  readonly role: "user";
  /** A text. */
  readonly content: string;
}

/** An earlier answer of the model. */
export interface AssistantMessage {
  /** The model's message. */
  readonly role: "assistant";
  /** The text. Empty if it only called tools. */
  readonly content: string;
  /** The calls that it wanted. */
  readonly toolCalls: readonly LlmToolCall[];
  /** The answer's `meta`. */
  readonly meta?: unknown;
}

/** The result of a call. */
interface ToolMessage {
  /** A tool's message. */
  readonly role: "tool";
  /** The id of the call. */
  readonly callId: string;
  /** The tool's name, as the model wrote it. */
  readonly name: string;
  /** JSON text, within the guardrail's limits. */
  readonly content: string;
}

/** A tool that the model may call. */
export interface LlmTool {
  /** The name: letters, digits, `_` and `-`, at most 64, as every model's API accepts. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** The schema of its arguments. */
  readonly inputSchema: JsonSchema;
}

/** A call that the model wants made. */
export interface LlmToolCall {
  /** Unique in its turn. */
  readonly id: string;
  /** The tool's name as the model wrote it. There may be no such tool. */
  readonly name: string;
  /** The arguments as the model wrote them. May be invalid JSON. */
  readonly arguments: string;
  /** Data of the client to repeat with the call in later turns. JSON. */
  readonly meta?: unknown;
}

/** What a turn cost, as the server reports it. */
export interface LlmUsage {
  /** Tokens read. */
  readonly inputTokens: number;
  /** Tokens written. */
  readonly outputTokens: number;
}

/**
 * Why the model stopped: it was done, wants tools called, ran out of tokens, or was filtered. `limit`: it was not asked,
 * since a limit of the host's was reached, and the text says which.
 */
export type StopReason = "stop" | "tool_calls" | "length" | "content_filter" | "limit";

/** The model's answer. */
export interface LlmAnswer {
  /** The text. Empty if it only calls tools. */
  readonly text: string;
  /** The calls that it wants. */
  readonly toolCalls: readonly LlmToolCall[];
  /** How many further calls it wanted, which were too many. Missing if none. */
  readonly callsLeftOut?: number;
  /** Why it stopped. */
  readonly stopReason: StopReason;
  /** The cost, if the server reports it. */
  readonly usage?: LlmUsage;
  /** Data of the client to repeat with this turn in later ones, such as signed thoughts. JSON. */
  readonly meta?: unknown;
}

/** A request for a turn. */
export interface LlmRequest {
  /** What was said so far. */
  readonly messages: readonly LlmMessage[];
  /** The tools. Empty if it has to answer. */
  readonly tools: readonly LlmTool[];
}

/** Options of a request. */
export interface LlmOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal;
  /** Receives each piece of text. */
  readonly onText?: (piece: string) => void;
  /** Called when the text so far is void: the server broke off, and is asked again. */
  readonly onRestart?: () => void;
}

/** A model. Serves any number of concurrent turns. */
export interface LlmClient {
  /** The model's name, for logs. */
  readonly model: string;
  /** Who offers it, such as `openai`, for telemetry. Left out if that is not known. */
  readonly provider?: string;
  /**
   * Asks for one turn.
   *
   * @throws LlmError; the reason of the signal.
   */
  ask(request: LlmRequest, options?: LlmOptions): Promise<LlmAnswer>;
}

/** The codes of {@link LlmError}. */
export type LlmErrorCode = Extract<ErrorCode, "E_LLM" | `E_LLM_${string}`>;

/** Details of an error. */
interface LlmErrorDetails {
  /**
   * The code.
   * @defaultValue `E_LLM`
   */
  readonly code?: LlmErrorCode;
  /**
   * What to do about it.
   * @defaultValue `unknown`
   */
  readonly category?: ErrorCategory;
  /** The HTTP status that came, if one came. */
  readonly status?: number;
  /** How long the server asks to be left alone. */
  readonly retryAfterSeconds?: number;
  /** The cause. Logs show it, so it must contain no secret. */
  readonly cause?: unknown;
}

/** A model did not answer. `code` tells why, `category` what to do, as for tools. */
export class LlmError extends SluiceError {
  /** Which error it is; part of the interface. */
  declare readonly code: LlmErrorCode;
  /** What to do about it. */
  readonly category: ErrorCategory;
  /** The HTTP status that came, if one came. */
  declare readonly status?: number;
  /** How long the server asks to be left alone, if it does. */
  declare readonly retryAfterSeconds?: number;

  constructor(message: string, details: LlmErrorDetails = {}) {
    const { code = "E_LLM", category = "unknown", status, retryAfterSeconds, cause } = details;
    super(code, message, {}, cause === undefined ? undefined : { cause });
    this.name = "LlmError";
    this.category = category;
    if (status !== undefined) this.status = status;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

const CODES: Readonly<Partial<Record<ToolErrorCode, LlmErrorCode>>> = {
  E_TOOL_AUTH: "E_LLM_AUTH",
  E_TOOL_TIMEOUT: "E_LLM_TIMEOUT",
  E_TOOL_CONNECTION: "E_LLM_CONNECTION",
  E_TOOL_RATE_LIMIT: "E_LLM_RATE_LIMIT",
  E_TOOL_CLIENT: "E_LLM_REQUEST",
  E_TOOL_SERVER: "E_LLM_SERVER",
};

/** Converts errors of requests: those to models and to sources fail and are retried alike. */
function asLlmError(error: unknown): unknown {
  if (!(error instanceof ToolNodeError)) return error;
  const { message, code, category, status, retryAfterSeconds, cause } = error;
  return new LlmError(message, {
    code: CODES[code] ?? "E_LLM",
    category,
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** Most bytes of an answer, framing included. More means that the server has lost control. */
export const MAX_ANSWER_BYTES: number = 16 * 1024 * 1024;
/** Most characters of an answer whose bytes are not visible. */
export const MAX_ANSWER_CHARS: number = MAX_ANSWER_BYTES;
/** Most calls. Further ones are dropped and counted. */
export const MAX_CALLS = 256;

/** Parses JSON text. Undefined if it is invalid. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Options for requests of a client. */
export interface LlmRequestOptions {
  /**
   * Time limits and retries. Defaults: 120 s of silence, 10 concurrent requests, 3 attempts 0.5 to 8 s apart, again
   * after HTTP 408, 429, 500, 502, 503 and 504.
   */
  readonly resilience?: Partial<Omit<ResiliencePolicy, "retry_policy">> & {
    /** When to try again. */
    readonly retry_policy?: Partial<RetryRules>;
  };
  /** Called when an attempt failed and another one follows. What it throws is ignored. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** One attempt at a turn. */
export interface TurnAttempt extends Pick<Attempt, "signal"> {
  readonly place: ToolPlace;
  /** Restarts the time limit when something arrives. */
  readonly alive: () => void;
  /** Receives each piece of text. */
  readonly onText: (piece: string) => void;
}

/** Asks a model, with retries. */
export class LlmCaller {
  readonly #place: ToolPlace;
  readonly #resilience: Resilience;

  /** Throws E_INVALID_ARGUMENT for a wrong policy. */
  constructor(model: string, { resilience = {}, onRetry }: LlmRequestOptions) {
    this.#place = { source: model, kind: "model" };
    const options = onRetry === undefined ? {} : { onRetry };
    this.#resilience = new Resilience(this.#place, toPolicy(resilience), options);
  }

  /**
   * Asks for a turn.
   *
   * @throws what the work throws, as an LlmError where it is a ToolNodeError; the signal's reason.
   */
  async turn(
    work: (attempt: TurnAttempt) => Promise<LlmAnswer>,
    { signal, onText, onRestart }: LlmOptions,
  ): Promise<LlmAnswer> {
    let hasText = false;
    const once = (attempt: Attempt): Promise<LlmAnswer> => {
      if (hasText) onRestart?.();
      hasText = false;
      return work({
        signal: attempt.signal,
        place: this.#place,
        alive: () => attempt.progressed(),
        onText: (piece) => {
          // An abandoned attempt must stay silent.
          if (attempt.signal.aborted) return;
          hasText = true;
          onText?.(piece);
        },
      });
    };
    try {
      // A turn changes nothing on the server.
      return await this.#resilience.run(once, { isRepeatable: true, ...(signal !== undefined && { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw asLlmError(error);
    }
  }
}

/** Options of every client. */
export const ASKING: OptionTests<LlmRequestOptions> = { resilience: OBJECT, onRetry: FUNCTION };

/** A day: longer times overflow timers before long. */
const MAX_WAIT_S = 86_400;

const WAIT: OptionTest = [
  `a number of seconds from 0 to ${MAX_WAIT_S}`,
  (value) => typeof value === "number" && value >= 0 && value <= MAX_WAIT_S,
];

const POLICY: OptionTests<ResiliencePolicy> = {
  timeout_s: [
    `a number of seconds above 0, at most ${MAX_WAIT_S}`,
    (value) => typeof value === "number" && value > 0 && value <= MAX_WAIT_S,
  ],
  max_concurrency: COUNT,
  retry_policy: OBJECT,
};

const RULES: OptionTests<RetryRules> = {
  max_attempts: COUNT,
  wait_exponential_min_s: WAIT,
  wait_exponential_max_s: WAIT,
  retry_on_status: [
    "a list of HTTP statuses, such as [429, 503]",
    (value) =>
      Array.isArray(value) && value.every((status) => Number.isInteger(status) && status >= 100 && status < 600),
  ],
};

/** The policy of a client's options, with defaults. Throws E_INVALID_ARGUMENT. */
function toPolicy(resilience: NonNullable<LlmRequestOptions["resilience"]>): ResiliencePolicy {
  checkOptions(resilience, POLICY, "resilience", wrongIn("resilience"));
  // A model may think long before its first word.
  const { timeout_s = 120, max_concurrency = 10, retry_policy: rules = {} } = resilience;
  checkOptions(rules, RULES, "resilience.retry_policy", wrongIn("resilience.retry_policy"));
  const { max_attempts = 3, wait_exponential_min_s = 0.5, wait_exponential_max_s = 8 } = rules;
  const { retry_on_status = [408, 429, 500, 502, 503, 504] } = rules;
  return {
    timeout_s,
    max_concurrency,
    retry_policy: { max_attempts, wait_exponential_min_s, wait_exponential_max_s, retry_on_status },
  };
}

/** The error for an option that is wrong. */
export function wrongOption(sentence: string, path: string, cause?: unknown): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path }, { cause });
}

function wrongIn(path: string): (sentence: string, name: string) => SluiceError {
  return (sentence, name) => wrongOption(sentence, `${path}.${name}`);
}
