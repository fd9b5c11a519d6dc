/**
 * What the planner needs of a model: one turn at a time, whoever serves it; how a turn fails, and when it is asked for again.
 * @module
 */
import { type ErrorCode, SluiceError } from "../../errors/error.js";
import { type ErrorCategory, type ToolErrorCode, ToolNodeError, type ToolPlace } from "../../tools/errors.js";
import type { JsonSchema } from "../../tools/source.js";
import { checkOptions, COUNT, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../../errors/arguments.js";
import type { Attempt } from "../../tools/resilience/attempt.js";
import {
  Resilience,
  type ResiliencePolicy,
  type RetryNotice,
  type RetryRules,
} from "../../tools/resilience/resilience.js";

/** What was said so far, in order. */
export type LlmMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** How the model is to go about it. */
export interface SystemMessage {
  /** Who says it: the host. */
  readonly role: "system";
  /** A text. */
  readonly content: string;
}

/** What a person wants. */
export interface UserMessage {
  /** Who says it: the person. */
  readonly role: "user";
  /** A text. */
  readonly content: string;
}

/** What the model said before. */
export interface AssistantMessage {
  /** Who says it: the model. */
  readonly role: "assistant";
  /** Empty where it only called tools. */
  readonly content: string;
  /** What it wanted called. */
  readonly toolCalls: readonly LlmToolCall[];
  /** As the answer had it. */
  readonly meta?: unknown;
}

/** What one of the called tools answered. */
export interface ToolMessage {
  /** Who says it: a tool. */
  readonly role: "tool";
  /** Of the call that is answered. */
  readonly callId: string;
  /** The tool's name, as the model wrote it. */
  readonly name: string;
  /** JSON text, within the guardrail's limits. */
  readonly content: string;
}

/** A tool that the model may call. */
export interface LlmTool {
  /** Letters, digits, `_` and `-`, at most 64: what every model's API takes. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** What its arguments must be. */
  readonly inputSchema: JsonSchema;
}

/** A call that the model wants made. */
export interface LlmToolCall {
  /** Unique in its turn. */
  readonly id: string;
  /** As the model wrote it: perhaps of no tool that there is. */
  readonly name: string;
  /** JSON text as the model wrote it: perhaps none. */
  readonly arguments: string;
  /** What the client wants back with the call in later turns: JSON, and nobody else's business. */
  readonly meta?: unknown;
}

/** What a turn cost, where the model's server says so. */
export interface LlmUsage {
  /** Tokens that it read. */
  readonly inputTokens: number;
  /** Tokens that it wrote. */
  readonly outputTokens: number;
}

/** Why the model stopped: it was done, wants tools called, ran out of tokens, or was kept from going on. */
export type StopReason = "stop" | "tool_calls" | "length" | "content_filter";

/** What the model said. */
export interface LlmAnswer {
  /** Empty where it only calls tools. */
  readonly text: string;
  /** What it wants called. */
  readonly toolCalls: readonly LlmToolCall[];
  /** How many calls it wanted beyond these, which were too many to keep; none when left out. */
  readonly callsLeftOut?: number;
  /** Why it stopped. */
  readonly stopReason: StopReason;
  /** Undefined where the server does not say. */
  readonly usage?: LlmUsage;
  /** What the client wants back with this turn in later ones, such as signed thoughts: JSON, and nobody else's business. */
  readonly meta?: unknown;
}

/** What the model is asked. */
export interface LlmRequest {
  /** What was said so far. */
  readonly messages: readonly LlmMessage[];
  /** What it may call; empty where it has to answer. */
  readonly tools: readonly LlmTool[];
}

/** How it is asked. */
export interface LlmOptions {
  /** Gives up, also at the server. */
  readonly signal?: AbortSignal;
  /** Told of each piece of text as it comes. */
  readonly onText?: (piece: string) => void;
  /** What came so far is not to be kept: the server broke off, and is asked again. */
  readonly onRestart?: () => void;
}

/** A model. One serves any number of turns, also at the same time. */
export interface LlmClient {
  /** What it is called, for logs. */
  readonly model: string;
  /**
   * Asks for one turn.
   *
   * @throws LlmError; the reason of the signal.
   */
  ask(request: LlmRequest, options?: LlmOptions): Promise<LlmAnswer>;
}

/** The codes of this module's errors. */
export type LlmErrorCode = Extract<ErrorCode, "E_LLM" | `E_LLM_${string}`>;

/** What is known of an error beside its sentence. */
export interface LlmErrorDetails {
  /** `E_LLM` when left out. */
  readonly code?: LlmErrorCode;
  /** What to do about it; `unknown` when left out. */
  readonly category?: ErrorCategory;
  /** The HTTP status that came, if one came. */
  readonly status?: number;
  /** How long the server asks to be left alone. */
  readonly retryAfterSeconds?: number;
  /** Shown by whoever logs the error: it must hold no secret. */
  readonly cause?: unknown;
}

/** A model gave no answer. Told apart by `code`; `category` says what to do, as for tools. */
export class LlmError extends SluiceError {
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

/** Requests to models and to tools' sources fail alike, and are tried again alike: only who failed is another. */
export function asLlmError(error: unknown): unknown {
  if (!(error instanceof ToolNodeError)) return error;
  const { message, code, category, status, retryAfterSeconds, cause } = error;
  return new LlmError(message, {
    code: CODES[code as ToolErrorCode] ?? "E_LLM",
    category,
    ...(status !== undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** Bytes of an answer as it comes, framing included: more is no answer but a server that has lost control. */
export const MAX_ANSWER_BYTES: number = 16 * 1024 * 1024;
/** Characters of an answer, where its bytes are not seen. */
export const MAX_ANSWER_CHARS: number = MAX_ANSWER_BYTES;
/** Calls; those beyond are left out, and counted. */
export const MAX_CALLS = 256;

/** What a model or its server wrote; undefined where that is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What is said of it where a client is made. */
export interface LlmRequestOptions {
  /**
   * How patient the server is treated. Left out: 120 s of silence, 10 requests at a time, 3 attempts with 0.5 to 8 s between
   * them, again after HTTP 408, 429, 500, 502, 503 and 504.
   */
  readonly resilience?: Partial<Omit<ResiliencePolicy, "retry_policy">> & {
    /** When a failed attempt is followed by another. */
    readonly retry_policy?: Partial<RetryRules>;
  };
  /** Told when an attempt failed and another follows. What it throws is lost. */
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** One attempt at a turn. */
export interface TurnAttempt extends Pick<Attempt, "signal"> {
  readonly place: ToolPlace;
  /** Told that something came: the time limit begins anew. */
  readonly alive: () => void;
  /** Told of each piece of text. */
  readonly onText: (piece: string) => void;
}

/** Asks one model, again where that may help. */
export class LlmCaller {
  readonly #place: ToolPlace;
  readonly #resilience: Resilience;

  /** Throws E_INVALID_ARGUMENT for patience that cannot be. */
  constructor(model: string, { resilience = {}, onRetry }: LlmRequestOptions) {
    this.#place = { source: model, kind: "model" };
    const options = onRetry === undefined ? {} : { onRetry };
    this.#resilience = new Resilience(this.#place, patienceOf(resilience), options);
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
          // Of an attempt that was given up nobody wants to hear.
          if (attempt.signal.aborted) return;
          hasText = true;
          onText?.(piece);
        },
      });
    };
    try {
      // A turn changes nothing at the server.
      return await this.#resilience.run(once, { isRepeatable: true, ...(signal !== undefined && { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw asLlmError(error);
    }
  }
}

/** What every client is given beside its own. */
export const ASKING: OptionTests<LlmRequestOptions> = { resilience: OBJECT, onRetry: FUNCTION };

/** A day: what is longer overflows a timer before long. */
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

/** The policy of a client's options, of which all may be left out. Throws E_INVALID_ARGUMENT. */
function patienceOf(resilience: NonNullable<LlmRequestOptions["resilience"]>): ResiliencePolicy {
  checkOptions(resilience, POLICY, "resilience", wrongIn("resilience"));
  // A model may think for long before its first word.
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
