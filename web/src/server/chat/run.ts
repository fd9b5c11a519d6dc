/**
 * One run in this process: what it tells is written down, and what it comes to before it is forgotten.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { FullScope } from "../../artifacts/scope.js";
import { SluiceError } from "../../errors/error.js";
import type { PlannerEvent } from "../../planner/event.js";
import type { ReactPlanner, ResumeOptions } from "../../planner/react-planner.js";
import type { PlannerPause, PlannerResult } from "../../planner/run-state.js";
import { leading } from "../../planner/tool.js";
import { announced, publicRef } from "../sessions/announcer.js";
import type { LoggedEvent } from "../sessions/event-log.js";
import { saidOf } from "../http/refusals.js";
import { scopeOf } from "../sessions/session.js";
import {
  fits,
  fitting,
  GIVEN_UP,
  noSuchRun,
  pauseEvent,
  shownTrajectory,
  toldOf,
  type ChatEnd,
  type ChatEvent,
  type ToldError,
} from "./chat-event.js";
import type { LiveRun } from "./live-run.js";
import type { ChatDeps } from "./chats.js";
import { forget, type RunRecord } from "./run-place.js";

/** What is done with the planner. */
type RunWork = (planner: ReactPlanner, options: ResumeOptions) => Promise<PlannerResult | PlannerPause>;

/** How it is done. */
export interface RunHow {
  readonly record: RunRecord;
  /** Told before all else, where there is something to be told; undefined for a run that is taken over. */
  readonly first: ChatEvent | undefined;
  readonly work: RunWork;
  /** Called when the run is not here any more; before its pause is told: who answers may come here. May be called twice. */
  readonly onLeft: () => void;
}

/** Milliseconds between attempts to write what must not be lost, and how many there are. */
const AGAIN = 1000;
const ATTEMPTS = 30;

/** Does the work of one run, and sees to it that nothing it comes to is lost. Good for one `go`. */
export class Running {
  readonly #live: LiveRun;
  readonly #how: RunHow;
  readonly #deps: ChatDeps;
  readonly #writer: RunWriter;

  constructor(live: LiveRun, how: RunHow, deps: ChatDeps) {
    const { state, report } = deps;
    this.#live = live;
    this.#how = how;
    this.#deps = deps;
    this.#writer = new RunWriter((event) => state.events.append(live.place.channel, event), report);
  }

  /** Runs until it is over, waits, or is left for others to go on with. Does not throw. */
  async go(): Promise<void> {
    try {
      const outcome = await this.#worked();
      if (outcome.kind === "pause") await this.#paused(outcome);
      else await this.#forgotten();
    } catch (error) {
      await this.#failed(error).catch(this.#deps.report);
    }
    await this.#writer.settled();
    this.#how.onLeft();
  }

