/**
 * Where a run is kept, at the moments when another process could go on with it.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import { scopeKey } from "../artifacts/scope.js";
import type { PausedRuns } from "./paused-runs.js";
import type { OpenStep, PausedRun, RunState } from "./run-state.js";
import type { Waiting } from "./settled.js";

/** A call of a step that waits for a person, by its place among the step's calls. */
export interface WaitingCall extends Waiting {
  readonly at: number;
}

/** Keeps one run. */
export interface RunKeeping {
  /** Keeps it between two steps; undefined where it is kept only when it waits. Throws where others have it. */
  readonly between?: (run: RunState) => Promise<void>;
  /** Keeps it in a step of which a call waits. Gives the token by which that is answered. */
  readonly paused: (run: RunState, step: OpenStep, call: WaitingCall) => Promise<string>;
}

/** Keeps a run where it waits, by a token of each pause. */
export function keepingPauses(runs: Pick<PausedRuns, "savePlannerState">, scope: ArtifactScope): RunKeeping {
  return {
    paused: async (run, step, { at }) => {
      const token = crypto.randomUUID();
      const kept: PausedRun = { version: 2, scope: scopeKey(scope), run, step: { ...step, waiting: at } };
      await runs.savePlannerState(token, kept);
      return token;
    },
  };
}
