/**
 * Questions to providers: they end in time, and what goes wrong is told without what was answered.
 * @module
 */
import { ToolTimeoutError } from "../errors.js";

/** How long one question may take, in milliseconds. */
const MAX_WAIT = 30_000;

/**
 * Asks. Throws the reason of the caller's signal, a ToolTimeoutError when it takes too long, else what `failure` makes of
 * what was thrown.
 */
export async function asked<T>(
  provider: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  failure: (error: unknown, provider: string) => Error,
): Promise<T> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(MAX_WAIT);
  try {
    return await work(signal === undefined ? late : AbortSignal.any([signal, late]));
  } catch (error) {
    signal?.throwIfAborted();
    if (!late.aborted) throw failure(error, provider);
    const sentence = `The OAuth provider of ${provider} did not answer within ${MAX_WAIT / 1000} s: try again later.`;
    throw new ToolTimeoutError(sentence, { neverSent: true });
  }
}
