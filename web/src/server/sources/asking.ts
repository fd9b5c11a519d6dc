/**
 * The person behind a request, who is asked by an event of its answer.
 * @module
 */
import type { PauseReason, ToolContext } from "../../tools/context.js";
import { ToolRateLimitError } from "../../tools/errors.js";
import type { ServedSession } from "../sessions/session.js";
import type { Pauses } from "./pauses.js";
import type { Told } from "./telling.js";

/** Questions of one request that wait at the same time. */
const MAX_OPEN = 16;

/** A question, as the event `paused` tells it. */
export interface PausedEvent {
  readonly kind: "paused";
  /** What `POST /pauses/{pause}` answers. */
  readonly pause: string;
  readonly reason: PauseReason;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Asks whoever reads the answer of a request, and waits for `POST /pauses/{pause}`, in whichever process it comes. */
export function askedBy(
  pauses: Pauses,
  session: ServedSession,
  tell: (event: Told) => void,
  signal: AbortSignal,
): NonNullable<ToolContext["pause"]> {
  let open = 0;
  return async (reason, payload) => {
    if (open >= MAX_OPEN) throw tooMany();
    open += 1;
    try {
      const pause = await pauses.open(session.id, { reason, payload });
      const event: PausedEvent = { kind: "paused", pause: pause.id, reason, payload };
      tell(event);
      return await pause.answer(signal);
    } finally {
      open -= 1;
    }
  };
}

function tooMany(): ToolRateLimitError {
  return new ToolRateLimitError(`More than ${MAX_OPEN} questions of one call wait for an answer: it is given up.`, {
    category: "non_retryable",
  });
}
