/**
 * Retries, time limits, a concurrency limit and a circuit breaker for calls to one source.
 * @module
 */
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { Semaphore } from "../../core/semaphore.js";
import { ignoreErrors } from "../../mcp/interceptor-event.js";
import { adaptError } from "../adapt-error.js";
import { toSubject, ToolConnectionError, ToolNodeError, type ToolPlace, ToolTimeoutError } from "../errors.js";
import { type Attempt, runAttempt, type Clock, type SilenceListener, sleep, systemClock } from "./attempt.js";

/** The policy in a source's configuration. Times are in seconds. */
export interface ResiliencePolicy {
  /** Limit of silence in one attempt. */
  readonly timeout_s: number;
  /** When an attempt is repeated. */
  readonly retry_policy: RetryRules;
  /** Maximum number of concurrent attempts. */
  readonly max_concurrency: number;
}

/** When and how often an attempt is repeated. */
export interface RetryRules {
  /** Maximum number of attempts, including the first. */
  readonly max_attempts: number;
  /** Minimum wait between two attempts. */
  readonly wait_exponential_min_s: number;
  /** Maximum wait between two attempts. */
  readonly wait_exponential_max_s: number;
  /** HTTP statuses that are retried. */
  readonly retry_on_status: readonly number[];
}

/**
 * Maximum seconds of `Retry-After` that a call waits for. Beyond a minute, an error is more useful to the person or
 * model that waits.
 */
const LONGEST_RETRY_AFTER_S = 60;

/**
 * Whether an attempt that failed may be repeated.
 *
 * @param isRepeatable whether the tool may act twice. What certainly had no effect may always be repeated.
 */
function mayTryAgain(error: ToolNodeError, rules: RetryRules, isRepeatable: boolean): boolean {
  if (error.category === "cancelled" || (error.retryAfterSeconds ?? 0) > LONGEST_RETRY_AFTER_S) return false;
  if (error.status !== undefined) return rules.retry_on_status.includes(error.status);
  const wasDone = error.neverSent !== true && error.category !== "retryable_rate";
  return error.isRetryable && (isRepeatable || !wasDone);
}

/** Reports a failed attempt that will be repeated. */
export interface RetryNotice {
  /** The error of the attempt. */
  readonly error: ToolNodeError;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  /** Seconds until the next attempt. */
  readonly waitSeconds: number;
}

/** Listeners, whose errors are ignored, and the clock for tests. */
interface ResilienceOptions extends BreakerEvents {
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly clock?: Clock;
}

/** Options of one call. */
export interface ResilientCall {
  /** Whether the tool may act twice: it only reads, or is idempotent. */
  readonly isRepeatable: boolean;
  /** The caller's signal. Ends waiting as well as the attempt. */
  readonly signal?: AbortSignal;
  /** For error messages. */
  readonly tool?: string;
  /** Overrides `timeout_s`. */
  readonly timeoutSeconds?: number;
  /** Called about silence in each attempt. */
  readonly silence?: SilenceListener | undefined;
  /** Whether a timeout is not retried. */
  readonly isTimeoutFinal?: boolean;
}

/** Makes the calls to one source. */
export class Resilience {
  readonly #source: Omit<ToolPlace, "tool">;
  readonly #policy: ResiliencePolicy;
  readonly #clock: Clock;
  readonly #limit: ConcurrencyLimit;
  readonly #breaker: SourceBreaker;
  readonly #onRetry: (notice: RetryNotice) => void;

