/** Contract: one at a time goes on with a run, and keeps it as it is by now; nobody else does. */
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

// Contract: whoever has a run keeps it as it is by now, and nobody else does.

export function contractOfUpdating(current: () => Current): void {
  describe("updates", () => {
    test("keep what the owner says, here and elsewhere, and the claim", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", { step: 0 });
      await store.claimPlannerState("t", "ada", 10);
      for (let step = 1; step < 5; step++) {
        await pass(1_000);
        expect(await store.updatePlannerState("t", "ada", { step })).toBe(true);
        expect(await store.loadPlannerState("t")).toEqual({ step });
        expect(await other.loadPlannerState("t")).toEqual({ step });
      }
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(false);
      await pass(6_000);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
      expect(await other.loadPlannerState("t")).toEqual({ step: 4 });
      expect(await other.updatePlannerState("t", "eve", "hers")).toBe(true);
      expect(await store.loadPlannerState("t")).toBe("hers");
    });

    test("by who has no claim, or none any more, change nothing", async () => {
      const { store, other, pass } = current();
      expect(await store.updatePlannerState("t", "ada", 1)).toBe(false);
      expect(await store.loadPlannerState("t")).toBeNull();
      await store.savePlannerState("t", "run");
      expect(await store.updatePlannerState("t", "ada", 1)).toBe(false);
      await store.claimPlannerState("t", "ada", 10);
      expect(await other.updatePlannerState("t", "eve", 2)).toBe(false);
      await pass(10_000);
      expect(await store.updatePlannerState("t", "ada", 3)).toBe(false);
      await other.claimPlannerState("t", "eve", 10);
      expect(await store.updatePlannerState("t", "ada", 4)).toBe(false);
      await other.releasePlannerState("t", "eve", "wait");
      expect(await other.updatePlannerState("t", "eve", 5)).toBe(false);
      expect(await store.loadPlannerState("t")).toBe("run");
      await store.claimPlannerState("t", "ada", 10);
      await store.releasePlannerState("t", "ada", "forget");
      expect(await store.updatePlannerState("t", "ada", 6)).toBe(false);
      expect(await other.loadPlannerState("t")).toBeNull();
    });

    test("are there for the next claim of the run, and go with it", async () => {
      const { store, other } = current();
      await store.savePlannerState("t", "old");
      await store.claimPlannerState("t", "ada", 10);
      await store.updatePlannerState("t", "ada", "new");
      expect(await store.releasePlannerState("t", "ada", "wait")).toBe(true);
      expect(await other.claimPlannerState("t", "eve", 10)).toBe(true);
      expect(await other.loadPlannerState("t")).toBe("new");
      expect(await other.releasePlannerState("t", "eve", "forget")).toBe(true);
      expect(await store.loadPlannerState("t")).toBeNull();
      await store.savePlannerState("t", "anew");
      expect(await other.loadPlannerState("t")).toBe("anew");
    });

    test("make a run as young as one that is saved", async () => {
      const { store, other, pass } = current();
      await store.savePlannerState("t", "old");
      await pass(60_000);
      await store.claimPlannerState("t", "ada", 10);
      await store.updatePlannerState("t", "ada", "new");
      await store.releasePlannerState("t", "ada", "wait");
      await pass(95_000);
      expect(await other.loadPlannerState("t")).toBe("new");
      await pass(5_000);
      expect(await other.loadPlannerState("t")).toBeNull();
    });

    test("that are too large, or nothing, are refused, and what was there stays", async () => {
      const { store } = current();
      await store.savePlannerState("t", "x".repeat(998));
      await store.claimPlannerState("t", "ada", 10);
      const large = store.updatePlannerState("t", "ada", "ü".repeat(500));
      await expect(large).rejects.toMatchObject({ code: "E_TOO_LARGE" });
      for (const payload of [null, undefined, 7n]) {
        const saving = store.updatePlannerState("t", "ada", payload);
        await expect(saving).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      }
      expect(await store.loadPlannerState("t")).toBe("x".repeat(998));
    });

    test("are whole for who reads meanwhile", async () => {
      const { store, other } = current();
      await store.savePlannerState("t", "x0");
      await store.claimPlannerState("t", "ada", 60);
      const writing = (async () => {
        for (let step = 1; step <= 40; step++) await store.updatePlannerState("t", "ada", `x${step}`);
      })();
      for (let last = 0; last < 40;) {
        const seen = Number(/^x(\d+)$/.exec((await other.loadPlannerState("t")) as string)?.[1]);
        expect(seen).toBeGreaterThanOrEqual(last);
        last = seen;
      }
      await writing;
      expect(await other.loadPlannerState("t")).toBe("x40");
    });
  });
}
