/**
 * What happens in a run, for one client: what is kept of it, then what comes, until it is over or waits for a person.
 * @module
 */
import type { SentEvent } from "../http/sse.js";
import type { ServeState } from "../state.js";
import { pauseIn } from "../../planner/run-state.js";
import { isLast, type ChatEnd } from "./chat-event.js";
import type { RunPlace } from "./run-place.js";

/** Where a run is that says nothing: somebody has it, it waits, or it is over. */
export type Standing = "held" | "over" | Extract<ChatEnd, { readonly kind: "pause" }>;

/** What is followed, and who looks after a run that says nothing. */
export interface Following {
  readonly place: RunPlace;
  readonly state: Pick<ServeState, "events" | "runs">;
  /** Goes on with a run that nobody has. Throws SluiceError E_STORE_…. */
  readonly look: () => Promise<Standing>;
  readonly report: (error: unknown) => void;
}

/** Milliseconds of silence before one looks whether anybody has the run: first, and then. */
const FIRST_LOOK = 300;
const LOOK_EVERY = 5000;

/** Milliseconds within which the last event of a run comes that is over. */
const GRACE = 1000;

/** The events behind an id; all where it is null. Ends by the signal. */
export async function* following(
  { place, state, look, report }: Following,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const entries = state.events.follow(place.channel, { after, signal: either })[Symbol.asyncIterator]();
  let next = entries.next();
  let [patience, isOver] = [FIRST_LOOK, false];
  try {
    for (;;) {
      const came = await within(next, patience);
      if (came === "late") {
        if (signal.aborted) return;
        if (isOver) {
          if (!(await hasEnd(state, place))) yield LOST;
          return;
        }
        const standing = await look().catch((error: unknown): Standing => {
          report(error);
          return "held";
        });
        if (typeof standing !== "string") {
          yield { data: standing };
          return;
        }
        isOver = standing === "over";
        patience = isOver ? GRACE : LOOK_EVERY;
        continue;
      }
      if (came.done === true) return;
      const { id, event } = came.value;
      yield { id, data: event };
      if (isLast(event.kind) || (event.kind === "pause" && (await isOpen(state, place, event)))) return;
      next = entries.next();
    }
  } finally {
    // Before it returns: it may be waiting for an event.
    done.abort();
    next.catch(() => undefined);
    await entries.return?.().catch(() => undefined);
  }
}

const LOST: SentEvent = {
  data: {
    kind: "failed",
    error: { code: "E_EXPIRED", message: "The run is no longer kept: ask again." },
  } as ChatEnd,
};

/** Whether a pause is not answered yet: behind one that is, more follows. */
async function isOpen(
  { runs }: Following["state"],
  place: RunPlace,
  event: { readonly kind: string },
): Promise<boolean> {
  const { resume_token = "" } = event as { readonly resume_token?: string };
  const pause = pauseIn(place.token, await runs.loadPlannerState(place.token));
  return pause !== null && resume_token === place.resumeToken(pause.resumeToken);
}

/** Whether what is kept of a run that is over has its end. */
async function hasEnd({ events }: Following["state"], { channel }: RunPlace): Promise<boolean> {
  const signal = AbortSignal.timeout(GRACE);
  for await (const { event } of events.follow(channel, { after: null, signal })) if (isLast(event.kind)) return true;
  return false;
}

async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
