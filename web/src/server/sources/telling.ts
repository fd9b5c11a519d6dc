/**
 * What work tells while it goes on, and then what came of it, as events of an answer.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import type { SentEvent } from "../http/sse.js";

/** One event's data. */
export type Told = SentEvent["data"];

/** Events that wait for a client who is slow; beyond, those that a later one says better are left out. */
const MAX_WAITING = 256;

/**
 * The events of work, in order, and then the one that it comes to. Whoever stops listening gives the work up.
 *
 * @param work must not throw; the last of two `passing` events that follow each other is enough.
 */
export async function* eventsOf(
  work: (tell: (event: Told) => void, signal: AbortSignal) => Promise<Told>,
  passing: string,
  given: AbortSignal,
): AsyncGenerator<SentEvent> {
  const left = new AbortController();
  const forget = onAbort(given, () => left.abort(given.reason));
  if (given.aborted) left.abort(given.reason);
  const waiting: Told[] = [];
  let wake: (() => void) | undefined;
  const tell = (event: Told): void => {
    const isPassing = event.kind === passing;
    if (isPassing && waiting.at(-1)?.kind === passing) waiting.pop();
    if (!isPassing || waiting.length < MAX_WAITING) waiting.push(event);
    wake?.();
  };
  const state = { isOver: false };
  const done = work(tell, left.signal).then((last) => {
    tell(last);
    state.isOver = true;
    wake?.();
    return undefined;
  });
  try {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) yield { data: event };
      else if (state.isOver) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    forget();
    left.abort(new DOMException("Nobody listens any more.", "AbortError"));
    await done;
  }
}
