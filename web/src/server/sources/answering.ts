/**
 * Work for a request of a session, which ends with the request, the session and the server.
 * @module
 */
import type { ErrorCode } from "../../errors/error.js";
import { CLOSING, closingRefused, saidOf, sessionRefused } from "../refusals.js";
import { eventStream } from "../http/sse.js";
import { isSessionOver, OVER } from "../sessions/session-over.js";
import type { InSession, ServeTerms } from "../terms.js";
import { eventsOf, type Told } from "./telling.js";

/** What is told in place of a result. */
export interface FailedEvent {
  readonly kind: "failed";
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** What is told over and over: of two that follow each other the last is enough. */
const PASSING = "tool_progress";

/** Answers by work. Throws what it throws for itself. */
export async function answeredFor(
  c: InSession,
  { sources, state, over }: ServeTerms,
  work: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const { id } = c.get("session");
  const { signal } = c.req.raw;
  try {
    return await sources.underWay.within(id, [signal, over], work);
  } catch (error) {
    if (over.aborted) return closingRefused();
    const isOver = isAbort(error) && !signal.aborted && (await state.sessions.find(id)) === null;
    if (isOver || isSessionOver(error)) return sessionRefused();
    throw error;
  }
}

/** Answers by what work tells, and then by what it comes to; `failed` where it throws. */
export function streamedFor(
  c: InSession,
  { sources, over, report }: ServeTerms,
  work: (tell: (event: Told) => void, signal: AbortSignal) => Promise<Told>,
): Response {
  const { id } = c.get("session");
  const working = (tell: (event: Told) => void, given: AbortSignal): Promise<Told> =>
    sources.underWay.lasting(id, [given], async (signal) => {
      try {
        return await work(tell, signal);
      } catch (error) {
        return failure(error, { signal, over, report });
      }
    });
  return eventStream((signal) => eventsOf(working, PASSING, signal), over);
}

function failure(
  error: unknown,
  { signal, over, report }: { readonly signal: AbortSignal } & Pick<ServeTerms, "over" | "report">,
): Told {
  if (over.aborted) return told("E_STORE_CLOSED", CLOSING);
  if (isSessionOver(error) || (signal.aborted && isAbort(error))) return told("E_SESSION", OVER);
  const { code, message } = saidOf(error, report);
  return told(code, message);
}

function told(code: ErrorCode, message: string): Told {
  const event: FailedEvent = { kind: "failed", error: { code, message } };
  return event;
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
