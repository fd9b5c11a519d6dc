/** Work by key: joined, done in turn, and changes that are told now and then. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Changes, KeyedQueue, SingleFlight } from "../../../web/src/core/keyed-work.js";

/** Lets everything happen that waits for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to. */
class Work {
  readonly starts: { readonly signal: AbortSignal; readonly listeners: ReadonlySet<string> }[] = [];
  end: (value: string) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  readonly start = (signal: AbortSignal, listeners: ReadonlySet<string>): Promise<string> => {
    this.starts.push({ signal, listeners });
    return new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  };
}

describe("shared work", () => {
  const joining = (): { flight: SingleFlight<string, string>; work: Work } => ({
    flight: new SingleFlight<string, string>(),
    work: new Work(),
  });

  test("is done once for all who ask for the same, and begun anew when it is over", async () => {
    const { flight, work } = joining();
    const both = [flight.join("a", undefined, work.start), flight.join("a", undefined, work.start)];
    const other = new Work();
    const apart = flight.join("b", undefined, other.start);
    expect([work.starts.length, other.starts.length]).toEqual([1, 1]);
    work.end("done");
    other.end("apart");
    expect(await Promise.all([...both, apart])).toEqual(["done", "done", "apart"]);
    const again = flight.join("a", undefined, work.start);
    expect(work.starts).toHaveLength(2);
    work.end("anew");
    expect(await again).toBe("anew");
  });

  test("fails for all who wait, and for nobody later", async () => {
    const { flight, work } = joining();
    const both = [flight.join("a", undefined, work.start), flight.join("a", undefined, work.start)];
    work.fail(new Error("failed"));
    for (const call of both) await expect(call).rejects.toThrow("failed");
    const next = flight.join("a", undefined, work.start);
    work.end("fine");
    expect(await next).toBe("fine");
  });

  test("is aborted when the last of its callers has given up, and not before", async () => {
    const { flight, work } = joining();
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [flight.join("a", one.signal, work.start), flight.join("a", other.signal, work.start)].map((call) =>
      call.catch((error: unknown) => (error as Error).message),
    );
    one.abort(new Error("first"));
    await settled();
    expect(work.starts[0]?.signal.aborted).toBe(false);
    other.abort(new Error("second"));
    expect(await Promise.all(calls)).toEqual(["first", "second"]);
    expect(work.starts[0]?.signal.reason).toEqual(new Error("second"));
    const next = flight.join("a", undefined, work.start);
    work.end("anew");
    expect(await next).toBe("anew");
    await expect(flight.join("a", AbortSignal.abort(new Error("never")), work.start)).rejects.toThrow("never");
    expect(work.starts).toHaveLength(2);
  });

  test("sees the listeners of those who wait, and of nobody else", async () => {
    const { flight, work } = joining();
    const control = new AbortController();
    const first = flight.join("a", control.signal, work.start, "first").catch(() => "gone");
    const second = flight.join("a", undefined, work.start, "second");
    void flight.join("a", undefined, work.start);
    const listeners = work.starts[0]?.listeners ?? new Set();
    expect([...listeners]).toEqual(["first", "second"]);
    control.abort();
    await first;
    expect([...listeners]).toEqual(["second"]);
    work.end("done");
    await second;
    expect([...listeners]).toEqual([]);
  });

  test("that is closed goes on for those who wait, and begins anew for others", async () => {
    const { flight, work } = joining();
    const before = flight.join("a", undefined, work.start);
    const { end } = work;
    flight.close();
    const after = flight.join("a", undefined, work.start);
    expect(work.starts).toHaveLength(2);
    end("before");
    expect(await before).toBe("before");
    // Whoever leaves the old work does not take the new one along.
    void flight.join("a", undefined, work.start);
    expect(work.starts).toHaveLength(2);
    work.end("after");
    expect(await after).toBe("after");
  });
});

test("a queue does the work of one key in turn, whatever fails, and that of others beside it", async () => {
  const queue = new KeyedQueue();
  const works = [new Work(), new Work(), new Work()];
  const start = (at: number): Promise<string> => (works[at] as Work).start(new AbortController().signal, new Set());
  const calls = [queue.take("a", () => start(0)), queue.take("a", () => start(1)), queue.take("b", () => start(2))];
  await settled();
  expect(works.map(({ starts }) => starts.length)).toEqual([1, 0, 1]);
  works[0]?.fail(new Error("failed"));
  await expect(calls[0]).rejects.toThrow("failed");
  await settled();
  expect(works.map(({ starts }) => starts.length)).toEqual([1, 1, 1]);
  works[1]?.end("second");
  works[2]?.end("apart");
  expect(await Promise.all(calls.slice(1))).toEqual(["second", "apart"]);
  expect(await queue.take("a", () => Promise.resolve("later"))).toBe("later");
});

describe("changes", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("that are told over and over are told at once, and at the end of each interval", () => {
    const told: string[] = [];
    const changes = new Changes<string>((change) => told.push(change));
    for (let time = 0; time < 1000; time += 1) changes.tell("a");
    vi.advanceTimersByTime(99);
    expect(told).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(told).toHaveLength(2);
    changes.tell("a");
    expect(told).toHaveLength(2);
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(3);
    changes.tell("a");
    expect(told).toHaveLength(4);
  });

  test("that differ do not wait for one another", () => {
    const told: object[] = [];
    const changes = new Changes<object>((change) => told.push(change));
    const all = [{ uri: "a" }, { uri: "b" }, {}, { scope: { user_id: "ada" } }];
    for (const change of [...all, ...all]) changes.tell({ ...change });
    expect(told).toEqual(all);
    vi.advanceTimersByTime(100);
    expect(told).toEqual([...all, ...all]);
  });

  test("that wait are dropped at the end", () => {
    const told: string[] = [];
    const changes = new Changes<string>((change) => told.push(change));
    changes.tell("a");
    changes.tell("a");
    changes.close();
    vi.advanceTimersByTime(1000);
    expect(told).toEqual(["a"]);
    changes.tell("a");
    expect(told).toEqual(["a", "a"]);
  });
});
