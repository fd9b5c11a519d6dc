/** Contract: what waits for a provider's answer is taken once, and kept for no longer than was said. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Current } from "../state-store-contract.js";

const hostile = ["a", "A", "../a", "a/b", "a\0", "__proto__", "\ud800", "\ud801", "x".repeat(1024), ".", "ü", "{a}"];
const names = fc.oneof(fc.constantFrom(...hostile), fc.string({ minLength: 1, maxLength: 40 }));

export function contractOfConsenting(current: () => Current): void {
  describe("OAuth states", () => {
    test("are given as they were kept, as often as one looks, and once to whoever takes them, here and elsewhere", async () => {
      const { store, other } = current();
      expect(await store.loadOAuthState("s")).toBeNull();
      expect(await store.takeOAuthState("s")).toBeNull();
      await store.saveOAuthState("s", { a: [1, "ü", null] }, 10);
      expect(await store.loadOAuthState("s")).toEqual({ a: [1, "ü", null] });
      expect(await other.loadOAuthState("s")).toEqual({ a: [1, "ü", null] });
      expect(await other.takeOAuthState("s")).toEqual({ a: [1, "ü", null] });
      expect(await store.takeOAuthState("s")).toBeNull();
      expect(await other.loadOAuthState("s")).toBeNull();
      await store.saveOAuthState("s", "again", 10);
      expect(await other.takeOAuthState("s")).toBe("again");
    });

    test("of many who take one at once, here and elsewhere, one gets it", async () => {
      const { store, other } = current();
      for (let round = 0; round < 20; round++) {
        await store.saveOAuthState(`s${round}`, round, 10);
        const takers = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? store : other).takeOAuthState(`s${round}`));
        expect((await Promise.all(takers)).filter((taken) => taken !== null)).toEqual([round]);
      }
    });

    test("are gone when their time is over", async () => {
      const { store, other, pass } = current();
      await store.saveOAuthState("short", 1, 5);
      await store.saveOAuthState("taken", 2, 5);
      await store.saveOAuthState("long", 3, 10);
      await pass(4_900);
      expect(await other.loadOAuthState("short")).toBe(1);
      await pass(100);
      expect(await other.loadOAuthState("short")).toBeNull();
      expect(await store.takeOAuthState("taken")).toBeNull();
      expect(await store.takeOAuthState("long")).toBe(3);
    });

    test("are kept no longer than anything else is", async () => {
      const { store, pass } = current();
      for (const seconds of [1_000, 1e300]) {
        await store.saveOAuthState("s", 1, seconds);
        await pass(95_000);
        expect(await store.loadOAuthState("s")).toBe(1);
        await pass(5_000);
        expect(await store.takeOAuthState("s")).toBeNull();
      }
    });

    test("saved again are new: what they are, and for how long", async () => {
      const { store, other, pass } = current();
      await store.saveOAuthState("s", "old", 50);
      await other.saveOAuthState("s", "new", 5);
      await store.saveOAuthState("t", "old", 5);
      await other.saveOAuthState("t", "new", 50);
      expect(await store.loadOAuthState("s")).toBe("new");
      await pass(5_000);
      expect(await store.loadOAuthState("s")).toBeNull();
      expect(await store.takeOAuthState("t")).toBe("new");
      expect(await other.takeOAuthState("t")).toBeNull();
    });

    test("there is always one, while others save it anew", async () => {
      const { store, other } = current();
      await store.saveOAuthState("s", 1, 10);
      const saving = Array.from({ length: 30 }, () => store.saveOAuthState("s", 1, 10));
      for (let round = 0; round < 30; round++) expect(await other.loadOAuthState("s")).toBe(1);
      await Promise.all(saving);
      expect(await other.takeOAuthState("s")).toBe(1);
      expect(await store.takeOAuthState("s")).toBeNull();
    });

    test("of too many the oldest make room, and no run does", async () => {
      const { store, pass } = current();
      await store.savePlannerState("a", "run");
      for (const state of ["a", "b", "c", "d"]) {
        await store.saveOAuthState(state, state, 50);
        await pass(1);
      }
      const left = await Promise.all(["a", "b", "c", "d"].map((state) => store.loadOAuthState(state)));
      expect(left).toEqual([null, "b", "c", "d"]);
      expect(await store.loadPlannerState("a")).toBe("run");
      expect(await store.takeOAuthState("b")).toBe("b");
      expect(await store.claimPlannerState("b", "ada", 10)).toBe(false);
    });

    test("what is too large is refused, and what was there stays", async () => {
      const { store } = current();
      await store.saveOAuthState("s", "x".repeat(998), 10);
      const large = store.saveOAuthState("s", "ü".repeat(500), 10);
      await expect(large).rejects.toMatchObject({ code: "E_TOO_LARGE" });
      expect(await store.takeOAuthState("s")).toBe("x".repeat(998));
    });

    test("two never share a place, whatever is in them", async () => {
      const { store } = current();
      const property = fc.asyncProperty(names, names, async (state, another) => {
        fc.pre(state !== another);
        await store.saveOAuthState(state, 1, 10);
        await store.saveOAuthState(another, 2, 10);
        expect([await store.takeOAuthState(state), await store.takeOAuthState(another)]).toEqual([1, 2]);
      });
      await fc.assert(property, { numRuns: 50 });
    });

    test.each([0, -1, Number.NaN, "10", undefined])("are not kept for %s seconds", async (seconds) => {
      const { store } = current();
      const saving = store.saveOAuthState("s", 1, seconds as number);
      await expect(saving).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
      expect(await store.loadOAuthState("s")).toBeNull();
    });
  });
}
