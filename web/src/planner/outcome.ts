/**
 * How a run that came to an answer came to it.
 * @module
 */
import type { Exhausted } from "./budget.js";
import type { LlmAnswer } from "./llm/client.js";

/**
 * How a run ended. `answered`: with an answer that is whole.
 *
 * What the answer lacks: `length`, it is cut, since the model came to the limit of its own tokens, as its server or the client has
 * it; `content_filter`, its server cut it or kept it back; `empty`, the model said nothing.
 *
 * Which limit of the budget it came to, so that the answer is what the model made of what it had: `steps`, `tokens`, `seconds`.
 */
export type PlannerOutcome = "answered" | "length" | "content_filter" | "empty" | Exhausted;

/** What the last turn of a run comes to. What the answer lacks itself goes before the limit that the run came to. */
export function outcomeOf(
  { text, stopReason }: Pick<LlmAnswer, "text" | "stopReason">,
  exhausted: Exhausted | undefined,
): PlannerOutcome {
  if (stopReason === "length" || stopReason === "content_filter") return stopReason;
  // A model that has no tools any more may have nothing to say: then that is for want of steps.
  if (exhausted !== undefined) return exhausted;
  return text.trim() === "" ? "empty" : "answered";
}
