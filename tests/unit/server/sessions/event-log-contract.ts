import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type EventLog,
  isBefore,
  MAX_CHANNEL_BYTES,
  MAX_EVENT_BYTES,
  MAX_EVENTS,
} from "../../../../web/src/server/sessions/event-log.js";
import { isEventId } from "../../../../web/src/server/http/sse.js";
import { first, Heard, numbered, range } from "./listening.js";
import { amount } from "../../../support/full.js";

/** A log under test. */
interface LogSubject {
  readonly log: EventLog;
  /** A log over the same, as another process would have it; the same one where none can. */
  beside(): EventLog;
  dispose(): Promise<void>;
}

/** Makes an empty log with this bound. */
type OpenLog = (bounds: { readonly maxChannels?: number }) => Promise<LogSubject>;

/** The log of a test, and one beside it. */
type Logs = () => readonly [EventLog, EventLog];

/** What every event log must do, run against each. */

const PATIENCE = { timeout: 10_000 };

/** Time for whatever should not happen. */
const lull = (): Promise<void> => sleep(100);

/** The whole contract, for a log called `title`. */
export function describeEventLog(title: string, opening: OpenLog): void {
  describe.each([title])("%s", () => {
    let [log, other]: EventLog[] = [];
    let subject: LogSubject;
    beforeEach(async () => {
      subject = await opening({});
      [log, other] = [subject.log, subject.beside()];
    });
    afterEach(() => subject.dispose());
    const logs = (): readonly [EventLog, EventLog] => {
      if (log === undefined || other === undefined) throw new Error("It is used before it is there.");
      return [log, other];
    };

    contractOfFollowing(logs);
    contractOfPlaces(logs);
    contractOfEnding(logs);
    contractOfBounds(logs, opening);
  });
}

function contractOfFollowing(logs: Logs): void {
  test("a follower hears what was before and what comes, in every process, and of no other channel", async () => {
    const [log, other] = logs();
    await log.append("a", numbered(0));
    await other.append("b", numbered(100));
    const heard = [new Heard(log, "a"), new Heard(other, "a")];
    for (const number of [1, 2, 3]) await (number === 2 ? other : log).append("a", numbered(number));
    for (const each of heard) await vi.waitFor(() => expect(each.numbers).toEqual([0, 1, 2, 3]), PATIENCE);
  });

  test("a follower of an empty channel hears the first event at once", async () => {
    const [log, other] = logs();
    const heard = [new Heard(log, "a"), new Heard(other, "a")];
    await lull();
    await log.append("a", numbered(0));
    for (const each of heard) await vi.waitFor(() => expect(each.numbers).toEqual([0]), { timeout: 2_000 });
  });

  test("a listener that takes nothing holds up nobody", async () => {
    const [log] = logs();
    const slow = log.follow("a", { after: null, signal: new AbortController().signal })[Symbol.asyncIterator]();
    const quick = new Heard(log, "a");
    await log.append("a", numbered(0));
    expect((await slow.next()).value).toMatchObject({ event: numbered(0) });
    for (const number of [1, 2, 3]) await log.append("a", numbered(number));
    await vi.waitFor(() => expect(quick.numbers).toEqual([0, 1, 2, 3]), PATIENCE);
    expect((await slow.next()).value).toMatchObject({ event: numbered(1) });
    await slow.return?.();
  });

  test("what is appended at the same time has one order for all", async () => {
    const [log, other] = logs();
    const heard = [new Heard(log, "a"), new Heard(other, "a")];
    const ids = await Promise.all(range(60).map((number) => (number % 2 ? log : other).append("a", numbered(number))));
    for (const each of heard) await vi.waitFor(() => expect(each.entries).toHaveLength(60), PATIENCE);
    expect(heard[0]?.entries).toEqual(heard[1]?.entries);
    expect(new Set(heard[0]?.entries.map(({ id }) => id))).toEqual(new Set(ids));
  });

  test("a signal ends it without an error, before it begins too", async () => {
    const [log] = logs();
    const heard = new Heard(log, "a");
    await log.append("a", numbered(0));
    await vi.waitFor(() => expect(heard.numbers).toEqual([0]), PATIENCE);
    await heard.leave();
    await log.append("a", numbered(1));
    expect(heard.numbers).toEqual([0]);
    const entries = [];
    for await (const entry of log.follow("a", { after: null, signal: AbortSignal.abort() })) entries.push(entry);
    expect(entries).toEqual([]);
  });

  test("what one is given, another may not change", async () => {
    const [log] = logs();
    const event = { kind: "a", list: [1] };
    await log.append("a", event);
    event.list.push(2);
    const [one] = await first(log, "a", { count: 1 });
    Object.assign(one?.event ?? {}, { kind: "changed" });
    expect(await first(log, "a", { count: 1 })).toMatchObject([{ event: { kind: "a", list: [1] } }]);
  });

  test("the last event is known in every process, and none of an ended channel", async () => {
    const [log, other] = logs();
    expect(await other.latest("a")).toBeNull();
    for (const number of range(3)) await log.append("a", numbered(number));
    const id = await other.append("a", numbered(3));
    for (const each of [log, other]) expect(await each.latest("a")).toEqual({ id, event: numbered(3) });
    await log.end("a");
    for (const each of [log, other]) expect(await each.latest("a")).toBeNull();
  });

  test.each(["a b", "{a}", "__proto__", "a\r\n", "*", "ü\u{1f600}", "x".repeat(256)])(
    "%j is a channel",
    async (name) => {
      const [log, other] = logs();
      await log.append(name, numbered(0));
      expect(await first(other, name, { count: 1 })).toMatchObject([{ event: numbered(0) }]);
      expect(await other.has(name)).toBe(true);
    },
  );
}

