/**
 * Calls of tools that may ask a person. One that asked outlives its process.
 * @module
 */
import { untilEither } from "../../core/abort.js";
import { toSaidError } from "../http/refusals.js";
import { within } from "../http/time-limit.js";
import type { LoggedEvent } from "../sessions/event-log.js";
import { toFailedEvent, type SessionWork, type Told } from "../sessions/session-work.js";
import type { ServedSession } from "../session.js";
import type { ServedSources } from "../sources/served-sources.js";
import { KeptWork, type KeptWorkDeps } from "../work/kept-work.js";
import type { HeldWork } from "../work/work-keeper.js";
import { WorkPlace } from "../work/work-place.js";
import { callForClient, type AskedCall, type CallDeps, type CallResult } from "./call.js";
import { CALL_RECORD, LiveCall, type CallRecord, type LiveCallDeps } from "./live-call.js";

interface CallsDeps extends CallDeps, KeptWorkDeps, Omit<LiveCallDeps, "calls"> {
  readonly state: KeptWorkDeps["state"];
  readonly sources: Pick<ServedSources, "get" | "pauses">;
  readonly sessionWork: Pick<SessionWork, "lasting">;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** Most calls that this process makes at once of those that others made. They wait for people. */
const MOST_TAKEN = 64;

/** Milliseconds that closing waits until calls are left to others. */
const LEAVE_TIMEOUT = 5000;

/** The calls of a server that answer with events. */
export class Calls extends KeptWork<CallRecord> implements AsyncDisposable {
  readonly #deps: CallsDeps & LiveCallDeps;
  readonly #lives = new Map<string, { readonly live: LiveCall; readonly made: Promise<unknown> }>();

  constructor(deps: CallsDeps) {
    const lost = "The call is no longer kept: call again.";
    super(deps, { kind: "call", record: CALL_RECORD, most: MOST_TAKEN, lost });
    this.#deps = { ...deps, calls: this };
  }

  /** Makes a call for a client. From its first question on it goes on in another process if this one dies. Throws as `callForClient`. */
  make(session: ServedSession, call: AskedCall, tell: (event: Told) => void, signal: AbortSignal): Promise<CallResult> {
    const { name, args, trace, timeoutSeconds = null } = call;
    const record = { name, args: { ...args }, trace, timeout_seconds: timeoutSeconds, asked: [] };
    const live = new LiveCall(new WorkPlace("call", session.id), record, this.#deps, tell);
    return this.#start(live, session, call, signal);
  }

  /** Deletes what is stored of a call, with its questions. Throws SluiceError E_STORE_…. */
  override async forget(place: WorkPlace): Promise<void> {
    const record = await this.load(place);
    await super.forget(place);
    for (const { pause } of record?.asked ?? []) await this.#deps.sources.pauses.forget(place.session, pause);
  }

  /** Waits until calls are left to other processes, after the server's end was told. */
  async [Symbol.asyncDispose](): Promise<void> {
    const kept = [...this.#lives.values()].filter(({ live }) => live.isKept);
    await within(Promise.allSettled(kept.map(({ made }) => made)), LEAVE_TIMEOUT);
  }

  protected override async look(_session: ServedSession, place: WorkPlace): Promise<"held" | "over"> {
    return this.#lives.has(place.key) || (await this.load(place)) !== null ? "held" : "over";
  }

  protected override async goOn(session: ServedSession, place: WorkPlace, held: HeldWork): Promise<"over" | "left"> {
    const record = await this.load(place);
    if (record === null) return "over";
    if (await this.isTold(place)) {
      await this.forget(place);
      return "over";
    }
    const live = new LiveCall(place, record, this.#deps);
    if (await live.takeOver(held)) await this.#again(live, session, record);
    return "left";
  }

  async #again(live: LiveCall, session: ServedSession, record: CallRecord): Promise<void> {
    const { sessionWork, over } = this.#deps;
    const { name, args, trace, timeout_seconds } = record;
    const call = { name, args, trace, timeoutSeconds: timeout_seconds ?? undefined };
    const startCall = (signal: AbortSignal): Promise<CallResult> => this.#start(live, session, call, signal);
    // How it ends is told to those who follow it.
    await sessionWork.lasting(session.id, [over], startCall).catch(() => undefined);
    await this.#lives.get(live.place.key)?.made.catch(() => undefined);
  }

  #start(live: LiveCall, session: ServedSession, call: AskedCall, signal: AbortSignal): Promise<CallResult> {
    const { key } = live.place;
    const made = this.#call(live, session, call, signal).finally(() => this.#lives.delete(key));
    this.#lives.set(key, { live, made });
    return made;
  }

  async #call(live: LiveCall, session: ServedSession, call: AskedCall, given: AbortSignal): Promise<CallResult> {
    const { over, report } = this.#deps;
    try {
      const result = await untilEither([given, live.lost, live.left], (signal) =>
        callForClient(session, call, this.#deps, { signal, tell: live.tell, pause: live.pauseBy(signal) }),
      );
      await live.confirm();
      const last: LoggedEvent & CallResult = { kind: "result", ...result };
      await live.end(last);
      return result;
    } catch (error) {
      if (over.aborted || live.left.aborted || live.lost.aborted) await live.leave();
      else await live.end(describeFailure(error, given, report));
      throw live.lost.aborted ? await live.explainLoss() : error;
    }
  }
}

function describeFailure(error: unknown, signal: AbortSignal, report: (error: unknown) => void): LoggedEvent {
  if (signal.aborted)
    return toFailedEvent("E_CANCELLED", "The call was cancelled: its client left, or its session ended.");
  const { code, message } = toSaidError(error, report);
  return toFailedEvent(code, message);
}
