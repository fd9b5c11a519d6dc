import { expect, test } from "vitest";
import { z } from "zod";
import type { CallPlace } from "../../../web/src/planner/event.js";
import { tool } from "../../../web/src/planner/tool.js";
import { add, answered, once, planned } from "./planned.js";

/** Goes on until it is given up, or for ever. */
function endless(name: string, heeds: boolean): ReturnType<typeof tool> {
  return tool({
    name,
    description: "",
    input: z.object({}),
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        if (heeds) signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  });
}

test.each([true, false])("one call is given up, heeded: %s; the model is told so, and goes on", async (heeds) => {
  const calls = new Map<string, AbortController>();
  const callSignal = ({ tool: name }: CallPlace): AbortSignal | undefined => {
    const controller = new AbortController();
    calls.set(name, controller);
    return name === "math.add" ? undefined : controller.signal;
  };
  const { planner, events } = planned(
    once({ name: "endless" }, { name: "math_add", args: { a: 1, b: 2 } }),
    [endless("endless", heeds), add],
    { onEvent: (event) => event.kind === "tool_returned" && calls.get("endless")?.abort() },
  );
  const { answer, trajectory } = answered(await planner.run("Do both.", { callSignal }));
  expect(answer).toBe("I saw 2 results.");
  expect(events).toEqual([]);
  const observed = trajectory.steps[0]?.calls.map(({ observation, isError }) => [isError, observation]);
  expect(observed).toEqual([
    [true, '{"isError":true,"content":"The call was cancelled: go on without its result."}'],
    [false, '{"sum":3}'],
  ]);
});

test("a call that was given up does not wait for a person any more", async () => {
  const asks = tool({
    name: "asks",
    description: "",
    input: z.object({}),
    run: async (_, { pause }) => pause("await_input", {}),
  });
  const { planner } = planned(once({ name: "asks" }), [asks]);
  const given = AbortSignal.abort();
  expect(answered(await planner.run("Ask.", { callSignal: () => given })).answer).toBe("I saw 1 results.");
});

test("giving up the run ends all calls", async () => {
  const controller = new AbortController();
  const { planner } = planned(once({ name: "endless" }), [endless("endless", true)], {
    onEvent: ({ kind }) => kind === "tool_called" && controller.abort(new Error("enough")),
  });
  const own = new AbortController();
  const run = planner.run("Go on.", { signal: controller.signal, callSignal: () => own.signal });
  await expect(run).rejects.toThrow("enough");
});
