import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inSteps, inTime, LONGEST, StoreLate } from "../../../../web/src/server/http/time-limit.js";

/** Waiting that comes to an end. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds));

/** Pieces that each take so long to come. */
async function* pieces(...times: readonly number[]): AsyncIterable<number> {
  for (const time of times) {
    await pause(time);
    yield time;
  }
}

/** Takes all, each in so long, and so long for the end. */
const taking =
  (each: number, end: number) =>
  async (all: AsyncIterable<number>): Promise<number> => {
    let sum = 0;
    for await (const piece of all) {
      await pause(each);
      sum += piece;
    }
    await pause(end);
    return sum;
  };

async function outcome(work: Promise<unknown>): Promise<unknown> {
  const settled = work.catch((error: unknown) => (error instanceof StoreLate ? "late" : String(error)));
  await vi.advanceTimersByTimeAsync(10_000_000);
  return settled;
}

test.each([
  ["pieces that are long in coming cost nothing", [5000, 60_000], 900, 900, 65_000],
  ["many short steps may take long together", Array.from({ length: 100 }, () => 0), 900, 0, 0],
  ["a piece that is long in being taken is late", [1, 1], 1100, 0, "late"],
  ["an end that is long in coming is late", [1], 1, 1100, "late"],
  ["nothing to take is done at once", [], 1, 1, 0],
] as const)("%s", async (_, times, each, end, expected) => {
  expect(await outcome(inSteps(pieces(...times), taking(each, end), 1000))).toBe(expected);
  expect(vi.getTimerCount()).toBe(0);
});

async function* broken(): AsyncIterable<number> {
  yield 1;
  throw new Error("broken off");
}

test("what the pieces fail at is what comes of it", async () => {
  expect(await outcome(inSteps(broken(), taking(1, 1), 1000))).toBe("Error: broken off");
});

test("work that never begins to take is late", async () => {
  const never = new Promise<number>(() => undefined);
  expect(await outcome(inSteps(pieces(1), () => never, 1000))).toBe("late");
});

test.each([0, -1, Number.NaN])("no time (%d) is over at once", async (milliseconds) => {
  expect(await outcome(inTime(new Promise(() => undefined), milliseconds, () => new StoreLate()))).toBe("late");
});

test("more time than timers take is not none", async () => {
  expect(
    await outcome(
      inTime(
        pause(1000).then(() => "done"),
        LONGEST * 4,
        () => new StoreLate(),
      ),
    ),
  ).toBe("done");
  expect(
    await outcome(
      inTime(
        pause(1000).then(() => "done"),
        Infinity,
        () => new StoreLate(),
      ),
    ),
  ).toBe("done");
});
