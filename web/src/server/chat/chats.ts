/**
 * The chat runs of a server. They outlive their requests, their clients and this process.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { pauseIn } from "../../planner/run-state.js";
import { within } from "../http/time-limit.js";
import type { LoggedEvent } from "../sessions/event-log.js";
import { type EndedSession, noteTrace } from "../sessions/session-register.js";
import { toFailedEvent } from "../sessions/session-work.js";
import { sessionOver, type ServedSession } from "../session.js";
import { KeptWork, type KeptWorkDeps, type Standing } from "../work/kept-work.js";
import type { HeldWork } from "../work/work-keeper.js";
import { WorkPlace } from "../work/work-place.js";
import { LEASE_SECONDS } from "../work/work-register.js";
import {
  GIVEN_UP,
  noSuchRun,
  pauseEvent,
  readResumeToken,
  tooMany,
  writeResumeToken,
  type ChatEvent,
} from "./chat-event.js";
import { LiveRun, Stops, type Stop } from "./live-run.js";
import { RUN_RECORD, Running, type ChatRunDeps, type MakePlanner, type RunHow, type RunRecord } from "./run.js";
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
  readonly place: WorkPlace;
  readonly first: { readonly id: string; readonly event: ChatEvent };
}

type Prepared = Omit<RunHow, "onLeft" | "first"> & { readonly first: ChatEvent };

/** Most runs that this process does at once of those that others did. */
const MOST_TAKEN = 16;

/** Milliseconds that the end of a session, or of this process, waits for runs. */
const STOP_TIMEOUT = 10_000;

/** What chats work with. */
export interface ChatDeps extends KeptWorkDeps, Omit<ChatRunDeps, "chats"> {
  readonly state: KeptWorkDeps["state"];
  readonly limits: Pick<Required<ServeLimits>, "runs">;
  readonly usage: Pick<UserUsage, "hold" | "tokensLeft">;
}

/** Starts, resumes, follows and stops runs, in whichever process they are. */
export class Chats extends KeptWork<RunRecord> implements AsyncDisposable {
  readonly #deps: ChatDeps & ChatRunDeps;
  readonly #lives = new Map<string, LiveRun>();
  readonly #stops: Stops;
  #isClosed = false;

  constructor(deps: ChatDeps) {
    const lost = "The run is no longer kept: ask again.";
    super(deps, { kind: "run", record: RUN_RECORD, most: MOST_TAKEN, lost });
    this.#deps = { ...deps, chats: this };
    this.#stops = new Stops(deps.state.events, deps.report);
  }