function contractOfPlaces(logs: Logs): void {
  test("ids have their form, and later ones are greater", async () => {
    const [log, other] = logs();
    const ids = [];
    for (const number of range(20)) ids.push(await (number % 2 ? log : other).append("a", numbered(number)));
    for (const [at, id] of ids.entries()) {
      expect(isEventId(id)).toBe(true);
      expect(isBefore(ids[at - 1] ?? "0-0", id)).toBe(true);
    }
  });

  test("a follower that comes back hears what is behind the id, in every process", async () => {
    const [log, other] = logs();
    const ids = [];
    for (const number of range(4)) ids.push(await log.append("a", numbered(number)));
    for (const each of [log, other]) {
      const heard = new Heard(each, "a", ids[1]);
      await vi.waitFor(() => expect(heard.numbers).toEqual([2, 3]), PATIENCE);
    }
    const heard = new Heard(other, "a", ids[3]);
    await lull();
    expect(heard.numbers).toEqual([]);
    await log.append("a", numbered(4));
    await vi.waitFor(() => expect(heard.numbers).toEqual([4]), PATIENCE);
  });

  test("0-0 is before all, and an id that has not come yet is behind all", async () => {
    const [log] = logs();
    await log.append("a", numbered(0));
    for (const after of ["0-0", "0-99999999999999999999", "00000000000000000000-1"]) {
      expect(await first(log, "a", { count: 1, after })).toMatchObject([{ event: numbered(0) }]);
    }
    for (const after of ["9".repeat(20), "18446744073709551615", "18446744073709551614"]) {
      for (const number of ["9".repeat(20), "18446744073709551615", "0"]) {
        const heard = new Heard(log, "a", `${after}-${number}`);
        await lull();
        await heard.leave();
        expect(heard.numbers).toEqual([]);
      }
    }
  });

  test("a malformed id counts as none", async () => {
    const [log] = logs();
    await log.append("a", numbered(0));
    for (const after of ["", "a", "1", "-", "1-a", "-1-1", `${"9".repeat(30)}-0`]) {
      expect(await first(log, "a", { count: 1, after })).toMatchObject([{ event: numbered(0) }]);
    }
  });

  test("however often a listener goes and comes back, it hears everything, once and in order", async () => {
    const step = fc.oneof(
      fc.record({ append: fc.integer({ min: 1, max: 30 }), at: fc.integer({ min: 0, max: 1 }) }),
      fc.record({ take: fc.integer({ min: 1, max: 20 }), at: fc.integer({ min: 0, max: 1 }) }),
    );
    let channel = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const name = `channel ${channel++}`;
        const heard: unknown[] = [];
        let [appended, after]: [number, string | null] = [0, null];
        for (const each of steps) {
          const log = logs()[each.at] as EventLog;
          if ("append" in each) {
            await Promise.all(range(each.append).map((number) => log.append(name, numbered(appended + number))));
            appended += each.append;
          } else {
            const entries = await first(log, name, { count: Math.min(each.take, appended - heard.length), after });
            after = entries.at(-1)?.id ?? after;
            heard.push(...entries.map(({ event }) => event));
          }
        }
        expect(heard).toEqual(range(heard.length).map(numbered));
      }),
      { numRuns: amount(8, 30) },
    );
  });
}

function contractOfEnding(logs: Logs): void {
  test("a follower of an ended channel hears the last of it and ends, in every process", async () => {
    const [log, other] = logs();
    const heard = [new Heard(log, "a"), new Heard(other, "a"), new Heard(other, "a")];
    const idle = new Heard(other, "b");
    await lull();
    for (const number of range(5)) await log.append("a", numbered(number));
    await log.end("a");
    await log.end("b");
    for (const each of heard) {
      await each.done;
      expect(each.numbers).toEqual([0, 1, 2, 3, 4]);
    }
    await idle.done;
  });

  test("a listener that is slow hears the last of it too", async () => {
    const [log, other] = logs();
    for (const number of range(250)) await log.append("a", numbered(number));
    const slow = other.follow("a", { after: null, signal: new AbortController().signal })[Symbol.asyncIterator]();
    const numbers = [(await slow.next()).value];
    await log.end("a");
    for (let next = await slow.next(); next.done !== true; next = await slow.next()) numbers.push(next.value);
    expect(numbers.map((entry) => (entry as { event: unknown }).event)).toEqual(range(250).map(numbered));
  });

  test("what was ended is not there any more: who comes later hears nothing, and what is appended is lost", async () => {
    const [log, other] = logs();
    const id = await log.append("a", numbered(0));
    await log.end("a");
    for (const each of [log, other]) {
      expect(await each.has("a")).toBe(false);
      for (const after of [null, id]) await new Heard(each, "a", after).done;
      expect(isEventId(await each.append("a", numbered(1)))).toBe(true);
      expect(await each.has("a")).toBe(false);
      const late = new Heard(each, "a");
      await late.done;
      expect(late.entries).toEqual([]);
    }
    await log.end("a");
    await log.end("never was");
  });

  test("there is a channel when something was appended, and not when it is only followed", async () => {
    const [log, other] = logs();
    expect(await log.has("a")).toBe(false);
    const heard = new Heard(log, "a");
    await lull();
    expect(await log.has("a")).toBe(false);
    await other.append("a", numbered(0));
    expect([await log.has("a"), await other.has("a")]).toEqual([true, true]);
    await heard.leave();
    expect(await log.has("a")).toBe(true);
  });
}

/** An event of a size. */
const sized = (length: number): { readonly kind: string } => ({ kind: "ü".repeat(length) });

/** Bounds of events, bytes and channels. */
function contractOfBounds(logs: Logs, opening: OpenLog): void {
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
