/**
 * Runs the planner for one run, and writes its events and its result to the log before the run is deleted.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { FullScope } from "../../artifacts/scope.js";
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import type { PlannerEvent } from "../../planner/event.js";
import type { ReactPlanner } from "../../planner/react-planner.js";
import type { ResumeOptions } from "../../planner/run-options.js";
import type { PlannerPause, PlannerResult } from "../../planner/run-state.js";
import { leading } from "../../planner/tool.js";
import type { PausePayload } from "../../tools/context.js";
import { announceStored, publicRef, type AnnouncingDeps } from "../sessions/announcer.js";
import { fits } from "../sessions/event-log.js";
import { toSaidError } from "../http/refusals.js";
import { toScope } from "../session.js";
import {
  fitting,
  GIVEN_UP,
  noSuchRun,
  pauseEvent,
  toShownTrajectory,
  toChatEvent,
  type ChatEnd,
  type ChatEvent,
  type ToldError,
} from "./chat-event.js";
import { EventWriter } from "../work/event-writer.js";
import type { KeptWork, KeptWorkDeps } from "../work/kept-work.js";
import type { LiveRun } from "./live-run.js";

/** What is stored of a run, beside what the planner stores. */
export const RUN_RECORD = z.object({
  trace: z.string().nullable(),
  max_parallel: z.number().nullable(),
  timeout_seconds: z.number().nullable(),
});

/** The options of a run's request, null if not given. */
export type RunRecord = z.infer<typeof RUN_RECORD>;

/** What to do with the planner. */
type RunWork = (planner: ReactPlanner, options: ResumeOptions) => Promise<PlannerResult | PlannerPause>;

/** Makes the planner of a run with the tools for its user. Throws the signal's reason. */
export type MakePlanner = (scope: ArtifactScope, signal: AbortSignal) => Promise<ReactPlanner>;

/** What a run works with. */
export interface ChatRunDeps extends AnnouncingDeps, Pick<KeptWorkDeps, "report"> {
  readonly state: KeptWorkDeps["state"];
  /** Where runs are kept. */
  readonly chats: Pick<KeptWork<RunRecord>, "load" | "end">;
  readonly store: Pick<ArtifactStore, "putText" | "delete">;
  readonly planner: MakePlanner;
  /** Registers the session of a request for consent in a pause. Throws SluiceError E_STORE_…. */
  readonly noteConsent: (session: string, payload: PausePayload) => Promise<void>;
}

/** How a run is done. */
export interface RunHow {
  readonly record: RunRecord;
  /** The first event. Undefined for a run that is taken over. */
  readonly first: ChatEvent | undefined;
  readonly work: RunWork;
  /**
   * Called when the run is no longer here, which is before its pause is sent: the answer may come here. May be called
   * twice.
   */
  readonly onLeft: () => void;
}

/** Milliseconds between attempts to write an event that must not be lost, and how many attempts there are. */
const AGAIN = 1000;
const ATTEMPTS = 30;

/** Does the work of one run and loses no result. For one `go`. */
export class Running {
  readonly #live: LiveRun;
  readonly #how: RunHow;
  readonly #deps: ChatRunDeps;
  readonly #writer: EventWriter<ChatEvent>;

  constructor(live: LiveRun, how: RunHow, deps: ChatRunDeps) {
    const { state, report } = deps;
    this.#live = live;
    this.#how = how;
    this.#deps = deps;
    const append = async (event: ChatEvent): Promise<string> => {
      let id = "";
      for (const each of fitting(event)) id = await state.events.append(live.place.channel, each);
      return id;
    };
    this.#writer = new EventWriter(append, report);
  }

  /** Runs until the run is over, waits, or is left to other processes. Does not throw. */
  async go(): Promise<void> {
    try {
      const outcome = await this.#work();
      if (outcome.kind === "pause") await this.#onPause(outcome);
      else await this.#end();
    } catch (error) {
      await this.#onFailure(error).catch(this.#deps.report);
    }
    await this.#writer.settled();
    this.#how.onLeft();
  }

