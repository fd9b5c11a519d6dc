/**
 * A call of this process. From its first question on it is stored, so that another process can make it again.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { onAbort } from "../../core/abort.js";
import type { ToolContext } from "../../tools/context.js";
import type { LoggedEvent } from "../sessions/event-log.js";
import type { Told } from "../sessions/session-work.js";
import { sessionOver } from "../sessions/session.js";
import { MAX_OPEN, newPause, tooMany, type OpenPause, type PauseQuestion } from "../sources/pauses.js";
import type { HeldWork, WorkKeeper } from "../work/work-keeper.js";
import { callsChannel, printOf, type CallPlace, type CallRecord } from "./call-place.js";
import type { ServedSources } from "../sources/served-sources.js";
import type { ServeState } from "../state.js";

/** What calls that are kept work with. */
export interface LiveCallDeps {
  readonly state: Pick<ServeState, "runs" | "sessions" | "events">;
  readonly sources: Pick<ServedSources, "pauses">;
  readonly keeper: Pick<WorkKeeper, "hold">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
  /** Aborted when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** Seconds until another process may have the calls of a dead one. */
const LEASE_SECONDS = 15;

/** Renewals of a lease: two may fail. */
const RENEWALS = 4;

/** Most questions of a call that are kept. Further ones are asked again if the call is. */
const MAX_ASKED = 256;

/** Events of progress are left out while so many events wait for the log. */
const MAX_PENDING = 4;

/** One call, for as long as this process makes it. */
export class LiveCall {
  readonly place: CallPlace;
  readonly #deps: LiveCallDeps;
  readonly #record: CallRecord;
  readonly #owner: string = crypto.randomUUID();
  readonly #lost = new AbortController();
  readonly #left = new AbortController();
  /** Questions that were asked in this process: the same one asked twice is two questions. */
  readonly #used = new Set<string>();
  readonly #toClient: (event: Told) => void;
  #kept: Promise<void> | undefined;
  #held: HeldWork | undefined;
  #isKept = false;
  #holdsUntil = 0;
  #renewing: ReturnType<typeof setInterval> | undefined;
  #written: Promise<unknown> = Promise.resolve();
  #pending = 0;
  #open = 0;

  /** `toClient`: the client whose request it is, if it is here. */
  constructor(
    place: CallPlace,
    record: CallRecord,
    deps: LiveCallDeps,
    toClient: (event: Told) => void = () => undefined,
  ) {
    this.place = place;
    this.#record = record;
    this.#deps = deps;
    this.#toClient = toClient;
  }

