/** Databases that others upgrade, delete, hold or damage. */
import { deleteDB, openDB } from "idb";
import { afterEach, expect, test, vi } from "vitest";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { drained, listed, same } from "../../unit/artifacts/bytes.js";
import { noise } from "../../unit/artifacts/noise.js";
import { contentsIn, freshName, wrongIn } from "./database.js";

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
