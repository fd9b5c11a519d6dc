import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { ArtifactRef } from "../../../../web/src/index.js";
import { artifactPage } from "../../../../web/src/server/artifacts/page.js";
import {
  type ArtifactService,
  artifactUrl,
  endSession,
  serveArtifacts,
} from "../../../../web/src/server/artifacts/service.js";
import { isSessionKey, MemoryArtifactSessions, sessionKey } from "../../../../web/src/server/artifacts/sessions.js";
import { listed } from "../../artifacts/bytes.js";
import { sessionsContract } from "./sessions-contract.js";

describe("the service of artifacts", () => {
  const BASE = "https://example.org/sub/path/";
  const ADA: ArtifactScope = { session_id: "s1" };
  const BOB: ArtifactScope = { session_id: "s2" };

  afterEach(() => vi.unstubAllGlobals());

  /** What a fetch event is answered with; null when it is not. */
  async function asked(service: ArtifactService, url: string, init?: RequestInit): Promise<Response | null> {
    const answers: Promise<Response>[] = [];
    const isAnswered = service.respond({
      request: new Request(url, init),
      respondWith: (response) => void answers.push(response),
    });
    expect(answers).toHaveLength(isAnswered ? 1 : 0);
    return answers[0] ?? null;
  }

  function serving(): { store: MemoryArtifactStore; sessions: MemoryArtifactSessions; service: ArtifactService } {
    const store = new MemoryArtifactStore({ retention: null });
    const sessions = new MemoryArtifactSessions();
    return { store, sessions, service: serveArtifacts({ store, sessions, base: BASE }) };
  }

  test("who has the key gets the session's artifacts, and nobody else's", async () => {
    const { store, sessions, service } = serving();
    const mine = await store.putText("mine", { scope: ADA });
    const theirs = await store.putText("theirs", { scope: BOB });
    const key = await sessions.begin(ADA);
    const response = await asked(service, artifactUrl(key, mine.id, { base: BASE }));
    expect(await response?.text()).toBe("mine");
    const meta = await asked(service, artifactUrl(key, mine.id, { base: BASE, meta: true }));
    expect(await meta?.json()).toMatchObject({ id: mine.id, size_bytes: 4 });
    expect((await asked(service, artifactUrl(key, theirs.id, { base: BASE })))?.status).toBe(404);
  });

  test.each([
    "https://example.org/sub/path/",
    "https://example.org/sub/path/index.html",
    "https://example.org/sub/path/shared/x",
    "https://example.org/s/x",
    "https://other.example/sub/path/s/x",
  ])("%s is for somebody else", async (url) => {
    expect(await asked(serving().service, url)).toBeNull();
  });

  test("what opens nothing is not found, in the same words, whatever is wrong with it", async () => {
    const { store, sessions, service } = serving();
    const { id } = await store.putText("mine", { scope: ADA });
    const key = await sessions.begin(ADA);
    const ended = await sessions.begin(ADA);
    await sessions.end(ended);
    const paths = [
      `${sessionKey()}/artifacts/${id}`,
      `${ended}/artifacts/${id}`,
      `${key.slice(0, -1)}/artifacts/${id}`,
      `${key}x/artifacts/${id}`,
      `${key}/artifacts/${id.replace(/....$/, "0000")}`,
      `${key}/artifacts/`,
      `${key}/artifacts`,
      `${key}/other`,
      `${key}/`,
      key,
      "",
      "//",
      "%ff/artifacts/x",
      "x".repeat(10_000),
    ];
    for (const path of paths) {
      const response = await asked(service, `${BASE}s/${path}`);
      expect(response?.status).toBe(404);
      const text = (await response?.text()) ?? "";
      expect(JSON.parse(text)).toMatchObject({ error: { code: "E_NOT_FOUND" } });
      expect(text).not.toContain(key.slice(0, -1));
    }
  });

  test("ending a session closes its addresses and deletes what it stored, and only that", async () => {
    const { store, sessions, service } = serving();
    const { id } = await store.putText("same", { scope: ADA });
    await store.putText("more", { scope: ADA });
    await store.putText("same", { scope: BOB });
    const [ada, bob] = [await sessions.begin(ADA), await sessions.begin(BOB)];
    expect(await endSession(ada, { sessions, store })).toBe(2);
    expect((await asked(service, artifactUrl(ada, id, { base: BASE })))?.status).toBe(404);
    expect(await listed(store.list(ADA))).toEqual([]);
    expect(await (await asked(service, artifactUrl(bob, id, { base: BASE })))?.text()).toBe("same");
    expect(await endSession(ada, { sessions, store })).toBe(0);
    expect(await endSession("no key", { sessions, store })).toBe(0);
  });

  test("a session that could not be cleared opens nothing, and can be ended again", async () => {
    const { store, sessions, service } = serving();
    const { id } = await store.putText("one", { scope: ADA });
    await store.putText("two", { scope: ADA });
    const key = await sessions.begin(ADA);
    const failing = vi.spyOn(store, "delete").mockRejectedValueOnce(new Error("EIO /home/ada"));
    await expect(endSession(key, { sessions, store })).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    expect((await asked(service, artifactUrl(key, id, { base: BASE })))?.status).toBe(404);
    expect(await listed(store.list(ADA))).toHaveLength(1);
    failing.mockRestore();
    expect(await endSession(key, { sessions, store })).toBe(1);
    expect(await listed(store.list(ADA))).toEqual([]);
  });

  test("what was served and then deleted is gone, for that session only and after the worker was started anew", async () => {
    const { store, sessions, service } = serving();
    const { id } = await store.putText("mine", { scope: ADA });
    const [first, second] = [await sessions.begin(ADA), await sessions.begin(ADA)];
    await asked(service, artifactUrl(first, id, { base: BASE }));
    await store.delete(id, ADA);
    const restarted = serveArtifacts({ store, sessions, base: BASE });
    expect((await asked(restarted, artifactUrl(first, id, { base: BASE })))?.status).toBe(410);
    expect((await asked(restarted, artifactUrl(second, id, { base: BASE })))?.status).toBe(404);
  });

  test("the store may be chosen by the scope", async () => {
    const { store, sessions } = serving();
    const files = new MemoryArtifactStore({ retention: null });
    const { id } = await files.putText("kept", { scope: BOB });
    const chosen = (scope: ArtifactScope): MemoryArtifactStore => (scope.session_id === "s2" ? files : store);
    const service = serveArtifacts({ sessions, store: chosen, base: BASE });
    const key = await sessions.begin(BOB);
    expect(await (await asked(service, artifactUrl(key, id, { base: BASE })))?.text()).toBe("kept");
    expect(await endSession(key, { sessions, store: chosen })).toBe(1);
  });

  test("sessions that cannot be looked up are a failure without details", async () => {
    const { sessions, service } = serving();
    vi.spyOn(sessions, "find").mockRejectedValue(new Error("/home/ada"));
    const response = await asked(service, artifactUrl(sessionKey(), "web_0123456789ab", { base: BASE }));
    expect(response?.status).toBe(503);
    expect(await response?.text()).not.toContain("ada");
  });

  test("in a service worker the base is the scope of its registration", async () => {
    const { store, sessions } = serving();
    expect(() => serveArtifacts({ store, sessions })).toThrow(expect.objectContaining({ path: "base" }));
    vi.stubGlobal("registration", { scope: BASE });
    const { id } = await store.putText("mine", { scope: ADA });
    const url = artifactUrl(await sessions.begin(ADA), id, { base: BASE });
    expect(await (await asked(serveArtifacts({ store, sessions }), url))?.text()).toBe("mine");
  });

  const KEY = sessionKey();
  const ID = "web_0123456789ab";

  test("addresses are below where the service is, or relative", () => {
    expect(artifactUrl(KEY, ID)).toBe(`s/${KEY}/artifacts/${ID}`);
    expect(artifactUrl(KEY, ID, { download: true })).toBe(`s/${KEY}/artifacts/${ID}?download`);
    expect(artifactUrl(KEY, ID, { meta: true })).toBe(`s/${KEY}/artifacts/${ID}/meta`);
    expect(artifactUrl(KEY, ID, { base: "https://example.org/sub/path/" })).toBe(
      `https://example.org/sub/path/s/${KEY}/artifacts/${ID}`,
    );
  });

  test("a malformed id stays one part of a path", () => {
    expect(artifactUrl(KEY, "../x?y#z", { base: "https://example.org/" })).toBe(
      `https://example.org/s/${KEY}/artifacts/..%2Fx%3Fy%23z`,
    );
  });
});

