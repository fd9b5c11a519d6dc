/**
 * One run in this process: what it tells is written down, and what it comes to before it is forgotten.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SluiceError } from "../../errors/error.js";
import type { PlannerEvent } from "../../planner/event.js";
import type { ReactPlanner } from "../../planner/react-planner.js";
import type { PlannerPause, PlannerResult } from "../../planner/result.js";
import type { ResumeOptions } from "../../planner/options.js";
import { saidOf } from "../refusals.js";
import { scopeOf } from "../sessions/session.js";
import { announced } from "../sessions/announcing.js";
import { GIVEN_UP, noSuchRun } from "./chat-errors.js";
import { pauseEvent, toldOf, type ChatEvent, type ToldError } from "./chat-event.js";
import type { ChatTerms } from "./chat-terms.js";
import type { LiveRun } from "./live-run.js";
import { resultEvent } from "./run-result.js";
import { forget, type RunRecord } from "./run-record.js";
import { RunWriter } from "./run-writer.js";

/** What is done with the planner. */
export type RunWork = (planner: ReactPlanner, options: ResumeOptions) => Promise<PlannerResult | PlannerPause>;

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
  readonly #terms: ChatTerms;
  readonly #writer: RunWriter;

  constructor(live: LiveRun, how: RunHow, terms: ChatTerms) {
    const { state, report } = terms;
    this.#live = live;
    this.#how = how;
    this.#terms = terms;
    this.#writer = new RunWriter((event) => state.events.append(live.place.channel, event), report);
  }

  /** Runs until it is over, waits, or is left for others to go on with. Does not throw. */
  async go(): Promise<void> {
    try {
      const outcome = await this.#worked();
      if (outcome.kind === "pause") await this.#paused(outcome);
      else await this.#forgotten();
    } catch (error) {
      await this.#failed(error).catch(this.#terms.report);
    }
    await this.#writer.settled();
    this.#how.onLeft();
  }

  async #worked(): Promise<PlannerResult | PlannerPause> {
    const [live, { record, work }] = [this.#live, this.#how];
    const scope = scopeOf(live.session, record.trace);
    live.signal.throwIfAborted();
    const planner = await this.#terms.planner(scope, live.signal);
    return work(planner, {
      scope,
      signal: live.signal,
      toolContext: scope,
      callSignal: (place) => live.callSignal(place),
      onEvent: (event) => this.#hear(event),
      onResult: async (result) => {
        const event = await resultEvent(result, live, record.trace, this.#terms);
        await this.#surely(event);
      },
      ...(record.max_parallel !== null && { planningHints: { max_parallel: record.max_parallel } }),
      ...(record.timeout_seconds !== null && { callTimeoutSeconds: record.timeout_seconds }),
    });
  }

  #hear(event: PlannerEvent): void {
    const [live, { announcer }] = [this.#live, this.#terms];
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
      if (!(await announced(this.#terms, live.session, event.artifacts))) live.stop("session over");
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
    const [live, { noteConsent }] = [this.#live, this.#terms];
    // One that waits already was told of when it came to its pause.
    if (!live.hasBegun) return live.failsWith(noSuchRun());
    await noteConsent(live.place.session, pause.payload).catch(this.#terms.report);
    this.#how.onLeft();
    await this.#surely(pauseEvent(live.place, pause)).catch(this.#terms.report);
  }

  async #failed(error: unknown): Promise<void> {
    const { why, hasBegun } = this.#live;
    this.#live.failsWith(error);
    // Who asked is told by the answer; of a run that is taken over nobody else tells.
    if (!hasBegun && this.#how.first !== undefined) return;
    if (why === "closing" || (why === undefined && isLeft(error))) {
      // Others have it, or will: they tell what comes of it.
      if (why === undefined && hasBegun) this.#terms.report(error);
      return;
    }
    await this.#forgotten();
    if (why === "session over") return;
    await this.#surely({ kind: "failed", error: why === undefined ? this.#told(error) : GIVEN_UP });
  }

  async #forgotten(): Promise<void> {
    // What is left of it goes when it is too old.
    await forget(this.#terms.state.runs, this.#live.place).catch(this.#terms.report);
  }

  #told(error: unknown): ToldError {
    const { code, message } = saidOf(error, this.#terms.report);
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
