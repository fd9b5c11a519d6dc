/** Sessions: who is in one, what is told to it, and its work. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore, RetainingArtifactStore } from "../../../../web/src/index.js";
import { memoryState, SluiceServer } from "../../../../web/src/serve.js";
import { announceStored, Announcer, sessionChannel } from "../../../../web/src/server/sessions/announcer.js";
import { CHANNEL_SECONDS, ENDED_SECONDS } from "../../../../web/src/server/sessions/event-log.js";
import { MemoryEventLog } from "../../../../web/src/server/sessions/memory-event-log.js";
import { MemorySessionRegister } from "../../../../web/src/server/sessions/session-register.js";
import { toSentEvents, type Told } from "../../../../web/src/server/sessions/session-work.js";
import { toScope, type ServedSession } from "../../../../web/src/server/session.js";
import { byHeaders, Visitor } from "../visitor.js";
import { describeEventLog } from "./event-log-contract.js";
import { first, Heard, numbered, range } from "./listening.js";
import { describeRegister } from "./register-contract.js";

describe("the register of sessions", () => {
  describeRegister("MemorySessionRegister", async ({ maxSessions }) => {
    let now = Date.UTC(2026, 0, 1);
    const register = new MemorySessionRegister(() => now, maxSessions);
    return {
      register,
      beside: () => register,
      now: () => now,
      pass: async (milliseconds) => void (now += milliseconds),
      dispose: () => Promise.resolve(),
    };
  });
});

describe("the announcer", () => {
  const SESSION: ServedSession = {
    id: "s1",
    identity: { user_id: "ada" },
    begun_at: Date.now(),
    expires_at: Date.now() + 60_000,
  };

  function announcing() {
    const state = memoryState();
    const store = new RetainingArtifactStore(new MemoryArtifactStore());
    return { state, store, announcer: new Announcer(state.events, () => undefined) };
  }

  async function told({ state }: ReturnType<typeof announcing>): Promise<readonly unknown[]> {
    const all: unknown[] = [];
    const signal = AbortSignal.timeout(50);
    for await (const { event } of state.events.follow(sessionChannel("s1"), { after: null, signal })) all.push(event);
    return all;
  }

  test("what is stored for a session is told to it; what became the user's file is told as such", async () => {
    const deps = announcing();
    await deps.state.sessions.begin(SESSION);
    const { scope: _, ...ref } = await deps.store.putText("hello", { scope: toScope(SESSION, "r1") });
    const file = await deps.store.putText("a file", { scope: { user_id: "ada" } });
    expect(await announceStored(deps, SESSION, [{ ...ref, scope: toScope(SESSION, "r1") }, file])).toBe(true);
    expect(await told(deps)).toEqual([
      { kind: "artifact_stored", artifact: ref, trace: "r1" },
      { kind: "files_changed" },
    ]);
  });

  test("what was not stored is not told", async () => {
    const deps = announcing();
    await deps.state.sessions.begin(SESSION);
    const ref = await deps.store.putText("hello", { scope: toScope(SESSION) });
    expect(await announceStored(deps, SESSION, [{ ...ref, source: { truncated: true } }])).toBe(true);
    expect(await told(deps)).toEqual([]);
  });

  test("of a session that is over nothing is kept, but the user's files are", async () => {
    const deps = announcing();
    await deps.state.sessions.begin(SESSION);
    await deps.state.sessions.end("s1");
    const ref = await deps.store.putText("hello", { scope: toScope(SESSION, "r1") });
    const file = await deps.store.putText("a file", { scope: { user_id: "ada" } });
    expect(await announceStored(deps, SESSION, [ref, file])).toBe(false);
    expect(await deps.store.exists(ref.id, ref.scope)).toBe(false);
    expect(await deps.store.exists(file.id, file.scope)).toBe(true);
    expect(await told(deps)).toEqual([]);
  });
});

describe("the session that a request is in, whatever cookies and tokens it brings", () => {
  const HERE = "http://127.0.0.1:8080";
  const NAME = "sluice_session_8080";

  let server: SluiceServer;
  let [ada, eve]: readonly Visitor[] = [];
  beforeEach(async () => {
    server = new SluiceServer({ store: new MemoryArtifactStore() });
    [ada, eve] = [await Visitor.of(server), await Visitor.of(server)];
    return () => server[Symbol.asyncDispose]();
  });

  /** The session that a request with these headers is in; null for none. */
  async function entered(headers: Readonly<Record<string, string>>): Promise<string | null> {
    const answer = await server.fetch(new Request(`${HERE}/sessions/current`, { headers }));
    return answer.status === 200 ? ((await answer.json()) as { id: string }).id : null;
  }

  const cookies = (...values: readonly (string | undefined)[]): { readonly cookie: string } => ({
    cookie: values.map((value) => `${NAME}=${value}`).join("; "),
  });

  test("a cookie is found among others, and junk of its name hides it as little as it stands for it", async () => {
    expect(await entered({ cookie: `a=1;${NAME}=${ada?.token} ;b=2` })).toBe(ada?.id);
    expect(await entered(cookies("junk", ada?.token, ""))).toBe(ada?.id);
    expect(await entered(cookies(ada?.token, "a.b.c"))).toBe(ada?.id);
    expect(await entered(cookies(ada?.token, ada?.token))).toBe(ada?.id);
    expect(await entered({ cookie: `x${NAME}=${ada?.token}; ${NAME}x=${ada?.token}; ${NAME}` })).toBeNull();
  });

  test("of the cookies of two sessions none counts: one of them was set by somebody else", async () => {
    expect(await entered(cookies(ada?.token, eve?.token))).toBeNull();
    expect(await entered(cookies(eve?.token, ada?.token))).toBeNull();
  });

  test("a bearer goes before all cookies, also one that opens nothing", async () => {
    expect(await entered({ ...cookies(eve?.token), authorization: `Bearer ${ada?.token}` })).toBe(ada?.id);
    expect(await entered({ ...cookies(eve?.token), authorization: "Bearer junk" })).toBeNull();
  });

  test("no more cookies are looked at than a browser could have by accident", async () => {
    const junk = Array.from({ length: 8 }, (_, at) => `${at}`);
    expect(await entered(cookies(...junk.slice(1), ada?.token))).toBe(ada?.id);
    expect(await entered(cookies(...junk, ada?.token))).toBeNull();
  });

  test("the next user whom a proxy signs in with a browser is not in the session of the one before", async () => {
    await using behind = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
    const bob = await Visitor.of(behind, { user: "bob", tenant: "acme" });
    const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await behind.fetch(new Request(`${HERE}/sessions/current`, { headers }))).status;
    const own = cookies(bob.token);
    expect(await status({ ...own, "x-user": "bob", "x-tenant": "acme" })).toBe(200);
    expect(await status({ ...own, "x-user": "eve", "x-tenant": "acme" })).toBe(401);
    expect(await status({ ...own, "x-user": "bob" })).toBe(401);
    // Where nobody says who it is, as behind a token that was sent once, the session says it.
    expect(await status(own)).toBe(200);
  });

  test("a host that cannot tell who somebody is lets nobody in by a cookie", async () => {
    let fails = false;
    await using behind = new SluiceServer({
      store: new MemoryArtifactStore(),
      authenticate: (request) => {
        if (fails) throw new Error("no directory");
        return byHeaders(request);
      },
    });
    const bob = await Visitor.of(behind, { user: "bob" });
    fails = true;
    const asked = new Request(`${HERE}/artifacts`, { headers: { ...cookies(bob.token), "x-user": "bob" } });
    expect((await behind.fetch(asked)).status).toBe(503);
  });
});

