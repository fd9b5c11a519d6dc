/** One database, several at it at once: here a page and its workers, which share no memory. */
import { deleteDB, openDB } from "idb";
import type { StoredArtifact } from "mcp-sluice";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { afterEach, describe, expect, test, vi } from "vitest";
import { dated, drained, listed, same, noise } from "../../unit/artifacts/bytes.js";
import { contentsIn, freshName, inside, wrongIn } from "./database.js";
import type { Question, Remote } from "./serving.js";

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}

/** The store behind a port, in the database of this name. */
function asked(port: Worker | MessagePort, name: string): Remote {
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  port.addEventListener("message", (event) => {
    const { data } = event as MessageEvent<Answer>;
    waiting.get(data.id)?.(data);
  });
  if (port instanceof MessagePort) port.start();
  const ask = (method: keyof Remote, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ value, failure }) => (failure === undefined ? resolve(value) : reject(new Error(failure))));
      port.postMessage({ id, question: { name, method, args } satisfies Question });
    });
  return new Proxy({} as Remote, {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        ask(method as keyof Remote, args),
  });
}

/** A worker with a store. */
function newWorker(): Worker {
  return new Worker(new URL("store-worker.ts", import.meta.url), { type: "module" });
}

describe("several tabs", () => {
  const MIB = 1024 * 1024;
  const frozen = (): number => 1_700_000_000_000;
  const workers: Worker[] = [];

  function worker(): Worker {
    const made = newWorker();
    workers.push(made);
    return made;
  }

  afterEach(() => {
    for (const each of workers.splice(0)) each.terminate();
  });

  test.each([10, 3 * MIB])(
    "the same %i bytes, stored and deleted everywhere at once, are never half there",
    async (size) => {
      const name = freshName();
      await using store = new IndexedDbArtifactStore({ name, retention: null });
      const others = [asked(worker(), name), asked(worker(), name)];
      const churning = others.map((other) => other.churn(size, 12));
      const bytes = new Uint8Array(size).fill(7);
      for (let round = 0; round < 12; round++) {
        const ref = await store.putBytes(bytes);
        // Another one may have deleted it by now.
        const read = await store.get(ref.id);
        expect(read === null || same(read, bytes)).toBe(true);
        const stream = await store.openReader(ref.id);
        expect(stream === null || same(await drained(stream), bytes)).toBe(true);
        if (round % 3 === 0) await store.delete(ref.id);
      }
      expect(await Promise.all(churning)).toEqual([12, 12]);
      const ref = await store.putBytes(bytes);
      expect(same(await store.get(ref.id), bytes)).toBe(true);
      expect(await others[0]?.get(ref.id)).toBe(size);
      expect(await wrongIn(name)).toEqual([]);
      expect(await contentsIn(name)).toBe(1);
    },
  );

  test("what one stores the other has at once, under one id and with one content", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const other = asked(worker(), name);
    const id = await other.putText("from the worker");
    expect(await store.get(id)).toEqual(new TextEncoder().encode("from the worker"));
    expect((await store.putText("from the worker")).id).toBe(id);
    expect(await contentsIn(name)).toBe(1);
    expect(await store.delete(id)).toBe(true);
    expect(await other.get(id)).toBeNull();
  });

  test("a reader has all bytes of what another tab deletes meanwhile, and then they go", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const other = asked(worker(), name);
    const data = noise(5 * MIB + 3);
    const { id } = await store.putBytes(data);
    const stream = await store.openReader(id);
    expect(await other.delete(id)).toBe(true);
    expect(await store.get(id)).toBeNull();
    expect(same(await drained(stream), data)).toBe(true);
    expect(await contentsIn(name)).toBe(0);
  });

  test("what a terminated worker was writing is cleared away when the store is opened, and not before", async () => {
    const name = freshName();
    const [dying, living] = [worker(), worker()];
    await asked(dying, name).begin(3 * MIB);
    await asked(living, name).begin(2 * MIB);
    await using store = new IndexedDbArtifactStore({ name });
    await store.open();
    expect((await inside(name)).contents).toHaveLength(2);
    dying.terminate();
    // The browser tells nobody when it is gone.
    await vi.waitFor(async () => {
      await store.open();
      expect((await inside(name)).contents).toHaveLength(1);
    });
    expect(await listed(store.list())).toEqual([]);
    await asked(living, name).putText("still at work");
    living.terminate();
    await vi.waitFor(async () => {
      await store.open();
      expect(await contentsIn(name)).toBe(1);
    });
    expect(await wrongIn(name)).toEqual([]);
  });

  test("only one at a time makes room", async () => {
    const name = freshName();
    await using one = new IndexedDbArtifactStore({ name });
    await using two = new IndexedDbArtifactStore({ name });
    expect(await one.exclusively?.(async () => two.collect())).toBeNull();
    expect(await two.collect()).toEqual({ artifacts: 0, bytes: 0 });
  });

  test("what an earlier session left expires when the store is opened", async () => {
    const name = freshName();
    let now = Date.now();
    const clock = (): number => now;
    await using before = new IndexedDbArtifactStore({ name, clock });
    await before.putText("old");
    await before.close();
    now += 3_600_000;
    await using after = new IndexedDbArtifactStore({ name, clock });
    await after.open();
    expect(await contentsIn(name)).toBe(0);
  });

  test("limits count what other tabs stored, once a minute", async () => {
    const name = freshName();
    let now = Date.now();
    const retention = { ttl_seconds: null, max_total_bytes: 25 };
    await using store = new IndexedDbArtifactStore({ name, retention, clock: () => now });
    const other = asked(worker(), name);
    const mine = await store.putText("0123456789");
    const theirs = [await other.putText("a".repeat(10)), await other.putText("b".repeat(10))];
    now += 60_000;
    const newest = await store.putText("newest");
    const ids = (await listed(store.list())).map(({ id }) => id);
    expect(ids).not.toContain(mine.id);
    expect(ids).toContain(newest.id);
    expect((await listed(store.list())).reduce((sum, { size_bytes }) => sum + size_bytes, 0)).toBeLessThanOrEqual(25);
    expect(theirs.filter((id) => ids.includes(id)).length).toBeGreaterThan(0);
  });

  test("a service worker and its page share a store", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const { id } = await store.putBytes(noise(2 * MIB));
    const url = new URL("store-service-worker.ts", import.meta.url);
    const registration = await navigator.serviceWorker.register(url, {
      type: "module",
      scope: new URL("nowhere/", url).pathname,
    });
    try {
      const { port1, port2 } = new MessageChannel();
      (registration.active ?? registration.waiting ?? registration.installing)?.postMessage(null, [port2]);
      const other = asked(port1, name);
      expect(await other.get(id)).toBe(2 * MIB);
      const theirs = await other.putText("from the service worker");
      expect(await store.stat(theirs)).toMatchObject({ size_bytes: 23 });
    } finally {
      await registration.unregister();
    }
  });

  test("stamps differ and are in order where tabs see the same millisecond", async () => {
    const name = freshName();
    await using one = new IndexedDbArtifactStore({ name, retention: null, clock: frozen });
    await using two = new IndexedDbArtifactStore({ name, retention: null, clock: frozen });
    const ids: string[] = [];
    for (const [turn, store] of [one, two, two, one].entries()) ids.push((await store.putText(String(turn))).id);
    const stored = await dated(one.list());
    expect(stored.map(({ id }) => id)).toEqual(ids);
    expect(new Set(stored.map(({ used_at }) => used_at)).size).toBe(4);
    await two.get(ids[0] ?? "");
    const [first, second, third] = stored as [StoredArtifact, StoredArtifact, StoredArtifact];
    expect(await one.evict(first)).toBe(false);
    await two.delete(ids[1] ?? "");
    await two.putText("1");
    expect(await one.evict(second)).toBe(false);
    expect(await one.evict(third)).toBe(true);
  });

  test("a tab whose clock is far ahead does not set everyone's", async () => {
    const name = freshName();
    await using wrong = new IndexedDbArtifactStore({ name, retention: null, clock: () => 4_000_000_000_000 });
    await using right = new IndexedDbArtifactStore({ name, retention: null, clock: frozen });
    await wrong.putText("ahead");
    const { id } = await right.putText("now");
    expect((await right.stat(id))?.stored_at).toBeLessThan(1_700_000_000_001);
  });
});

