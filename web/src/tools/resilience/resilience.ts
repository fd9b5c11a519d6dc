/**
 * Calls to one source: so many at a time, each attempt in limited time, tried again where that may help and do no harm
 * (ToolNode 2.1 "Resilience").
 * @module
 */
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { Turns } from "../../mcp/arguments/turns.js";
import { heedless } from "../../mcp/door-event.js";
import { adaptError } from "../adapt-error.js";
import { subjectOf, type ToolPlace } from "../adapting/place.js";
import { ToolNodeError } from "../errors.js";
import { type Attempt, attempted, OutOfTime, type SilenceListener } from "./attempt.js";
import { type BreakerEvents, LeftAlone, SourceBreaker } from "./breaker.js";
import { type Clock, sleep, systemClock } from "./clock.js";

/** As in a source's configuration; times in seconds. */
export interface ResiliencePolicy {
  /** For one attempt, since it began or the source last said that it goes on. */
  readonly timeout_s: number;
  /** When an attempt is followed by another. */
  readonly retry_policy: RetryRules;
  /** Attempts under way at the source at the same time. */
  readonly max_concurrency: number;
}

/** When a failed attempt is followed by another, and how long after. */
export interface RetryRules {
  /** The first one counts. */
  readonly max_attempts: number;
  /** The shortest wait between two attempts. */
  readonly wait_exponential_min_s: number;
  /** The longest one. */
  readonly wait_exponential_max_s: number;
  /** HTTP statuses; others are not tried again. */
  readonly retry_on_status: readonly number[];
}

/**
 * Seconds that a source may ask to be left alone with a call still waiting for it. A person or a model waits behind the
 * call: what takes longer than a minute is better told than slept over.
 */
const LONGEST_RETRY_AFTER_S = 60;

/**
 * Whether an attempt that failed like this may be followed by another.
 *
 * @param isRepeatable whether the tool may do its work twice. What surely was not done may be tried again in any case.
 */
function mayTryAgain(error: ToolNodeError, rules: RetryRules, isRepeatable: boolean): boolean {
  if (error.category === "cancelled" || (error.retryAfterSeconds ?? 0) > LONGEST_RETRY_AFTER_S) return false;
  if (error.status !== undefined) return rules.retry_on_status.includes(error.status);
  const wasDone = error.neverSent !== true && error.category !== "retryable_rate";
  return error.isRetryable && (isRepeatable || !wasDone);
}

/** Told when an attempt failed and another follows. */
export interface RetryNotice {
  /** What the attempt failed with. */
  readonly error: ToolNodeError;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** Until the next one. */
  readonly waitSeconds: number;
}

/** What a host may be told, and what tests replace. What listeners throw is lost. */
interface ResilienceOptions extends BreakerEvents {
  readonly onRetry?: (notice: RetryNotice) => void;
  readonly clock?: Clock;
}

/** One call. */
export interface ResilientCall {
  /** Whether the tool may do its work twice: it only reads, or says that it is idempotent. */
  readonly isRepeatable: boolean;
  /** The caller's: ends waiting for a turn, waiting between attempts, and the attempt. */
  readonly signal?: AbortSignal;
  /** For sentences of errors. */
  readonly tool?: string;
  /** In place of the policy's `timeout_s`. */
  readonly timeoutSeconds?: number;
  /** Told of each attempt. */
  readonly silence?: SilenceListener;
  /** Whether an attempt that was given up is the last one, even where others could follow. */
  readonly isTimeoutFinal?: boolean;
}

/** What all calls to one source go through. */
export class Resilience {
  readonly #source: Omit<ToolPlace, "tool">;
  readonly #policy: ResiliencePolicy;
  readonly #clock: Clock;
  readonly #limit: ConcurrencyLimit;
  readonly #breaker: SourceBreaker;
  readonly #onRetry: (notice: RetryNotice) => void;

