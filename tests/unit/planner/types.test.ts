/** What a host's own code sees of the planner's types, without a cast. */
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type LlmError,
  MemoryStateStore,
  type PlannerEvent,
  type PlannerOutcome,
  type PlannerPause,
  type PlannerResult,
  ReactPlanner,
  tool,
} from "../../../web/src/planner.js";
import type { LlmErrorCode } from "../../../web/src/planner/llm/client.js";
import type { ToolErrorCode } from "../../../web/src/tools/errors.js";
import type { PausePayload, PauseReason } from "../../../web/src/tools/context.js";
import type { ToolContext, ToolNodeError } from "../../../web/src/tools.js";
import { OwnClient } from "./planned.js";

const ask = tool({
  name: "ask",
  description: "Asks.",
  input: z.object({ what: z.string() }),
  run: async ({ what }, { pause }) => pause("await_input", { question: `${what}?` }),
});
const catalog = [ask];
const turn = { toolCalls: [{ id: "1", name: "ask", arguments: '{"what":"Name"}' }], stopReason: "tool_calls" } as const;

test("the outcome of a run is narrowed by its kind", async () => {
  const planner = new ReactPlanner({ catalog, llm: new OwnClient(turn) });
  const outcome = await planner.run("Ask.");
  expectTypeOf(outcome).toEqualTypeOf<PlannerResult | PlannerPause>();
  if (outcome.kind === "result") {
    expectTypeOf(outcome.answer).toEqualTypeOf<string>();
    expectTypeOf(outcome.outcome).toEqualTypeOf<PlannerOutcome>();
    throw new Error("It asked nobody.");
  }
  expectTypeOf(outcome.reason).toEqualTypeOf<PauseReason>();
  expectTypeOf(outcome.resumeToken).toEqualTypeOf<string>();
  // @ts-expect-error: a pause has no answer yet.
  expect(outcome.answer).toBeUndefined();
  expect(outcome.payload["question"]).toBe("Name?");
  const next = await planner.resume(outcome.resumeToken, { answer: "Ada" });
  expect(next.kind === "result" && next.answer).toBe("Done.");
});

/** What a host shows. */
function shown(payload: PausePayload): string {
  switch (payload.pause_type) {
    case "oauth":
      expectTypeOf(payload.scopes).toEqualTypeOf<readonly string[]>();
      return payload.auth_url;
    case "elicitation":
      expectTypeOf(payload.schema).toEqualTypeOf<Readonly<Record<string, unknown>>>();
      return payload.message;
    case "url":
      return payload.url;
    case "sampling":
      expectTypeOf(payload.messages[0]?.role).toEqualTypeOf<"user" | "assistant" | undefined>();
      return payload.system_prompt;
    default:
      expectTypeOf(payload.pause_type).toEqualTypeOf<undefined>();
      return String(payload["question"]);
  }
}

test("what is asked of a person is narrowed by its pause_type", () => {
  const page = { pause_type: "url", url: "https://a.example/", message: "", source: "a", tool: "b" } as const;
  expect(shown(page)).toBe("https://a.example/");
  expectTypeOf<PlannerPause["payload"]>().toEqualTypeOf<PausePayload>();
  // Hosts that look at nothing but the JSON may say so.
  type OfAnything = (reason: string, payload: Readonly<Record<string, unknown>>) => Promise<unknown>;
  expectTypeOf<OfAnything>().toExtend<NonNullable<ToolContext["pause"]>>();
  // @ts-expect-error: a consent has the address of the provider.
  expectTypeOf<{ pause_type: "oauth"; provider: string }>().toExtend<PausePayload>();
});

test("the history of a trace has the planner's events, errors as JSON", async () => {
  const stateStore = new MemoryStateStore();
  const planner = new ReactPlanner({ catalog, llm: new OwnClient(), stateStore });
  await planner.run("Hello.", { scope: { trace_id: "t1" } });
  const history = await stateStore.loadHistory("t1");
  expectTypeOf(history[0]!.event.kind).toEqualTypeOf<PlannerEvent["kind"]>();
  const outcomes = history.flatMap(({ event }) => (event.kind === "finished" ? [event.outcome] : []));
  expectTypeOf(outcomes).toEqualTypeOf<PlannerOutcome[]>();
  expect(outcomes).toEqual(["answered"]);
  for (const { event } of history) {
    if (event.kind === "tool_failed") expectTypeOf(event.error).not.toExtend<Error>();
    if (event.kind === "tool_failed") expectTypeOf(event.error.message).toEqualTypeOf<string>();
  }
  interface OwnEvent {
    readonly kind: "own";
    readonly count: number;
  }
  const saved: OwnEvent = { kind: "own", count: 3 };
  await stateStore.saveEvent("t2", saved);
  const [own] = await stateStore.loadHistory<OwnEvent>("t2");
  expect(own?.event.count).toBe(3);
});

test("codes of errors are narrowed by their class", () => {
  expectTypeOf<LlmError["code"]>().toEqualTypeOf<LlmErrorCode>();
  expectTypeOf<ToolNodeError["code"]>().toEqualTypeOf<ToolErrorCode>();
});