  /** Whether it is stored. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Aborted when another process has the call. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Aborted when the server closes while the call waits for a person: another process waits on. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Takes over a call that is stored. Returns false if another process has it. Throws SluiceError E_STORE_…. */
  async takeOver(held: HeldWork): Promise<boolean> {
    this.#held = held;
    if (!(await this.#claim())) return false;
    this.#begin();
    this.#kept = Promise.resolve();
    return true;
  }

  /** Tells the client, and whoever follows the call. */
  readonly tell = (event: Told): void => {
    this.#toClient(event);
    if (!this.#isKept || (event.kind === "tool_progress" && this.#pending >= MAX_PENDING)) return;
    this.#write(event).catch(this.#deps.report);
  };

  /** Asks a person, once for each question, however often the call is made. */
  asking(signal: AbortSignal): NonNullable<ToolContext["pause"]> {
    return async (reason, payload) => {
      if (this.#open >= MAX_OPEN) throw tooMany();
      this.#open += 1;
      try {
        await (this.#kept ??= this.#keep());
        const question = { reason, payload };
        const pause = await this.#asked(question);
        if (!pause.isAnswered)
          this.tell({ kind: "paused", pause: pause.id, call: this.place.call, ...question } as Told);
        const answer = await this.#answer(pause, signal);
        // A process that was stopped meanwhile may have been taken for dead: the answer is for the one that went on.
        await this.confirm();
        return answer;
      } finally {
        this.#open -= 1;
      }
    };
  }

  /** Throws SluiceError E_NOT_FOUND if another process has the call. */
  async confirm(): Promise<void> {
    if (!this.#isKept || (await this.#isOurs())) return;
    throw await this.#lose();
  }

  /** Writes the last event, and deletes the call. Does not throw. */
  async end(last: LoggedEvent): Promise<void> {
    if (!this.#isKept) return;
    clearInterval(this.#renewing);
    try {
      await this.#writeLast(last);
      await forget(this.place, this.#record, this.#deps);
      await this.#held?.end();
    } catch (error) {
      // It is due later, and looked at then.
      this.#deps.report(error);
      this.#held?.leave();
    }
  }

  /** Leaves the call to other processes, at once where this one still has it. Does not throw. */
  async leave(): Promise<void> {
    if (!this.#isKept) return;
    clearInterval(this.#renewing);
    await this.#written;
    if (this.lost.aborted) return this.#held?.leave();
    const { runs } = this.#deps.state;
    await runs.releasePlannerState(this.place.token, this.#owner, "wait").catch(this.#deps.report);
    await this.#held?.free();
  }

  /** Stores the call, before anybody is asked. */
  async #keep(): Promise<void> {
    const { state, keeper } = this.#deps;
    const { session, call, token } = this.place;
    await state.events.append(callsChannel(session), { kind: "call", call } as LoggedEvent);
    this.#held = await keeper.hold(this.place.work);
    await state.runs.savePlannerState(token, this.#record);
    if (!(await this.#claim())) throw await this.#lose();
    this.#begin();
  }

  #begin(): void {
    this.#isKept = true;
    this.#renewing = setInterval(() => void this.#renew(), (LEASE_SECONDS * 1000) / RENEWALS);
    this.#renewing.unref();
  }

  /** A question of before by its old id, if it is the same and was not asked here yet. Else a new one. */
  async #asked(question: PauseQuestion): Promise<OpenPause & { readonly isAnswered: boolean }> {
    const { pauses } = this.#deps.sources;
    const { session, token } = this.place;
    const { asked } = this.#record;
    const print = printOf(question);
    const known = asked.find((each) => each.print === print && !this.#used.has(each.pause));
    const pause = known?.pause ?? newPause();
    if (known === undefined) {
      if (asked.length >= MAX_ASKED) return { ...(await pauses.open(session, question)), isAnswered: false };
      asked.push({ pause, print });
    }
    this.#used.add(pause);
    if (known === undefined && !(await this.#deps.state.runs.updatePlannerState(token, this.#owner, this.#record))) {
      await this.confirm();
      await this.#deps.state.runs.updatePlannerState(token, this.#owner, this.#record);
    }
    return pauses.keep(session, question, pause);
  }

  async #answer(pause: OpenPause, signal: AbortSignal): Promise<unknown> {
    const { streamsEnd } = this.#deps;
    const leave = (): void => this.#left.abort(closing());
    const stop = onAbort(streamsEnd, leave);
    if (streamsEnd.aborted) leave();
    try {
      return await pause.answer(signal);
    } finally {
      stop();
    }
  }

  async #claim(): Promise<boolean> {
    const asked = performance.now();
    const { runs } = this.#deps.state;
    if (!(await runs.claimPlannerState(this.place.token, this.#owner, LEASE_SECONDS))) return false;
    this.#holdsUntil = asked + LEASE_SECONDS * 1000;
    return true;
  }

  async #renew(): Promise<void> {
    if (!(await this.#isOurs().catch(() => false))) await this.#lose();
  }

  /** While the store is away the call is ours until the lease is over. */
  async #isOurs(): Promise<boolean> {
    try {
      return await this.#claim();
    } catch (error) {
      if (performance.now() < this.#holdsUntil) return true;
      throw error;
    }
  }

  async #lose(): Promise<SluiceError> {
    clearInterval(this.#renewing);
    const isOver = (await this.#deps.state.sessions.find(this.place.session).catch(() => undefined)) === null;
    const reason = isOver ? sessionOver() : goneOn();
    this.#lost.abort(reason);
    return reason;
  }

  async #writeLast(last: LoggedEvent): Promise<void> {
    try {
      await this.#write(last);
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "E_TOO_LARGE") throw error;
      await this.#write(TOO_LARGE);
    }
  }

  #write(event: LoggedEvent): Promise<unknown> {
    this.#pending += 1;
    const written = this.#written
      .then(() => this.#deps.state.events.append(this.place.channel, event))
      .finally(() => (this.#pending -= 1));
    this.#written = written.catch(() => undefined);
    return written;
  }
}

/** Told to those who follow a call whose result is larger than an event may be. Its own client has it. */
const TOO_LARGE = {
  kind: "failed",
  error: {
    code: "E_TOO_LARGE",
    message:
      "The call is done, and its result too large to be told here: what was stored of it is among the artifacts.",
  },
} as LoggedEvent;

/** Deletes what is stored of a call, its events apart. Throws SluiceError E_STORE_…. */
export async function forget(
  { session, token }: CallPlace,
  { asked }: Pick<CallRecord, "asked">,
  { state, sources }: Pick<LiveCallDeps, "state" | "sources">,
): Promise<void> {
  await state.runs.savePlannerState(token, null);
  for (const { pause } of asked) await sources.pauses.forget(session, pause);
}

function closing(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The server is closing: follow the call with GET calls/{call}.");
}

function goneOn(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "Another process went on with the call: follow it with GET calls/{call}.");
}
