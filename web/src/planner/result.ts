/**
 * What a run comes to, and what happened in it.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";
import type { PauseReason } from "../tools/options.js";
import type { ExhaustedLimit, BudgetUsage } from "./budget.js";
import type { LlmAnswer } from "./llm/client.js";

/** The run is over. */
export interface PlannerResult {
  /** Told apart from a pause by this. */
  readonly kind: "result";
  /** What the model said last: all of it where `outcome` is `answered`. */
  readonly answer: string;
  /** `answered`, or what the answer lacks, or which limit the run came to. */
  readonly outcome: PlannerOutcome;
  /** What it took. */
  readonly spent: BudgetUsage;
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

/** A call, and what the model saw of its result. */
export interface TrajectoryCall {
  /** Unique in its step. */
  readonly id: string;
  /** The tool's name in the catalog; what the model wrote, where there is none. */
  readonly tool: string;
  /** As the model wrote them; undefined where that was no JSON object. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  /** JSON text: what the model sees. */
  readonly observation: string;
  /** Whether the tool failed, or could not be called. */
  readonly isError: boolean;
  /** What was stored of the result. */
  readonly artifacts: readonly AnswerRef[];
}

/** One turn of the model, and what came of it. */
export interface TrajectoryStep {
  /** What the model wrote beside its calls. */
  readonly text: string;
  /** In the order in which it wrote them. */
  readonly calls: readonly TrajectoryCall[];
}

/** What happened in a run. */
export interface Trajectory {
  /** What was asked. */
  readonly query: string;
  /** The model's turns; the last one has the answer. */
  readonly steps: readonly TrajectoryStep[];
  /** Fields of results that are marked `artifact: true`, by tool and field: `report.totals`; the last one counts. */
  readonly artifacts: Readonly<Record<string, unknown>>;
}

/**
 * How a run ended. `answered`: with an answer that is whole.
 *
 * What the answer lacks: `length`, it is cut, since the model came to the limit of its own tokens, as its server or the client has
 * it; `content_filter`, its server cut it or kept it back; `empty`, the model said nothing.
 *
 * Which limit of the budget it came to, so that the answer is what the model made of what it had: `steps`, `tokens`, `seconds`.
 */
export type PlannerOutcome = "answered" | "length" | "content_filter" | "empty" | ExhaustedLimit;

/** What the last turn of a run comes to. What the answer lacks itself goes before the limit that the run came to. */
export function outcomeOf(
  { text, stopReason }: Pick<LlmAnswer, "text" | "stopReason">,
  exhausted: ExhaustedLimit | undefined,
): PlannerOutcome {
  if (stopReason === "length" || stopReason === "content_filter") return stopReason;
  // A model that has no tools any more may have nothing to say: then that is for want of steps.
  if (exhausted !== undefined) return exhausted;
  return text.trim() === "" ? "empty" : "answered";
}
