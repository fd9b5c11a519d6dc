/**
 * Work for a request, which ends with the request, its session and the server.
 * @module
 */
import { onAbort, untilEither } from "../../core/abort.js";
import { streamEvents } from "../../planner/event.js";
import { within } from "../http/time-limit.js";
import type { ErrorCode } from "../../errors/error.js";
import { sessionChannel } from "./announcer.js";
import type { EventLog } from "./event-log.js";
import { eventStream, type SentEvent } from "../http/sse.js";
import { CLOSING, closingRefused, toSaidError, sessionRefused } from "../http/refusals.js";
import { isSessionOver, OVER } from "../session.js";
import type { InSession } from "../http/context.js";
import type { SessionRegister } from "./session-register.js";

/** Of two such events in a row the last is enough. */
const PASSING = "tool_progress";

/** What answers with the result of work depend on. */
export interface AnswerDeps {
  readonly sessionWork: SessionWork;
  readonly state: { readonly sessions: Pick<SessionRegister, "find"> };
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** What answers with the events of work depend on. */
export interface StreamDeps {
  readonly sessionWork: SessionWork;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Answers with the result of work. Throws what the work throws. */
export async function answerWithWork<T>(
  c: InSession,
  { sessionWork, state, over }: AnswerDeps,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | Response> {
  const { id } = c.get("session");
  const { signal } = c.req.raw;
  try {
    return await sessionWork.within(id, [signal, over], work);
  } catch (error) {
    if (over.aborted) return closingRefused();
    const isOver = isAbort(error) && !signal.aborted && (await state.sessions.find(id)) === null;
    if (isOver || isSessionOver(error)) return sessionRefused();
    throw error;
  }
}

/** Answers with the events of work and then its result, or `failed` if it throws. */
export function streamWork(
  c: InSession,
  { sessionWork, over, report }: StreamDeps,
  work: (tell: (event: Told) => void, signal: AbortSignal) => Promise<Told>,
): Response {
  const { id } = c.get("session");
  const working = (tell: (event: Told) => void, given: AbortSignal): Promise<Told> =>
    sessionWork.lasting(id, [given], async (signal) => {
      try {
        return await work(tell, signal);
      } catch (error) {
        return failure(error, { signal, over, report });
      }
    });
  return eventStream((signal) => toSentEvents(working, PASSING, signal), over);
}

function failure(
  error: unknown,
  { signal, over, report }: { readonly signal: AbortSignal } & Pick<StreamDeps, "over" | "report">,
): Told {
  if (over.aborted) return toFailedEvent("E_STORE_CLOSED", CLOSING);
  if (isSessionOver(error) || (signal.aborted && isAbort(error))) return toFailedEvent("E_SESSION", OVER);
  const { code, message } = toSaidError(error, report);
  return toFailedEvent(code, message);
}

/** The last event of what failed. */
export interface FailedEvent {
  readonly kind: "failed";
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

/** The last event of what failed. */
export function toFailedEvent(code: ErrorCode, message: string): FailedEvent {
  return { kind: "failed", error: { code, message } };
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The data of an event. */
export type Told = SentEvent["data"];

/** Most events that wait for a slow client. Further events of progress are left out. */
const MAX_WAITING = 256;

/**
 * The events of work and then its result, as they are sent. `work` must not throw. Of two `passing` events in a row
 * the last is enough.
 */
export async function* toSentEvents(
  work: (tell: (event: Told) => void, signal: AbortSignal) => Promise<Told>,
  passing: string,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const told = streamEvents(work, signal, { isPassing: ({ kind }) => kind === passing, most: MAX_WAITING });
  try {
    for (;;) {
      const { done, value } = await told.next();
      yield { data: value };
      if (done === true) return;
    }
  } finally {
    await told.return({ kind: passing });
  }
}

/** Running work. Dispose of it when it has ended. */
interface OpenWork extends Disposable {
  /** Aborted when this process ends the session. */
  readonly signal: AbortSignal;
}

interface Entry {
  readonly over: AbortController;
  /** Settles with the work. Undefined: the end of the session does not wait for it. */
  readonly ended?: Promise<void>;
}

/** Milliseconds that the end of a session waits for its uploads to clean up. */
const UPLOAD_END = 5000;

/** Runs work that ends with its session: what it stored later would never be cleaned up. */
export class SessionWork {
  readonly #sessions = new Map<string, Set<Entry>>();
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;

  /** `report` must not throw. */
  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Starts an upload. The end of the session waits until it is disposed of. */
  upload(session: string): OpenWork {
    const done = new AbortController();
    const work = this.#begin(session, new Promise((resolve) => void onAbort(done.signal, resolve)));
    return {
      signal: work.signal,
      [Symbol.dispose]: () => {
        done.abort();
        work[Symbol.dispose]();
      },
    };
  }

  /** Runs work with a signal that is aborted by any of the given signals, or when this process ends the session. */
  async within<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using own = this.#begin(session);
    return await untilEither([...signals, own.signal], work);
  }

  /** The same for long work: its signal is also aborted when another process ends the session. */
  async lasting<T>(
    session: string,
    signals: readonly AbortSignal[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const done = new AbortController();
    try {
      return await this.within(session, signals, (signal) => {
        void this.#follow(session, AbortSignal.any([signal, done.signal]));
        return work(signal);
      });
    } finally {
      done.abort();
    }
  }

  /** Aborts the work of a session, and waits for its uploads. Never throws. */
  async end(session: string): Promise<void> {
    const reason = new DOMException("The session has ended.", "AbortError");
    const entries = [...(this.#sessions.get(session) ?? [])];
    for (const { over } of entries) over.abort(reason);
    // An upload that hangs finds no session later, and cleans up by itself.
    await within(Promise.all(entries.flatMap(({ ended }) => ended ?? [])), UPLOAD_END);
  }

  #begin(session: string, ended?: Promise<void>): OpenWork {
    const entry: Entry = { over: new AbortController(), ...(ended !== undefined && { ended }) };
    const entries = this.#sessions.get(session) ?? new Set();
    this.#sessions.set(session, entries.add(entry));
    return {
      signal: entry.over.signal,
      [Symbol.dispose]: () => {
        entries.delete(entry);
        if (entries.size === 0 && this.#sessions.get(session) === entries) this.#sessions.delete(session);
      },
    };
  }

  /** Ends the work when the session's channel ends. */
  async #follow(session: string, signal: AbortSignal): Promise<void> {
    const after = `${Date.now()}-0`;
    try {
      const told = this.#events.follow(sessionChannel(session), { after, signal })[Symbol.asyncIterator]();
      while ((await told.next()).done !== true);
      if (!signal.aborted) await this.end(session);
    } catch (error) {
      if (!signal.aborted) this.#report(error);
    }
  }
}
