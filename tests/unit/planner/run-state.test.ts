import { expect, test } from "vitest";
import { type ExhaustedLimit, outcomeOf, type PlannerOutcome } from "../../../web/src/planner/run-state.js";
import type { StopReason } from "../../../web/src/planner/llm/client.js";

test.each<[string, StopReason, ExhaustedLimit | undefined, PlannerOutcome]>([
  ["All of it.", "stop", undefined, "answered"],
  ["Half of", "length", undefined, "length"],
  ["", "length", undefined, "length"],
  ["", "content_filter", undefined, "content_filter"],
  ["", "stop", undefined, "empty"],
  [" \n", "stop", undefined, "empty"],
  ["What there was.", "stop", "tokens", "tokens"],
  ["", "tool_calls", "steps", "steps"],
  ["Half of", "length", "steps", "length"],
])("%j that ends by %s, with a budget that ends by %s, is %s", (text, stopReason, exhausted, outcome) => {
  expect(outcomeOf({ text, stopReason }, exhausted)).toBe(outcome);
});
