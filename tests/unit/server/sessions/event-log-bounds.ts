import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { MAX_CHANNEL_BYTES, MAX_EVENT_BYTES, MAX_EVENTS } from "../../../../web/src/server/sessions/event-log.js";
import type { Logs, OpenLog } from "./event-log-subject.js";
import { first, Heard, numbered, range } from "./listening.js";

/** How much an event log keeps, and what it says of the rest: a part of its contract. */

const PATIENCE = { timeout: 10_000 };

/** An event of a size. */
const sized = (length: number): { readonly kind: string } => ({ kind: "ü".repeat(length) });

/** Bounds of events, bytes and channels. */
export function contractOfBounds(logs: Logs, opening: OpenLog): void {
  const LOST = { event: { kind: "events_lost" } };

  test("so many events are kept: who misses some is told, with the id of the last of them", async () => {
    const [log, other] = logs();
    const ids: string[] = [];
    for (const number of range(MAX_EVENTS)) ids.push(await log.append("a", numbered(number)));
    expect(await first(other, "a", { count: 1 })).toMatchObject([{ event: numbered(0) }]);
    for (const number of range(5)) ids.push(await log.append("a", numbered(MAX_EVENTS + number)));
    const kept = await first(other, "a", { count: MAX_EVENTS + 1 });
    expect(kept[0]).toMatchObject({ id: ids[4], ...LOST });
    expect(kept.slice(1).map(({ event }) => event)).toEqual(range(MAX_EVENTS).map((number) => numbered(number + 5)));
    expect(await first(log, "a", { count: 2, after: ids[3] ?? "" })).toMatchObject([LOST, { event: numbered(5) }]);
    // The last that went is the last that was heard: nothing is missing.
    expect(await first(other, "a", { count: 1, after: ids[4] ?? "" })).toMatchObject([{ event: numbered(5) }]);
  });

  test("so many bytes are kept, the last event apart; one who was overtaken is told", async () => {
    const [log, other] = logs();
    const text = "x".repeat(MAX_EVENT_BYTES - 100);
    const fit = Math.floor(MAX_CHANNEL_BYTES / (MAX_EVENT_BYTES - 60));
    const slow = other.follow("a", { after: null, signal: new AbortController().signal })[Symbol.asyncIterator]();
    for (const number of range(fit)) await log.append("a", { ...numbered(number), text } as never);
    expect((await slow.next()).value).toMatchObject({ event: { number: 0 } });
    for (const number of range(fit)) await log.append("a", { ...numbered(fit + number), text } as never);
    const rest = await first(log, "a", { count: fit + 1 });
    expect(rest[0]).toMatchObject(LOST);
    expect(rest.at(-1)).toMatchObject({ event: { number: 2 * fit - 1 } });
    let told = 0;
    for (let next = await slow.next(); next.value?.event.number !== 2 * fit - 1; next = await slow.next()) {
      told += next.value?.event.kind === "events_lost" ? 1 : 0;
    }
    expect(told).toBe(1);
    await slow.return?.();
  });

  test("an event may have so many bytes, as they are in UTF-8", async () => {
    const [log] = logs();
    const most = Math.floor((MAX_EVENT_BYTES - JSON.stringify(sized(0)).length) / 2);
    await log.append("a", sized(most));
    const failure = { name: "SluiceError", code: "E_TOO_LARGE" };
    await expect(log.append("a", sized(most + 1))).rejects.toMatchObject(failure);
    expect(await first(log, "a", { count: 1 })).toMatchObject([{ event: sized(most) }]);
  });

  test("so many channels are kept: who knew one that went is told when it begins anew", async () => {
    const subject = await opening({ maxChannels: 2 });
    try {
      const log = subject.log;
      const id = await log.append("a", numbered(0));
      for (const name of ["b", "c"]) {
        await sleep(5);
        await log.append(name, numbered(0));
      }
      expect([await log.has("a"), await log.has("b"), await log.has("c")]).toEqual([false, true, true]);
      const back = new Heard(subject.beside(), "a", id);
      const fresh = new Heard(log, "a");
      await sleep(100);
      await log.append("a", numbered(1));
      await vi.waitFor(() => expect(back.numbers).toEqual(["events_lost", 1]), PATIENCE);
      await vi.waitFor(() => expect(fresh.numbers).toEqual([1]), PATIENCE);
      // Whoever comes back with what it was told then is told no more.
      const again = await first(log, "a", { count: 1, after: back.entries[0]?.id ?? "" });
      expect(again).toMatchObject([{ event: numbered(1) }]);
    } finally {
      await subject.dispose();
    }
  });
}
