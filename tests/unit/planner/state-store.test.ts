import { inspect } from "node:util";
import { expect, test } from "vitest";
import { MemoryStateStore } from "../../../web/src/planner/state-store.js";
import { describeStateStore } from "./state-store-contract.js";

describeStateStore("MemoryStateStore", async (bounds) => {
  let now = Date.UTC(2026, 0, 1);
  const store = new MemoryStateStore({ ...bounds, clock: () => now });
  return { store, beside: () => store, pass: (ms) => void (now += ms), dispose: async () => undefined };
});

test("shows nothing of what it keeps", async () => {
  const store = new MemoryStateStore();
  await store.savePlannerState("token", { answer: "hush" });
  await store.saveOAuthState("state", { verifier: "hush" }, 60);
  expect(inspect(store, { showHidden: true, depth: null })).not.toMatch(/token|hush/);
  expect(JSON.stringify(store)).toBe("{}");
});

test.each(["maxKept", "maxEvents", "maxBytes", "maxHistoryBytes", "maxAgeSeconds"])(
  "a bound %s that is none",
  (name) => {
    expect(() => new MemoryStateStore({ [name]: 0 })).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
  },
);

test("a run is kept for a day unless told otherwise", async () => {
  let now = 0;
  const store = new MemoryStateStore({ clock: () => now });
  await store.savePlannerState("t", "run");
  now = 24 * 60 * 60 * 1000 - 1;
  expect(await store.loadPlannerState("t")).toBe("run");
  now += 1;
  expect(await store.loadPlannerState("t")).toBeNull();
});

test("the newest event of a trace is kept, though it is too large for a history", async () => {
  const store = new MemoryStateStore({ maxHistoryBytes: 1 });
  for (const kind of ["a", "b"]) await store.saveEvent("trace", { kind });
  expect((await store.loadHistory("trace")).map(({ event }) => event.kind)).toEqual(["b"]);
});

test("a claim holds to its last millisecond", async () => {
  let now = 0;
  const store = new MemoryStateStore({ clock: () => now });
  await store.savePlannerState("t", "run");
  await store.claimPlannerState("t", "ada", 0.5);
  now = 499;
  expect(await store.claimPlannerState("t", "eve", 1)).toBe(false);
  now = 500;
  expect(await store.releasePlannerState("t", "ada", "wait")).toBe(false);
  expect(await store.claimPlannerState("t", "eve", 1)).toBe(true);
});
