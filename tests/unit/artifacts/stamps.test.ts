import { expect, test } from "vitest";
import { stampOf, Stamps } from "../../../web/src/artifacts/reference.js";

test("stamps grow where the clock stands still or goes back", () => {
  let now = 1_000;
  const stamps = new Stamps(() => now);
  const given = [stamps.next(), stamps.next()];
  now = 10;
  given.push(stamps.next());
  now = 2_000;
  given.push(stamps.next());
  expect(given).toEqual([1_000_000, 1_000_001, 1_000_002, 2_000_000]);
});

test.each([Number.NaN, Infinity, -Infinity, 1e300, 9e15, "x", undefined])(
  "a clock that says %s gives no time, and spoils no later one",
  (reading) => {
    let now: unknown = 1_000;
    const stamps = new Stamps(() => now as number);
    stamps.next();
    now = reading;
    expect(stamps.now()).toBeNaN();
    expect(stamps.next()).toBe(1_000_001);
    now = 5_000;
    expect(stamps.next()).toBe(5_000_000);
  },
);

test("a stamp of someone else's is passed, unless it is none", () => {
  const stamps = new Stamps(() => 1);
  stamps.after(7_000);
  expect(stamps.next()).toBe(7_001);
  for (const none of [Number.NaN, Infinity, stampOf(1e14)]) stamps.after(none);
  expect(stamps.next()).toBe(7_002);
});
