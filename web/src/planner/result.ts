/**
 * What a run comes to.
 * @module
 */
import type { PauseReason } from "../tools/context.js";
import type { Spent } from "./budget.js";
import type { PlannerOutcome } from "./outcome.js";
import type { Trajectory } from "./trajectory.js";

/** The run is over. */
export interface PlannerResult {
  /** Told apart from a pause by this. */
  readonly kind: "result";
  /** What the model said last: all of it where `outcome` is `answered`. */
  readonly answer: string;
  /** `answered`, or what the answer lacks, or which limit the run came to. */
  readonly outcome: PlannerOutcome;
  /** What it took. */
  readonly spent: Spent;
  /** What happened. */
  readonly trajectory: Trajectory;
}

/** A tool waits for a person: `resume` goes on, in this process or another. */
export interface PlannerPause {
  /** Told apart from a result by this. */
  readonly kind: "pause";
  /** Why it waits. */
  readonly reason: PauseReason;
  /** What is wanted, see `ToolContext.pause`. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The tool's name in the catalog. */
  readonly tool: string;
  /** What `resume` is given. Whoever has it and the scope can go on with the run. */
  readonly resumeToken: string;
  /** What happened so far. */
  readonly trajectory: Trajectory;
}
