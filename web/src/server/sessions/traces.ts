/**
 * The traces that a session stores under.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { ServeTerms } from "../terms.js";
import { MAX_TRACES } from "./session-register.js";
import type { ServedSession } from "./session.js";

/** Notes a trace that something may be stored under; null is none. Throws SluiceError E_STORE_FULL where there are too many. */
export async function noteTrace(
  { id }: ServedSession,
  trace: string | null,
  { state }: Pick<ServeTerms, "state">,
): Promise<void> {
  if (trace === null || (await state.sessions.addTrace(id, trace))) return;
  const sentence = `A session has at most ${MAX_TRACES} traces: begin another session.`;
  throw new SluiceError("E_STORE_FULL", sentence, { path: "trace" });
}
