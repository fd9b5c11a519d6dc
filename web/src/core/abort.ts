/**
 * Waiting that ends when the outcome is no longer needed.
 * @module
 */

/** Who is to be told of each signal. */
const told = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal is aborted, unless what is returned was called before. However many wait for one signal, it
 * has one listener: of more than ten at one signal Node warns on standard error.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = told.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  const tell = (): void => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener("abort", tell, { once: true });
  told.set(signal, callbacks);
  return callbacks;
}

/** Works with a signal that is aborted when the first of these is, for the same reason. */
export async function untilEither<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const first = new AbortController();
  const forgets = signals.map((signal) => {
    if (signal?.aborted === true) first.abort(signal.reason);
    return signal && onAbort(signal, () => first.abort(signal.reason));
  });
  try {
    return await work(first.signal);
  } finally {
    for (const forget of forgets) forget?.();
  }
}

/** Waits for work, but no longer than until the signal is aborted: then its reason is thrown, and the work goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // The outcome may have no listener left.
  work.catch(() => undefined);
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason as Error));
    work.then(resolve, reject).finally(forget);
  });
}

/** How long work is waited for. */
interface WaitLimit {
  /** Milliseconds. */
  readonly most: number;
  /** What is thrown when they have passed. */
  readonly late: () => Error;
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
}

/**
 * As `untilAborted`, and no longer than so many milliseconds. The work gets a signal that is aborted when its caller stops waiting.
 * Nothing is begun for a signal that is aborted already.
 */
export async function untilLate<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { most, late, signal }: WaitLimit,
): Promise<T> {
  signal?.throwIfAborted();
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let forget: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const giveUp = (reason: Error): void => {
        over.abort(reason);
        reject(reason);
      };
      timer = setTimeout(() => giveUp(late()), most);
      forget = signal && onAbort(signal, () => giveUp(signal.reason as Error));
      work(over.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    forget?.();
  }
}
