import { randomBytes } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test, vi } from "vitest";
import { CHANNEL_SECONDS, ENDED_SECONDS } from "../../../../web/src/server/sessions/event-log.js";
import { MemoryEventLog } from "../../../../web/src/server/sessions/memory-event-log.js";
import { describeEventLog } from "./event-log-contract.js";
import { first, Heard, numbered, range } from "./listening.js";

describeEventLog("MemoryEventLog", async (bounds) => {
  const log = new MemoryEventLog(bounds);
  return { log, beside: () => log, dispose: () => Promise.resolve() };
});

const DAY = CHANNEL_SECONDS * 1000;

test("a channel in which nothing happens for a day is forgotten, unless somebody follows it", async () => {
  let now = 1e12;
  const log = new MemoryEventLog({ clock: () => now });
  for (const name of ["quiet", "followed", "asked"]) await log.append(name, numbered(0));
  const heard = new Heard(log, "followed");
  await vi.waitFor(() => expect(heard.numbers).toEqual([0]));
  now += DAY - 1;
  expect(await log.has("quiet")).toBe(true);
  now += 2;
  await log.append("other", numbered(0));
  expect([await log.has("quiet"), await log.has("followed"), await log.has("asked")]).toEqual([false, true, false]);
  await log.append("followed", numbered(1));
  await vi.waitFor(() => expect(heard.numbers).toEqual([0, 1]));
});

test("a listener that is slow keeps its channel: what is appended a day later reaches it", async () => {
  let now = 1e12;
  const log = new MemoryEventLog({ clock: () => now });
  const slow = log.follow("a", { after: null, signal: new AbortController().signal })[Symbol.asyncIterator]();
  await log.append("a", numbered(0));
  await slow.next();
  now += DAY + 1;
  await log.append("b", numbered(0));
  await log.append("a", numbered(1));
  expect((await slow.next()).value).toMatchObject({ event: numbered(1) });
  await slow.return?.();
});

test("what was ended may begin anew when that is long ago", async () => {
  let now = 1e12;
  const log = new MemoryEventLog({ clock: () => now });
  await log.append("a", numbered(0));
  await log.end("a");
  now += ENDED_SECONDS * 1000 + 1;
  await log.append("a", numbered(1));
  expect(await first(log, "a", { count: 1 })).toMatchObject([{ event: numbered(1) }]);
});

test("a clock that goes back takes no event with it", async () => {
  let now = 1e12;
  const log = new MemoryEventLog({ clock: () => now });
  const id = await log.append("a", numbered(0));
  now -= 5000;
  await log.append("a", numbered(1));
  expect(await first(log, "a", { count: 1, after: id })).toMatchObject([{ event: numbered(1) }]);
});

test("so many bytes are kept of all channels: those that were used last stay, and who followed is told", async () => {
  const log = new MemoryEventLog({ maxBytes: 10_000 });
  const heard = new Heard(log, "channel 0");
  const slow = log.follow("channel 0", { after: null, signal: new AbortController().signal })[Symbol.asyncIterator]();
  const event = { kind: "a", text: "x".repeat(1000) };
  for (const number of [0, 0, 1, 2, 3]) await log.append(`channel ${number}`, event);
  await slow.next();
  for (const number of range(20)) await log.append(`channel ${number + 4}`, event);
  const kept = [];
  for (const number of range(24)) if (await log.has(`channel ${number}`)) kept.push(number);
  expect(kept).toEqual([15, 16, 17, 18, 19, 20, 21, 22, 23]);
  expect((await slow.next()).value).toMatchObject({ event: { kind: "events_lost" } });
  await log.append("channel 0", numbered(7));
  expect((await slow.next()).value).toMatchObject({ event: numbered(7) });
  // Who had heard all misses nothing.
  await vi.waitFor(() => expect(heard.numbers).toEqual(["a", "a", 7]));
  await slow.return?.();
});

test("nothing is left of channels that were only followed", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const log = new MemoryEventLog();
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const round = async (at: number): Promise<void> => {
    for (const number of range(500)) {
      const control = new AbortController();
      const { signal } = control;
      const name = `${at} ${number} ${randomBytes(1000).toString("hex")}`;
      const listener = log.follow(name, { after: null, signal })[Symbol.asyncIterator]();
      const next = listener.next();
      control.abort();
      await next;
    }
  };
  await round(0);
  const before = used();
  for (const at of range(20)) await round(at + 1);
  // 10,000 names of 2 KB would be 20 MB.
  expect(used() - before).toBeLessThan(12_000_000);
});
