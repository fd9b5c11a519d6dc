import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Shelf } from "../../../../web/src/tools/resources/cache.js";

const LIMITS = { count: 3, size: 10 };
const FOREVER = { ttl: 1_000_000 };

test("what is too large for the whole shelf is not put there, and takes no other's place", () => {
  const shelf = new Shelf<string>(LIMITS, () => 0);
  shelf.set("a", "a", { size: 5, ...FOREVER });
  shelf.set("b", "b", { size: 11, ...FOREVER });
  expect([shelf.get("a"), shelf.get("b")]).toEqual(["a", undefined]);
});

test("what is used stays, and what is asked about only does not", () => {
  const shelf = new Shelf<string>(LIMITS, () => 0);
  for (const key of ["a", "b", "c"]) shelf.set(key, key, { size: 1, ...FOREVER });
  shelf.get("a");
  expect(shelf.has("b", "b")).toBe(true);
  shelf.set("d", "d", { size: 1, ...FOREVER });
  expect([shelf.get("a"), shelf.get("b"), shelf.get("c"), shelf.get("d")]).toEqual(["a", undefined, "c", "d"]);
});

test("a shelf holds what fits, the latest used, until its time is over", () => {
  const step = fc.record({
    do: fc.constantFrom("set", "set", "get", "delete", "forget", "clear", "wait"),
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    size: fc.integer({ min: 0, max: 6 }),
    ttl: fc.constantFrom(-1, 0, 2, 5, Number.NaN),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
      let now = 0;
      /** Numbers of steps that gave what they should not have. */
      const wrong: number[] = [];
      let known: { readonly key: string; readonly size: number; readonly value: number; readonly expires: number }[] =
        [];
      const shelf = new Shelf<number>(LIMITS, () => now);
      for (const [value, { do: what, key, size, ttl }] of steps.entries()) {
        const there = known.find((each) => each.key === key);
        const others = known.filter((each) => each.key !== key);
        if (what === "set") {
          shelf.set(key, value, { size, ttl });
          known = ttl > 0 ? [...others, { key, size, value, expires: now + ttl }] : others;
          while (known.length > 3 || known.reduce((sum, each) => sum + each.size, 0) > 10) known = known.slice(1);
        } else if (what === "get") {
          const isFresh = there !== undefined && now < there.expires;
          if (shelf.get(key) !== (isFresh ? there.value : undefined)) wrong.push(value);
          known = isFresh ? [...others, there] : others;
        } else if (what === "delete") {
          shelf.delete(key);
          known = others;
        } else if (what === "forget") {
          shelf.forget((each) => each % 2 === 0);
          known = known.filter((each) => each.value % 2 === 1);
        } else if (what === "clear") {
          shelf.clear();
          known = [];
        } else now += 1;
      }
      expect(wrong).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
