/**
 * Work for a request of a session, which ends with the request, the session and the server.
 * @module
 */
import { onAbort, untilEither } from "../../core/abort.js";
import type { ErrorCode } from "../../errors/error.js";
import { sessionChannel } from "../events/announcer.js";
import type { EventLog } from "../events/event-log.js";
import { eventStream, type SentEvent } from "../http/sse.js";
import { CLOSING, closingRefused, saidOf, sessionRefused } from "../refusals.js";
import { isSessionOver, OVER } from "../sessions/session.js";
import type { InSession, ServeDeps } from "../deps.js";

/** What is told in place of a result. */
interface FailedEvent {
  readonly kind: "failed";
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** What is told over and over: of two that follow each other the last is enough. */
const PASSING = "tool_progress";

/** Answers by work. Throws what it throws for itself. */
export async function answeredFor(
  c: InSession,
  { sources, state, over }: ServeDeps,
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
  { sources, over, report }: ServeDeps,
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
  { signal, over, report }: { readonly signal: AbortSignal } & Pick<ServeDeps, "over" | "report">,
): Told {
  if (over.aborted) return failedEvent("E_STORE_CLOSED", CLOSING);
  if (isSessionOver(error) || (signal.aborted && isAbort(error))) return failedEvent("E_SESSION", OVER);
  const { code, message } = saidOf(error, report);
  return failedEvent(code, message);
}

function failedEvent(code: ErrorCode, message: string): Told {
  const event: FailedEvent = { kind: "failed", error: { code, message } };
  return event;
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

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

/** Work that ends with its session: what it would store later nobody would clean up. */
export class UnderWay {
  readonly #sessions = new Map<string, Set<AbortController>>();
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  /** `report` must not throw. */
  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Works with a signal that is aborted when one of these is, or the session is ended by this process. */
  async within<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const all = this.#sessions.get(session) ?? new Set();
    this.#sessions.set(session, all.add(own));
    try {
      return await untilEither([...signals, own.signal], work);
    } finally {
      all.delete(own);
      if (all.size === 0 && this.#sessions.get(session) === all) this.#sessions.delete(session);
    }
  }

  /** The same for work that may take long: its signal is aborted too when another process ends the session. */
  async lasting<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const done = new AbortController();
    try {
      return await this.within(session, signals, (signal) => {
        void this.#followed(session, AbortSignal.any([signal, done.signal]));
        return work(signal);
      });
    } finally {
      done.abort();
    }
  }

  /** Gives up what is under way for a session. */
  end(session: string): void {
    const reason = new DOMException("The session is over.", "AbortError");
    for (const each of this.#sessions.get(session) ?? []) each.abort(reason);
  }

  /** A session's channel ends with it. */
  async #followed(session: string, signal: AbortSignal): Promise<void> {
    const after = `${Date.now()}-0`;
    try {
      const told = this.#events.follow(sessionChannel(session), { after, signal })[Symbol.asyncIterator]();
      while ((await told.next()).done !== true);
      if (!signal.aborted) this.end(session);
    } catch (error) {
      if (!signal.aborted) this.#report(error);
    }
  }
}
