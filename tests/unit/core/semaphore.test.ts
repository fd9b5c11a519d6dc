/** Work takes turns: so much at a time, in the order in which it came, whatever fails or is given up. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Semaphore } from "../../../web/src/core/semaphore.js";

/** Work that goes on until it is told to end. */
interface Work {
  readonly end: () => void;
  readonly fail: (reason: Error) => void;
}

/** Lets everything happen that waits for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Line {
  readonly semaphore: Semaphore;
  /** In the order in which their turn came. */
  readonly begun: number[] = [];
  readonly works = new Map<number, Work>();
  readonly outcomes: Promise<string>[] = [];
  readonly controls: AbortController[] = [];

  constructor(most: number) {
    this.semaphore = new Semaphore(most);
  }

  come(): void {
    const at = this.controls.length;
    const control = new AbortController();
    this.controls.push(control);
    const work = async (): Promise<string> => {
      this.begun.push(at);
      try {
        await new Promise<void>((resolve, reject) => this.works.set(at, { end: resolve, fail: reject }));
      } finally {
        this.works.delete(at);
      }
      return "done";
    };
    const outcome = this.semaphore.run(work, control.signal);
    this.outcomes.push(outcome.catch((error: unknown) => (error as Error).message));
  }
}

describe("a semaphore", () => {
  test("lets the next one in when one ends, in the order of their coming", async () => {
    const line = new Line(2);
    for (let count = 0; count < 4; count += 1) line.come();
    await settled();
    expect([line.begun, line.semaphore.running, line.semaphore.waiting, line.semaphore.isFull]).toEqual([
      [0, 1],
      2,
      2,
      true,
    ]);
    line.works.get(1)?.end();
    await settled();
    expect([line.begun, line.semaphore.waiting]).toEqual([[0, 1, 2], 1]);
    line.works.get(0)?.fail(new Error("failed"));
    await settled();
    expect(line.begun).toEqual([0, 1, 2, 3]);
    for (const { end } of line.works.values()) end();
    expect(await Promise.all(line.outcomes)).toEqual(["failed", "done", "done", "done"]);
    expect([line.semaphore.running, line.semaphore.waiting, line.semaphore.isFull]).toEqual([0, 0, false]);
  });

  // The turn of the one that is given up comes in one of these moments.
  test.each(Array.from({ length: 12 }, (_, moments) => moments))(
    "passes a turn on that comes while it is given up, %s moments after the end of the one before",
    async (moments) => {
      const line = new Line(1);
      for (let count = 0; count < 3; count += 1) line.come();
      await settled();
      line.works.get(0)?.end();
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
      const hadBegun = line.begun.includes(1);
      line.controls[1]?.abort(new Error("given up"));
      await settled();
      expect(line.begun.includes(1)).toBe(hadBegun);
      line.works.get(1)?.end();
      await settled();
      line.works.get(2)?.end();
      expect(await Promise.all(line.outcomes)).toEqual(["done", hadBegun ? "done" : "given up", "done"]);
      expect(line.semaphore.running).toBe(0);
    },
  );

  test("does not begin with what is given up already", async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.run(() => Promise.resolve(), AbortSignal.abort(new Error("given up")))).rejects.toThrow(
      "given up",
    );
    expect([semaphore.running, semaphore.waiting]).toEqual([0, 0]);
  });

  test("never runs more than its limit, overtakes nobody, and ends empty", async () => {
    const step = fc.oneof(
      fc.constant({ kind: "come" as const, at: 0 }),
      fc.record({ kind: fc.constantFrom("end" as const, "fail" as const, "leave" as const), at: fc.nat(15) }),
      fc.constant({ kind: "wait" as const, at: 0 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), async (most, steps) => {
        const line = new Line(most);
        for (const { kind, at } of steps) {
          if (kind === "come") line.come();
          else if (kind === "end") line.works.get(at)?.end();
          else if (kind === "fail") line.works.get(at)?.fail(new Error("failed"));
          else if (kind === "leave") line.controls[at]?.abort(new Error("given up"));
          else await settled();
          expect(line.works.size).toBeLessThanOrEqual(most);
        }
        while (line.semaphore.running > 0) {
          await settled();
          for (const { end } of line.works.values()) end();
        }
        const outcomes = await Promise.all(line.outcomes);
        for (const outcome of outcomes) expect(["done", "failed", "given up"]).toContain(outcome);
        expect(line.begun).toEqual(line.begun.toSorted((one, other) => one - other));
        expect([line.semaphore.running, line.semaphore.waiting]).toEqual([0, 0]);
      }),
    );
  });
});