  /** @param source its name, or what else error messages say about it. */
  constructor(source: string | Omit<ToolPlace, "tool">, policy: ResiliencePolicy, options: ResilienceOptions = {}) {
    this.#source = typeof source === "string" ? { source } : source;
    this.#policy = policy;
    this.#clock = options.clock ?? systemClock;
    this.#limit = new ConcurrencyLimit(policy.max_concurrency);
    this.#breaker = new SourceBreaker({
      onBreak: ignoreErrors(options.onBreak),
      onRecover: () => ignoreErrors(options.onRecover)(undefined),
    });
    this.#onRetry = ignoreErrors(options.onRetry);
  }

  /** Number of attempts under way. */
  get inFlight(): number {
    return this.#limit.inFlight;
  }

  /** Number of attempts that wait. */
  get waiting(): number {
    return this.#limit.waiting;
  }

  /**
   * Makes a call, in one or more attempts.
   *
   * @returns the result of the first successful attempt.
   * @throws the reason of the call's signal, or else the error of the last attempt: a ToolNodeError or another
   *   SluiceError.
   */
  async run<T>(work: (attempt: Attempt) => Promise<T>, call: ResilientCall): Promise<T> {
    const { signal, isRepeatable, tool } = call;
    const { retry_policy: rules } = this.#policy;
    const place: ToolPlace = { ...this.#source, ...(tool !== undefined && { tool }) };
    const nextWait = createWaits(rules);
    let before: ToolNodeError | undefined;
    for (let number = 1; ; number += 1) {
      try {
        return await this.#once(work, number, place, call);
      } catch (thrown) {
        // Libraries wrap the signal's reason in errors of their own, even in timeouts.
        signal?.throwIfAborted();
        // The error that opened the breaker is more useful than the fact that it is open.
        if (thrown instanceof LeftAlone) throw before ?? thrown;
        if (!(thrown instanceof ToolNodeError)) throw thrown;
        if (call.isTimeoutFinal === true && thrown instanceof ToolTimeoutError) throw thrown;
        if (number >= rules.max_attempts || !mayTryAgain(thrown, rules, isRepeatable)) throw thrown;
        // Added rather than the larger of both, so that callers who were sent away together do not return together.
        const waitSeconds = nextWait() + (thrown.retryAfterSeconds ?? 0);
        this.#onRetry({ error: thrown, attempt: number, waitSeconds });
        await sleep(this.#clock, waitSeconds * 1000, signal);
        before = thrown;
      }
    }
  }

  async #once<T>(
    work: (attempt: Attempt) => Promise<T>,
    number: number,
    place: ToolPlace,
    { signal, silence, timeoutSeconds = this.#policy.timeout_s }: ResilientCall,
  ): Promise<T> {
    this.#breaker.check(place);
    const deps = { number, place, timeoutSeconds, clock: this.#clock, signal, silence };
    const attempt = (): Promise<T> => runAttempt(adapting(work, place), deps);
    const guardAttempt = (): Promise<T> => untilAborted(this.#breaker.run(attempt, place, signal), signal);
    // A slot is held during an attempt, but not during the wait between two.
    return this.#limit.run(guardAttempt, signal, place);
  }
}

/** Converts errors to ours, which the breaker judges by. */
function adapting<T>(work: (attempt: Attempt) => Promise<T>, place: ToolPlace): (attempt: Attempt) => Promise<T> {
  return async (attempt) => {
    try {
      return await work(attempt);
    } catch (error) {
      throw error instanceof SluiceError ? error : adaptError(error, place);
    }
  };
}

/**
 * Seconds to wait between attempts: each about twice the one before, randomised over its upper half so that callers
 * that failed together do not return together, and within the rules.
 */
function createWaits({ wait_exponential_min_s: least, wait_exponential_max_s: most }: RetryRules): () => number {
  let longest = least;
  return () => {
    longest = Math.min(2 * longest, Math.max(most, least));
    return Math.max(least, longest * (0.5 + Math.random() / 2));
  };
}

/** Maximum number of waiting calls. More are a sign of a loop out of control. */
const MOST_WAITING = 10_000;

/** Limits concurrency; further calls wait in order. No caller overtakes another, and one that gives up leaves the line. */
export class ConcurrencyLimit {
  readonly #semaphore: Semaphore;
  readonly #mostWaiting: number;

  constructor(most: number, mostWaiting = MOST_WAITING) {
    this.#semaphore = new Semaphore(most);
    this.#mostWaiting = mostWaiting;
  }

  /** Number of calls under way. */
  get inFlight(): number {
    return this.#semaphore.running;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#semaphore.waiting;
  }

  /**
   * Runs the work when a slot is free.
   *
   * @throws what the work throws; the signal's reason; a ToolNodeError if too many calls wait.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined, place: ToolPlace): Promise<T> {
    signal?.throwIfAborted();
    const { isFull, waiting } = this.#semaphore;
    if (isFull && waiting >= this.#mostWaiting) throw tooMany(place);
    return this.#semaphore.run(work, signal);
  }
}

function tooMany(place: ToolPlace): ToolNodeError {
  const remedy = "call again when some of them are done";
  return new ToolNodeError(`${toSubject(place)} has too many waiting calls: ${remedy}.`, {
    code: "E_TOOL_RATE_LIMIT",
    category: "non_retryable",
    neverSent: true,
  });
}

/**
 * Failures in a row that open the breaker: as many as run concurrently by default, so a short outage under load does
 * not, and more than three calls with all their attempts.
 */
export const FAILURES_IN_A_ROW = 10;

/** First pause. A restarting process is usually back by then. */
const FIRST_REST_MS = 5000;

/** Maximum pause. It doubles up to this, so that recovery is noticed in time. */
const LONGEST_REST_MS = 60_000;

/** Listeners of a breaker. */
interface BreakerEvents {
  /** The breaker opened for at least this many seconds. */
  readonly onBreak?: (notice: { readonly error: ToolNodeError; readonly waitSeconds: number }) => void;
  /** The source answers again. */
  readonly onRecover?: () => void;
}

/** The error of a call that was not made because the breaker is open. */
class LeftAlone extends ToolConnectionError {}

/**
 * The circuit breaker of one source. It is closed; or open, for pauses that grow; or one call tries whether the source is
 * back. It makes no timer and no `AbortController`: runtimes of the edge allow neither while modules load.
 */
class SourceBreaker {
  readonly #events: BreakerEvents;
  /** Failures in a row. */
  #failures = 0;
  /** Pauses in a row. None while it is closed. */
  #rests = 0;
  #restsUntil = 0;
  /** Settles with the call that tries the source. Never rejects. */
  #trial: Promise<unknown> | undefined;

  constructor(events: BreakerEvents) {
    this.#events = events;
  }

  /** Throws if the breaker is open. */
  check(place: ToolPlace): void {
    if (Date.now() < this.#restsUntil) throw this.#toLeftAlone(place);
  }

  /**
   * Runs the work unless the breaker is open. After the pause, one call is made first, and the others wait for its
   * outcome.
   */
  async run<T>(work: () => Promise<T>, place: ToolPlace, signal: AbortSignal | undefined): Promise<T> {
    while (this.#trial !== undefined) await this.#trial;
    this.check(place);
    const isTrial = this.#rests > 0;
    const judged = this.#judge(work, isTrial, signal);
    if (isTrial) {
      this.#trial = judged
        .catch(() => undefined)
        .finally(() => {
          this.#trial = undefined;
        });
    }
    return judged;
  }

  async #judge<T>(work: () => Promise<T>, isTrial: boolean, signal: AbortSignal | undefined): Promise<T> {
    try {
      const value = await work();
      this.#onAnswer(isTrial);
      return value;
    } catch (error) {
      const sign = signal?.aborted === true ? "nothing" : readSign(error);
      if (sign === "answered") this.#onAnswer(isTrial);
      // If the first call was cancelled, its outcome says nothing, so another call has to try.
      else if (sign === "down" || isTrial) this.#onFailure(error, isTrial);
      throw error;
    }
  }

  /** Calls that began before the breaker opened do not close it. */
  #onAnswer(isTrial: boolean): void {
    this.#failures = 0;
    if (!isTrial) return;
    this.#rests = 0;
    this.#restsUntil = 0;
    this.#events.onRecover?.();
  }

  #onFailure(error: unknown, isTrial: boolean): void {
    this.#failures += 1;
    const opens = isTrial || (this.#rests === 0 && this.#failures >= FAILURES_IN_A_ROW);
    if (!opens) return;
    this.#restsUntil = Date.now() + Math.min(FIRST_REST_MS * 2 ** this.#rests, LONGEST_REST_MS);
    this.#rests += 1;
    if (error instanceof ToolNodeError) this.#events.onBreak?.({ error, waitSeconds: this.#secondsLeft() });
  }

  #secondsLeft(): number {
    return Math.max(1, Math.ceil((this.#restsUntil - Date.now()) / 1000));
  }

  #toLeftAlone(place: ToolPlace): LeftAlone {
    const seconds = this.#secondsLeft();
    const why = `failed ${FAILURES_IN_A_ROW} times in a row and is not called for now`;
    return new LeftAlone(`${toSubject(place)} ${why}: check that it is running, and call again in ${seconds} s.`, {
      retryAfterSeconds: seconds,
      neverSent: true,
    });
  }
}

/** What an error says about its source: it is down, it answered, or neither. */
function readSign(error: unknown): "down" | "answered" | "nothing" {
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
