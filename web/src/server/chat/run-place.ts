/**
 * Where a run of a chat is kept: all its names begin with its session's, so that no other session finds it.
 * @module
 */
import { z } from "zod";
import type { StateStore } from "../../planner/state-store.js";

/** What a run is called in its session: a UUID. */
const RUN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const IS_RUN = new RegExp(`^${RUN}$`);
/** The run, and which of its pauses is answered. */
const RESUME = new RegExp(`^(${RUN})\\.(${RUN})$`);

/** The names of one run. */
export class RunPlace {
  readonly session: string;
  readonly run: string;

  constructor(session: string, run: string) {
    this.session = session;
    this.run = run;
  }

  /** By which a process knows it. */
  get key(): string {
    return `${this.session} ${this.run}`;
  }

  /** By which the planner keeps it. */
  get token(): string {
    return `chat ${this.key}`;
  }

  /** By which is kept how it is run. */
  get record(): string {
    return `chat ${this.key} deps`;
  }

  /** What happens in it. */
  get channel(): string {
    return `run ${this.key}`;
  }

  /** What clients answer a pause by, from the planner's token of it. */
  resumeToken(ofPlanner: string): string {
    return `${this.run}.${ofPlanner.slice(this.token.length + 1)}`;
  }
}

/** The channel by which the processes that have runs of a session are told of it: those there are, and which are to stop. */
export function runsChannel(session: string): string {
  return `runs ${session}`;
}

/** A run of a session; null for what is no name of one. */
export function placeOf(session: string, run: string): RunPlace | null {
  return IS_RUN.test(run) ? new RunPlace(session, run) : null;
}

/** The run that a resume token is of, and the planner's token of its pause; null for what is none. */
export function placeOfPause(
  session: string,
  resumeToken: string,
): { readonly place: RunPlace; readonly pause: string } | null {
  const [, run, id] = RESUME.exec(resumeToken) ?? [];
  if (run === undefined || id === undefined) return null;
  const place = new RunPlace(session, run);
  return { place, pause: `${place.token} ${id}` };
}

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