  /** @param source its name, or what else its sentences say of it. */
  constructor(source: string | Omit<ToolPlace, "tool">, policy: ResiliencePolicy, options: ResilienceOptions = {}) {
    this.#source = typeof source === "string" ? { source } : source;
    this.#policy = policy;
    this.#clock = options.clock ?? systemClock;
    this.#limit = new ConcurrencyLimit(policy.max_concurrency);
    this.#breaker = new SourceBreaker({
      onBreak: heedless(options.onBreak),
      onRecover: () => heedless(options.onRecover)(undefined),
    });
    this.#onRetry = heedless(options.onRetry);
  }

  /** Attempts under way. */
  get inFlight(): number {
    return this.#limit.inFlight;
  }

  /** Attempts that wait for their turn. */
  get waiting(): number {
    return this.#limit.waiting;
  }

  /**
   * Makes a call, in one or more attempts.
   *
   * @returns what the first attempt that succeeds returns.
   * @throws the reason of the call's signal once that is aborted; else what the last attempt failed with, as a
   * ToolNodeError unless it is a SluiceError.
   */
  async run<T>(work: (attempt: Attempt) => Promise<T>, call: ResilientCall): Promise<T> {
    const { signal, isRepeatable, tool } = call;
    const { retry_policy: rules } = this.#policy;
    const place: ToolPlace = { ...this.#source, ...(tool !== undefined && { tool }) };
    const nextWait = waitsOf(rules);
    let before: ToolNodeError | undefined;
    for (let number = 1; ; number += 1) {
      try {
        return await this.#once(work, number, place, call);
      } catch (thrown) {
        // Libraries turn a reason into errors of their own, timeouts even: what was thrown does not tell.
        signal?.throwIfAborted();
        // What made the source be left alone says more than that it is.
        if (thrown instanceof LeftAlone) throw before ?? thrown;
        if (!(thrown instanceof ToolNodeError)) throw thrown;
        if (call.isTimeoutFinal === true && thrown instanceof OutOfTime) throw thrown;
        if (number >= rules.max_attempts || !mayTryAgain(thrown, rules, isRepeatable)) throw thrown;
        // Added, not compared: all whom the source sent away at once would come back at once.
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
    const terms = { number, place, timeoutSeconds, clock: this.#clock, signal, silence };
    const attempt = (): Promise<T> => attempted(adapting(work, place), terms);
    const guarded = (): Promise<T> => untilAborted(this.#breaker.run(attempt, place, signal), signal);
    // A turn is held for an attempt, not for the wait between two: others may go meanwhile.
    return this.#limit.run(guarded, signal, place);
  }
}

/** The same work, failing with our errors: the breaker judges by them. */
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
 * Seconds between attempts, one after the other: each about twice the one before, scattered over its upper half so that
 * those who failed together do not come back together, and within the rules.
 */
function waitsOf({ wait_exponential_min_s: least, wait_exponential_max_s: most }: RetryRules): () => number {
  let longest = least;
  return () => {
    longest = Math.min(2 * longest, Math.max(most, least));
    return Math.max(least, longest * (0.5 + Math.random() / 2));
  };
}

/** Calls that may wait for one source: more are no load to wait for but a loop that has lost control. */
const MOST_WAITING = 10_000;

/**
 * Lets so many calls through at a time; others wait, first come first served. Cockatiel's bulkhead is not it: a caller who gives
 * up in its line stops the line, and whoever calls at the right moment overtakes all who wait.
 */
export class ConcurrencyLimit {
  readonly #turns: Turns;
  readonly #mostWaiting: number;

  constructor(most: number, mostWaiting = MOST_WAITING) {
    this.#turns = new Turns(most);
    this.#mostWaiting = mostWaiting;
  }

  /** Calls let through and not over. */
  get inFlight(): number {
    return this.#turns.underWay;
  }

  /** Calls not let through yet, and not given up. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  /**
   * Does the work when its turn comes.
   *
   * @throws what the work throws; the signal's reason when it is aborted before; a ToolNodeError when too many wait.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined, place: ToolPlace): Promise<T> {
    signal?.throwIfAborted();
    const { isFull, waiting } = this.#turns;
    if (isFull && waiting >= this.#mostWaiting) throw tooMany(place);
    return this.#turns.do(work, signal);
  }
}

function tooMany(place: ToolPlace): ToolNodeError {
  const remedy = "call again when some of them are done";
  return new ToolNodeError(`${subjectOf(place)} has too many calls waiting for it: ${remedy}.`, {
    code: "E_TOOL_RATE_LIMIT",
    category: "non_retryable",
    neverSent: true,
  });
}