  /**
   * Starts a run. When this settles the run is stored, and it goes on without a listener.
   *
   * @throws SluiceError E_RATE_LIMIT for too many runs of the session; E_STORE_…; what sources and the model throw
   * before the run is stored.
   */
  async start(session: ServedSession, request: ChatRequest): Promise<StartedRun> {
    const place = new WorkPlace("run", session.id);
    const { query, conversation, ...record } = request;
    const { token } = place;
    await this.#deps.usage.tokensLeft(session.identity);
    const llmContext = conversation.length === 0 ? {} : { conversation };
    return this.#start(session, place, async (live) => {
      await noteTrace(session, record.trace, this.#deps);
      live.held = await this.begin(place, record);
      return {
        record,
        first: { kind: "run_started", run: place.id },
        work: (planner, options) => planner.run(query, { ...options, token, llmContext }),
      };
    });
  }

  /**
   * Answers a run's pause, with null for no, and continues it. Throws SluiceError E_NOT_FOUND if no run waits by this
   * token; else as `start`.
   */
  async resume(session: ServedSession, resumeToken: string, answer: unknown): Promise<StartedRun> {
    const found = readResumeToken(session.id, resumeToken);
    if (found === null || this.#lives.has(found.place.key)) throw noSuchRun();
    const { place, pause } = found;
    return this.#start(session, place, async (live) => {
      const record = await this.load(place);
      if (record === null) throw noSuchRun();
      live.held = await this.#deps.keeper.hold(place);
      return {
        record,
        first: { kind: "run_resumed", run: place.id },
        work: (planner, options) => planner.resume(pause, { ...options, answer: answer ?? null }),
      };
    });
  }

  /** Gives up a run or one of its calls, in whichever process it is. Throws SluiceError E_STORE_…. */
  async giveUp(place: WorkPlace, call: string | undefined): Promise<void> {
    await this.#stops.stop(place, call);
    if (call !== undefined || this.#lives.has(place.key) || (await this.load(place)) === null) return;
    // The process that has the run hears of it. A run that no process has would wait for ever.
    if (!(await this.#isFree(place))) return;
    await this.forget(place);
    await this.#deps.state.events.append(place.channel, toFailedEvent(GIVEN_UP.code, GIVEN_UP.message));
  }

  /** Ends and deletes the runs of a session, in every process. Does not throw. */
  override async endSession(ended: Pick<EndedSession, "session">): Promise<void> {
    await this.#stop("session over", (live) => live.session.id === ended.session.id);
    await super.endSession(ended);
  }

  /** Stops all runs here, so that other processes can continue them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#stop("closing", () => true);
  }

  /** Registers a run before it waits for anything, so that runs that start together count. */
  async #start(
    session: ServedSession,
    place: WorkPlace,
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
      this.#leave(live);
      throw error;
    }
    this.#go(live, how, held);
    const { first: event } = how;
    try {
      return { place, first: { id: await live.begun, event } };
    } catch (error) {
      // No client would learn its id.
      if (event.kind === "run_started") {
        live.stop("given up");
        await this.forget(place).catch(this.#deps.report);
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

  protected override async look(session: ServedSession, place: WorkPlace): Promise<Standing> {
    const standing = await this.#look(session, place);
    return standing === "lost" ? "over" : standing;
  }

  protected override async goOn(session: ServedSession, place: WorkPlace, held: HeldWork): Promise<"over" | "left"> {
    const standing = await this.#look(session, place, held);
    if (standing === "lost") {
      // Its process died before anything was saved.
      await this.forget(place);
      await this.#deps.state.events.append(place.channel, this.lostEvent);
    }
    if (standing !== "held") return "over";
    const live = this.#lives.get(place.key);
    if (live?.held === held) await live.done;
    return "left";
  }

  /** An answered pause is followed by more events. */
  protected override async isEnd(place: WorkPlace, event: LoggedEvent): Promise<boolean> {
    if (event.kind !== "pause") return super.isEnd(place, event);
    const { resume_token = "" } = event as { readonly resume_token?: string };
    const pause = pauseIn(place.token, await this.#deps.state.runs.loadPlannerState(place.token));
    return pause !== null && resume_token === writeResumeToken(place, pause.resumeToken);
  }

  /** The state of a run. If no process has it, this one continues it. `held`: what it holds of it already. */
  async #look(session: ServedSession, place: WorkPlace, held?: HeldWork): Promise<Standing | "lost"> {
    if (this.#lives.has(place.key)) return "held";
    const record = await this.load(place);
    if (record === null) return "over";
    const kept = await this.#deps.state.runs.loadPlannerState(place.token);
    if (kept === null) return (await this.isTold(place)) ? "over" : "lost";
    // Checked before the run is claimed: the answer must not find it claimed.
    const pause = pauseIn(place.token, kept);
    if (pause !== null) return { data: pauseEvent(place, pause) };
    const isFree = await this.#isFree(place);
    if (isFree && (await this.isTold(place))) {
      await this.forget(place);
      return "over";
    }
    // Another caller may have looked meanwhile.
    const isOurs = isFree && !this.#lives.has(place.key) && !this.#isFull(session.id);
    if (isOurs) await this.#takeOver(session, place, record, held);
    return "held";
  }

  async #takeOver(session: ServedSession, place: WorkPlace, record: RunRecord, work?: HeldWork): Promise<void> {
    const live = new LiveRun(session, place);
    this.#enter(live);
    let held: Disposable | undefined;
    try {
      held = await this.#deps.usage.hold(session.identity, "runs");
      live.held = work ?? (await this.#deps.keeper.hold(place));
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
  async #isFree({ token }: WorkPlace): Promise<boolean> {
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

  async #stop(why: Stop, which: (live: LiveRun) => boolean): Promise<void> {
    const lives = [...this.#lives.values()].filter(which);
    for (const live of lives) live.stop(why);
    await within(Promise.all(lives.map((live) => live.done)), STOP_TIMEOUT);
  }
}

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
  const createPlanner = (catalog: readonly CatalogSource[], model: LlmClient): ReactPlanner => {
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
  createPlanner(tools, llm);
  const meterModel = ({ tenant_id = null, user_id }: ArtifactScope): LlmClient =>
    usage.limits.tokensPerDay === undefined || user_id == null
      ? llm
      : new MeteredLlm(llm, usage, { tenant_id, user_id });
  return async (scope, signal) =>
    createPlanner([...(await sources.planned({ scope, signal })), ...tools], meterModel(scope));
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
