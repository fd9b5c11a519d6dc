import { describe, expect, test, onTestFinished } from "vitest";
import { z } from "zod";
import type { Script } from "../../../web/src/planner/llm/scripted-model.js";
import { tool } from "../../../web/src/planner/tool.js";
import { planned, once, answered, add } from "./planned.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { overAfter, timeoutResult, waitNotices } from "../../../web/src/tools/tool-call.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { CHANGING } from "../server/sources/serving.js";

/** Calls a tool for as long as there is one. */
const again: Script = ({ tools }) =>
  tools.length === 0 ? { text: "So far." } : { calls: [{ name: "math_add", args: { a: 1, b: 1 } }] };

describe("limits of a run", () => {
  test("in its last step the model gets no tools, and answers", async () => {
    const { planner } = planned(again, [add], { budget: { maxSteps: 3 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({
      answer: "So far.",
      outcome: "steps",
      spent: { steps: 3 },
    });
  });

  test("tokens", async () => {
    const { planner } = planned(again, [add], { budget: { maxTokens: 300 } });
    expect(answered(await planner.run("Go on."))).toMatchObject({ answer: "So far.", outcome: "tokens" });
  });

  test("seconds, whatever a tool does", async () => {
    const never = tool({
      name: "math_add",
      description: "",
      input: z.object({}),
      run: () => new Promise(() => undefined),
    });
    const { planner } = planned(again, [never], { budget: { maxSeconds: 0.3 } });
    await expect(planner.run("Go on.")).rejects.toMatchObject({ code: "E_PLANNER_TIME" });
  });

  test("calls at the same time", async () => {
    let [now, most] = [0, 0];
    const slow = tool({
      name: "slow",
      description: "",
      input: z.object({ n: z.number() }),
      run: async () => {
        most = Math.max(most, (now += 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
        now -= 1;
      },
    });
    const script = once(...Array.from({ length: 20 }, (_, n) => ({ name: "slow", args: { n } })));
    await planned(script, [slow], { absoluteMaxParallel: 4 }).planner.run("Go.", {
      planningHints: { max_parallel: 100 },
    });
    expect(most).toBe(4);
    most = 0;
    await planned(script, [slow]).planner.run("Go.", { planningHints: { max_parallel: 2 } });
    expect(most).toBe(2);
  });

  test("whoever asked may give up: calls end, and nothing more is asked", async () => {
    const controller = new AbortController();
    let ended = false;
    const wait = tool({
      name: "wait",
      description: "",
      input: z.object({}),
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            ended = true;
            reject(signal.reason as Error);
          });
          controller.abort(new Error("enough"));
        }),
    });
    const { planner, turns } = planned(once({ name: "wait" }), [wait]);
    await expect(planner.run("Go.", { signal: controller.signal })).rejects.toThrow("enough");
    expect([ended, turns.length]).toEqual([true, 1]);
  });
});

// How long calls of a run may be silent.

test("each call of a source's tool may be silent as long as the run says, in place of the source", async () => {
  const options = { timeout_s: 60, notify_after_s: [0.3, 70, 80] } as const;
  const node = new ToolNode(
    { name: "own", transport: "mcp", connection: CHANGING, ...options },
    { store: new MemoryArtifactStore() },
  );
  onTestFinished(() => node[Symbol.asyncDispose]());
  await node.connect();
  const { planner, events } = planned(once({ name: "own_hang" }), [node]);
  const begun = performance.now();
  const { trajectory } = answered(await planner.run("Go.", { callTimeoutSeconds: 1 }));
  expect(performance.now() - begun).toBeLessThan(20_000);
  const observation = JSON.stringify(timeoutResult(1, null));
  expect(trajectory.steps[0]?.calls[0]).toMatchObject({ isError: true, observation });
  const waits = events.flatMap((event) => (event.kind === "tool_waiting" ? [event.wait] : []));
  expect(waits).toEqual([waitNotices([0.3], 1)[0], overAfter(1)]);
});

test.each([0, 0.5, 301, Number.NaN, "10"])("%s seconds are refused", async (callTimeoutSeconds) => {
  const { planner } = planned(() => ({ text: "Done." }), []);
  const run = planner.run("Go.", { callTimeoutSeconds: callTimeoutSeconds as number });
  await expect(run).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "callTimeoutSeconds" });
});
