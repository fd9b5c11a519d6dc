/**
 * The chats of a server: runs that outlive their requests, their clients, and this process.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { pauseIn } from "../../planner/run-state.js";
import type { SentEvent } from "../http/sse.js";
import { within } from "../http/time-limit.js";
import type { EndedSession } from "../sessions/session-register.js";
import { noteTrace, sessionOver, type ServedSession } from "../sessions/session.js";
import type { ServeState } from "../state.js";
import { GIVEN_UP, isLast, noSuchRun, pauseEvent, tooMany, type ChatEnd, type ChatEvent } from "./chat-event.js";
import { LiveRun, Stops, type Stop } from "./live-run.js";
import { forget, loadRecord, placeOf, placeOfPause, RunPlace, saveRecord, type RunRecord } from "./run-place.js";
import { Running, type RunHow } from "./run.js";
import type { ArtifactScope } from "../../artifacts/store.js";
import type { CatalogSource } from "../../planner/tool.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../planner/react-planner.js";
import type { HostStateStore, StateStore } from "../../planner/state-store.js";
import type { SluiceServerOptions } from "../options.js";
import type { ServeDeps } from "../deps.js";

/** What somebody asks. */
interface ChatRequest extends RunRecord {
  readonly query: string;
  /** What was asked and answered before, the oldest first. */
  readonly conversation: readonly { readonly query: string; readonly answer: string }[];
}

/** A run that goes on, and its first event. */
export interface StartedRun {
  readonly place: RunPlace;
  readonly first: { readonly id: string; readonly event: ChatEvent };
}

type Prepared = Omit<RunHow, "onLeft" | "first"> & { readonly first: ChatEvent };

/** Milliseconds that the end of a session, and of this process, waits for runs. */
const PATIENCE = 10_000;

