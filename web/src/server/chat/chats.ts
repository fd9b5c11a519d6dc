/**
 * The chat runs of a server. They outlive their requests, their clients and this process.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { pauseIn } from "../../planner/run-state.js";
import type { SentEvent } from "../http/sse.js";
import { within } from "../http/time-limit.js";
import type { LoggedEvent } from "../sessions/event-log.js";
import { type EndedSession, noteTrace } from "../sessions/session-register.js";
import { sessionOver, type ServedSession } from "../sessions/session.js";
import { following } from "../work/following.js";
import type { HeldWork, WorkKeeper } from "../work/work-keeper.js";
import type { Work } from "../work/work-register.js";
import { GIVEN_UP, isLast, noSuchRun, pauseEvent, tooMany, type ChatEnd, type ChatEvent } from "./chat-event.js";
import { LiveRun, Stops, type Stop } from "./live-run.js";
import { forget, loadRecord, placeOf, placeOfPause, RunPlace, saveRecord, type RunRecord } from "./run-place.js";
import { Running, type ChatRunDeps, type MakePlanner, type RunHow } from "./run.js";
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import type { UserFiles } from "../../files/user-files.js";
import type { CatalogSource } from "../../planner/tool.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../planner/react-planner.js";
import type { LlmClient } from "../../planner/llm/client.js";
import type { HostStateStore, StateStore } from "../../planner/state-store.js";
import type { ServeLimits, SluiceServerOptions } from "../options.js";
import type { ServedSources } from "../sources/served-sources.js";
import type { ServeState } from "../state.js";
import { MeteredLlm } from "../usage/metered-llm.js";
import { UserLimitReached } from "../usage/user-limits.js";
import type { UserUsage } from "../usage/user-usage.js";

/** A question. */
interface ChatRequest extends RunRecord {
  readonly query: string;
  /** Earlier questions and answers, oldest first. */
  readonly conversation: readonly { readonly query: string; readonly answer: string }[];
}

/** A started run and its first event. */
export interface StartedRun {
  readonly place: RunPlace;
  readonly first: { readonly id: string; readonly event: ChatEvent };
}

type Prepared = Omit<RunHow, "onLeft" | "first"> & { readonly first: ChatEvent };

/** Most runs that this process does at once of those that others did. */
const MOST_TAKEN = 16;

/** Milliseconds that the end of a session, or of this process, waits for runs. */
const STOP_TIMEOUT = 10_000;

/** What chats work with. */
export interface ChatDeps extends ChatRunDeps {
  readonly limits: Pick<Required<ServeLimits>, "runs">;
  readonly usage: Pick<UserUsage, "hold" | "tokensLeft">;
  readonly keeper: Pick<WorkKeeper, "hold" | "takesUp">;
}