  async #work(): Promise<PlannerResult | PlannerPause> {
    const [live, { record, work, first }] = [this.#live, this.#how];
    const scope = toScope(live.session, record.trace);
    live.signal.throwIfAborted();
    const planner = await this.#deps.planner(scope, live.signal);
    // A process that was stopped meanwhile may have been taken for dead.
    if (first?.kind === "run_started" && (await this.#deps.chats.load(live.place)) === null) {
      throw noSuchRun();
    }
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
    const told = toChatEvent(event);
    if (told === null) return;
    this.#begin();
    this.#writer.tell(told);
    if (event.kind === "observation_clamped") {
      const { kind, tool, original_size, clamped_size, method } = event;
      this.#writer.do(() => announcer.tell(live.session.id, { kind, tool, original_size, clamped_size, method }));
    }
    if (event.kind !== "artifact_stored") return;
    this.#writer.do(async () => {
      if (!(await announceStored(this.#deps, live.session, event.artifacts))) live.stop("session over");
    });
  }

  /** With its first event the run is stored, and the client is told. */
  #begin(): void {
    if (this.#live.hasBegun) return;
    this.#live.hasBegun = true;
    const { first } = this.#how;
    // A run that is taken over has no first event.
    this.#live.beginsWith(first === undefined ? Promise.resolve("") : this.#writer.write(first));
  }

  async #onPause(pause: PlannerPause): Promise<void> {
    const [live, { noteConsent }] = [this.#live, this.#deps];
    // Before anybody can answer: then it is held again.
    await live.held?.end();
    // The pause of a run that waits already was sent before.
    if (!live.hasBegun) return live.failsWith(noSuchRun());
    await noteConsent(live.place.session, pause.payload).catch(this.#deps.report);
    this.#how.onLeft();
    await this.#surely(pauseEvent(live.place, pause)).catch(this.#deps.report);
  }

  async #onFailure(error: unknown): Promise<void> {
    const { why, hasBegun, held } = this.#live;
    const { first } = this.#how;
    this.#live.failsWith(error);
    // The answer to the request tells it. For a run that is taken over nothing else does.
    if (!hasBegun && first !== undefined) return first.kind === "run_started" ? held?.end() : held?.leave();
    if (why === "closing") return held?.free();
    if (why === undefined && isLeft(error)) {
      // Other processes have the run, or will have it, and tell how it ends.
      if (hasBegun) this.#deps.report(error);
      return held?.leave();
    }
    await this.#end();
    if (why === "session over") return;
    await this.#surely({ kind: "failed", error: why === undefined ? this.#toToldError(error) : GIVEN_UP });
  }

  #end(): Promise<void> {
    return this.#deps.chats.end(this.#live.place, this.#live.held);
  }

  #toToldError(error: unknown): ToldError {
    const { code, message } = toSaidError(error, this.#deps.report);
    return { code, message };
  }

  /**
   * Writes an event that clients wait for, with retries. Throws SluiceError E_STORE_…; the reason why the run was
   * stopped.
   */
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

/** Whether the run is still stored: another process took it, or its store is away. */
function isLeft(error: unknown): boolean {
  return error instanceof SluiceError && ["E_NOT_FOUND", "E_STORE_READ", "E_STORE_WRITE"].includes(error.code);
}

/** Most UTF-16 units of an answer that does not fit into an event. */
const MAX_ANSWER = 32 * 1024;

/** The id prefix of results that are stored as artifacts. */
const NAMESPACE = "chat";

/**
 * The last event of a run. A result that is too large is stored as an artifact of the session, or left out if that
 * fails.
 */
async function resultEvent(
  { answer, outcome, spent, trajectory }: PlannerResult,
  live: LiveRun,
  trace: string | null,
  deps: ChatRunDeps,
): Promise<ChatEnd> {
  const shown = toShownTrajectory(trajectory);
  const whole: ChatEnd = { kind: "result", answer, outcome, spent, trajectory: shown };
  if (fits(whole)) return whole;
  const short = { ...whole, answer: leading(answer, MAX_ANSWER), trajectory: null };
  try {
    const text = JSON.stringify({ answer, outcome, spent, trajectory: shown });
    const scope: FullScope = toScope(live.session, trace);
    const filename = `run-${live.place.id}.json`;
    const info = { scope, namespace: NAMESPACE, filename, mime_type: "application/json", source: { tool: NAMESPACE } };
    const ref = await deps.store.putText(text, info);
    await announceStored(deps, live.session, [ref]);
    return { ...short, artifact: publicRef(ref) };
  } catch (error) {
    deps.report(error);
    return short;
  }
}
