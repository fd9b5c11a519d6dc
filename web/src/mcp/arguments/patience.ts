/**
 * Work that is waited for no longer than it is worth.
 * @module
 */

/** How long something is waited for. */
export interface Patience {
  /** Milliseconds. */
  readonly most: number;
  /** What is thrown when they have passed. */
  readonly late: () => Error;
  /** Ends the waiting at once. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits for work that may never settle: a store may hang where nothing can stop it. The work gets a signal that says
 * that nobody waits any more. Throws what the work throws, `late`, or the signal's reason.
 */
export async function waitFor<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { most, late, signal }: Patience,
): Promise<T> {
  signal?.throwIfAborted();
  const over = new AbortController();
  const aborted = (): void => over.abort(signal?.reason);
  signal?.addEventListener("abort", aborted, { once: true });
  const timer = setTimeout(() => over.abort(late()), most);
  const given = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([work(over.signal), given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}
