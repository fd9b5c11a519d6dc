import { expect, test } from "vitest";
import { Latest } from "../../../../web/playground/app/latest.js";

/** Work that ends when it is told to. */
class Bench {
  readonly begun: string[] = [];
  readonly #ends: ((error?: Error) => void)[] = [];
  readonly work = (input: string): Promise<string> =>
    new Promise((resolve, reject) => {
      this.begun.push(input);
      this.#ends.push((error) => (error === undefined ? resolve(`${input} done`) : reject(error)));
    });

  end(error?: Error): void {
    this.#ends.shift()?.(error);
  }
}

test("what comes alone is done", async () => {
  const latest = new Latest(async (input: number) => input * 2);
  expect(await latest.run(1)).toBe(2);
  expect(await latest.run(2)).toBe(4);
});

test("of those that come while one is under way, the last is done, when that has ended", async () => {
  const bench = new Bench();
  const latest = new Latest(bench.work);
  const first = latest.run("a");
  await expect.poll(() => bench.begun).toEqual(["a"]);
  const others = ["b", "c", "d"].map((input) => latest.run(input));
  expect(bench.begun).toEqual(["a"]);
  bench.end();
  expect(await first).toBe("a done");
  await expect.poll(() => bench.begun).toEqual(["a", "d"]);
  bench.end();
  expect(await Promise.all(others)).toEqual(["d done", "d done", "d done"]);
  expect(bench.begun).toEqual(["a", "d"]);
});

test("of those that come at once, only the last is done", async () => {
  const begun: string[] = [];
  const latest = new Latest(async (input: string) => {
    begun.push(input);
  });
  await Promise.all(["a", "b", "c"].map((input) => latest.run(input)));
  expect(begun).toEqual(["c"]);
});

test("what fails is told to who asked, and holds nobody else up", async () => {
  const bench = new Bench();
  const latest = new Latest(bench.work);
  const first = latest.run("a");
  await expect.poll(() => bench.begun).toEqual(["a"]);
  const next = latest.run("b");
  bench.end(new Error("no"));
  await expect(first).rejects.toThrow("no");
  await expect.poll(() => bench.begun).toEqual(["a", "b"]);
  bench.end();
  expect(await next).toBe("b done");
});
