/** What every register of users' leases and counts must do, run against each. */
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  CountClaim,
  KnownUse,
  Lease,
  LeaseClaim,
  UsageRegister,
} from "../../../../web/src/server/usage/usage-register.js";
import { amount as scaled } from "../../../support/full.js";

/** A register under test. */
export interface UsageSubject {
  readonly register: UsageRegister;
  /** A register over the same, as another process would have it; the same one where none can. */
  beside(): UsageRegister;
  dispose(): Promise<void>;
}

const lease = (id: number | string, process = "p"): Lease => ({ process, id: String(id) });
const runs = (most: number, amount = 1): LeaseClaim => ({ kind: "runs", amount, most });
const bytes = (amount: number, most: number, known: KnownUse): LeaseClaim => ({
  kind: "artifactBytes",
  amount,
  most,
  known,
});
const requests = (amount: number, most: number | undefined, seconds = 60): CountClaim => ({
  kind: "requestsPerMinute",
  amount,
  most,
  seconds,
});
const tokens = (amount: number): CountClaim => ({
  kind: "tokensPerDay",
  amount,
  most: 100,
  seconds: 86_400,
  isSpent: true,
});
const NONE: KnownUse = { amount: 0, ageMs: 0 };
/** A reading before anything of a test happened. */
const OLD: KnownUse = { amount: 0, ageMs: 60_000 };

/** The whole contract, for a register called `title`. */
export function describeUsageRegister(title: string, opening: () => Promise<UsageSubject>): void {
  describe.each([title])("%s", () => {
    let subject: UsageSubject;
    beforeEach(async () => {
      subject = await opening();
    });
    afterEach(() => subject.dispose());
    const current = (): UsageSubject => subject;
    contractOfLeases(current);
    contractOfStored(current);
    contractOfCounts(current);
    contractOfTelling(current);
  });
}

function contractOfLeases(current: () => UsageSubject): void {
  test("so many are held, over all processes, however many ask at once; one that ends makes room", async () => {
    const [one, other] = [current().register, current().beside()];
    const ask = (at: number) => (at % 2 === 0 ? one : other).take("ada", lease(at, `p${at % 2}`), [runs(5)]);
    const verdicts = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at)));
    const held = verdicts.flatMap(({ refused }, at) => (refused === null ? [at] : []));
    expect(held).toHaveLength(5);
    expect(await one.look("ada", "p0", [runs(5, 0)])).toEqual([5]);
    const [first = 0] = held;
    await other.end("ada", [lease(first, `p${first % 2}`)]);
    expect((await one.take("ada", lease("more"), [runs(5)])).refused).toBeNull();
    expect((await one.take("ada", lease("too many"), [runs(5)])).refused).toBe(0);
  });

  test("a lease grows and shrinks to what it is given, and stays as it was where that is refused", async () => {
    const { register } = current();
    const grow = async (amount: number) => (await register.take("ada", lease(1), [bytes(amount, 100, NONE)])).refused;
    expect([await grow(60), await grow(100), await grow(101)]).toEqual([null, null, 0]);
    expect(await register.look("ada", "q", [bytes(0, 100, NONE)])).toEqual([100]);
    expect(await grow(10)).toBeNull();
    expect(await register.look("ada", "q", [bytes(0, 100, NONE)])).toEqual([10]);
  });

  test("all parts of a lease are taken, or none", async () => {
    const { register } = current();
    const files = (amount: number): LeaseClaim => ({ kind: "files", amount, most: 1, known: NONE });
    const both = (id: number) => register.take("ada", lease(id, `p${id}`), [bytes(10, 100, NONE), files(1)]);
    expect((await both(1)).refused).toBeNull();
    expect((await both(2)).refused).toBe(1);
    expect(await register.look("ada", "q", [bytes(0, 100, NONE), files(0)])).toEqual([10, 1]);
  });

  test("what ends twice, or never was, changes nothing; a lease that is renewed is there again", async () => {
    const { register } = current();
    await register.take("ada", lease(1), [runs(9)]);
    await register.end("ada", [lease(1), lease(2)], { stored: true });
    await register.end("ada", [lease(1), lease(2)], { stored: true });
    expect(await register.look("ada", "q", [runs(9, 0)])).toEqual([0]);
    await register.renew("ada", [{ ...lease(1), amounts: { runs: 1, artifactBytes: 7 } }]);
    expect(await register.look("ada", "q", [runs(9, 0), bytes(0, 9, NONE)])).toEqual([1, 7]);
  });

  test.each(["eve", "", "ada:b", '["acme","ada"]', "__proto__", "{ada}", "a|b|c", "ü\r\n\0", "x".repeat(3000)])(
    "%j is a user of their own",
    async (owner) => {
      const { register } = current();
      await register.take("ada", lease(1), [runs(1)]);
      await register.count("ada", [requests(1, 1)]);
      expect((await register.take(owner, lease(1), [runs(1)])).refused).toBeNull();
      expect((await register.count(owner, [requests(1, 1)])).refused).toBeNull();
      expect(
        (
          await current()
            .beside()
            .take(owner, lease(2), [runs(1)])
        ).refused,
      ).toBe(0);
    },
  );
}

