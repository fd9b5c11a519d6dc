/**
 * What happened in a run, as it can be written as JSON and shown.
 * @module
 */
import type { AnswerRef } from "../core/sluice.js";

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
