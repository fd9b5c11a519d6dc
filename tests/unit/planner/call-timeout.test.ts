/** How long calls of a run may be silent. */
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { overAfter, timeoutResult, waitNotices } from "../../../web/src/tools/tool-call.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { CHANGING } from "../server/sources/serving.js";
import { answered, once, planned } from "./planned.js";

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
