/**
 * The names under which a chat run is stored. All begin with its session's id, so that no other session finds it.
 * @module
 */
import { z } from "zod";
import type { StateStore } from "../../planner/state-store.js";
import type { Work } from "../work/work-register.js";

/** A run's id in its session: a UUID. */
const RUN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const IS_RUN = new RegExp(`^${RUN}$`);
/** A run and the pause that is answered. */
const RESUME = new RegExp(`^(${RUN})\\.(${RUN})$`);

/** The names of one run. */
export class RunPlace {
  readonly session: string;
  readonly run: string;

  constructor(session: string, run: string) {
    this.session = session;
    this.run = run;
  }

  /** The key of the run within a process. */
  get key(): string {
    return `${this.session} ${this.run}`;
  }

  /** The planner's token. */
  get token(): string {
    return `chat ${this.key}`;
  }

  /** The token of its {@link RunRecord}. */
  get record(): string {
    return `chat ${this.key} deps`;
  }

  /** The run in the register of work. */
  get work(): Work {
    return { kind: "run", session: this.session, id: this.run };
  }

  /** The channel of its events. */
  get channel(): string {
    return `run ${this.key}`;
  }

  /** The token by which clients answer a pause, from the planner's token. */
  resumeToken(ofPlanner: string): string {
    return `${this.run}.${ofPlanner.slice(this.token.length + 1)}`;
  }
}

/** The channel by which processes tell each other which runs a session has, and which are to stop. */
export function runsChannel(session: string): string {
  return `runs ${session}`;
}

/** A run of a session, or null for an invalid id. */
export function placeOf(session: string, run: string): RunPlace | null {
  return IS_RUN.test(run) ? new RunPlace(session, run) : null;
}

/** The run of a resume token and the planner's token of its pause, or null for an invalid token. */
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

/** The options of a run's request, null if not given. */
export type RunRecord = z.infer<typeof RECORD>;

type Runs = Pick<StateStore, "savePlannerState" | "loadPlannerState">;

/** Stores the options of a run. Throws SluiceError E_STORE_…. */
export async function saveRecord(runs: Runs, { record }: RunPlace, said: RunRecord): Promise<void> {
  await runs.savePlannerState(record, said);
}

/** The options of a run, or null if it is over or never was. Throws SluiceError E_STORE_…. */
export async function loadRecord(runs: Runs, { record }: RunPlace): Promise<RunRecord | null> {
  return RECORD.safeParse(await runs.loadPlannerState(record)).data ?? null;
}

/** Deletes a run, in whichever process it is. Throws SluiceError E_STORE_…. */
export async function forget(runs: Runs, { token, record }: RunPlace): Promise<void> {
  // A record without state means a lost run, so the record goes last.
  await runs.savePlannerState(token, null);
  await runs.savePlannerState(record, null);
}