function contractOfStored(current: () => UsageSubject): void {
  test("what a process knows counts once: its own leases are in it, those of others are added", async () => {
    const { register } = current();
    await register.take("ada", lease(1, "p"), [bytes(30, 100, NONE)]);
    // The same process says what it holds and what is stored; another knows nothing of it.
    expect(await register.look("ada", "p", [bytes(0, 100, { amount: 30, ageMs: 0 })])).toEqual([30]);
    expect(await register.look("ada", "q", [bytes(0, 100, { amount: 50, ageMs: 0 })])).toEqual([80]);
  });

  test("what was stored is added for others until they have read it themselves", async () => {
    const { register } = current();
    await register.take("ada", lease(1, "p"), [bytes(30, 100, NONE)]);
    await register.end("ada", [lease(1, "p")], { stored: true });
    expect(await register.look("ada", "p", [bytes(0, 100, { amount: 30, ageMs: 0 })])).toEqual([30]);
    expect(await register.look("ada", "q", [bytes(0, 100, OLD)])).toEqual([30]);
    await sleep(1100);
    expect(await register.look("ada", "q", [bytes(0, 100, { amount: 30, ageMs: 0 })])).toEqual([30]);
    expect(await register.look("ada", "q", [bytes(0, 100, OLD)])).toEqual([30]);
  });

  test("nothing of what was given up is added", async () => {
    const { register } = current();
    await register.take("ada", lease(1, "p"), [bytes(30, 100, NONE)]);
    await register.end("ada", [lease(1, "p")]);
    expect(await register.look("ada", "q", [bytes(0, 100, OLD)])).toEqual([0]);
  });

  test("whatever processes store and give up at once, no more than the limit is ever held and stored", async () => {
    const { register } = current();
    let round = 0;
    const act = fc.record({
      process: fc.constantFrom("p", "q"),
      size: fc.integer({ min: 1, max: 60 }),
      keeps: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
        const owner = `owner ${round++}`;
        const stored = { p: 0, q: 0 };
        const held = { p: 0, q: 0 };
        await Promise.all(
          acts.map(async ({ process, size, keeps }, at) => {
            const of = process;
            held[of] += size;
            const known = { amount: stored[of] + held[of] - size, ageMs: 60_000 };
            const { refused } = await register.take(owner, lease(at, process), [bytes(size, 100, known)]);
            held[of] -= size;
            if (refused !== null) return;
            if (keeps) stored[of] += size;
            await register.end(owner, [lease(at, process)], { stored: keeps });
          }),
        );
        expect(stored.p + stored.q).toBeLessThanOrEqual(100);
      }),
      { numRuns: scaled(20, 100) },
    );
  });
}

