/**
 * Calls of tools that may ask a person. One that asked outlives its process.
 * @module
 */
import { untilEither } from "../../core/abort.js";
import type { SentEvent } from "../http/sse.js";
import { saidOf } from "../http/refusals.js";
import { within } from "../http/time-limit.js";
import { drained, type LoggedEvent } from "../sessions/event-log.js";
import type { EndedSession } from "../sessions/session-register.js";
import type { SessionWork, Told } from "../sessions/session-work.js";
import type { ServedSession } from "../sessions/session.js";
import type { ServedSources } from "../sources/served-sources.js";
import { following } from "../work/following.js";
import type { HeldWork, WorkKeeper } from "../work/work-keeper.js";
import type { Work } from "../work/work-register.js";
import { calledFor, type AskedCall, type CallDeps, type CallResult } from "./call.js";
import { CallPlace, callsChannel, loadRecord, placeOf, type CallRecord } from "./call-place.js";
import { forget, LiveCall, type LiveCallDeps } from "./live-call.js";

interface CallsDeps extends CallDeps, LiveCallDeps {
  readonly state: LiveCallDeps["state"];
  readonly sources: Pick<ServedSources, "get" | "pauses">;
  readonly sessionWork: Pick<SessionWork, "lasting">;
  readonly keeper: Pick<WorkKeeper, "hold" | "takesUp">;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** Most calls that this process makes at once of those that others made. They wait for people. */
const MOST_TAKEN = 64;

/** Milliseconds that closing waits until calls are left to others. */
const LEAVE_TIMEOUT = 5000;

/** The calls of a server that answer with events. */
export class Calls implements AsyncDisposable {
  readonly #deps: CallsDeps;
  readonly #lives = new Map<string, { readonly live: LiveCall; readonly made: Promise<unknown> }>();

