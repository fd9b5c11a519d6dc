/** Contract: what no store can take. */
import { describe, expect, test } from "vitest";
import type { Current } from "../state-store-contract.js";

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
