/**
 * A clock that stands still until it is told to go on, and what else tests decide about themselves.
 * @module
 */
import type { Clock } from "../../../../web/src/tools/resilience/attempt.js";
import type { ResiliencePolicy } from "../../../../web/src/tools/resilience/resilience.js";

/** Time that passes only when told to. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  pass(seconds: number): void {
    const until = this.#now + seconds * 1000;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((left, right) => left.at - right.at);
      const [next] = due;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
  }

  /** For `onRetry`: the wait that begins now is over at once. */
  readonly skip = ({ waitSeconds }: { readonly waitSeconds: number }): void => {
    queueMicrotask(() => this.pass(waitSeconds));
  };
}

export function policy(changes: Partial<ResiliencePolicy["retry_policy"]> & { max_concurrency?: number } = {}) {
  const { max_concurrency = 10, ...rules } = changes;
  const retry_policy = {
    max_attempts: 3,
    wait_exponential_min_s: 0.1,
    wait_exponential_max_s: 5,
    retry_on_status: [429, 500, 502, 503, 504],
    ...rules,
  };
  return { timeout_s: 30, retry_policy, max_concurrency } satisfies ResiliencePolicy;
}

/** A promise, and who settles it. */
export function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
