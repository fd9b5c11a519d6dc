import { expect, test } from "vitest";
import { ToolServerError } from "../../../../web/src/tools/errors.js";
import { sleep, systemClock } from "../../../../web/src/tools/resilience/clock.js";
import { Resilience } from "../../../../web/src/tools/resilience/resilience.js";
import { ManualClock, policy } from "./manual.js";

test("the machine's clock wakes who sleeps, and keeps who asked for longer than a timer can", async () => {
  let isOver = false;
  const forget = systemClock.after(1e12, () => (isOver = true));
  const began = systemClock.now();
  await sleep(systemClock, 2, undefined);
  expect(systemClock.now()).toBeGreaterThan(began);
  expect(isOver).toBe(false);
  forget();
});

test("whoever gives up sleeping leaves no timer", async () => {
  const clock = new ManualClock();
  const caller = new AbortController();
  const sleeping = sleep(clock, 1000, caller.signal);
  expect(clock.pending).toBe(1);
  caller.abort("enough");
  await expect(sleeping).rejects.toBe("enough");
  expect(clock.pending).toBe(0);
  await expect(sleep(clock, 1000, caller.signal)).rejects.toBe("enough");
  expect(clock.pending).toBe(0);
});

test("without a clock of somebody's, waits between attempts pass by themselves", async () => {
  const rules = policy({ wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.01 });
  const answer = new Resilience("shop", rules).run(
    async ({ number }) => {
      if (number === 1) throw new ToolServerError("x", { status: 500 });
      return number;
    },
    { isRepeatable: false },
  );
  expect(await answer).toBe(2);
});
