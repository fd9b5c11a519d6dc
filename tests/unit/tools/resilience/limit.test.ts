import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ConcurrencyLimit } from "../../../../web/src/tools/resilience/resilience.js";
import { deferred } from "./manual.js";

const place = { source: "shop" };

test("one more than may wait is turned away with a remedy, and nobody else", async () => {
  const limit = new ConcurrencyLimit(1, 2);
  const finish = deferred<string>();
  const first = limit.run(() => finish.promise, undefined, place);
  const second = limit.run(async () => "b", undefined, place);
  const third = limit.run(async () => "c", undefined, place);
  const turnedAway = limit.run(async () => "d", undefined, place);
  await expect(turnedAway).rejects.toMatchObject({ code: "E_TOOL_RATE_LIMIT", neverSent: true, isRetryable: false });
  await expect(turnedAway).rejects.toThrow(/too many calls waiting for it: call again when/);
  expect(limit).toMatchObject({ inFlight: 1, waiting: 2 });
  finish.resolve("a");
  expect(await Promise.all([first, second, third])).toEqual(["a", "b", "c"]);
  expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("those who wait go in their order, whoever gives up and whoever comes at the last moment", async () => {
  const limit = new ConcurrencyLimit(1, 3);
  const order: string[] = [];
  const finish = deferred();
  const first = limit.run(() => finish.promise, undefined, place);
  const caller = new AbortController();
  const enter = async (name: string, signal?: AbortSignal): Promise<unknown> =>
    limit.run(async () => order.push(name), signal, place).catch(String);
  const waiting = [enter("a", caller.signal), enter("b"), enter("c")];
  caller.abort("given up");
  expect(await waiting[0]).toBe("given up");
  expect(limit.waiting).toBe(2);
  // Newcomers in every moment in which the turn could be up for grabs.
  const late: Promise<unknown>[] = [];
  finish.resolve();
  for (let moment = 0; moment < 12; moment += 1) {
    late.push(enter(`late ${moment}`));
    await Promise.resolve();
  }
  await first;
  expect(await Promise.all(waiting)).toEqual(["given up", 1, 2]);
  await Promise.all(late);
  expect(order.slice(0, 2)).toEqual(["b", "c"]);
});

test("a turn that comes to somebody who just gave up goes to the next", async () => {
  const limit = new ConcurrencyLimit(1);
  const finish = deferred();
  const first = limit.run(() => finish.promise, undefined, place);
  const caller = new AbortController();
  const second = limit.run(async () => "second", caller.signal, place);
  const third = limit.run(async () => "third", undefined, place);
  finish.resolve();
  // As soon as the turn was handed on, and before its owner can know.
  while (limit.waiting === 2) await Promise.resolve();
  caller.abort("given up");
  await expect(second).rejects.toBe("given up");
  expect(await third).toBe("third");
  await first;
  expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("whatever becomes of the calls, each is settled, the limit holds, and nothing is left over", async () => {
  const fates = fc.array(fc.constantFrom("succeed", "fail", "give up early", "give up late"), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fates, fc.integer({ min: 1, max: 5 }), async (list, most) => {
      const limit = new ConcurrencyLimit(most);
      let now = 0;
      const calls = list.map(async (fate, index) => {
        const caller = new AbortController();
        const call = limit.run(
          async () => {
            now += 1;
            expect(now).toBeLessThanOrEqual(most);
            await new Promise(setImmediate);
            now -= 1;
            if (fate === "fail") throw new Error("failed");
            return index;
          },
          caller.signal,
          place,
        );
        if (fate === "give up early") caller.abort("given up");
        if (fate === "give up late") setImmediate(() => caller.abort("given up"));
        return call.catch(String);
      });
      const settled = await Promise.all(calls);
      list.forEach((fate, index) => {
        const outcomes: unknown[] = {
          succeed: [index],
          fail: ["Error: failed"],
          // Work that has begun heeds its signal itself, or does not.
          "give up early": ["given up", index],
          "give up late": ["given up", index],
        }[fate];
        expect(outcomes).toContain(settled[index]);
      });
      await new Promise(setImmediate);
      expect(limit).toMatchObject({ inFlight: 0, waiting: 0 });
    }),
  );
});
