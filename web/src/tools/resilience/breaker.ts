/**
 * A source that fails again and again is left alone for a while: calls fail at once, instead of one time limit later.
 * @module
 */
import {
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  DelegateBackoff,
  handleType,
  isBrokenCircuitError,
  type CircuitBreakerPolicy,
} from "cockatiel";
import { subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolConnectionError, ToolNodeError } from "../errors.js";

/**
 * Attempts that fail in a row before a source is left alone: as many as run at a time by default, so that one blink while
 * it is busy is what it takes at least, and more than three calls that came one by one with all their attempts.
 */
export const FAILURES_IN_A_ROW = 10;

/** How long it is left alone first: a process that restarts is back by then. */
const FIRST_REST_MS = 5000;

/** Doubled each time that it is found to be down still, up to this: later nobody would know that it is back. */
const LONGEST_REST_MS = 60_000;

/** Told of what becomes of a source. */
export interface BreakerEvents {
  /** The source is left alone, for so many seconds at least. */
  readonly onBreak?: (notice: { readonly error: ToolNodeError; readonly waitSeconds: number }) => void;
  /** It answers again. */
  readonly onRecover?: () => void;
}

/** The error of a call that was not made, since its source is left alone. */
export class LeftAlone extends ToolConnectionError {}

/** What an attempt came to: an error that is an answer too, since whoever answers is alive. */
type Outcome<T> = { readonly value: T } | { readonly answered: unknown };

/** Wraps what counts against a source. */
class Down extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super();
    this.error = error;
  }
}

/** Stands between calls and one source. */
export class SourceBreaker {
  readonly #circuit: CircuitBreakerPolicy;
  #restsUntil = 0;

  constructor({ onBreak, onRecover }: BreakerEvents = {}) {
    const rest = new DelegateBackoff<{ readonly attempt: number }>(({ attempt }) => this.#rest(attempt));
    const options = { breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW), halfOpenAfter: rest };
    this.#circuit = circuitBreaker(handleType(Down), options);
    this.#circuit.onBreak((reason) => {
      const error = "error" in reason && reason.error instanceof Down ? reason.error.error : undefined;
      if (error instanceof ToolNodeError) onBreak?.({ error, waitSeconds: this.#secondsLeft() });
    });
    this.#circuit.onReset(() => onRecover?.());
  }

  /** Throws the error of calls that are not made, where that is known before. */
  check(place: ToolPlace): void {
    if (this.#circuit.state === CircuitState.Open && Date.now() < this.#restsUntil) throw this.#leftAlone(place);
  }

  /**
   * Does the work, unless the source is left alone. After the rest one call is made first, and others wait for what
   * becomes of it.
   */
  async run<T>(work: () => Promise<T>, place: ToolPlace, signal: AbortSignal | undefined): Promise<T> {
    let outcome: Outcome<T>;
    try {
      outcome = await this.#circuit.execute(() => this.#tried(work, signal));
    } catch (error) {
      if (isBrokenCircuitError(error)) throw this.#leftAlone(place);
      throw error instanceof Down ? error.error : error;
    }
    if ("value" in outcome) return outcome.value;
    throw outcome.answered;
  }

  async #tried<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<Outcome<T>> {
    // Cockatiel says so only after the first call of a source that rested has begun.
    const isFirst = this.#circuit.state === CircuitState.Open;
    try {
      return { value: await work() };
    } catch (error) {
      const sign = signal?.aborted === true ? "nothing" : signOf(error);
      if (sign === "answered") return { answered: error };
      // A first call that was given up tells nothing: another has to find out.
      throw sign === "down" || isFirst ? new Down(error) : error;
    }
  }

  #rest(attempt: number): number {
    const rest = Math.min(FIRST_REST_MS * 2 ** (attempt - 1), LONGEST_REST_MS);
    this.#restsUntil = Date.now() + rest;
    return rest;
  }

  #secondsLeft(): number {
    return Math.max(1, Math.ceil((this.#restsUntil - Date.now()) / 1000));
  }

  #leftAlone(place: ToolPlace): LeftAlone {
    const seconds = this.#secondsLeft();
    const why = `failed ${FAILURES_IN_A_ROW} times in a row and is left alone`;
    return new LeftAlone(`${subjectOf(place)} ${why}: check that it runs, and call again in ${seconds} s.`, {
      retryAfterSeconds: seconds,
      neverSent: true,
    });
  }
}

/** What an error says of its source: that it is down, that it answered, or nothing. */
function signOf(error: unknown): "down" | "answered" | "nothing" {
  if (!(error instanceof ToolNodeError)) return "nothing";
  if (error instanceof ToolConnectionError) return "down";
  switch (error.category) {
    case "network":
    case "retryable_server":
      return "down";
    case "retryable_rate":
    case "non_retryable":
    case "auth_required":
      return "answered";
    default:
      return error.status === undefined ? "nothing" : "answered";
  }
}