describe("pages", () => {
  // Pages of a listing.

  const session = (trace_id: string | null) => ({ user_id: "ada", session_id: "s", trace_id });

  async function paged(
    store: MemoryArtifactStore,
    traces: readonly (string | null)[],
    limit: number,
  ): Promise<string[][]> {
    const pages: string[][] = [];
    const scopes = traces.map(session);
    for (let after: string | undefined; ;) {
      const page = await artifactPage(store, { scopes, limit, ...(after !== undefined && { after }) });
      pages.push(page.artifacts.map(({ id, scope }) => `${scope.trace_id} ${id}`));
      after = page.next;
      if (after === undefined) return pages;
    }
  }

  test("pages together are the whole, each as long as it may be, whatever the limit", async () => {
    const drawn = fc.record({
      stored: fc.array(fc.record({ text: fc.string(), trace: fc.constantFrom(null, "a", "b") }), { maxLength: 40 }),
      limit: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ stored, limit }) => {
        // Many have the same time.
        let now = 1_000_000;
        const store = new MemoryArtifactStore({ clock: () => (now += 0.4) });
        const refs: ArtifactRef[] = [];
        for (const { text, trace } of stored) refs.push(await store.putText(text, { scope: session(trace) }));
        const pages = await paged(store, [null, "a", "b"], limit);
        const expected = new Set(refs.map(({ id, scope }) => `${scope.trace_id} ${id}`));
        expect(pages.flat().toSorted()).toEqual([...expected].toSorted());
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
      }),
    );
  });

  test("what goes between two pages takes nothing else with it, and what comes is on a later one", async () => {
    let now = 1_000_000;
    const store = new MemoryArtifactStore({ clock: () => (now += 10) });
    const refs: ArtifactRef[] = [];
    for (const text of ["a", "b", "c", "d"]) refs.push(await store.putText(text, { scope: session(null) }));
    const scopes = [session(null)];
    const first = await artifactPage(store, { scopes, limit: 2 });
    await store.delete(refs[1]?.id ?? "", session(null));
    const late = await store.putText("e", { scope: session(null) });
    const second = await artifactPage(store, { scopes, limit: 9, after: first.next ?? "" });
    expect(second.artifacts.map(({ id }) => id)).toEqual([refs[2]?.id, refs[3]?.id, late.id]);
    expect(second.next).toBeUndefined();
  });

  test("a page of long records ends early", async () => {
    const store = new MemoryArtifactStore({ retention: null });
    const source = { note: "x".repeat(1_000_000) };
    for (let number = 0; number < 9; number++) await store.putText(`${number}`, { scope: session(null), source });
    const lengths = (await paged(store, [null], 500)).map(({ length }) => length);
    expect(lengths).toEqual([4, 4, 1]);
  });
});

describe("sessions", () => {
  describe("sessions in memory", () => {
    sessionsContract(() => new MemoryArtifactSessions());
  });

  test("keys are 22 characters that addresses take as they are, and no two are the same", () => {
    const keys = new Set(Array.from({ length: 1000 }, sessionKey));
    expect(keys.size).toBe(1000);
    for (const key of keys) {
      expect(isSessionKey(key)).toBe(true);
      expect(encodeURIComponent(key)).toBe(key);
    }
  });

  test.each(["", "x".repeat(21), "x".repeat(23), `${"x".repeat(21)}/`, `${"x".repeat(22)}\n`, null, 7])(
    "%j is no key",
    (key) => {
      expect(isSessionKey(key)).toBe(false);
    },
  );
});
