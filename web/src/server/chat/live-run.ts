/**
 * Runs of this process, and stopping runs in any process.
 * @module
 */
import type { CallPlace } from "../../planner/event.js";
import { MAX_EVENTS, type EventLog, type LoggedEvent } from "../sessions/event-log.js";
import type { ServedSession } from "../session.js";
import type { HeldWork } from "../work/work-keeper.js";
import { listChannel, type WorkPlace } from "../work/work-place.js";

/** Why a run is stopped. When the server closes, other processes may continue it. */
export type Stop = "given up" | "session over" | "closing";

/** Most calls of a run that can be given up by name. */
const MAX_CALLS = 10_000;

/** A run of this process, with the signals that stop it and its calls. */
export class LiveRun {
  readonly session: ServedSession;
  readonly place: WorkPlace;
  /** Its entry in the register of work, from when there is one. */
  held: HeldWork | undefined;
  /** The id of its first event, empty if there was none. Rejects with why it did not start. */
  readonly begun: Promise<string>;
  /** Settles when this process is done with it. Does not reject. */
  done: Promise<void> = Promise.resolve();
  /** Undefined until it is stopped. */
  why: Stop | undefined;
  hasBegun = false;
  readonly #controller = new AbortController();
  readonly #calls = new Map<string, AbortController>();
  #resolve: (id: string) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(session: ServedSession, place: WorkPlace) {
    this.session = session;
    this.place = place;
    this.begun = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // It may have no listener when a run is taken over.
    this.begun.catch(() => undefined);
  }

  /** Gives up the run. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The signal of one call. It may be aborted before the call begins. */
  callSignal({ step, call }: CallPlace): AbortSignal | undefined {
    return this.#call(`${step} ${call}`)?.signal;
  }

  /** Gives up the run. */
  stop(why: Stop): void {
    this.why ??= why;
    this.#controller.abort(new DOMException("The run was cancelled.", "AbortError"));
  }

  /** Gives up one call, by `{step} {id}`. */
  stopCall(call: string): void {
    this.#call(call)?.abort(new DOMException("The call was cancelled.", "AbortError"));
  }

  /** Settles `begun`. Only the first call of this and `failsWith` counts. */
  beginsWith(id: Promise<string>): void {
    id.then(this.#resolve, this.#reject);
  }

  /** Rejects `begun`. */
  failsWith(error: unknown): void {
    this.#reject(error);
  }

  #call(key: string): AbortController | undefined {
    const known = this.#calls.get(key);
    if (known !== undefined || this.#calls.size >= MAX_CALLS) return known;
    const controller = new AbortController();
    this.#calls.set(key, controller);
    return controller;
  }
}

/** A run started, a run or one of its calls is to stop, or the session is over. */
interface RunsEvent extends LoggedEvent {
  readonly kind: "run" | "stop" | "over";
  readonly run?: string;
  readonly call?: string;
}

/** Milliseconds until a failed channel is followed again. */
const AGAIN = 1000;

/** The runs of one session in this process. */
interface Watched {
  readonly lives: Set<LiveRun>;
  readonly end: AbortController;
  /** Stop events from before a run came here. */
  readonly stops: RunsEvent[];
}

/** Tells all processes which runs to stop, and stops those of this one. */
export class Stops {
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;
  readonly #watched = new Map<string, Watched>();

  /** `report` must not throw. */
  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Stops a run or one of its calls, in any process. Throws SluiceError E_STORE_…. */
  async stop({ list, id: run }: WorkPlace, call: string | undefined): Promise<void> {
    const event: RunsEvent = { kind: "stop", run, ...(call !== undefined && { call }) };
    await this.#events.append(list, event);
  }

  /** Stops a run when an event says so, until the result is disposed of. */
  watch(live: LiveRun): Disposable {
    const { session } = live.place;
    const known = this.#watched.get(session);
    const watched: Watched = known ?? { lives: new Set(), end: new AbortController(), stops: [] };
    watched.lives.add(live);
    for (const event of watched.stops) obey(live, event);
    if (known === undefined) {
      this.#watched.set(session, watched);
      void this.#follow(session, watched);
    }
    return {
      [Symbol.dispose]: () => {
        watched.lives.delete(live);
        if (watched.lives.size > 0) return;
        watched.end.abort();
        this.#watched.delete(session);
      },
    };
  }

  async #follow(session: string, watched: Watched): Promise<void> {
    const { lives, end, stops } = watched;
    const isOver = (): boolean => end.signal.aborted;
    const channel = listChannel("run", session);
    let after: string | null = null;
    while (!isOver()) {
      try {
        for await (const { id, event } of this.#events.follow(channel, { after, signal: end.signal })) {
          after = id;
          if (event.kind === "stop") stops.push(event as RunsEvent);
          if (stops.length > MAX_EVENTS) stops.shift();
          for (const live of lives) obey(live, event as RunsEvent);
        }
        // The channel ends with its session.
        if (!isOver()) for (const live of lives) live.stop("session over");
        return;
      } catch (error) {
        if (!isOver()) this.#report(error);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
}

function obey(live: LiveRun, { kind, run, call }: RunsEvent): void {
  if (kind === "over") live.stop("session over");
  if (kind !== "stop" || run !== live.place.id) return;
  if (call === undefined) live.stop("given up");
  else live.stopCall(call);
}
