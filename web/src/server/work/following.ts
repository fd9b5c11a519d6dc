/**
 * Following the events of work, whichever process does it.
 * @module
 */
import type { SentEvent } from "../http/sse.js";
import { within } from "../http/time-limit.js";
import type { EventLog, LoggedEvent } from "../sessions/event-log.js";

/** What following works with. */
interface Following {
  /** The channel of the work's events. */
  readonly channel: string;
  readonly events: EventLog;
  /** Looks up whether the work goes on, is over, or ends the answer with an event. Throws SluiceError E_STORE_…. */
  readonly look: () => Promise<"held" | "over" | SentEvent>;
  /** Whether an event ends the answer. Throws SluiceError E_STORE_…. */
  readonly isEnd: (event: LoggedEvent) => Promise<boolean>;
  /** Whether an event of this kind ends the work. */
  readonly isLast: (kind: string) => boolean;
  /** Sent where the work is over, and how is not kept. */
  readonly lost: SentEvent;
  readonly report: (error: unknown) => void;
}

/** Milliseconds of silence before the state of the work is looked up: first and then. */
const FIRST_LOOK = 300;
const LOOK_EVERY = 5000;

/** Milliseconds to wait for the last event of work that is over. */
const GRACE = 1000;

/** The events after an id, or all if it is null. Ends by the signal. */
export async function* following(
  deps: Following,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const { channel, events, look, isEnd, lost, report } = deps;
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const entries = events.follow(channel, { after, signal: either })[Symbol.asyncIterator]();
  let next = entries.next();
  let [silence, isOver] = [FIRST_LOOK, false];
  try {
    for (;;) {
      const came = await within(next, silence);
      if (came === "late") {
        if (signal.aborted) return;
        if (isOver) {
          if (!(await hasEnd(deps))) yield lost;
          return;
        }
        const standing = await look().catch((error: unknown): "held" => {
          report(error);
          return "held";
        });
        if (typeof standing !== "string") {
          yield standing;
          return;
        }
        isOver = standing === "over";
        silence = isOver ? GRACE : LOOK_EVERY;
        continue;
      }
      if (came.done === true) return;
      const { id, event } = came.value;
      yield { id, data: event };
      if (await isEnd(event)) return;
      next = entries.next();
    }
  } finally {
    // Aborted first: `return` would wait for the next event.
    done.abort();
    next.catch(() => undefined);
    await entries.return?.().catch(() => undefined);
  }
}

/** Whether the stored events include the end of the work. */
async function hasEnd({ events, channel, isLast }: Following): Promise<boolean> {
  const signal = AbortSignal.timeout(GRACE);
  for await (const { event } of events.follow(channel, { after: null, signal })) if (isLast(event.kind)) return true;
  return false;
}
