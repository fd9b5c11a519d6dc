/**
 * How patiently a model is asked, whoever serves it.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { checkOptions, COUNT, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../../errors/arguments.js";
import type { ToolPlace } from "../../tools/errors.js";
import type { Attempt } from "../../tools/resilience/attempt.js";
import {
  Resilience,
  type ResiliencePolicy,
  type RetryNotice,
  type RetryRules,
} from "../../tools/resilience/resilience.js";
import { asLlmError, type LlmAnswer, type LlmOptions } from "./client.js";

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

/** The error of an option of a client. */
export function wrongOption(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

function wrongIn(path: string): (sentence: string, name: string) => SluiceError {
  return (sentence, name) => wrongOption(sentence, `${path}.${name}`);
}
