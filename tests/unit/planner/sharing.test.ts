import fc from "fast-check";
import { expect, test } from "vitest";
import { shared } from "../../../web/src/planner/sharing.js";

test("who needs little leaves the rest to the others", () => {
  expect(shared([100, 90_000, 90_000], 100_000)).toEqual([100, 49_950, 49_950]);
  expect(shared([10, 20], 100_000)).toEqual([10, 20]);
  expect(shared([], 100_000)).toEqual([]);
});

test("together they have no more than there is, and nobody gets less than 256 who needs it", () => {
  const needs = fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 100 });
  const property = fc.property(needs, fc.integer({ min: 25_600, max: 200_000 }), (wanted, total) => {
    const shares = shared(wanted, total);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(total);
    for (const [at, share] of shares.entries()) {
      expect(share).toBeLessThanOrEqual(wanted[at] as number);
      expect(share).toBeGreaterThanOrEqual(Math.min(256, wanted[at] as number));
    }
  });
  fc.assert(property);
});
