import { expect, test } from "vitest";
import { SingleFlight } from "../../../web/src/tools/keyed-work.js";

interface Work {
  readonly start: (signal: AbortSignal) => Promise<string>;
  readonly signals: AbortSignal[];
  readonly finish: (value: string) => void;
  readonly fail: (error: Error) => void;
}

function newWork(): Work {
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
  const work = new SingleFlight<string>();
  const { start, signals, finish } = newWork();
  const all = [work.join("a", undefined, start), work.join("a", undefined, start)];
  finish("done");
  expect(await Promise.all(all)).toEqual(["done", "done"]);
  expect(signals).toHaveLength(1);
});

test("is done again for whoever comes after it", async () => {
  const work = new SingleFlight<string>();
  const { start, signals, finish } = newWork();
  const first = work.join("a", undefined, start);
  finish("one");
  expect(await first).toBe("one");
  const second = work.join("a", undefined, start);
  finish("two");
  expect(await second).toBe("two");
  expect(signals).toHaveLength(2);
});

test("fails for all who wait, and for nobody later", async () => {
  const work = new SingleFlight<string>();
  const { start, finish, fail } = newWork();
  const all = [work.join("a", undefined, start), work.join("a", undefined, start)];
  fail(new Error("refused"));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const next = work.join("a", undefined, start);
  finish("fine");
  expect(await next).toBe("fine");
});

test("goes on when one of those who wait gives up", async () => {
  const work = new SingleFlight<string>();
  const { start, signals, finish } = newWork();
  const gone = new AbortController();
  const one = work.join("a", gone.signal, start);
  const other = work.join("a", undefined, start);
  gone.abort(new Error("gone"));
  await expect(one).rejects.toThrow("gone");
  expect(signals[0]?.aborted).toBe(false);
  finish("done");
  expect(await other).toBe("done");
});

test("is given up with the last of them, and joined no more", async () => {
  const work = new SingleFlight<string>();
  const { start, signals, finish } = newWork();
  const gone = new AbortController();
  const all = [work.join("a", gone.signal, start), work.join("a", gone.signal, start)];
  gone.abort(new Error("gone"));
  await Promise.allSettled(all);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  const next = work.join("a", undefined, start);
  finish("anew");
  expect(await next).toBe("anew");
  expect(signals).toHaveLength(2);
});

test("is not begun for whoever has given up already", async () => {
  const { start, signals } = newWork();
  await expect(new SingleFlight<string>().join("a", AbortSignal.abort(new Error("gone")), start)).rejects.toThrow(
    "gone",
  );
  expect(signals).toEqual([]);
});

test("is not joined once it was closed, and still comes to an end", async () => {
  const work = new SingleFlight<string>();
  const before = newWork();
  const after = newWork();
  const early = work.join("a", undefined, before.start);
  work.close();
  const late = work.join("a", undefined, after.start);
  before.finish("old");
  after.finish("new");
  expect(await Promise.all([early, late])).toEqual(["old", "new"]);
});
