/** What every register of sessions must do, run against each. */
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServedSession } from "../../../../web/src/server/session.js";
import {
  MAX_SUBSCRIPTIONS,
  MAX_TRACES,
  type SessionRegister,
} from "../../../../web/src/server/sessions/session-register.js";
import { amount } from "../../../support/full.js";

/** A register under test. */
export interface RegisterSubject {
  readonly register: SessionRegister;
  /** A register over the same, as another process would have it; the same one where none can. */
  beside(): SessionRegister;
  /** The time, in milliseconds since 1970. */
  now(): number;
  /** Lets milliseconds pass. */
  pass(milliseconds: number): Promise<void>;
  dispose(): Promise<void>;
}

/** Makes an empty register with this bound. */
export type OpenRegister = (bounds: { readonly maxSessions?: number }) => Promise<RegisterSubject>;

const resource = (at: number) => ({ namespace: "n", uri: `u:${at}` });
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** The whole contract, for a register called `title`. */
export function describeRegister(title: string, opening: OpenRegister): void {
  describe.each([title])("%s", () => {
    let subject: RegisterSubject;
    beforeEach(async () => {
      subject = await opening({});
    });
    afterEach(() => subject.dispose());
    const current = (): RegisterSubject => subject;
    contractOfSessions(current);
    contractOfUsers(current);
    contractOfSets(current);
    contractOfTime(current, opening);
  });
}

function session(subject: RegisterSubject, id: string, seconds = 100): ServedSession {
  const begun_at = subject.now();
  return { id, identity: { user_id: "ada", tenant_id: null }, begun_at, expires_at: begun_at + seconds * 1000 };
}

function contractOfSessions(current: () => RegisterSubject): void {
  test("a session that was begun is found in every process, as it was, until it ends", async () => {
    const subject = current();
    const [register, other] = [subject.register, subject.beside()];
    const given = { ...session(subject, "a"), identity: { user_id: "ada" } };
    await register.begin(given);
    expect(await other.find("a")).toEqual({ ...given, identity: { user_id: "ada" } });
    Object.assign(given.identity, { user_id: "eve" });
    expect((await register.find("a"))?.identity).toEqual({ user_id: "ada" });
    expect(await other.end("a")).toMatchObject({ session: { id: "a" }, traces: [] });
    for (const each of [register, other]) expect(await each.find("a")).toBeNull();
  });

  test.each(["never", "", "__proto__", "{a}:1", "a\r\nb", "ü\u{1f600}", "x".repeat(1024)])(
    "%j is an id",
    async (id) => {
      const subject = current();
      expect(await subject.register.find(id)).toBeNull();
      await subject.register.begin(session(subject, id));
      expect((await subject.beside().find(id))?.id).toBe(id);
    },
  );

  test("its end gives its traces once, whoever asks for it at the same time", async () => {
    const subject = current();
    const registers = [subject.register, subject.beside()];
    await subject.register.begin(session(subject, "a"));
    await subject.register.begin(session(subject, "b"));
    for (const trace of ["t", "u"]) await subject.register.addTrace("a", trace);
    await subject.register.addTrace("b", "v");
    const ends = await Promise.all(range(5).flatMap(() => registers.map((register) => register.end("a"))));
    const given = ends.filter((end) => end !== null);
    expect(given).toHaveLength(1);
    expect([...(given[0]?.traces ?? [])].sort()).toEqual(["t", "u"]);
    expect(await subject.register.traces("b")).toEqual(["v"]);
  });

  test("nothing is left of one that ended, and what is said of it is lost", async () => {
    const subject = current();
    const { register } = subject;
    await register.begin(session(subject, "a"));
    await register.addTrace("a", "t");
    await register.subscribe("a", resource(0));
    await register.end("a");
    for (const id of ["a", "never"]) {
      expect([await register.addTrace(id, "t"), await register.subscribe(id, resource(0))]).toEqual([true, true]);
      expect(await register.unsubscribe(id, resource(0))).toBe(false);
      expect([await register.traces(id), await register.subscriptions(id)]).toEqual([[], []]);
      expect(await register.end(id)).toBeNull();
    }
    await register.begin(session(subject, "a"));
    expect([await register.traces("a"), await register.subscriptions("a")]).toEqual([[], []]);
  });

  test("one that begins again has nothing of the one before", async () => {
    const subject = current();
    const { register } = subject;
    await register.begin(session(subject, "a"));
    await register.addTrace("a", "t");
    await register.subscribe("a", { namespace: "n", uri: "u" });
    await register.begin(session(subject, "a"));
    expect([await register.traces("a"), await register.subscriptions("a")]).toEqual([[], []]);
  });
}

