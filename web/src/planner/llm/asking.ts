/**
 * How patiently a model is asked, whoever serves it.
 * @module
 */
import type { ToolPlace } from "../../tools/adapt-error.js";
import type { Attempt } from "../../tools/resilience/attempt.js";
import {
  Resilience,
  type ResiliencePolicy,
  type RetryNotice,
  type RetryRules,
} from "../../tools/resilience/resilience.js";
import type { LlmAnswer, LlmOptions } from "./client.js";
import { asLlmError } from "./error.js";
import { patienceOf } from "./patience.js";

/** What is said of it where a client is made. */
export interface AskingOptions {
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
export class Asking {
  readonly #place: ToolPlace;
  readonly #resilience: Resilience;

  /** Throws E_INVALID_ARGUMENT for patience that cannot be. */
  constructor(model: string, { resilience = {}, onRetry }: AskingOptions) {
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