  async #worked(): Promise<PlannerResult | PlannerPause> {
    const [live, { record, work }] = [this.#live, this.#how];
    const scope = scopeOf(live.session, record.trace);
    live.signal.throwIfAborted();
    const planner = await this.#deps.planner(scope, live.signal);
    return work(planner, {
      scope,
      signal: live.signal,
      toolContext: scope,
      callSignal: (place) => live.callSignal(place),
      onEvent: (event) => this.#hear(event),
      onResult: async (result) => {
        const event = await resultEvent(result, live, record.trace, this.#deps);
        await this.#surely(event);
      },
      ...(record.max_parallel !== null && { planningHints: { max_parallel: record.max_parallel } }),
      ...(record.timeout_seconds !== null && { callTimeoutSeconds: record.timeout_seconds }),
    });
  }

  #hear(event: PlannerEvent): void {
    const [live, { announcer }] = [this.#live, this.#deps];
    const told = toldOf(event);
    if (told === null) return;
    this.#begin();
    this.#writer.tell(told);
    if (event.kind === "observation_clamped") {
      const { kind, tool, original_size, clamped_size, method } = event;
      this.#writer.do(() => announcer.tell(live.session.id, { kind, tool, original_size, clamped_size, method }));
    }
    if (event.kind !== "artifact_stored") return;
    this.#writer.do(async () => {
      if (!(await announced(this.#deps, live.session, event.artifacts))) live.stop("session over");
    });
  }

  /** With its first event a run is kept, and who asked for it is told. */
  #begin(): void {
    if (this.#live.hasBegun) return;
    this.#live.hasBegun = true;
    const { first } = this.#how;
    // Who takes over a run tells nobody.
    this.#live.beginsWith(first === undefined ? Promise.resolve("") : this.#writer.write(first));
  }

  async #paused(pause: PlannerPause): Promise<void> {
    const [live, { noteConsent }] = [this.#live, this.#deps];
    // One that waits already was told of when it came to its pause.
    if (!live.hasBegun) return live.failsWith(noSuchRun());
    await noteConsent(live.place.session, pause.payload).catch(this.#deps.report);
    this.#how.onLeft();
    await this.#surely(pauseEvent(live.place, pause)).catch(this.#deps.report);
  }

  async #failed(error: unknown): Promise<void> {
    const { why, hasBegun } = this.#live;
    this.#live.failsWith(error);
    // Who asked is told by the answer; of a run that is taken over nobody else tells.
    if (!hasBegun && this.#how.first !== undefined) return;
    if (why === "closing" || (why === undefined && isLeft(error))) {
      // Others have it, or will: they tell what comes of it.
      if (why === undefined && hasBegun) this.#deps.report(error);
      return;
    }
    await this.#forgotten();
    if (why === "session over") return;
    await this.#surely({ kind: "failed", error: why === undefined ? this.#told(error) : GIVEN_UP });
  }

  async #forgotten(): Promise<void> {
    // What is left of it goes when it is too old.
    await forget(this.#deps.state.runs, this.#live.place).catch(this.#deps.report);
  }

  #told(error: unknown): ToldError {
    const { code, message } = saidOf(error, this.#deps.report);
    return { code, message };
  }

  /** Writes what somebody waits for: a store that is away may come back. Throws SluiceError E_STORE_…; why it was stopped. */
  async #surely(event: ChatEvent): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#writer.write(event);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || this.#live.signal.aborted) throw error;
        await sleep(AGAIN, undefined, { signal: this.#live.signal });
      }
    }
  }
}

/** Whether a run is still kept: another process took it, or the store is away in which it is. */
function isLeft(error: unknown): boolean {
  return error instanceof SluiceError && ["E_NOT_FOUND", "E_STORE_READ", "E_STORE_WRITE"].includes(error.code);
}

/** UTF-16 units of an answer that is too large to be told whole. */
const MAX_ANSWER = 32 * 1024;

/** Prefix of the ids of results that are artifacts. */
const NAMESPACE = "chat";

/** The last event of a run. What is too large is stored as an artifact of the session; where it cannot be, it is left out. */
async function resultEvent(
  { answer, outcome, spent, trajectory }: PlannerResult,
  live: LiveRun,
  trace: string | null,
  deps: ChatDeps,
): Promise<ChatEnd> {
  const shown = shownTrajectory(trajectory);
  const whole: ChatEnd = { kind: "result", answer, outcome, spent, trajectory: shown };
  if (fits(whole)) return whole;
  const short = { ...whole, answer: leading(answer, MAX_ANSWER), trajectory: null };
  try {
    const text = JSON.stringify({ answer, outcome, spent, trajectory: shown });
    const scope: FullScope = scopeOf(live.session, trace);
    const filename = `run-${live.place.run}.json`;
    const info = { scope, namespace: NAMESPACE, filename, mime_type: "application/json", source: { tool: NAMESPACE } };
    const ref = await deps.store.putText(text, info);
    await announced(deps, live.session, [ref]);
    return { ...short, artifact: publicRef(ref) };
  } catch (error) {
    deps.report(error);
    return short;
  }
}

/** Milliseconds that text is gathered, and what is told again and again. */
const TEXT_PACE = 50;
const PROGRESS_PACE = 250;

/** Events that come often, and whose next one goes on with them or says it better. */
type Passing = Extract<ChatEvent, { readonly kind: "text" | "tool_progress" }>;

/** The one who writes for a run. */
export class RunWriter {
  readonly #append: (event: LoggedEvent) => Promise<string>;
  readonly #report: (error: unknown) => void;
  /** By what they go on with. */
  readonly #gathered = new Map<string, Passing>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** `report` must not throw. */
  constructor(append: (event: LoggedEvent) => Promise<string>, report: (error: unknown) => void) {
    this.#append = append;
    this.#report = report;
  }

  /** Takes an event. One that cannot be written is reported, and lost: the run goes on. */
  tell(event: ChatEvent): void {
    if (isPassing(event)) return this.#gather(event);
    this.#flush();
    this.#then(() => this.#written(event)).catch(this.#report);
  }

  /** Does something behind all that was told so far. What it throws is reported. */
  do(work: () => Promise<void>): void {
    this.#then(work).catch(this.#report);
  }

  /** Writes an event behind all that was told so far. Gives its id. Throws SluiceError E_STORE_…. */
  write(event: ChatEvent): Promise<string> {
    this.#flush();
    return this.#then(() => this.#written(event));
  }

  /** Settles when all is written that was told so far, or could not be. */
  async settled(): Promise<void> {
    this.#flush();
    await this.#last;
  }

  #gather(event: Passing): void {
    const key = event.kind === "text" ? `text ${event.step}` : `progress ${event.step} ${event.call}`;
    const before = this.#gathered.get(key);
    const text = before?.kind === "text" && event.kind === "text" ? { text: before.text + event.text } : {};
    this.#gathered.set(key, { ...event, ...text });
    // Text does not wait for as long as what was gathered before it.
    if (event.kind === "text" && before === undefined) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#passed(), event.kind === "text" ? TEXT_PACE : PROGRESS_PACE);
  }

  /** A log that is slow gets what is gathered meanwhile in one. */
  #passed(): void {
    this.#timer = undefined;
    if (this.#pending === 0) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const event of gathered) this.#then(() => this.#written(event)).catch(this.#report);
  }

  #then<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const done = this.#last.then(work).finally(() => {
      this.#pending -= 1;
      if (this.#pending === 0 && this.#timer === undefined && this.#gathered.size > 0) this.#flush();
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #written(event: ChatEvent): Promise<string> {
    let id = "";
    for (const each of fitting(event)) id = await this.#append(each);
    return id;
  }
}

function isPassing(event: ChatEvent): event is Passing {
  return event.kind === "text" || event.kind === "tool_progress";
}