/** Starts, resumes, follows and stops runs, in whichever process they are. */
export class Chats implements AsyncDisposable {
  readonly #deps: ChatDeps;
  readonly #lives = new Map<string, LiveRun>();
  readonly #stops: Stops;
  #isClosed = false;

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    deps.keeper.takesUp("run", { most: MOST_TAKEN, take: (work, held) => this.#taken(work, held) });
    this.#stops = new Stops(deps.state.events, deps.report);
  }

  /**
   * Starts a run. When this settles the run is stored, and it goes on without a listener.
   *
   * @throws SluiceError E_RATE_LIMIT for too many runs of the session; E_STORE_…; what sources and the model throw
   * before the run is stored.
   */
  async begin(session: ServedSession, request: ChatRequest): Promise<StartedRun> {
    const place = new RunPlace(session.id, crypto.randomUUID());
    const { query, conversation, ...record } = request;
    const { token } = place;
    await this.#deps.usage.tokensLeft(session.identity);
    const llmContext = conversation.length === 0 ? {} : { conversation };
    return this.#started(session, place, async (live) => {
      await noteTrace(session, record.trace, this.#deps);
      await this.#stops.note(place);
      live.held = await this.#deps.keeper.hold(place.work);
      await saveRecord(this.#deps.state.runs, place, record);
      return {
        record,
        first: { kind: "run_started", run: place.run },
        work: (planner, options) => planner.run(query, { ...options, token, llmContext }),
      };
    });
  }

  /**
   * Answers a run's pause, with null for no, and continues it. Throws SluiceError E_NOT_FOUND if no run waits by this
   * token; else as `begin`.
   */
  async resume(session: ServedSession, resumeToken: string, answer: unknown): Promise<StartedRun> {
    const found = placeOfPause(session.id, resumeToken);
    if (found === null || this.#lives.has(found.place.key)) throw noSuchRun();
    const { place, pause } = found;
    return this.#started(session, place, async (live) => {
      const record = await loadRecord(this.#deps.state.runs, place);
      if (record === null) throw noSuchRun();
      live.held = await this.#deps.keeper.hold(place.work);
      return {
        record,
        first: { kind: "run_resumed", run: place.run },
        work: (planner, options) => planner.resume(pause, { ...options, answer: answer ?? null }),
      };
    });
  }

  /** A run of a session whose events are still stored, or null. Throws SluiceError E_STORE_…. */
  async find(session: ServedSession, run: string): Promise<RunPlace | null> {
    const place = placeOf(session.id, run);
    return place !== null && (await this.#deps.state.events.has(place.channel)) ? place : null;
  }

  /** The events of a run after the given one. Continues a run that no process has. */
  follow(session: ServedSession, place: RunPlace, after: string | null, signal: AbortSignal): AsyncIterable<SentEvent> {
    const { state, report } = this.#deps;
    const { runs, events } = state;
    const look = async (): Promise<"held" | "over" | SentEvent> => {
      const standing = await this.#look(session, place);
      if (typeof standing !== "string") return { data: standing };
      return standing === "held" ? "held" : "over";
    };
    const isEnd = async (event: LoggedEvent): Promise<boolean> =>
      isLast(event.kind) || (event.kind === "pause" && (await isOpen(runs, place, event)));
    return following({ channel: place.channel, events, report, look, isEnd, isLast, lost: LOST }, after, signal);
  }

  /** Gives up a run or one of its calls, in whichever process it is. Throws SluiceError E_STORE_…. */
  async giveUp(place: RunPlace, call: string | undefined): Promise<void> {
    const { runs, events } = this.#deps.state;
    await this.#stops.stop(place, call);
    if (call !== undefined || this.#lives.has(place.key) || (await loadRecord(runs, place)) === null) return;
    // The process that has the run hears of it. A run that nobody has would wait for ever.
    if (!(await this.#isFree(place))) return;
    await forget(runs, place);
    await events.append(place.channel, { kind: "failed", error: GIVEN_UP } as ChatEvent);
  }

  /** Ends and deletes the runs of a session, in every process. Does not throw. */
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

  /** Stops all runs here, so that other processes can continue them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#stopped("closing", () => true);
  }

  /** Registers a run before it waits for anything, so that runs that start together count. */
  async #started(
    session: ServedSession,
    place: RunPlace,
    prepared: (live: LiveRun) => Promise<Prepared>,
  ): Promise<StartedRun> {
    const live = new LiveRun(session, place);
    this.#enter(live);
    let how: Prepared;
    let held: Disposable | undefined;
    try {
      held = await this.#deps.usage.hold(session.identity, "runs");
      how = await prepared(live);
    } catch (error) {
      held?.[Symbol.dispose]();
      await live.held?.end();
      this.#leave(live);
      throw error;
    }
    this.#go(live, how, held);
    const { first: event } = how;
    try {
      return { place, first: { id: await live.begun, event } };
    } catch (error) {
      // Nobody would learn its id.
      if (event.kind === "run_started") {
        live.stop("given up");
        await forget(this.#deps.state.runs, place).catch(this.#deps.report);
      }
      throw live.why === "session over" ? sessionOver() : error;
    }
  }

  /** `held`: the user's lease on a run. */
  #go(live: LiveRun, how: Omit<RunHow, "onLeft">, held: Disposable): void {
    const watching = this.#stops.watch(live);
    const onLeft = (): void => {
      watching[Symbol.dispose]();
      held[Symbol.dispose]();
      this.#leave(live);
    };
    live.done = new Running(live, { ...how, onLeft }, this.#deps).go();
  }

  /** Takes up a run whose process died, or gave it up. Settles when this process is done with it. Does not throw. */
  async #taken(work: Work, held: HeldWork): Promise<void> {
    const place = new RunPlace(work.session, work.id);
    try {
      const session = await this.#deps.state.sessions.find(work.session);
      const standing = session === null ? await this.#dropped(place) : await this.#look(session, place, held);
      if (standing === "lost") await this.#lost(place);
      if (standing !== "held") return await held.end();
      const live = this.#lives.get(place.key);
      if (live?.held === held) return await live.done;
    } catch (error) {
      this.#deps.report(error);
    }
    held.leave();
  }

  /** Deletes a run whose session is over. */
  async #dropped(place: RunPlace): Promise<"over"> {
    await forget(this.#deps.state.runs, place);
    await this.#deps.state.events.end(place.channel);
    return "over";
  }

  /** Ends a run of which nothing was saved: its process died before. */
  async #lost(place: RunPlace): Promise<void> {
    const { runs, events } = this.#deps.state;
    await forget(runs, place);
    await events.append(place.channel, LOST.data);
  }

  /** Whether the end of a run is told already: then its process died before it forgot the run. */
  async #isTold({ channel }: RunPlace): Promise<boolean> {
    const last = await this.#deps.state.events.latest(channel);
    return last !== null && isLast(last.event.kind);
  }

  /** The state of a run. If no process has it, this one continues it. `held`: what it holds of it already. */
  async #look(session: ServedSession, place: RunPlace, held?: HeldWork): Promise<Standing> {
    if (this.#lives.has(place.key)) return "held";
    const { runs } = this.#deps.state;
    const record = await loadRecord(runs, place);
    if (record === null) return "over";
    const kept = await runs.loadPlannerState(place.token);
    if (kept === null) return (await this.#isTold(place)) ? "over" : "lost";
    // Checked before the run is claimed: whoever answers must not find it claimed.
    const pause = pauseIn(place.token, kept);
    if (pause !== null) return pauseEvent(place, pause);
    const isFree = await this.#isFree(place);
    if (isFree && (await this.#isTold(place))) {
      await forget(runs, place);
      return "over";
    }
    // Somebody else may have looked meanwhile.
    const isOurs = isFree && !this.#lives.has(place.key) && !this.#isFull(session.id);
    if (isOurs) await this.#takeOver(session, place, record, held);
    return "held";
  }

  async #takeOver(session: ServedSession, place: RunPlace, record: RunRecord, work?: HeldWork): Promise<void> {
    const live = new LiveRun(session, place);
    this.#enter(live);
    let held: Disposable | undefined;
    try {
      held = await this.#deps.usage.hold(session.identity, "runs");
      live.held = work ?? (await this.#deps.keeper.hold(place.work));
    } catch (error) {
      held?.[Symbol.dispose]();
      this.#leave(live);
      // It waits until another run of the user has ended.
      if (error instanceof UserLimitReached) return;
      throw error;
    }
    const resume: RunHow["work"] = (planner, options) => planner.resume(place.token, options);
    this.#go(live, { record, first: undefined, work: resume }, held);
    await live.begun.catch((error: unknown) => {
      // Another process may have been faster.
      if (!(error instanceof SluiceError && error.code === "E_NOT_FOUND")) this.#deps.report(error);
    });
  }

  /** Whether no process has a run. Claims and releases it, without a planner, for which sources would be connected. */
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
    await within(Promise.all(lives.map((live) => live.done)), STOP_TIMEOUT);
  }
}

/** The state of a silent run: a process has it, it waits for an answer, it is over, or nothing was saved of it. */
type Standing = "held" | "over" | "lost" | Extract<ChatEnd, { readonly kind: "pause" }>;

const LOST: SentEvent = {
  data: {
    kind: "failed",
    error: { code: "E_EXPIRED", message: "The run is no longer kept: ask again." },
  } as ChatEnd,
};

/** Whether a pause is not answered yet. After an answered one more events follow. */
async function isOpen(runs: StateStore, place: RunPlace, event: { readonly kind: string }): Promise<boolean> {
  const { resume_token = "" } = event as { readonly resume_token?: string };
  const pause = pauseIn(place.token, await runs.loadPlannerState(place.token));
  return pause !== null && resume_token === place.resumeToken(pause.resumeToken);
}

/** Seconds until another process continues the runs of a dead one. */
export const LEASE_SECONDS = 15;

/** Most seconds of a run, not counting those in which it waits for a person. */
const MAX_SECONDS = 15 * 60;

/** What planners work with. */
interface PlannersDeps {
  readonly store: ArtifactStore;
  readonly state: Pick<ServeState, "runs">;
  readonly sources: Pick<ServedSources, "planned">;
  /** Users' files, or null if the server keeps none. */
  readonly files: { readonly userFiles: UserFiles } | null;
  readonly usage: UserUsage;
}

/**
 * Creates the function that makes planners, or null without a model. Throws SluiceError E_CONFIG_…,
 * E_INVALID_ARGUMENT.
 */
export function createMakePlanner(options: SluiceServerOptions, deps: PlannersDeps): MakePlanner | null {
  const { llm, tools = [], config, instructions, budget } = options;
  const { store, state, sources, files, usage } = deps;
  if (llm === undefined) return null;
  // Without a tool for files the model does not need their names.
  const userFiles =
    options.sources?.some(({ user_files }) => user_files === true) === true ? files?.userFiles : undefined;
  const made = (catalog: readonly CatalogSource[], model: LlmClient): ReactPlanner => {
    const given: ReactPlannerOptions = {
      catalog,
      llm: model,
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
  // Finds wrong options now, and not at the first question.
  made(tools, llm);
  const metered = ({ tenant_id = null, user_id }: ArtifactScope): LlmClient =>
    usage.limits.tokensPerDay === undefined || user_id == null
      ? llm
      : new MeteredLlm(llm, usage, { tenant_id, user_id });
  return async (scope, signal) => made([...(await sources.planned({ scope, signal })), ...tools], metered(scope));
}

/**
 * Without event storage: events are in the channels of their runs. Sessions may use the same trace names, so traces
 * do not tell whose events they are.
 */
function withoutHistory(runs: StateStore): HostStateStore {
  return {
    savePlannerState: (token, payload) => runs.savePlannerState(token, payload),
    loadPlannerState: (token) => runs.loadPlannerState(token),
    claimPlannerState: (token, owner, leaseSeconds) => runs.claimPlannerState(token, owner, leaseSeconds),
    updatePlannerState: (token, owner, payload) => runs.updatePlannerState(token, owner, payload),
    releasePlannerState: (token, owner, then) => runs.releasePlannerState(token, owner, then),
  };
}