/** Those that this process has, and whoever asks for the others. */
export class Chats implements AsyncDisposable {
  readonly #deps: ChatDeps;
  readonly #lives = new Map<string, LiveRun>();
  readonly #stops: Stops;
  #isClosed = false;

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    this.#stops = new Stops(deps.state.events, deps.report);
  }

  /**
   * Begins a run. It is kept when this settles, and goes on whoever listens.
   *
   * @throws SluiceError E_RATE_LIMIT where the session has as many as it may; E_STORE_…; what sources and the model throw before the
   * run is kept.
   */
  async begin(session: ServedSession, request: ChatRequest): Promise<StartedRun> {
    const place = new RunPlace(session.id, crypto.randomUUID());
    const { query, conversation, ...record } = request;
    const { token } = place;
    const llmContext = conversation.length === 0 ? {} : { conversation };
    return this.#started(session, place, async () => {
      await noteTrace(session, record.trace, this.#deps);
      await this.#stops.note(place);
      await saveRecord(this.#deps.state.runs, place, record);
      return {
        record,
        first: { kind: "run_started", run: place.run },
        work: (planner, options) => planner.run(query, { ...options, token, llmContext }),
      };
    });
  }

  /** Answers the pause of a run, null for no; it goes on then. Throws SluiceError E_NOT_FOUND where it does not wait by this token; as `begin`. */
  async resume(session: ServedSession, resumeToken: string, answer: unknown): Promise<StartedRun> {
    const found = placeOfPause(session.id, resumeToken);
    if (found === null || this.#lives.has(found.place.key)) throw noSuchRun();
    const { place, pause } = found;
    return this.#started(session, place, async () => {
      const record = await loadRecord(this.#deps.state.runs, place);
      if (record === null) throw noSuchRun();
      return {
        record,
        first: { kind: "run_resumed", run: place.run },
        work: (planner, options) => planner.resume(pause, { ...options, answer: answer ?? null }),
      };
    });
  }

  /** A run of a session, its events as long as they are kept; null where there is none. Throws SluiceError E_STORE_…. */
  async find(session: ServedSession, run: string): Promise<RunPlace | null> {
    const place = placeOf(session.id, run);
    return place !== null && (await this.#deps.state.events.has(place.channel)) ? place : null;
  }

  /** What happens in a run behind an event. Goes on with a run that nobody has. */
  follow(session: ServedSession, place: RunPlace, after: string | null, signal: AbortSignal): AsyncIterable<SentEvent> {
    const { state, report } = this.#deps;
    return following({ place, state, report, look: () => this.#look(session, place) }, after, signal);
  }

  /** Gives up a run, or one of its calls, whichever process has it. Throws SluiceError E_STORE_…. */
  async giveUp(place: RunPlace, call: string | undefined): Promise<void> {
    const { runs, events } = this.#deps.state;
    await this.#stops.stop(place, call);
    if (call !== undefined || this.#lives.has(place.key) || (await loadRecord(runs, place)) === null) return;
    // Whoever has it hears of it; one that nobody has would wait for ever.
    if (!(await this.#isFree(place))) return;
    await forget(runs, place);
    await events.append(place.channel, { kind: "failed", error: GIVEN_UP } as ChatEvent);
  }

  /** Ends the runs of a session, in every process, and forgets them. Does not throw. */
  readonly ended = async ({ session }: EndedSession): Promise<void> => {
    const { runs, events } = this.#deps.state;
    try {
      await this.#stopped("session over", (live) => live.session.id === session.id);
      for (const run of await this.#stops.ended(session.id)) {
        const place = new RunPlace(session.id, run);
        await forget(runs, place);
        await events.end(place.channel);
      }
    } catch (error) {
      this.#deps.report(error);
    }
  };

  /** Leaves all runs for others to go on with. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#stopped("closing", () => true);
  }

  /** Registers a run before anything is waited for: of those that begin at once no more than there may be. */
  async #started(session: ServedSession, place: RunPlace, prepared: () => Promise<Prepared>): Promise<StartedRun> {
    const live = new LiveRun(session, place);
    this.#enter(live);
    let how: Prepared;
    try {
      how = await prepared();
    } catch (error) {
      this.#leave(live);
      throw error;
    }
    this.#go(live, how);
    const { first: event } = how;
    try {
      return { place, first: { id: await live.begun, event } };
    } catch (error) {
      // Nobody would ever know what it is called.
      if (event.kind === "run_started") {
        live.stop("given up");
        await forget(this.#deps.state.runs, place).catch(this.#deps.report);
      }
      throw live.why === "session over" ? sessionOver() : error;
    }
  }

  #go(live: LiveRun, how: Omit<RunHow, "onLeft">): void {
    const watching = this.#stops.watch(live);
    const onLeft = (): void => {
      watching[Symbol.dispose]();
      this.#leave(live);
    };
    live.done = new Running(live, { ...how, onLeft }, this.#deps).go();
  }

  /** Where a run is; this process goes on with it where nobody else has it. */
  async #look(session: ServedSession, place: RunPlace): Promise<Standing> {
    if (this.#lives.has(place.key)) return "held";
    const { runs } = this.#deps.state;
    const record = await loadRecord(runs, place);
    if (record === null) return "over";
    const kept = await runs.loadPlannerState(place.token);
    if (kept === null) return "over";
    // Before it is claimed, be it for a moment: who answers is not to find that somebody has it.
    const pause = pauseIn(place.token, kept);
    if (pause !== null) return pauseEvent(place, pause);
    const isFree = await this.#isFree(place);
    // Somebody else may have looked meanwhile.
    const isOurs = isFree && !this.#lives.has(place.key) && !this.#isFull(session.id);
    if (isOurs) await this.#takeOver(session, place, record);
    return "held";
  }

  async #takeOver(session: ServedSession, place: RunPlace, record: RunRecord): Promise<void> {
    const live = new LiveRun(session, place);
    this.#enter(live);
    this.#go(live, { record, first: undefined, work: (planner, options) => planner.resume(place.token, options) });
    await live.begun.catch((error: unknown) => {
      // Another process may have been quicker.
      if (!(error instanceof SluiceError && error.code === "E_NOT_FOUND")) this.#deps.report(error);
    });
  }

  /** Whether nobody has a run. It costs a claim that is given back, and no planner, for which sources are connected. */
  async #isFree({ token }: RunPlace): Promise<boolean> {
    const { runs } = this.#deps.state;
    const owner = crypto.randomUUID();
    if (!(await runs.claimPlannerState(token, owner, 1))) return false;
    await runs.releasePlannerState(token, owner, "wait");
    return true;
  }

  #isFull(session: string): boolean {
    const count = [...this.#lives.values()].filter((live) => live.session.id === session).length;
    return count >= this.#deps.limits.runs;
  }

  #enter(live: LiveRun): void {
    if (this.#isFull(live.session.id)) throw tooMany();
    this.#lives.set(live.place.key, live);
    if (this.#isClosed) live.stop("closing");
  }

  #leave(live: LiveRun): void {
    if (this.#lives.get(live.place.key) === live) this.#lives.delete(live.place.key);
  }

  async #stopped(why: Stop, which: (live: LiveRun) => boolean): Promise<void> {
    const lives = [...this.#lives.values()].filter(which);
    for (const live of lives) live.stop(why);
    await within(Promise.all(lives.map((live) => live.done)), PATIENCE);
  }
}

/** Where a run is that says nothing: somebody has it, it waits, or it is over. */
type Standing = "held" | "over" | Extract<ChatEnd, { readonly kind: "pause" }>;

/** What is followed, and who looks after a run that says nothing. */
interface Following {
  readonly place: RunPlace;
  readonly state: Pick<ServeState, "events" | "runs">;
  /** Goes on with a run that nobody has. Throws SluiceError E_STORE_…. */
  readonly look: () => Promise<Standing>;
  readonly report: (error: unknown) => void;
}

/** Milliseconds of silence before one looks whether anybody has the run: first, and then. */
const FIRST_LOOK = 300;
const LOOK_EVERY = 5000;

/** Milliseconds within which the last event of a run comes that is over. */
const GRACE = 1000;

/** The events behind an id; all where it is null. Ends by the signal. */
async function* following(
  { place, state, look, report }: Following,
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  const entries = state.events.follow(place.channel, { after, signal: either })[Symbol.asyncIterator]();
  let next = entries.next();
  let [patience, isOver] = [FIRST_LOOK, false];
  try {
    for (;;) {
      const came = await within(next, patience);
      if (came === "late") {
        if (signal.aborted) return;
        if (isOver) {
          if (!(await hasEnd(state, place))) yield LOST;
          return;
        }
        const standing = await look().catch((error: unknown): Standing => {
          report(error);
          return "held";
        });
        if (typeof standing !== "string") {
          yield { data: standing };
          return;
        }
        isOver = standing === "over";
        patience = isOver ? GRACE : LOOK_EVERY;
        continue;
      }
      if (came.done === true) return;
      const { id, event } = came.value;
      yield { id, data: event };
      if (isLast(event.kind) || (event.kind === "pause" && (await isOpen(state, place, event)))) return;
      next = entries.next();
    }
  } finally {
    // Before it returns: it may be waiting for an event.
    done.abort();
    next.catch(() => undefined);
    await entries.return?.().catch(() => undefined);
  }
}

const LOST: SentEvent = {
  data: {
    kind: "failed",
    error: { code: "E_EXPIRED", message: "The run is no longer kept: ask again." },
  } as ChatEnd,
};

/** Whether a pause is not answered yet: behind one that is, more follows. */
async function isOpen(
  { runs }: Following["state"],
  place: RunPlace,
  event: { readonly kind: string },
): Promise<boolean> {
  const { resume_token = "" } = event as { readonly resume_token?: string };
  const pause = pauseIn(place.token, await runs.loadPlannerState(place.token));
  return pause !== null && resume_token === place.resumeToken(pause.resumeToken);
}

/** Whether what is kept of a run that is over has its end. */
async function hasEnd({ events }: Following["state"], { channel }: RunPlace): Promise<boolean> {
  const signal = AbortSignal.timeout(GRACE);
  for await (const { event } of events.follow(channel, { after: null, signal })) if (isLast(event.kind)) return true;
  return false;
}

/** Seconds after which another process goes on with the runs of one that died. */
export const LEASE_SECONDS = 15;

/** Seconds of one run, those not counted in which it waits for a person. */
const MAX_SECONDS = 15 * 60;

/** Makes planners; null where there is no model. Throws SluiceError E_CONFIG_…, E_INVALID_ARGUMENT. */
export function plannersOf(options: SluiceServerOptions, deps: ServeDeps): MakePlanner | null {
  const { llm, tools = [], config, instructions, budget } = options;
  const { store, state, sources, files } = deps;
  if (llm === undefined) return null;
  // Whoever could do nothing with files is not told their names.
  const userFiles =
    options.sources?.some(({ user_files }) => user_files === true) === true ? files?.userFiles : undefined;
  const made = (catalog: readonly CatalogSource[]): ReactPlanner => {
    const given: ReactPlannerOptions = {
      catalog,
      llm,
      artifactStore: store,
      stateStore: withoutHistory(state.runs),
      leaseSeconds: LEASE_SECONDS,
      budget: { maxSeconds: MAX_SECONDS, ...budget },
      ...(config !== undefined && { config }),
      ...(instructions !== undefined && { instructions }),
      ...(userFiles !== undefined && { userFiles }),
    };
    return new ReactPlanner(given);
  };
  // What is wrong with it is found here, and not by whoever asks first.
  made(tools);
  return async (scope, signal) => made([...(await sources.planned({ scope, signal })), ...tools]);
}

/** Events are in the channels of their runs: by traces, which sessions may name alike, nobody could tell whose they are. */
function withoutHistory(runs: StateStore): HostStateStore {
  return {
    savePlannerState: (token, payload) => runs.savePlannerState(token, payload),
    loadPlannerState: (token) => runs.loadPlannerState(token),
    claimPlannerState: (token, owner, leaseSeconds) => runs.claimPlannerState(token, owner, leaseSeconds),
    updatePlannerState: (token, owner, payload) => runs.updatePlannerState(token, owner, payload),
    releasePlannerState: (token, owner, then) => runs.releasePlannerState(token, owner, then),
  };
}

/** Makes the planner of a run, with the tools that there are for whoever it is for. Throws the signal's reason. */
type MakePlanner = (scope: ArtifactScope, signal: AbortSignal) => Promise<ReactPlanner>;

/** What chats work with. */
export interface ChatDeps extends Pick<ServeDeps, "state" | "store" | "limits" | "announcer" | "report"> {
  readonly planner: MakePlanner;
  /** Notes whose a request for consent is that a pause asks for. Throws SluiceError E_STORE_…. */
  readonly noteConsent: (session: string, payload: Readonly<Record<string, unknown>>) => Promise<void>;
}
