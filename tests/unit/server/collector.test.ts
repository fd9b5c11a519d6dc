import { expect, test, vi } from "vitest";
import { RetainingArtifactStore } from "../../../web/src/artifacts/retention/retaining-store.js";
import { BareMemoryStore } from "../../../web/src/artifacts/memory.js";
import { Collector, getSweep } from "../../../web/src/server/sluice-server.js";
import { listed } from "../artifacts/bytes.js";

// Retention at work in a server, in time that the test sets.

/** Waits until the test lets it. */
class Waits {
  readonly asked: number[] = [];
  #go: (() => void) | undefined;

  readonly wait = (milliseconds: number, signal: AbortSignal): Promise<void> => {
    this.asked.push(milliseconds);
    return new Promise((resolve, reject) => {
      const over = (): void => reject(new Error("over"));
      this.#go = () => {
        signal.removeEventListener("abort", over);
        resolve();
      };
      signal.addEventListener("abort", over);
    });
  };

  async next(): Promise<void> {
    const before = this.asked.length;
    this.#go?.();
    await vi.waitUntil(() => this.asked.length === before + 1);
  }
}

test("expired artifacts go without a request, again and again, until the end", async () => {
  let now = 1_000_000;
  const waits = new Waits();
  const inner = new BareMemoryStore({ clock: () => now });
  const store = new RetainingArtifactStore(inner, { ttl_seconds: 10 }, { clock: () => now });
  const collector = new Collector({ store, seconds: 60, report: () => undefined, wait: waits.wait });
  for (let round = 0; round < 3; round++) {
    await store.putText(`${round}`);
    await waits.next();
    expect(await listed(inner.list())).toHaveLength(1);
    now += 10_000;
    await waits.next();
    expect(await listed(inner.list())).toHaveLength(0);
  }
  expect(Math.min(...waits.asked)).toBeGreaterThanOrEqual(48_000);
  expect(Math.max(...waits.asked)).toBeLessThanOrEqual(72_000);
  await collector[Symbol.asyncDispose]();
  await store.putText("late");
  now += 10_000;
  expect(await listed(inner.list())).toHaveLength(1);
});

test("what fails is told, and tried the next time", async () => {
  const waits = new Waits();
  const reported: unknown[] = [];
  let fails = true;
  class Failing extends BareMemoryStore {
    // oxlint-disable-next-line require-yield
    override async *list(): AsyncGenerator<never> {
      if (fails) throw new Error("the disk is gone");
    }
  }
  const store = new RetainingArtifactStore(new Failing());
  const collector = new Collector({
    store,
    seconds: 1,
    report: (error) => void reported.push(error),
    wait: waits.wait,
  });
  await waits.next();
  expect(reported).toMatchObject([{ code: "E_STORE_READ" }]);
  fails = false;
  await waits.next();
  expect(reported).toHaveLength(1);
  await collector[Symbol.asyncDispose]();
});

test("every twelfth time it is swept, where there is something to sweep", async () => {
  const waits = new Waits();
  const sweep = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("no")).mockResolvedValue(undefined);
  const reported: unknown[] = [];
  const store = new RetainingArtifactStore(new BareMemoryStore());
  const collector = new Collector({
    store,
    sweep,
    seconds: 1,
    report: (error) => void reported.push(error),
    wait: waits.wait,
  });
  for (let round = 0; round < 24; round++) await waits.next();
  expect([sweep.mock.calls.length, reported.length]).toEqual([2, 1]);
  expect(getSweep(new BareMemoryStore())).toBeUndefined();
  await collector[Symbol.asyncDispose]();
});

test("the end waits for a collection, and not for one that hangs", async () => {
  vi.useFakeTimers();
  try {
    const waits = new Waits();
    class Hanging extends BareMemoryStore {
      // oxlint-disable-next-line require-yield
      override async *list(): AsyncGenerator<never> {
        await new Promise(() => undefined);
      }
    }
    const collector = new Collector({
      store: new RetainingArtifactStore(new Hanging()),
      seconds: 1,
      report: () => undefined,
      wait: (milliseconds, signal) =>
        waits.asked.length === 0 ? (waits.asked.push(0), Promise.resolve()) : waits.wait(milliseconds, signal),
    });
    await vi.advanceTimersByTimeAsync(1);
    let isOver = false;
    void collector[Symbol.asyncDispose]().then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(4000);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1500);
    expect(isOver).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