const of = (subject: RegisterSubject, id: string, user_id: string, tenant_id: string | null = null, seconds = 100) => ({
  ...session(subject, id, seconds),
  identity: { user_id, tenant_id },
});

function contractOfUsers(current: () => RegisterSubject): void {
  test("a user has at most so many, over all processes, however many begin at once; another is not affected", async () => {
    const subject = current();
    const registers = [subject.register, subject.beside()];
    const begun = await Promise.all(
      range(40).map((at) => (registers[at % 2] ?? subject.register).begin(of(subject, `a${at}`, "ada"), 7)),
    );
    expect(begun.filter((is) => is)).toHaveLength(7);
    for (const register of registers) expect(await register.ofUser({ user_id: "ada" })).toHaveLength(7);
    expect(await subject.register.begin(of(subject, "e", "eve"), 7)).toBe(true);
    const [first = ""] = await subject.register.ofUser({ user_id: "ada", tenant_id: null });
    await subject.beside().end(first);
    expect(await subject.register.begin(of(subject, "one more", "ada"), 7)).toBe(true);
    expect(await subject.register.begin(of(subject, "too many", "ada"), 7)).toBe(false);
    expect(await subject.beside().find("too many")).toBeNull();
  });

  test("one that begins again is no further one, and without a limit all may begin", async () => {
    const subject = current();
    const { register } = subject;
    for (const id of ["a", "b"]) expect(await register.begin(of(subject, id, "ada"))).toBe(true);
    expect(await register.begin(of(subject, "a", "ada"), 2)).toBe(true);
    expect(await register.begin(of(subject, "c", "ada"), 2)).toBe(false);
    expect([...(await register.ofUser({ user_id: "ada" }))].sort()).toEqual(["a", "b"]);
  });

  test("tenants, and ids that look like others with a separator in them, are different users", async () => {
    const subject = current();
    const { register } = subject;
    const users = [
      ["ada", null],
      ["ada", ""],
      ["ada", "acme"],
      ["acme:ada", null],
      ['["acme","ada"]', null],
      ["ADA", null],
      ["ada ", null],
      ["{sluice}:1:users", null],
      ["a\u0301da", null],
      ["\u00e1da", null],
    ] as const;
    for (const [at, [user, tenant]] of users.entries()) {
      expect(await register.begin(of(subject, `s${at}`, user, tenant), 1)).toBe(true);
    }
    for (const [at, [user_id, tenant_id]] of users.entries()) {
      expect(await subject.beside().ofUser({ user_id, tenant_id })).toEqual([`s${at}`]);
    }
  });

  test("those whose time is over make room by themselves", async () => {
    const subject = current();
    const { register } = subject;
    expect(await register.begin(of(subject, "brief", "ada", null, 2), 1)).toBe(true);
    expect(await register.begin(of(subject, "next", "ada"), 1)).toBe(false);
    await subject.pass(2100);
    expect(await register.ofUser({ user_id: "ada" })).toEqual([]);
    expect(await register.begin(of(subject, "next", "ada"), 1)).toBe(true);
  });
}

