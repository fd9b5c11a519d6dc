/**
 * What a run came to, as an event that a log takes.
 * @module
 */
import type { FullScope } from "../../artifacts/scope.js";
import type { PlannerResult } from "../../planner/result.js";
import { leading } from "../../planner/call.js";
import { publicRef } from "../public-ref.js";
import { scopeOf } from "../sessions/session.js";
import { announced } from "../sessions/announcing.js";
import { shownTrajectory, type ChatEnd } from "./chat-event.js";
import type { ChatTerms } from "./chat-terms.js";
import { fits } from "./fitting.js";
import type { LiveRun } from "./live-run.js";

/** UTF-16 units of an answer that is too large to be told whole. */
const MAX_ANSWER = 32 * 1024;

/** Prefix of the ids of results that are artifacts. */
const NAMESPACE = "chat";

/** The last event of a run. What is too large is stored as an artifact of the session; where it cannot be, it is left out. */
export async function resultEvent(
  { answer, outcome, spent, trajectory }: PlannerResult,
  live: LiveRun,
  trace: string | null,
  terms: ChatTerms,
): Promise<ChatEnd> {
  const shown = shownTrajectory(trajectory);
  const whole: ChatEnd = { kind: "result", answer, outcome, spent, trajectory: shown };
  if (fits(whole)) return whole;
  const short = { ...whole, answer: leading(answer, MAX_ANSWER), trajectory: null };
  try {
    const text = JSON.stringify({ answer, outcome, spent, trajectory: shown });
    const scope: FullScope = scopeOf(live.session, trace);
    const filename = `run-${live.place.run}.json`;
    const info = { scope, namespace: NAMESPACE, filename, mime_type: "application/json", source: { tool: NAMESPACE } };
    const ref = await terms.store.putText(text, info);
    await announced(terms, live.session, [ref]);
    return { ...short, artifact: publicRef(ref) };
  } catch (error) {
    terms.report(error);
    return short;
  }
}