/** Databases that others upgrade, delete, hold or damage. */
describe("the connection", () => {
  const MIB = 1024 * 1024;

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test("a store makes way for a newer version, and then says that there is one", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    await store.putText("x");
    const newer = await openDB(name, 3);
    await expect(store.putText("y")).rejects.toMatchObject({
      code: "E_STORE_READ",
      message: expect.stringContaining("newer"),
    });
    newer.close();
    await expect(listed(store.list())).rejects.toMatchObject({ code: "E_STORE_READ" });
  });

  test("a database of the first version is taken over with what is in it, which is found by its name too", async () => {
    const name = freshName();
    const text = "kept before";
    const bytes = new TextEncoder().encode(text);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const first = await openDB(name, 1, {
      upgrade(database) {
        const refs = database.createObjectStore("refs", { keyPath: ["scope", "id"] });
        refs.createIndex("all", ["created", "scope", "id"]);
        refs.createIndex("scope", ["scope", "created", "id"]);
        refs.createIndex("sha256", "sha256");
        database.createObjectStore("blobs", { keyPath: "sha256" }).createIndex("content", "content");
        database.createObjectStore("chunks");
        database.createObjectStore("contents", { keyPath: "content" });
        database.createObjectStore("clock");
      },
    });
    const id = `artifact_${sha256.slice(0, 12)}`;
    const times = { created: 1, stored: 1, used: 1 };
    const said = {
      mime_type: null,
      namespace: "artifact",
      source: "{}",
      scope: JSON.stringify(["acme", null, null, null]),
    };
    await first.put("refs", { id, sha256, size_bytes: bytes.length, filename: "a.txt", ...said, ...times });
    await first.put("blobs", { sha256, size: bytes.length, content: "c", damaged: false });
    await first.put("chunks", bytes, ["c", 0]);
    first.close();
    await using store = new IndexedDbArtifactStore({ name, retention: null });
    const scope = { tenant_id: "acme" };
    expect(await listed(store.list(scope, { filename: "a.txt" }))).toMatchObject([{ id }]);
    expect(await store.get(id, scope)).toEqual(bytes);
  });

  test("a database that is deleted while it is open is made anew", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const ref = await store.putText("x");
    await deleteDB(name);
    expect(await store.get(ref.id)).toBeNull();
    expect(await listed(store.list())).toEqual([]);
    expect(await store.putText("x")).toEqual(ref);
    expect(await contentsIn(name)).toBe(1);
  });

  test("what was being written and read when a database is deleted fails with a code, and leaves nothing", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const { id } = await store.putBytes(noise(4 * MIB));
    const reader = (await store.openReader(id))?.getReader();
    await reader?.read();
    const writer = await store.openWriter();
    await writer.write(noise(3 * MIB, 2));
    await deleteDB(name);
    await expect(reader?.read()).rejects.toMatchObject({ code: "E_STORE_READ" });
    await expect(writer.write(noise(3 * MIB)).then(() => writer.close())).rejects.toMatchObject({
      code: "E_STORE_WRITE",
    });
    expect(await contentsIn(name)).toBe(0);
  });

  test("a database that somebody else holds does not hang a store for ever", async () => {
    const name = freshName();
    const holder = await openDB(name, 1);
    const deleting = deleteDB(name);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await using store = new IndexedDbArtifactStore({ name });
    const failing = store.putText("x").then(
      () => ({}),
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(40_000);
    expect(await failing).toMatchObject({ code: "E_STORE_READ", message: expect.stringContaining("another tab") });
    vi.useRealTimers();
    holder.close();
    await deleting;
    expect(await store.putText("x")).toMatchObject({ size_bytes: 1 });
  });

  test("a database of somebody else is left alone", async () => {
    const name = freshName();
    const theirs = await openDB(name, 1, { upgrade: (database) => void database.createObjectStore("refs") });
    theirs.close();
    await using store = new IndexedDbArtifactStore({ name });
    await expect(store.putText("x")).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    const again = await openDB(name);
    expect([...again.objectStoreNames]).toEqual(["refs"]);
    again.close();
  });

  test("a closed store says so, to readers and writers too", async () => {
    const store = new IndexedDbArtifactStore({ name: freshName() });
    const { id } = await store.putBytes(noise(3 * MIB));
    const reader = (await store.openReader(id))?.getReader();
    const writer = await store.openWriter();
    await store.close();
    await store.close();
    const closed = { code: "E_STORE_CLOSED" };
    await expect(reader?.read()).rejects.toMatchObject(closed);
    await expect(writer.write(noise(3 * MIB))).rejects.toMatchObject(closed);
    await expect(store.get(id)).rejects.toMatchObject(closed);
    await expect(store.putText("x")).rejects.toMatchObject(closed);
    await expect(store.open()).rejects.toMatchObject(closed);
  });

  test("a site without storage says what can be done", async () => {
    vi.stubGlobal("indexedDB", null);
    await expect(new IndexedDbArtifactStore().putText("x")).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    vi.stubGlobal("indexedDB", {
      open: () => {
        throw new DOMException("", "SecurityError");
      },
    });
    await expect(new IndexedDbArtifactStore().list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "E_STORE_DENIED",
    });
  });

  test("names that are none are refused", () => {
    for (const name of ["", 5, null] as unknown as string[]) {
      expect(() => new IndexedDbArtifactStore({ name })).toThrow(
        expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "name" }),
      );
    }
  });

  test.each([1000, 3 * MIB])("of %i bytes what is damaged is told, and mended by storing it again", async (size) => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const data = noise(size);
    const other = { scope: { session_id: "other" } };
    const { id } = await store.putBytes(data);
    await store.putBytes(data, other);
    for (const damage of [new Uint8Array(10), noise(Math.min(size, MIB), 9), undefined]) {
      const database = await openDB(name);
      for (const key of await database.getAllKeys("chunks", null, 1)) {
        if (damage) await database.put("chunks", damage, key);
        else await database.delete("chunks", key);
      }
      database.close();
      await expect(store.get(id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
      await expect(store.openReader(id).then(drained)).rejects.toMatchObject({ name: "SluiceError" });
      await store.putBytes(data);
      expect(same(await store.get(id), data)).toBe(true);
      expect(same(await drained(await store.openReader(id, other)), data)).toBe(true);
      expect(await wrongIn(name)).toEqual([]);
    }
  });
});
