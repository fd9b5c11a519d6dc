import fc from "fast-check";
import { expect, test } from "vitest";
import { shared } from "../../../web/src/planner/observation.js";

test("who needs little leaves the rest to the others", () => {
  expect(shared([100, 90_000, 90_000], 100_000)).toEqual([100, 49_950, 49_950]);
  expect(shared([10, 20], 100_000)).toEqual([10, 20]);
  expect(shared([], 100_000)).toEqual([]);
});

/** What so many want, and at least 256 for each of them. */
const wanted = fc
  .array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 256 })
  .chain((needs) => fc.tuple(fc.constant(needs), fc.integer({ min: needs.length * 256, max: 200_000 })));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

test("together they have no more than there is, and nobody gets less than 256 who needs it", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const shares = shared(needs, total);
    expect(sum(shares)).toBeLessThanOrEqual(total);
    for (const [at, share] of shares.entries()) {
      expect(share).toBeLessThanOrEqual(needs[at] as number);
      expect(share).toBeGreaterThanOrEqual(Math.min(256, needs[at] as number));
    }
  });
  fc.assert(property);
});

test("where there is less than 256 for each, each gets 256", () => {
  expect(shared([1_000, 100, 1_000], 300)).toEqual([256, 100, 256]);
});

test("who is cut to a share keeps it while the others are cut, the longest first", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const left = [...needs];
    const longestFirst = needs.map((_, at) => at).toSorted((a, b) => (needs[b] as number) - (needs[a] as number));
    for (const at of longestFirst) left[at] = shared(left, total)[at] as number;
    expect(sum(left)).toBeLessThanOrEqual(total);
  });
  fc.assert(property);
});
