/**
 * Calls to one source: so many at a time, each attempt in limited time, tried again where that may help and do no harm.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { heedless } from "../../mcp/door-event.js";
import { adaptError, isCancellation } from "../adapt-error.js";
import type { ToolPlace } from "../adapting/place.js";
import { ToolNodeError } from "../errors.js";
import { untilAborted } from "../../core/abort.js";
import { attempted, OutOfTime, type Attempt, type SilenceListener } from "./attempt.js";
import { LeftAlone, SourceBreaker, type BreakerEvents } from "./breaker.js";
import { sleep, systemClock, type Clock } from "./clock.js";
import { ConcurrencyLimit } from "./limit.js";
import { mayTryAgain, type ResiliencePolicy, type RetryRules } from "./policy.js";

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
export interface ResilienceOptions extends BreakerEvents {
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
        if (isCancellation(thrown, signal)) signal.throwIfAborted();
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
