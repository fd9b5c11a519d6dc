/**
 * How patient a source is treated (ToolNode 2.1 "Resilience").
 * @module
 */
import type { ToolNodeError } from "../errors.js";

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
export function mayTryAgain(error: ToolNodeError, rules: RetryRules, isRepeatable: boolean): boolean {
  if (error.category === "cancelled" || (error.retryAfterSeconds ?? 0) > LONGEST_RETRY_AFTER_S) return false;
  if (error.status !== undefined) return rules.retry_on_status.includes(error.status);
  const wasDone = error.neverSent !== true && error.category !== "retryable_rate";
  return error.isRetryable && (isRepeatable || !wasDone);
}
