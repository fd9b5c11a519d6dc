/**
 * How a run of a chat is run: what another process needs to go on with it, beside what the planner keeps.
 * @module
 */
import { z } from "zod";
import type { StateStore } from "../../planner/state-store.js";
import type { RunPlace } from "./run-place.js";

const RECORD = z.object({
  trace: z.string().nullable(),
  max_parallel: z.number().nullable(),
  timeout_seconds: z.number().nullable(),
});

/** What a request says of its run, null for nothing. */
export type RunRecord = z.infer<typeof RECORD>;

type Runs = Pick<StateStore, "savePlannerState" | "loadPlannerState">;

/** Keeps it. Throws SluiceError E_STORE_…. */
export async function saveRecord(runs: Runs, { record }: RunPlace, said: RunRecord): Promise<void> {
  await runs.savePlannerState(record, said);
}

/** What is kept of a run; null where it is over, or never was. Throws SluiceError E_STORE_…. */
export async function loadRecord(runs: Runs, { record }: RunPlace): Promise<RunRecord | null> {
  return RECORD.safeParse(await runs.loadPlannerState(record)).data ?? null;
}

/** Forgets a run, whoever has it. Throws SluiceError E_STORE_…. */
export async function forget(runs: Runs, { token, record }: RunPlace): Promise<void> {
  // As long as there is a record, a run without state is one that was lost.
  await runs.savePlannerState(token, null);
  await runs.savePlannerState(record, null);
}
