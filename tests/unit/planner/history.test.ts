import { expect, test } from "vitest";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import { add, answered, once, planned } from "./planned.js";

const script = once({ name: "math_add", args: { a: 1, b: 2 } });

test("what happens in a trace is kept, in order, without what is worth nothing later", async () => {
  const stateStore = new MemoryStateStore();
  const { planner, events } = planned(script, [add], { stateStore });
  answered(await planner.run("Add.", { scope: { user_id: "ada", trace_id: "t1" } }));
  const kept = (await stateStore.loadHistory("t1")).map(({ event }) => event.kind);
  expect(kept).toEqual(events.map(({ kind }) => kind).filter((kind) => kind !== "text"));
  expect(kept).toContain("finished");
});

test("nothing is kept of a run without a trace", async () => {
  const saved: unknown[] = [];
  const stateStore = { saveEvent: async (...call: unknown[]) => void saved.push(call) };
  const { planner } = planned(script, [add], { stateStore });
  answered(await planner.run("Add.", { scope: { user_id: "ada" } }));
  expect(saved).toEqual([]);
});

test("a store that fails is told of once, and costs the run nothing else", async () => {
  let tries = 0;
  const stateStore = {
    saveEvent: () => {
      tries += 1;
      return Promise.reject(new Error("disk of /home/ada is full"));
    },
  };
  const { planner, events } = planned(script, [add], { stateStore });
  const { answer } = answered(await planner.run("Add.", { scope: { trace_id: "t1" } }));
  expect(answer).toBe("I saw 1 results.");
  // One that is away is waited for once.
  expect(tries).toBe(1);
  const failures = events.filter(({ kind }) => kind === "state_failed");
  expect(failures).toMatchObject([{ error: { code: "E_STORE_WRITE" } }]);
  expect(JSON.stringify(failures)).not.toContain("ada");
});