describe("work of a session", () => {
  const forever = new AbortController().signal;

  interface Numbered extends Told {
    readonly number: number;
  }

  const event = (kind: string, number: number): Numbered => ({ kind, number });

  async function all(events: AsyncIterable<{ readonly data: Told }>): Promise<readonly Told[]> {
    const told: Told[] = [];
    for await (const { data } of events) told.push(data);
    return told;
  }

  test("all is told in order but what a later one says better, and what it comes to is last", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("passing", "paused"), { maxLength: 40 }), async (kinds) => {
        const sent = kinds.map(event);
        const told = await all(
          toSentEvents(
            async (tell) => {
              sent.forEach(tell);
              return { kind: "result" };
            },
            "passing",
            forever,
          ),
        );
        const expected = sent.filter(({ kind }, index) => kind !== "passing" || sent[index + 1]?.kind !== "passing");
        expect(told).toEqual([...expected, { kind: "result" }]);
      }),
    );
  });

  test("what a slow listener does not take is bounded", async () => {
    const told = await all(
      toSentEvents(
        async (tell) => {
          for (let number = 0; number < 5000; number += 1) tell(event(number % 2 === 0 ? "passing" : "other", number));
          return { kind: "result" };
        },
        "passing",
        forever,
      ),
    );
    expect(told.filter(({ kind }) => kind === "passing").length).toBeLessThanOrEqual(128);
    expect(told.at(-1)).toEqual({ kind: "result" });
  });

  test("events come while the work goes on", async () => {
    const going = new AbortController();
    const work = async (tell: (told: Told) => void): Promise<Told> => {
      tell(event("paused", 1));
      await once(going.signal, "abort");
      return { kind: "result" };
    };
    const events = toSentEvents(work, "passing", forever);
    expect(await events.next()).toEqual({ done: false, value: { data: event("paused", 1) } });
    const last = events.next();
    going.abort();
    expect(await last).toEqual({ done: false, value: { data: { kind: "result" } } });
  });

  test.each(["the listener leaves", "the answer is given up"])("%s: so is the work", async (who) => {
    const given = new AbortController();
    let signal: AbortSignal | undefined;
    const events = toSentEvents(
      async (tell, own) => {
        signal = own;
        tell(event("paused", 1));
        await once(own, "abort");
        return { kind: "failed" };
      },
      "passing",
      given.signal,
    );
    await events.next();
    if (who === "the listener leaves") await events.return(undefined);
    else given.abort();
    expect(signal?.aborted).toBe(true);
  });
});

describe("the log in memory", () => {
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
});