  constructor(deps: CallsDeps) {
    this.#deps = deps;
    deps.keeper.takesUp("call", { most: MOST_TAKEN, take: (work, held) => this.#taken(work, held) });
  }

  /** Makes a call for a client. From its first question on it goes on in another process if this one dies. Throws as `calledFor`. */
  made(session: ServedSession, call: AskedCall, tell: (event: Told) => void, signal: AbortSignal): Promise<CallResult> {
    const { name, args, trace, timeoutSeconds = null } = call;
    const place = new CallPlace(session.id, crypto.randomUUID());
    const record = { name, args: { ...args }, trace, timeout_seconds: timeoutSeconds, asked: [] };
    return this.#entered(new LiveCall(place, record, this.#deps, tell), session, call, signal);
  }

  /** A call of a session whose events are still stored, or null. Throws SluiceError E_STORE_…. */
  async find(session: ServedSession, call: string): Promise<CallPlace | null> {
    const { events, runs } = this.#deps.state;
    const place = placeOf(session.id, call);
    if (place === null) return null;
    // Its process may have died before its first event was stored.
    return (await events.has(place.channel)) || (await loadRecord(runs, place)) !== null ? place : null;
  }

  /** The events of a call after the given one. */
  follow(place: CallPlace, after: string | null, signal: AbortSignal): AsyncIterable<SentEvent> {
    const { state, report } = this.#deps;
    const look = async (): Promise<"held" | "over"> =>
      this.#lives.has(place.key) || (await loadRecord(state.runs, place)) !== null ? "held" : "over";
    const isEnd = async ({ kind }: LoggedEvent): Promise<boolean> => isLast(kind);
    const deps = { channel: place.channel, events: state.events, report, look, isEnd, isLast, lost: LOST };
    return following(deps, after, signal);
  }

  /** Deletes the calls of a session. Does not throw. */
  readonly ended = async ({ session }: EndedSession): Promise<void> => {
    try {
      const noted = await drained(this.#deps.state.events, callsChannel(session.id), { kind: "over" });
      for (const { call } of noted as readonly { readonly call?: string }[]) {
        if (call !== undefined) await this.#dropped(new CallPlace(session.id, call));
      }
    } catch (error) {
      this.#deps.report(error);
    }
  };

  /** Waits until calls are left to other processes, after the server's end was told. */
  async [Symbol.asyncDispose](): Promise<void> {
    const kept = [...this.#lives.values()].filter(({ live }) => live.isKept);
    await within(Promise.allSettled(kept.map(({ made }) => made)), LEAVE_TIMEOUT);
  }

  /** Takes up a call whose process died, or left it. Settles when this process is done with it. Does not throw. */
  async #taken({ session: id, id: call }: Work, held: HeldWork): Promise<void> {
    const { state, report } = this.#deps;
    const place = new CallPlace(id, call);
    try {
      const session = await state.sessions.find(id);
      if (session === null) await this.#dropped(place);
      const record = session === null ? null : await this.#open(place);
      if (session === null || record === null) return await held.end();
      const live = new LiveCall(place, record, this.#deps);
      if (!(await live.takeOver(held))) return held.leave();
      await this.#again(live, session, record);
    } catch (error) {
      report(error);
      held.leave();
    }
  }

  /** What is stored of a call that is not over. */
  async #open(place: CallPlace): Promise<CallRecord | null> {
    const { runs, events } = this.#deps.state;
    const record = await loadRecord(runs, place);
    const last = record && (await events.latest(place.channel));
    if (record === null || last == null || !isLast(last.event.kind)) return record;
    // Its process died before it forgot the call.
    await forget(place, record, this.#deps);
    return null;
  }

  async #again(live: LiveCall, session: ServedSession, record: CallRecord): Promise<void> {
    const { sessionWork, over } = this.#deps;
    const { name, args, trace, timeout_seconds } = record;
    const call = { name, args, trace, timeoutSeconds: timeout_seconds ?? undefined };
    const made = (signal: AbortSignal): Promise<CallResult> => this.#entered(live, session, call, signal);
    // How it ends is told to those who follow it.
    await sessionWork.lasting(session.id, [over], made).catch(() => undefined);
    await this.#lives.get(live.place.key)?.made.catch(() => undefined);
  }

  #entered(live: LiveCall, session: ServedSession, call: AskedCall, signal: AbortSignal): Promise<CallResult> {
    const { key } = live.place;
    const made = this.#call(live, session, call, signal).finally(() => this.#lives.delete(key));
    this.#lives.set(key, { live, made });
    return made;
  }

  async #call(live: LiveCall, session: ServedSession, call: AskedCall, given: AbortSignal): Promise<CallResult> {
    const { over, report } = this.#deps;
    try {
      const result = await untilEither([given, live.lost, live.left], (signal) =>
        calledFor(session, call, this.#deps, { signal, tell: live.tell, pause: live.asking(signal) }),
      );
      await live.confirm();
      const last: LoggedEvent & CallResult = { kind: "result", ...result };
      await live.end(last);
      return result;
    } catch (error) {
      if (over.aborted || live.left.aborted || live.lost.aborted) await live.leave();
      else await live.end(failedOf(error, given, report));
      throw live.lost.aborted ? live.lost.reason : error;
    }
  }

  /** Deletes a call whose session is over. */
  async #dropped(place: CallPlace): Promise<void> {
    const record = await loadRecord(this.#deps.state.runs, place);
    if (record !== null) await forget(place, record, this.#deps);
    await this.#deps.state.events.end(place.channel);
  }
}

/** Whether an event of this kind ends a call. */
function isLast(kind: string): boolean {
  return kind === "result" || kind === "failed";
}

function failedOf(error: unknown, signal: AbortSignal, report: (error: unknown) => void): LoggedEvent {
  const { code, message } = signal.aborted ? LEFT : saidOf(error, report);
  return { kind: "failed", error: { code, message } } as LoggedEvent;
}

const LEFT = {
  code: "E_CANCELLED",
  message: "The call was cancelled: its client left, or its session ended.",
} as const;

const LOST: SentEvent = {
  data: { kind: "failed", error: { code: "E_EXPIRED", message: "The call is no longer kept: call again." } } as Told,
};
