import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { expect, test, vi, describe } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { Admission, measureBody, LargeBodies } from "../../../../web/src/server/access/admission.js";
import { declareOperation, mountRoutes, describeStream, UPLOAD } from "../../../../web/src/server/http/operation.js";
import { LIMITS } from "../../../../web/src/server/options.js";
import { Announcer } from "../../../../web/src/server/sessions/announcer.js";
import { memoryState } from "../../../../web/src/server/state.js";
import { UserUsage } from "../../../../web/src/server/usage/user-usage.js";
import type { ServeEnv } from "../../../../web/src/server/http/context.js";
import { refused, Visitor, byHeaders } from "../visitor.js";
import * as fc from "fast-check";
import { z } from "zod";

// How much one session may ask for at a time.

interface Served {
  readonly admission: Admission;
  readonly reported: unknown[];
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Routes that answer with bodies of all kinds, to one session. */
function served(body: () => ReadableStream<Uint8Array> | null): Served {
  const reported: unknown[] = [];
  const limits = { ...LIMITS, concurrentRequests: 2, listeners: 1 };
  const state = memoryState();
  const report = (error: unknown): void => void reported.push(error);
  const usage = new UserUsage({ state, limits: {}, announcer: new Announcer(state.events, report), report });
  const admission = new Admission({
    state,
    limits,
    usage,
    report,
  });
  const listening = declareOperation({
    id: "listen",
    summary: "Listen",
    answers: { 200: describeStream(z.unknown(), "Events.") },
    handle: () => new Response(body(), { headers: { "x-kept": "1" } }),
  });
  const app = new Hono<ServeEnv>()
    .use("*", async (c, next) => {
      c.set("session", { id: "s", identity: { user_id: "ada" }, begun_at: 0, expires_at: 0 });
      await next();
    })
    .use("*", admission.admit)
    .route("/events", mountRoutes({ "/": { get: listening } }))
    .get("/throws", () => Promise.reject(new Error("no")))
    .get("/*", () => new Response(body(), { headers: { "x-kept": "1" } }))
    .onError(() => new Response("failed", { status: 500 }));
  return { admission, reported, ask: async (path, init) => app.request(path, init) };
}

const NONE = { requests: 0, listeners: 0 };

test("a request counts until its body has been read to the end, or nobody wants it", async () => {
  const { admission, ask } = served(() => new Response("abc").body);
  const [one, two] = [await ask("/a"), await ask("/b")];
  expect(admission.underWay).toEqual({ requests: 2, listeners: 0 });
  expect(await refused(await ask("/c"))).toEqual([429, "E_RATE_LIMIT"]);
  expect([await one.text(), one.headers.get("x-kept")]).toEqual(["abc", "1"]);
  expect(admission.underWay).toEqual({ requests: 1, listeners: 0 });
  await two.body?.cancel();
  expect(admission.underWay).toEqual(NONE);
});

test.each([
  ["that throws", "/throws", { method: "GET" }],
  ["of HEAD", "/a", { method: "HEAD" }],
  ["of HEAD to what lasts", "/events", { method: "HEAD" }],
  ["to nothing", "/a", { method: "PUT" }],
])("a request %s counts no longer than it takes", async (_, path, init) => {
  const cancelled = vi.fn<() => void>();
  const { admission, ask } = served(() => new ReadableStream({ cancel: cancelled }));
  const response = await ask(path, init);
  await response.text();
  await sleep(0);
  expect(admission.underWay).toEqual(NONE);
  expect(cancelled).toHaveBeenCalledTimes(init.method === "HEAD" ? 1 : 0);
});

test("a body that fails is told to the host, and counts no more", async () => {
  const error = new Error("the disk is gone");
  const { admission, reported, ask } = served(
    () => new ReadableStream({ pull: (controller) => controller.error(error) }),
  );
  await expect((await ask("/a")).text()).rejects.toThrow("the disk is gone");
  expect([reported, admission.underWay]).toEqual([[error], NONE]);
});

test("a body that breaks off because its client has gone is no failure, and counts no more", async () => {
  const client = new AbortController();
  const { admission, reported, ask } = served(
    () =>
      new ReadableStream({
        start: (controller) => {
          client.signal.addEventListener("abort", () => controller.error(new Error("the response ended early")));
        },
      }),
  );
  const text = (await ask("/a", { signal: client.signal })).text();
  client.abort();
  await expect(text).rejects.toThrow("the response ended early");
  expect([reported, admission.underWay]).toEqual([[], NONE]);
});

test("who listens is counted apart", async () => {
  const { admission, ask } = served(() => new ReadableStream());
  const [events, request] = [await ask("/events"), await ask("/artifacts")];
  expect(admission.underWay).toEqual({ requests: 1, listeners: 1 });
  expect((await ask("/events")).status).toBe(429);
  await events.body?.cancel();
  await request.body?.cancel();
  expect(admission.underWay).toEqual(NONE);
});

test("requests in a minute are counted by session", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), limits: { requestsPerMinute: 3 } });
  const [ada, bob] = [await Visitor.of(server), await Visitor.of(server)];
  const statuses: number[] = [];
  for (let turn = 0; turn < 4; turn++) statuses.push((await ada.ask("/artifacts")).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  const last = await ada.ask("/sessions/current");
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(50);
  expect((await bob.ask("/artifacts")).status).toBe(200);
});

