/**
 * Work that outlives the process that does it: how it is stored, listed, found, followed, taken up and deleted.
 * @module
 */
import type { z } from "zod";
import type { StateStore } from "../../planner/state-store.js";
import type { SentEvent } from "../http/sse.js";
import { within } from "../http/time-limit.js";
import { drainChannel, type EventLog, type LoggedEvent } from "../sessions/event-log.js";
import type { EndedSession, SessionRegister } from "../sessions/session-register.js";
import { toFailedEvent } from "../sessions/session-work.js";
import type { ServedSession } from "../session.js";
import type { HeldWork, WorkKeeper } from "./work-keeper.js";
import { isWorkId, listChannel, WorkPlace } from "./work-place.js";
import type { Work, WorkKind } from "./work-register.js";

/** What kept work depends on. */
export interface KeptWorkDeps {
  readonly state: {
    /** Where records are stored, and what was made of them. */
    readonly runs: StateStore;
    readonly sessions: SessionRegister;
    readonly events: EventLog;
  };
  readonly keeper: Pick<WorkKeeper, "hold" | "takesUp">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

interface KeptWorkOptions<Stored> {
  readonly kind: WorkKind;
  /** What is stored of what was asked for. */
  readonly record: z.ZodType<Stored>;
  /** Most that this process does at once of what others did. */
  readonly most: number;
  /** What followers are told of work that is over, where how is not kept. */
  readonly lost: string;
}

/** Milliseconds of silence before the state of the work is looked up: first and then. */
const FIRST_LOOK = 300;
const LOOK_EVERY = 5000;

/** Milliseconds to wait for the last event of work that is over. */
const GRACE = 1000;

/** The state of silent work: a process has it, it is over, or the event that ends the answer. */
export type Standing = "held" | "over" | SentEvent;

/** Whether an event of this kind ends work. */
export function isLast(kind: string): boolean {
  return kind === "result" || kind === "failed";
}

/** The work of one kind, in whichever process it is. */
export abstract class KeptWork<Stored> {
  /** Told of work that is over, where how is not kept. */
  protected readonly lostEvent: LoggedEvent;
  readonly #deps: KeptWorkDeps;
  readonly #kind: WorkKind;
  readonly #record: z.ZodType<Stored>;