function contractOfSets(current: () => RegisterSubject): void {
  test("traces are as many as may be, however many name them at once, and known ones are always taken", async () => {
    const subject = current();
    const registers = [subject.register, subject.beside()];
    await subject.register.begin(session(subject, "a"));
    const names = range(MAX_TRACES + 20).map((at) => `trace ${at}`);
    const noted = await Promise.all(
      names.map((trace, at) => (registers[at % 2] ?? subject.register).addTrace("a", trace)),
    );
    const taken = names.filter((_, at) => noted[at]);
    expect(taken).toHaveLength(MAX_TRACES);
    expect([...(await subject.register.traces("a"))].sort()).toEqual(taken.sort());
    expect(await subject.register.addTrace("a", taken[0] ?? "")).toBe(true);
    expect(await subject.register.addTrace("a", "one more")).toBe(false);
  });

  test("subscriptions are as many as may be, and one that is taken back makes room", async () => {
    const subject = current();
    const { register } = subject;
    await register.begin(session(subject, "a"));
    for (const at of range(MAX_SUBSCRIPTIONS)) expect(await register.subscribe("a", resource(at))).toBe(true);
    expect(await register.subscribe("a", resource(7))).toBe(true);
    expect(await register.subscribe("a", resource(MAX_SUBSCRIPTIONS))).toBe(false);
    expect(await register.unsubscribe("a", resource(7))).toBe(true);
    expect(await register.unsubscribe("a", resource(7))).toBe(false);
    expect(await register.subscribe("a", resource(MAX_SUBSCRIPTIONS))).toBe(true);
    expect(await subject.beside().subscriptions("a")).toHaveLength(MAX_SUBSCRIPTIONS);
  });

  test("whatever names are, traces and subscriptions are those that were said, and of this session", async () => {
    const subject = current();
    const { register } = subject;
    const name = fc.oneof(fc.constantFrom("", "a", "a:b", '","', "{}", "\0"), fc.string({ unit: "binary" }));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { maxLength: 5 }), name, async (names, other) => {
        const [mine, theirs] = [`mine ${count}`, `theirs ${count++}`];
        for (const id of [mine, theirs]) await register.begin(session(subject, id));
        for (const each of names) {
          await register.addTrace(mine, each);
          await register.subscribe(mine, { namespace: each, uri: other });
        }
        expect(new Set(await register.traces(mine))).toEqual(new Set(names));
        const wanted = names.map((namespace) => ({ namespace, uri: other }));
        const found = [...(await register.subscriptions(mine))];
        expect(found).toHaveLength(wanted.length);
        expect(found).toEqual(expect.arrayContaining(wanted));
        expect([await register.traces(theirs), await register.subscriptions(theirs)]).toEqual([[], []]);
      }),
      { numRuns: amount(8, 30) },
    );
  });
}

function contractOfTime(current: () => RegisterSubject, opening: OpenRegister): void {
  test("one whose time is over is not found, and ends nothing", async () => {
    const subject = current();
    const { register } = subject;
    await register.begin(session(subject, "brief", 3));
    await register.begin(session(subject, "long"));
    await register.addTrace("brief", "t");
    await register.subscribe("brief", { namespace: "n", uri: "u" });
    expect(await register.find("brief")).not.toBeNull();
    await subject.pass(3100);
    expect(await register.find("brief")).toBeNull();
    expect([await register.traces("brief"), await register.subscriptions("brief")]).toEqual([[], []]);
    expect(await register.end("brief")).toBeNull();
    expect(await register.find("long")).not.toBeNull();
    await register.begin({ ...session(subject, "over"), expires_at: subject.now() - 1 });
    expect(await register.find("over")).toBeNull();
  });

  test("so many are kept: those that would be over first make room", async () => {
    const subject = await opening({ maxSessions: 3 });
    try {
      const { register } = subject;
      for (const at of range(6)) await register.begin(session(subject, `${at}`, 100 + at));
      const kept = [];
      for (const at of range(6)) if ((await register.find(`${at}`)) !== null) kept.push(at);
      expect(kept).toEqual([3, 4, 5]);
      await register.begin(session(subject, "4", 110));
      expect(await register.find("3")).not.toBeNull();
    } finally {
      await subject.dispose();
    }
  });
}
