/** Contract: runs are kept as they are, each in a place of its own, and no more of anything than was said; what no store can take. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Current } from "../state-store-contract.js";

const hostile = ["a", "A", "../a", "a/b", "a\0", "__proto__", "\ud800", "\ud801", "x".repeat(1024), ".", "ü"];
const names = fc.oneof(fc.constantFrom(...hostile), fc.string({ minLength: 1, maxLength: 40 }));

export function contractOfKeeping(current: () => Current): void {
  describe("runs that wait", () => {
    test("are given as they were kept, as often as one asks, here and elsewhere", async () => {
      const { store, other } = current();
      expect(await store.loadPlannerState("t")).toBeNull();
      await store.savePlannerState("t", { a: [1, "ü", null] });
      expect(await store.loadPlannerState("t")).toEqual({ a: [1, "ü", null] });
      expect(await other.loadPlannerState("t")).toEqual({ a: [1, "ü", null] });
      await other.savePlannerState("t", { b: 2 });
      expect(await store.loadPlannerState("t")).toEqual({ b: 2 });
      await store.savePlannerState("t", null);
      await store.savePlannerState("t", null);
      expect(await other.loadPlannerState("t")).toBeNull();
    });

    test("are not changed with what was given or got", async () => {
      const { store } = current();
      const payload = { list: [1] };
      await store.savePlannerState("t", payload);
      payload.list.push(2);
      ((await store.loadPlannerState("t")) as typeof payload).list.push(3);
      expect(await store.loadPlannerState("t")).toEqual({ list: [1] });
    });

    test("two tokens never share a place, whatever is in them", async () => {
      const { store } = current();
      const property = fc.asyncProperty(names, names, async (token, another) => {
        fc.pre(token !== another);
        await store.savePlannerState(token, 1);
        await store.savePlannerState(another, 2);
        expect([await store.loadPlannerState(token), await store.loadPlannerState(another)]).toEqual([1, 2]);
        await store.savePlannerState(another, null);
        expect([await store.loadPlannerState(token), await store.loadPlannerState(another)]).toEqual([1, null]);
        await store.savePlannerState(token, null);
      });
      await fc.assert(property, { numRuns: 50 });
    });
  });
}

export function contractOfBounds(current: () => Current): void {
  describe("bounds", () => {
    test("of too many runs the oldest make room, those that are claimed last", async () => {
      const { store, pass } = current();
      for (const token of ["a", "b", "c"]) {
        await store.savePlannerState(token, token);
        await pass(1);
      }
      await store.claimPlannerState("a", "ada", 10);
      await store.savePlannerState("d", "d");
      const left = await Promise.all(["a", "b", "c", "d"].map((token) => store.loadPlannerState(token)));
      expect(left).toEqual(["a", null, "c", "d"]);
    });

    test("of too many traces and bindings the oldest make room", async () => {
      const { store, pass } = current();
      for (const trace_id of ["a", "b", "c", "d"]) {
        await store.saveEvent(trace_id, { kind: trace_id });
        await store.saveRemoteBinding({ trace_id, context_id: null, task_id: "task", agent_url: "https://a.test" });
        await pass(1);
      }
      expect(await store.loadHistory("a")).toEqual([]);
      expect(await store.loadRemoteBinding("a", "task")).toBeNull();
      expect(await store.loadHistory("b")).toHaveLength(1);
      expect(await store.loadRemoteBinding("b", "task")).not.toBeNull();
    });

    test("a run is kept for as long as was said, and no longer", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "run");
      await pass(95_000);
      expect(await other.loadPlannerState("t")).toBe("run");
      await pass(5_000);
      expect(await other.loadPlannerState("t")).toBeNull();
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(false);
    });

    test("what is too large is refused, in bytes, and what was there stays", async () => {
      const { store } = current();
      await store.savePlannerState("t", "x".repeat(998));
      for (const large of ["x".repeat(999), "ü".repeat(500)]) {
        await expect(store.savePlannerState("t", large)).rejects.toMatchObject({ code: "E_TOO_LARGE" });
        await expect(store.saveEvent("one", { kind: large })).rejects.toMatchObject({ code: "E_TOO_LARGE" });
      }
      expect(await store.loadPlannerState("t")).toBe("x".repeat(998));
      expect(await store.loadHistory("one")).toEqual([]);
    });
  });
}

// Contract: what no store can take.

export function contractOfMistyped(current: () => Current): void {
  describe("what no store can take", () => {
    test.each(["", "x".repeat(1025), 7, undefined, null])("a name that is %j", async (name) => {
      const { store } = current();
      const bad = name as string;
      const calls = [
        store.savePlannerState(bad, {}),
        store.savePlannerState(bad, null),
        store.loadPlannerState(bad),
        store.claimPlannerState(bad, "ada", 1),
        store.claimPlannerState("t", bad, 1),
        store.updatePlannerState(bad, "ada", {}),
        store.updatePlannerState("t", bad, {}),
        store.releasePlannerState(bad, "ada", "wait"),
        store.releasePlannerState("t", bad, "wait"),
        store.saveEvent(bad, { kind: "a" }),
        store.loadHistory(bad),
        store.saveRemoteBinding({ trace_id: bad, context_id: null, task_id: "task", agent_url: "https://a.test" }),
        store.loadRemoteBinding("trace", bad),
        store.saveOAuthState(bad, {}, 1),
        store.loadOAuthState(bad),
        store.takeOAuthState(bad),
      ];
      for (const call of calls) await expect(call).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    });

    test.each([0, -1, Number.NaN, Infinity, 86_401])("a lease of %d seconds", async (seconds) => {
      const { store } = current();
      await store.savePlannerState("t", {});
      await expect(store.claimPlannerState("t", "ada", seconds)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      expect(await store.claimPlannerState("t", "ada", 1)).toBe(true);
    });

    test.each([undefined, 7n, () => 7])("%o, which is no JSON", async (payload) => {
      const { store } = current();
      await expect(store.savePlannerState("t", payload)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      await expect(store.saveOAuthState("s", payload, 1)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      await expect(store.saveEvent("one", payload as never)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    });
  });
}