  constructor(deps: KeptWorkDeps, { kind, record, most, lost }: KeptWorkOptions<Stored>) {
    this.#deps = deps;
    this.#kind = kind;
    this.#record = record;
    this.lostEvent = toFailedEvent("E_EXPIRED", lost);
    deps.keeper.takesUp(kind, { most, take: (work, held) => this.#take(work, held) });
  }

  /** Looks up silent work that is followed. Throws SluiceError E_STORE_…. */
  protected abstract look(session: ServedSession, place: WorkPlace): Promise<Standing>;

  /**
   * Goes on with work whose process died, or left it. Settles with "over" if nothing is left to do, else when this
   * process is done with it. Throws SluiceError E_STORE_….
   */
  protected abstract goOn(session: ServedSession, place: WorkPlace, held: HeldWork): Promise<"over" | "left">;

  /** Whether an event ends the answer to a follower. Throws SluiceError E_STORE_…. */
  protected async isEnd(_place: WorkPlace, { kind }: LoggedEvent): Promise<boolean> {
    return isLast(kind);
  }

  /** Lists new work in its session, holds it, and stores what was asked for. Throws SluiceError E_STORE_…. */
  async begin(place: WorkPlace, record: Stored): Promise<HeldWork> {
    const { state, keeper } = this.#deps;
    const { kind, id } = place;
    const listed: LoggedEvent & Readonly<Record<string, string>> = { kind, [kind]: id };
    await state.events.append(place.list, listed);
    const held = await keeper.hold(place);
    try {
      await state.runs.savePlannerState(place.record, record);
    } catch (error) {
      await held.end();
      throw error;
    }
    return held;
  }

  /** What was asked for, or null if the work is over or never was. Throws SluiceError E_STORE_…. */
  async load({ record }: WorkPlace): Promise<Stored | null> {
    return this.#record.safeParse(await this.#deps.state.runs.loadPlannerState(record)).data ?? null;
  }

  /** Work of a session that is still stored, or null. Throws SluiceError E_STORE_…. */
  async find({ id: session }: ServedSession, id: string): Promise<WorkPlace | null> {
    if (!isWorkId(id)) return null;
    const place = new WorkPlace(this.#kind, session, id);
    // Its process may have died before its first event was stored.
    const isThere = (await this.#deps.state.events.has(place.channel)) || (await this.load(place)) !== null;
    return isThere ? place : null;
  }

  /** Whether the end of work is told: if it is still stored, its process died before it forgot it. */
  async isTold({ channel }: WorkPlace): Promise<boolean> {
    const last = await this.#deps.state.events.latest(channel);
    return last !== null && isLast(last.event.kind);
  }

  /** The events of work after an id, or all if it is null. Ends by the signal. */
  async *follow(
    session: ServedSession,
    place: WorkPlace,
    after: string | null,
    signal: AbortSignal,
  ): AsyncGenerator<SentEvent> {
    const { state, report } = this.#deps;
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    const entries = state.events.follow(place.channel, { after, signal: either })[Symbol.asyncIterator]();
    let next = entries.next();
    let [silence, isOver] = [FIRST_LOOK, false];
    try {
      for (;;) {
        const came = await within(next, silence);
        if (came === "late") {
          if (signal.aborted) return;
          if (isOver) {
            if (!(await this.#hasEnd(place))) yield { data: this.lostEvent };
            return;
          }
          const standing = await this.look(session, place).catch((error: unknown): "held" => {
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
        if (await this.isEnd(place, event)) return;
        next = entries.next();
      }
    } finally {
      // Aborted first: `return` would wait for the next event.
      done.abort();
      next.catch(() => undefined);
      await entries.return?.().catch(() => undefined);
    }
  }

  /** Deletes what is stored of work, its events apart. Throws SluiceError E_STORE_…. */
  async forget({ token, record }: WorkPlace): Promise<void> {
    // A record whose token has nothing means lost work, so the record goes last.
    for (const each of new Set([token, record])) await this.#deps.state.runs.savePlannerState(each, null);
  }

  /** Deletes work that is over. If that fails, it is due later, and looked at then. Does not throw. */
  async end(place: WorkPlace, held: HeldWork | undefined): Promise<void> {
    try {
      await this.forget(place);
      await held?.end();
    } catch (error) {
      held?.leave();
      this.#deps.report(error);
    }
  }

  /** Deletes the work of a session, in every process. Does not throw. */
  async endSession({ session: { id: session } }: Pick<EndedSession, "session">): Promise<void> {
    const kind = this.#kind;
    try {
      const all = await drainChannel(this.#deps.state.events, listChannel(kind, session), { kind: "over" });
      const listed = all.filter((event) => event.kind === kind) as readonly Partial<Record<WorkKind, string>>[];
      for (const id of new Set(listed.flatMap((event) => event[kind] ?? []))) {
        await this.#drop(new WorkPlace(kind, session, id));
      }
    } catch (error) {
      this.#deps.report(error);
    }
  }

  /** Takes up work. Settles when this process is done with it. Does not throw. */
  async #take({ kind, session: id, id: work }: Work, held: HeldWork): Promise<void> {
    const place = new WorkPlace(kind, id, work);
    try {
      const session = await this.#deps.state.sessions.find(id);
      if (session === null) await this.#drop(place);
      if (session === null || (await this.goOn(session, place, held)) === "over") await held.end();
    } catch (error) {
      this.#deps.report(error);
    }
    // Has no effect on what has ended, or was freed.
    held.leave();
  }

  /** Deletes work whose session is over. */
  async #drop(place: WorkPlace): Promise<void> {
    await this.forget(place);
    await this.#deps.state.events.end(place.channel);
  }

  /** Whether the stored events include the end of the work. */
  async #hasEnd({ channel }: WorkPlace): Promise<boolean> {
    const signal = AbortSignal.timeout(GRACE);
    const entries = this.#deps.state.events.follow(channel, { after: null, signal });
    for await (const { event } of entries) if (isLast(event.kind)) return true;
    return false;
  }
}