function contractOfCounts(current: () => UsageSubject): void {
  test("so many are counted, over all processes, however many ask at once; then it says when it begins anew", async () => {
    const [one, other] = [current().register, current().beside()];
    const ask = (at: number) => (at % 2 === 0 ? one : other).count("ada", [requests(1, 10)]);
    const verdicts = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(at)));
    expect(verdicts.filter(({ refused }) => refused === null)).toHaveLength(10);
    const [use] = (await one.count("ada", [requests(1, 10)])).uses;
    expect(use?.used).toBe(10);
    expect(use?.resetsInMs).toBeGreaterThan(50_000);
    expect(use?.resetsInMs).toBeLessThanOrEqual(60_000);
  });

  test("with several limits all count, or none", async () => {
    const { register } = current();
    const both = [requests(1, 9), { kind: "requestsPerDay", amount: 1, most: 2, seconds: 86_400 } as const];
    const refusals: (number | null)[] = [];
    while (refusals.length < 3) refusals.push((await register.count("ada", both)).refused);
    expect(refusals).toEqual([null, null, 1]);
    expect((await register.count("ada", [requests(0, 9)])).uses).toMatchObject([{ used: 2 }]);
  });

  test("looking counts nothing, and what was spent is counted beyond the limit", async () => {
    const { register } = current();
    expect((await register.count("ada", [tokens(0)])).uses).toEqual([{ used: 0, resetsInMs: 0, crossed: null }]);
    await register.count("ada", [tokens(70)]);
    const { refused, uses } = await register.count("ada", [tokens(70)]);
    expect([refused, uses[0]?.used, uses[0]?.crossed]).toEqual([null, 140, "reached"]);
    expect((await register.count("ada", [tokens(0)])).uses[0]?.used).toBe(140);
  });

  test("when the time is over it begins anew, and asking too early does not put it off", async () => {
    const { register } = current();
    const begun = performance.now();
    await register.count("ada", [requests(2, 2, 1)]);
    while ((await register.count("ada", [requests(1, 2, 1)])).refused !== null) await sleep(50);
    expect(performance.now() - begun).toBeGreaterThan(900);
    expect(performance.now() - begun).toBeLessThan(5000);
    expect((await register.count("ada", [requests(0, 2, 1)])).uses[0]?.used).toBe(1);
  });

  test("numbers are exact up to those that JavaScript counts exactly", async () => {
    const { register } = current();
    const most = Number.MAX_SAFE_INTEGER;
    await register.count("ada", [requests(most - 1, most)]);
    const { uses } = await register.count("ada", [requests(1, most)]);
    expect(uses[0]?.used).toBe(most);
    expect((await register.count("ada", [requests(1, most)])).refused).toBe(0);
  });
}

function contractOfTelling(current: () => UsageSubject): void {
  test("what is near and what is reached is told once for each crossing, by one process", async () => {
    const { register } = current();
    const told = [];
    for (let at = 0; at < 12; at++) {
      const on = at % 2 === 0 ? register : current().beside();
      told.push((await on.count("ada", [requests(1, 10)])).uses[0]?.crossed);
    }
    expect(told).toEqual([...Array<null>(7).fill(null), "near", null, "reached", null, null]);
  });

  test("of what is stored it is told again after it fell below 70 %", async () => {
    const { register } = current();
    const at = async (amount: number) =>
      (await register.take("ada", lease(1), [bytes(amount, 100, NONE)])).uses[0]?.crossed;
    expect([await at(80), await at(79), await at(85)]).toEqual(["near", null, null]);
    expect([await at(60), await at(80), await at(100), await at(101)]).toEqual([null, "near", "reached", null]);
  });

  test("of what is counted elsewhere each standing is told once, by one process, until it is far again", async () => {
    const { register } = current();
    const told = [];
    for (const standing of ["near", "near", "reached", "near", "far", "reached", "reached"] as const) {
      told.push(await (told.length % 2 === 0 ? register : current().beside()).note("ada", "sessions", standing));
    }
    expect(told).toEqual(["near", null, "reached", null, null, "reached", null]);
    expect(await register.note("eve", "sessions", "near")).toBe("near");
  });

  test("of what comes and goes a refusal alone is told, and a tentative one is not", async () => {
    const { register } = current();
    const told = async (id: number, isTentative = false) =>
      (await register.take("ada", lease(id), [runs(1)], isTentative)).uses[0]?.crossed;
    expect([await told(1), await told(2, true), await told(2), await told(2)]).toEqual([null, null, "reached", null]);
    await register.end("ada", [lease(1)]);
    expect([await told(2), await told(3)]).toEqual([null, "reached"]);
  });
}
