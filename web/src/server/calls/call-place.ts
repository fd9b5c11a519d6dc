/**
 * The names under which a call that asked a person is stored. All begin with its session's id, so that no other session
 * finds it.
 * @module
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { StateStore } from "../../planner/state-store.js";
import type { PauseQuestion } from "../sources/pauses.js";
import type { Work } from "../work/work-register.js";

/** A call's id in its session: a UUID. */
const IS_CALL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The names of one call. */
export class CallPlace {
  readonly session: string;
  readonly call: string;

  constructor(session: string, call: string) {
    this.session = session;
    this.call = call;
  }

  /** The key of the call within a process. */
  get key(): string {
    return `${this.session} ${this.call}`;
  }

  /** The token of its {@link CallRecord}. */
  get token(): string {
    return `call ${this.key}`;
  }

  /** The channel of its events. */
  get channel(): string {
    return `call ${this.key}`;
  }

  /** The call in the register of work. */
  get work(): Work {
    return { kind: "call", session: this.session, id: this.call };
  }
}

/** A call of a session, or null for an invalid id. */
export function placeOf(session: string, call: string): CallPlace | null {
  return IS_CALL.test(call) ? new CallPlace(session, call) : null;
}

/** The channel of the calls that a session has, so that its end finds them. */
export function callsChannel(session: string): string {
  return `calls ${session}`;
}

const RECORD = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  trace: z.string().nullable(),
  timeout_seconds: z.number().nullable(),
  asked: z.array(z.object({ pause: z.string(), print: z.string() })),
});

/** A call as it was asked for, and its questions in their order: the id of each, and a hash of what it is. */
export type CallRecord = z.infer<typeof RECORD>;

/** What is stored of a call, or null if it is over or never was. Throws SluiceError E_STORE_…. */
export async function loadRecord(
  runs: Pick<StateStore, "loadPlannerState">,
  { token }: CallPlace,
): Promise<CallRecord | null> {
  return RECORD.safeParse(await runs.loadPlannerState(token)).data ?? null;
}

/**
 * The same for the same question, when its call is made again. Requests for consent differ each time: of them it is the
 * provider that counts.
 */
export function printOf({ reason, payload }: PauseQuestion): string {
  const said = payload.pause_type === "oauth" ? { oauth: payload.provider } : payload;
  return createHash("sha256")
    .update(JSON.stringify([reason, said]))
    .digest("hex");
}
