/** Work that several wait for at once. */
import { expect, test } from "vitest";
import { Flights } from "../../../../web/src/tools/resources/flights.js";

interface Work {
  readonly start: (signal: AbortSignal) => Promise<string>;
  readonly signals: AbortSignal[];
  readonly finish: (value: string) => void;
  readonly fail: (error: Error) => void;
}

function work(): Work {
  const signals: AbortSignal[] = [];
  const settle: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  return {
    signals,
    start: (signal) => {
      signals.push(signal);
      return new Promise((resolve, reject) => {
        settle.push({ resolve, reject });
      });
    },
    finish: (value) => settle.at(-1)?.resolve(value),
    fail: (error) => settle.at(-1)?.reject(error),
  };
}

test("is done once for all who ask for it meanwhile", async () => {
  const flights = new Flights<string>();
  const { start, signals, finish } = work();
  const all = [flights.join("a", undefined, start), flights.join("a", undefined, start)];
  finish("done");
  expect(await Promise.all(all)).toEqual(["done", "done"]);
  expect(signals).toHaveLength(1);
});

test("is done again for whoever comes after it", async () => {
  const flights = new Flights<string>();
  const { start, signals, finish } = work();
  const first = flights.join("a", undefined, start);
  finish("one");
  expect(await first).toBe("one");
  const second = flights.join("a", undefined, start);
  finish("two");
  expect(await second).toBe("two");
  expect(signals).toHaveLength(2);
});

test("fails for all who wait, and for nobody later", async () => {
  const flights = new Flights<string>();
  const { start, finish, fail } = work();
  const all = [flights.join("a", undefined, start), flights.join("a", undefined, start)];
  fail(new Error("refused"));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const next = flights.join("a", undefined, start);
  finish("fine");
  expect(await next).toBe("fine");
});

test("goes on when one of those who wait gives up", async () => {
  const flights = new Flights<string>();
  const { start, signals, finish } = work();
  const gone = new AbortController();
  const one = flights.join("a", gone.signal, start);
  const other = flights.join("a", undefined, start);
  gone.abort(new Error("gone"));
  await expect(one).rejects.toThrow("gone");
  expect(signals[0]?.aborted).toBe(false);
  finish("done");
  expect(await other).toBe("done");
});

test("is given up with the last of them, and joined no more", async () => {
  const flights = new Flights<string>();
  const { start, signals, finish } = work();
  const gone = new AbortController();
  const all = [flights.join("a", gone.signal, start), flights.join("a", gone.signal, start)];
  gone.abort(new Error("gone"));
  await Promise.allSettled(all);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  const next = flights.join("a", undefined, start);
  finish("anew");
  expect(await next).toBe("anew");
  expect(signals).toHaveLength(2);
});

test("is not begun for whoever has given up already", async () => {
  const { start, signals } = work();
  await expect(new Flights<string>().join("a", AbortSignal.abort(new Error("gone")), start)).rejects.toThrow("gone");
  expect(signals).toEqual([]);
});

test("is not joined once it was closed, and still comes to an end", async () => {
  const flights = new Flights<string>();
  const before = work();
  const after = work();
  const early = flights.join("a", undefined, before.start);
  flights.close();
  const late = flights.join("a", undefined, after.start);
  before.finish("old");
  after.finish("new");
  expect(await Promise.all([early, late])).toEqual(["old", "new"]);
});
