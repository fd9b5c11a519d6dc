/** Work that changes ask for is done one at a time, and not in a storm. */
import { expect, test } from "vitest";
import { Refreshing } from "../../../web/src/tools/offers.js";
import { deferred, ManualClock } from "./resilience/manual.js";

/** Lets everything go on that waits for nothing. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("however often it is asked for while it is under way, it is done once more, and after a pause", async () => {
  const clock = new ManualClock();
  const first = deferred();
  let done = 0;
  const work = async (): Promise<void> => {
    done += 1;
    if (done === 1) await first.promise;
  };
  const refreshing = new Refreshing(work, new AbortController().signal, clock);
  for (let time = 0; time < 3000; time += 1) refreshing.ask();
  await settled();
  expect(done).toBe(1);
  first.resolve();
  await settled();
  expect(done).toBe(1);
  clock.pass(1);
  await settled();
  expect(done).toBe(2);
  clock.pass(60);
  await settled();
  expect(done).toBe(2);
  refreshing.ask();
  await settled();
  expect(done).toBe(3);
});

test("what asks for itself without end is done once a second", async () => {
  const clock = new ManualClock();
  let done = 0;
  const refreshing: Refreshing = new Refreshing(
    async () => {
      done += 1;
      refreshing.ask();
    },
    new AbortController().signal,
    clock,
  );
  refreshing.ask();
  for (let second = 0; second < 5; second += 1) {
    await settled();
    clock.pass(1);
  }
  await settled();
  expect(done).toBe(6);
});

test("once it is ended nothing is done any more", async () => {
  const over = new AbortController();
  const clock = new ManualClock();
  let done = 0;
  const refreshing = new Refreshing(async () => void (done += 1), over.signal, clock);
  refreshing.ask();
  await settled();
  refreshing.ask();
  over.abort(new Error("closed"));
  clock.pass(1);
  await settled();
  refreshing.ask();
  await settled();
  expect(done).toBe(1);
});
