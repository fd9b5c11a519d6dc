/** Waiting ends when nobody wants the outcome, and leaves no listener behind. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort, untilAborted, untilEither, untilLate } from "../../../web/src/core/abort.js";

const never = (): Promise<never> => new Promise(() => undefined);
const late = (): Error => new Error("too late");

test("work that is late is told so, and its caller too", async () => {
  let told: AbortSignal | undefined;
  const work = (signal: AbortSignal): Promise<never> => {
    told = signal;
    return never();
  };
  await expect(untilLate(work, { most: 1, late, signal: undefined })).rejects.toThrow("too late");
  expect(told?.reason).toEqual(late());
});

test("work that its caller gives up is told why, and not what becomes of the caller later", async () => {
  const reasons: unknown[] = [];
  const caller = new AbortController();
  const terms = { most: 60_000, late, signal: caller.signal };
  const done = await untilLate(async (signal) => signal, terms);
  const waiting = untilLate((signal) => {
    onAbort(signal, () => reasons.push(signal.reason));
    return never();
  }, terms);
  caller.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  expect([reasons, done.aborted]).toEqual([["enough"], false]);
});

test("nothing is begun for a caller who has given up", async () => {
  let begun = 0;
  const work = async (): Promise<void> => void (begun += 1);
  const signal = AbortSignal.abort("enough");
  await expect(untilLate(work, { most: 1000, late, signal })).rejects.toBe("enough");
  expect(begun).toBe(0);
});

test("the first of several signals ends it, one that is aborted already at once", async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const signals = [undefined, first.signal, second.signal];
  const waiting = untilEither(signals, (signal) => untilAborted(never(), signal));
  second.abort("second");
  first.abort("first");
  await expect(waiting).rejects.toBe("second");
  expect(await untilEither(signals, async (signal) => signal.reason as unknown)).toBe("first");
});

test("however many wait with one signal, it has one listener", async () => {
  const caller = new AbortController();
  const all = Array.from({ length: 50 }, () => untilLate(never, { most: 60_000, late, signal: caller.signal }));
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
  caller.abort("enough");
  const outcomes = await Promise.allSettled(all);
  expect(new Set(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason))).toEqual(
    new Set(["enough"]),
  );
});
