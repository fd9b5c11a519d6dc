/** How much one session may ask for at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { Hono } from "hono";
import { expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { Admission } from "../../../../web/src/server/http/admission.js";
import { LIMITS } from "../../../../web/src/server/options.js";
import { memoryState } from "../../../../web/src/server/state.js";
import type { ServeEnv } from "../../../../web/src/server/deps.js";
import { refused, Visitor } from "../visitor.js";

interface Served {
  readonly admission: Admission;
  readonly reported: unknown[];
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Routes that answer with bodies of all kinds, to one session. */
function served(body: () => ReadableStream<Uint8Array> | null): Served {
  const reported: unknown[] = [];
  const limits = { ...LIMITS, concurrentRequests: 2, listeners: 1 };
  const admission = new Admission({
    state: memoryState(),
    limits,
    base: "/",
    report: (error) => void reported.push(error),
  });
  const app = new Hono<ServeEnv>()
    .use("*", async (c, next) => {
      c.set("session", { id: "s", identity: { user_id: "ada" }, begun_at: 0, expires_at: 0 });
      await next();
    })
    .use("*", admission.admit)
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

test("who listens is counted apart", async () => {
  const { admission, ask } = served(() => new ReadableStream());
  const [events, request] = [await ask("/events"), await ask("/artifacts")];
  expect(admission.underWay).toEqual({ requests: 1, listeners: 1 });
  expect((await ask("/chat/run")).status).toBe(429);
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
