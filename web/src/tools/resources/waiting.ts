/**
 * Waiting that ends when nobody wants the outcome any more.
 * @module
 */

/** Waits for work, but no longer than until the signal is aborted; then throws its reason. The work goes on. */
export async function ended<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // What nobody waits for may fail without anybody's notice.
  work.catch(() => undefined);
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const abandon = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abandon, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}
