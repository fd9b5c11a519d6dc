/**
 * What a run tells, as it comes.
 * @module
 */
import { untilEither } from "../core/abort.js";
import type { PlannerEvent } from "./event.js";

/** A run that is told events to a listener, and given up by a signal. */
export type Telling<T> = (onEvent: (event: PlannerEvent) => void, signal: AbortSignal) => Promise<T>;

/**
 * The events of a run, in order, and then what it comes to. Whoever stops listening gives the run up. Events wait for their
 * listener: a run's budget bounds how many there are.
 *
 * @throws what the run throws, after all that it told.
 */
export async function* eventsOf<T>(
  telling: Telling<T>,
  given: AbortSignal | undefined,
): AsyncGenerator<PlannerEvent, T> {
  const left = new AbortController();
  let queue: ReadableStreamDefaultController<PlannerEvent> | undefined;
  const told = new ReadableStream<PlannerEvent>({ start: (controller) => void (queue = controller) }).getReader();
  const run = untilEither([given, left.signal], (signal) => telling((event) => queue?.enqueue(event), signal));
  const over = run.catch(() => undefined).finally(() => queue?.close());
  try {
    for (;;) {
      const { done, value } = await told.read();
      if (done) return await run;
      yield value;
    }
  } finally {
    left.abort(new DOMException("Nobody listens to the run any more.", "AbortError"));
    await over;
  }
}
