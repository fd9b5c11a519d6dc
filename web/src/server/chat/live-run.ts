/**
 * A run that this process has.
 * @module
 */
import type { CallPlace } from "../../planner/event.js";
import { MAX_EVENTS, type EventLog, type LoggedEvent } from "../sessions/event-log.js";
import type { ServedSession } from "../sessions/session.js";
import { runsChannel, type RunPlace } from "./run-place.js";

/** Why it is stopped: a person gave it up, its session is over, or the server closes and others may go on with it. */
export type Stop = "given up" | "session over" | "closing";

/** Calls of one run that can be given up by name: more are not remembered. */
const MAX_CALLS = 10_000;

/** What gives up the run, and each of its calls. */
export class LiveRun {
  readonly session: ServedSession;
  readonly place: RunPlace;
  /** The id of its first event, empty where none was told; rejects with why it did not begin. */
  readonly begun: Promise<string>;
  /** Settles when nothing more is done for it here. Does not reject. */
  done: Promise<void> = Promise.resolve();
  /** Undefined where nobody stopped it. */
  why: Stop | undefined;
  hasBegun = false;
  readonly #controller = new AbortController();
  readonly #calls = new Map<string, AbortController>();
  #resolve: (id: string) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(session: ServedSession, place: RunPlace) {
    this.session = session;
    this.place = place;
    this.begun = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Those who take over a run may not wait for it.
    this.begun.catch(() => undefined);
  }

  /** Gives up the run. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What gives up one call, which may have been given up before it begins. */
  callSignal({ step, call }: CallPlace): AbortSignal | undefined {
    return this.#call(`${step} ${call}`)?.signal;
  }

  /** Gives up the run. */
  stop(why: Stop): void {
    this.why ??= why;
    this.#controller.abort(new DOMException("The run is given up.", "AbortError"));
  }

  /** Gives up one call: `{step} {id}`. */
  stopCall(call: string): void {
    this.#call(call)?.abort(new DOMException("The call is given up.", "AbortError"));
  }

  /** Says how it began. Only what is said first counts, of this and `failsWith`. */
  beginsWith(id: Promise<string>): void {
    id.then(this.#resolve, this.#reject);
  }

  /** Says why it did not begin. */
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

/** A run began; it is to stop, or one of its calls; or there are no more. */
interface RunsEvent extends LoggedEvent {
  readonly kind: "run" | "stop" | "over";
  readonly run?: string;
  readonly call?: string;
}

/** Milliseconds until events are followed again that could not be. */
const AGAIN = 1000;

/** Milliseconds within which the runs of a session are found. */
const PATIENCE = 5000;

/** Those of one session that this process has. */
interface Watched {
  readonly lives: Set<LiveRun>;
  readonly end: AbortController;
  /** What was told before a run came here. */
  readonly stops: RunsEvent[];
}

/** Follows what is told of runs as long as there are some here. */
export class Stops {
  readonly #events: EventLog;
  readonly #report: (error: unknown) => void;
  readonly #watched = new Map<string, Watched>();

  /** `report` must not throw. */
  constructor(events: EventLog, report: (error: unknown) => void) {
    this.#events = events;
    this.#report = report;
  }

  /** Notes a run that begins. Throws SluiceError E_STORE_…. */
  async note({ session, run }: RunPlace): Promise<void> {
    await this.#tell(session, { kind: "run", run });
  }

  /** Stops a run wherever it is, or one of its calls. Throws SluiceError E_STORE_…. */
  async stop({ session, run }: RunPlace, call: string | undefined): Promise<void> {
    await this.#tell(session, { kind: "stop", run, ...(call !== undefined && { call }) });
  }

  /** Has a run stopped from here on, until the disposable is. */
  watch(live: LiveRun): Disposable {
    const { session } = live.place;
    const known = this.#watched.get(session);
    const watched: Watched = known ?? { lives: new Set(), end: new AbortController(), stops: [] };
    watched.lives.add(live);
    for (const event of watched.stops) heed(live, event);
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

  /** The runs of a session that is over, as far as they are known; no process goes on with one. Throws SluiceError E_STORE_…. */
  async ended(session: string): Promise<readonly string[]> {
    const channel = runsChannel(session);
    if (!(await this.#events.has(channel))) return [];
    const last = await this.#tell(session, { kind: "over" });
    const runs = new Set<string>();
    const signal = AbortSignal.timeout(PATIENCE);
    for await (const { id, event } of this.#events.follow(channel, { after: null, signal })) {
      const { kind, run } = event as RunsEvent;
      if (kind === "run" && run !== undefined) runs.add(run);
      if (id === last) break;
    }
    await this.#events.end(channel);
    return [...runs];
  }

  #tell(session: string, event: RunsEvent): Promise<string> {
    return this.#events.append(runsChannel(session), event);
  }

  async #follow(session: string, watched: Watched): Promise<void> {
    const { lives, end, stops } = watched;
    const isOver = (): boolean => end.signal.aborted;
    let after: string | null = null;
    while (!isOver()) {
      try {
        for await (const { id, event } of this.#events.follow(runsChannel(session), { after, signal: end.signal })) {
          after = id;
          if (event.kind === "stop") stops.push(event as RunsEvent);
          if (stops.length > MAX_EVENTS) stops.shift();
          for (const live of lives) heed(live, event as RunsEvent);
        }
        // The channel goes with its session.
        if (!isOver()) for (const live of lives) live.stop("session over");
        return;
      } catch (error) {
        if (!isOver()) this.#report(error);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
}

function heed(live: LiveRun, { kind, run, call }: RunsEvent): void {
  if (kind === "over") live.stop("session over");
  if (kind !== "stop" || run !== live.place.run) return;
  if (call === undefined) live.stop("given up");
  else live.stopCall(call);
}
