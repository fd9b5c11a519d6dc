/** Contract: one at a time goes on with a run. */
import { describe, expect, test } from "vitest";
import type { Current } from "../state-store-contract.js";

export function contractOfClaiming(current: () => Current): void {
  describe("claims", () => {
    test("of many at once, here and elsewhere, one is true", async () => {
      const { store, other } = current();
      for (let round = 0; round < 20; round++) {
        const token = `t${round}`;
        await store.savePlannerState(token, round);
        const claims = Array.from({ length: 8 }, (_, at) =>
          (at % 2 === 0 ? store : other).claimPlannerState(token, `owner ${at}`, 60),
        );
        expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
        await store.savePlannerState(token, null);
      }
    });

    test("hold for their lease, and longer where their owner claims again", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "run");
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(true);
      expect(await other.loadPlannerState("t")).toBe("run");
      await pass(9_000);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(false);
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(true);
      await pass(9_000);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(false);
      await pass(1_000);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(false);
    });

    test("where they are over, one of many who want to take the run on gets it", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "run");
      for (let round = 0; round < 20; round++) {
        const claims = [store, other, store, other].map((each, at) =>
          each.claimPlannerState("t", `owner ${round} ${at}`, 1),
        );
        expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
        await pass(1_000);
      }
    });

    test("end as their owner says: the run waits again, or is gone", async () => {
      const { store, other } = current();
      await store.savePlannerState("t", "run");
      await store.claimPlannerState("t", "ada", 10);
      expect(await other.releasePlannerState("t", "eve", "forget")).toBe(false);
      expect(await store.releasePlannerState("t", "ada", "wait")).toBe(true);
      expect(await store.releasePlannerState("t", "ada", "forget")).toBe(false);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
      expect(await other.releasePlannerState("t", "eve", "forget")).toBe(true);
      expect(await store.loadPlannerState("t")).toBeNull();
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(false);
      expect(await store.releasePlannerState("t", "ada", "forget")).toBe(false);
    });

    test("one that is over cannot end the run, whether others have it or nobody", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "run");
      await store.claimPlannerState("t", "ada", 10);
      await pass(10_000);
      expect(await store.releasePlannerState("t", "ada", "forget")).toBe(false);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
      expect(await store.releasePlannerState("t", "ada", "forget")).toBe(false);
      expect(await store.releasePlannerState("t", "ada", "wait")).toBe(false);
      expect(await other.releasePlannerState("t", "eve", "forget")).toBe(true);
    });

    test("of what is not there are false", async () => {
      const { store } = current();
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(false);
      expect(await store.releasePlannerState("t", "ada", "wait")).toBe(false);
    });

    test("end when the run is saved anew", async () => {
      const { store, other } = current();
      await store.savePlannerState("t", "old");
      await store.claimPlannerState("t", "ada", 10);
      await store.savePlannerState("t", "new");
      expect(await store.releasePlannerState("t", "ada", "forget")).toBe(false);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
    });

    test("keep the run until they are over, however old it is", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "run");
      await pass(95_000);
      await store.claimPlannerState("t", "ada", 10);
      await pass(9_000);
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(true);
      expect(await other.loadPlannerState("t")).toBe("run");
      await pass(10_000);
      expect(await other.loadPlannerState("t")).toBeNull();
      expect(await store.claimPlannerState("t", "ada", 10)).toBe(false);
    });
  });
}
