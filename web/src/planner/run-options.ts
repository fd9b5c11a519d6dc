/**
 * Options of a run, and of one that goes on.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { PlannerResult } from "./run-state.js";

/** Hints for running a query. */
export interface PlanningHints {
  /** Most concurrent calls, if fewer than the planner's. */
  readonly max_parallel?: number;
}

/** Options of a run. */
export interface RunOptions {
  /** The user whose tokens are used, and the owner of what is stored. */
  readonly scope?: ArtifactScope;
  /**
   * Stores the run under this name from its beginning: 1 to 900 characters, unique among runs. The run is saved
   * before its first step and after each one, and leased to this process for `leaseSeconds`. If the process dies,
   * another continues after the last saved step, with `resume` of this name, and makes the calls of an unfinished
   * step again. By default the run is only stored when it pauses.
   */
  readonly token?: string;
  /** Data for native tools. The model does not see it. */
  readonly toolContext?: Readonly<Record<string, unknown>>;
  /** Further data for the model: JSON values. */
  readonly llmContext?: Readonly<Record<string, unknown>>;
  /** Hints for the run. `max_parallel`: most concurrent calls, if fewer than the planner's. */
  readonly planningHints?: PlanningHints;
  /** The idle timeout of calls to sources in seconds, 1 to 300, in place of the source's `timeout_s`. */
  readonly callTimeoutSeconds?: number;
  /** Aborts the run and its calls. */
  readonly signal?: AbortSignal;
  /**
   * Returns a signal that cancels one call. The model is told so, and the run goes on. A tool is not started if the
   * signal is aborted already. A tool that ignores the signal is not waited for and sends no more events, but its
   * work is not bounded: its place among `max_parallel` goes to the next call. If this throws, or returns anything
   * but a signal or undefined, the run fails with E_INVALID_ARGUMENT.
   */
  readonly callSignal?: (place: CallPlace) => AbortSignal | undefined;
  /** Receives the events of this run, as the planner's `onEvent` does for all. What it throws is ignored. */
  readonly onEvent?: (event: PlannerEvent) => void;
  /**
   * Receives the result while the run is still stored, and is awaited: a result that you store here survives any
   * crash. If it throws, so does the run, which then waits by its `token`.
   */
  readonly onResult?: (result: PlannerResult) => void | Promise<void>;
}

/** Options of a resumed run. */
export interface ResumeOptions extends Omit<RunOptions, "llmContext" | "token"> {
  /**
   * The person's answer, as `ToolContext.pause` returns it; null declines. Defaults to null for the token of a pause.
   * For a run's own name, where it waits, the default answers nothing and returns the same pause.
   */
  readonly answer?: unknown;
}
