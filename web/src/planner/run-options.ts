/**
 * How one query is run, and how a run goes on.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { CallPlace, PlannerEvent } from "./event.js";
import type { PlannerResult } from "./result.js";

/** What is known of a query before it is run (ToolNode 2.1 "Concurrency/Backpressure"). */
export interface PlanningHints {
  /** Calls under way at the same time, if fewer than the planner allows. */
  readonly max_parallel?: number;
}

/** How one query is run. */
export interface RunOptions {
  /** Whose tokens are used, and whose is what is stored. */
  readonly scope?: ArtifactScope;
  /**
   * By which name the run is kept in the state store from its beginning on: 1 to 900 characters that no other run has. It is
   * saved before its first step and after each, and held by this process with `leaseSeconds`; where the process dies, another
   * goes on behind the last step that was saved, with `resume` of this name. Calls of a step that was not done are made again.
   * Left out: the run is kept where it pauses, and at no other time.
   */
  readonly token?: string;
  /** For native tools alone. */
  readonly toolContext?: Readonly<Record<string, unknown>>;
  /** What the model is to know beside the query: JSON values. */
  readonly llmContext?: Readonly<Record<string, unknown>>;
  /** What is known of the query: see {@link PlanningHints}. */
  readonly planningHints?: PlanningHints;
  /** Seconds of silence that each call of a source's tool is given in place of the source's `timeout_s`, 1 to 300. */
  readonly callTimeoutSeconds?: number;
  /** Gives up: the model is not asked any more, and calls end. */
  readonly signal?: AbortSignal;
  /**
   * Asked at the beginning of each call for what gives up this one: then the model is told that it was cancelled, and the run
   * goes on. A tool is not begun where the signal is aborted already. One that does not heed it is not waited for, and nothing more
   * is told of it, but what it does is not bounded: its turn among `max_parallel` is the next call's. Where this throws, or gives
   * anything but a signal or undefined, the run fails with E_INVALID_ARGUMENT.
   */
  readonly callSignal?: (place: CallPlace) => AbortSignal | undefined;
  /** Told of what happens in this run, as the planner's `onEvent` is of all. What it throws is lost. */
  readonly onEvent?: (event: PlannerEvent) => void;
  /**
   * Given the result while the run is still kept, and waited for: who writes it down here loses it to no crash. Where this
   * throws so does the run, which then waits by its `token`.
   */
  readonly onResult?: (result: PlannerResult) => void | Promise<void>;
}

/** How a run goes on. */
export interface ResumeOptions extends Omit<RunOptions, "llmContext" | "token"> {
  /**
   * What the person answered, as `ToolContext.pause` gives it; null: they declined. Left out: null by the token of a pause; by a
   * run's own name, where it waits for an answer, nothing is answered, and the same pause is given again.
   */
  readonly answer?: unknown;
}