test("too many listeners are refused, and room is made by those that leave", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), limits: { listeners: 2 } });
  const ada = await Visitor.of(server);
  const all = [await ada.ask("/events"), await ada.ask("/events"), await ada.ask("/events")];
  expect(all.map(({ status }) => status)).toEqual([200, 200, 429]);
  await all[0]?.body?.cancel();
  expect((await ada.ask("/events")).status).toBe(200);
});

// Bodies that are held in memory: how many there may be at a time, of one user and of all.

const MIB = 1024 * 1024;

const asked = (method: string, body: string | null, length?: number): Request =>
  new Request("http://x/", { method, body, headers: length === undefined ? {} : { "content-length": `${length}` } });

describe("room", () => {
  test("is for 8 MiB of one user and 32 MiB of all, and always for what is small", () => {
    const bodies = new LargeBodies();
    const leave = bodies.enter("ada", 8 * MIB);
    expect([leave, bodies.enter("ada", 65_537), bodies.enter("ada", 65_536)]).toEqual([
      expect.any(Function),
      null,
      expect.any(Function),
    ]);
    for (const user of ["bob", "cy", "dan"]) expect(bodies.enter(user, 8 * MIB)).not.toBeNull();
    expect([bodies.enter("eve", 65_537), bodies.enter("eve", 65_536)]).toEqual([null, expect.any(Function)]);
    leave?.();
    leave?.();
    expect([bodies.enter("eve", 8 * MIB), bodies.enter("fay", 65_537)]).toEqual([expect.any(Function), null]);
  });

  test("is there again when all have left, in whatever order", () => {
    const entry = fc.record({ user: fc.constantFrom("a", "b", "c", "d", "e"), bytes: fc.nat(9 * MIB) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (entries, picks) => {
        const bodies = new LargeBodies();
        const leaves = entries.flatMap(({ user, bytes }) => bodies.enter(user, bytes) ?? []);
        while (leaves.length > 0) leaves.splice((picks.next().value as number) % leaves.length, 1)[0]?.();
        for (const user of ["a", "b", "c", "d"]) expect(bodies.enter(user, 8 * MIB)).not.toBeNull();
      }),
    );
  });
});

describe("what is held of a request", () => {
  const JSON_BODY = z.unknown();
  const MESSAGE = { schema: z.unknown(), most: 8 * MIB };

  test.each([
    ["nothing of one without a body", asked("POST", null, 5), JSON_BODY, 0],
    ["nothing where none is read", asked("DELETE", "x"), undefined, 0],
    ["nothing of an upload", asked("POST", "x", 5_000_000), UPLOAD, 0],
    ["what it says", asked("PATCH", "x", 70_000), JSON_BODY, 70_000],
    ["no more than is read", asked("POST", "x", 5_000_000), JSON_BODY, MIB],
    ["as much as may be where it does not say", asked("POST", "x"), JSON_BODY, MIB],
    ["more of a message for a source", asked("POST", "x", 5_000_000), MESSAGE, 5_000_000],
    ["and of one that does not say", asked("POST", "x"), MESSAGE, 8 * MIB],
  ] as const)("is %s", (_, request, body, bytes) => {
    expect(measureBody(request, body)).toBe(bytes);
  });
});

test("a user of many sessions is refused more large requests, and others are not", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
  const sessions = await Promise.all(Array.from({ length: 10 }, () => Visitor.of(server, { user: "ada" })));
  const bob = await Visitor.of(server, { user: "bob" });
  const ends: (() => void)[] = [];
  const endless = (visitor: Visitor): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void ends.push(() => controller.close()) });
    const init = { method: "POST", body, duplex: "half", headers: { "content-type": "application/json" } };
    return visitor.ask("/tools/none.none", init);
  };
  const held = sessions.slice(0, 8).map(endless);
  await sleep(50);
  const [ada] = sessions.slice(8);
  expect(await refused(await (ada as Visitor).ask("/tools/a.b", large()))).toEqual([429, "E_RATE_LIMIT"]);
  expect((await (ada as Visitor).ask("/artifacts")).status).toBe(200);
  expect(await refused(await bob.ask("/tools/a.b", large()))).toEqual([404, "E_NOT_FOUND"]);
  for (const end of ends) end();
  await Promise.all(held.map(async (response) => (await response).text()));
  expect(await refused(await (ada as Visitor).ask("/tools/a.b", large()))).toEqual([404, "E_NOT_FOUND"]);
});

function large(): RequestInit {
  const body = JSON.stringify({ args: { text: "x".repeat(100_000) } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "content-length": `${body.length}`,
  };
  return { method: "POST", body, headers };
}
