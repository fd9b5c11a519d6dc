/** What is told of calls that wait for a person. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { tool } from "../../../web/src/planner/tool.js";
import { add, answered, once, planned } from "./planned.js";

const ask = tool({
  name: "ask",
  description: "",
  input: z.object({ what: z.string() }),
  run: ({ what }, { pause }) => pause(what === "yes" ? "approval_required" : "await_input", { what }),
});

const ofKind = (events: readonly PlannerEvent[], kind: PlannerEvent["kind"]): readonly PlannerEvent[] =>
  events.filter((event) => event.kind === kind);

test("a call that waits has not failed", async () => {
  const { planner, events } = planned(once({ name: "ask", args: { what: "name" } }), [ask]);
  const pause = (await planner.run("Ask.")) as PlannerPause;
  const own = (): readonly string[] => events.map(({ kind }) => kind).filter((kind) => /^(tool_|paused)/.test(kind));
  expect(own()).toEqual(["tool_called", "paused"]);
  answered(await planner.resume(pause.resumeToken, { answer: "Ada" }));
  expect(own()).toEqual(["tool_called", "paused", "tool_called", "tool_returned", "tool_answered"]);
});

test("each of several calls that wait is told of, by one token; the first is asked first", async () => {
  const { planner, events } = planned(
    once(
      { name: "ask", args: { what: "name" } },
      { name: "math_add", args: { a: 1, b: 2 } },
      { name: "ask", args: { what: "yes" } },
    ),
    [ask, add],
  );
  const first = (await planner.run("Ask.")) as PlannerPause;
  const token = first.resumeToken;
  expect(first.payload).toEqual({ what: "name" });
  const place = { kind: "paused", step: 1, tool: "ask" };
  expect(ofKind(events, "paused")).toEqual([
    { ...place, call: "call_0", reason: "await_input", token },
    { ...place, call: "call_2", reason: "approval_required", token },
  ]);
  events.length = 0;
  const second = (await planner.resume(token, { answer: "Ada" })) as PlannerPause;
  expect(second.payload).toEqual({ what: "yes" });
  expect(ofKind(events, "paused")).toMatchObject([{ call: "call_2", token: second.resumeToken }]);
  const { trajectory } = answered(await planner.resume(second.resumeToken, { answer: true }));
  expect(trajectory.steps[0]?.calls.map(({ observation }) => observation)).toEqual(['"Ada"', '{"sum":3}', "true"]);
  expect(ofKind(events, "tool_failed")).toEqual([]);
});
