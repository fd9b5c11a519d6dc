/** What goes through memory when 100 MiB go in and out. */
import { afterEach, expect, test, vi } from "vitest";
import { sha256 } from "#hash";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { drained, same } from "../../unit/artifacts/bytes.js";
import { noise } from "../../unit/artifacts/noise.js";
import { contentsIn, freshName, removed, wrongIn } from "./database.js";

const MIB = 1024 * 1024;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Bytes that are handed to the browser at once, and chunks that are asked of it. */
function watched(): { readonly written: number[]; chunksRead: number } {
  const seen = { written: [] as number[], chunksRead: 0 };
  const { prototype } = IDBObjectStore;
  const put = Reflect.get(prototype, "put") as CallableFunction;
  const get = Reflect.get(prototype, "get") as CallableFunction;
  vi.spyOn(prototype, "put").mockImplementation(function (this: IDBObjectStore, value: unknown, key) {
    if (this.name === "chunks") seen.written.push((value as Uint8Array).buffer.byteLength);
    return Reflect.apply(put, this, [value, key].slice(0, key === undefined ? 1 : 2)) as IDBRequest<IDBValidKey>;
  });
  vi.spyOn(prototype, "get").mockImplementation(function (this: IDBObjectStore, query) {
    if (this.name === "chunks") seen.chunksRead += 1;
    return Reflect.apply(get, this, [query]) as IDBRequest<unknown>;
  });
  return seen;
}

test("100 MiB are written as they come and read as they are asked for", async () => {
  const name = freshName();
  await using store = new IndexedDbArtifactStore({ name, retention: null });
  const seen = watched();
  const hash = await sha256.stream();
  const piece = noise(300_000);
  const writer = await store.openWriter();
  let size = 0;
  for (let turn = 0; size < 100 * MIB; turn++) {
    piece.set([turn, turn >> 8]);
    hash.update(piece);
    await writer.write(piece);
    size += piece.byteLength;
    // One chunk is being filled, one is on its way.
    expect(size - seen.written.length * MIB).toBeLessThanOrEqual(3 * MIB);
  }
  const ref = await writer.close();
  expect(ref).toMatchObject({ size_bytes: size, sha256: hash.digest() });
  expect(seen.written).toHaveLength(Math.ceil(size / MIB));
  expect(Math.max(...seen.written)).toBe(MIB);

  const out = await sha256.stream();
  let read = 0;
  for await (const chunk of (await store.openReader(ref.id)) ?? []) {
    out.update(chunk);
    read += 1;
    expect(seen.chunksRead - read).toBeLessThanOrEqual(1);
  }
  expect(out.digest()).toBe(ref.sha256);
  expect(await wrongIn(name)).toEqual([]);
  expect(await store.delete(ref.id)).toBe(true);
  expect(await contentsIn(name)).toBe(0);
  await store.close();
  await removed(name);
});

test("a range reads the chunks it is in, and a reader that nobody reads none", async () => {
  await using store = new IndexedDbArtifactStore({ name: freshName() });
  const data = noise(6 * MIB);
  const { id } = await store.putBytes(data);
  const seen = watched();
  const range = { start: 2 * MIB - 5, end: 3 * MIB + 5 };
  const stream = await store.openReader(id, { range });
  expect(seen.chunksRead).toBe(0);
  expect(same(await drained(stream), data.slice(range.start, range.end))).toBe(true);
  expect(seen.chunksRead).toBe(3);
});

test.each([MIB - 1, MIB, MIB + 1, 2 * MIB])("%i bytes end where they end", async (size) => {
  const name = freshName();
  await using store = new IndexedDbArtifactStore({ name });
  const data = noise(size);
  const { id } = await store.putBytes(data);
  expect(same(await store.get(id), data)).toBe(true);
  expect(same(await drained(await store.openReader(id)), data)).toBe(true);
  expect(await wrongIn(name)).toEqual([]);
});

test("a view of a larger buffer is stored without what is around it", async () => {
  await using store = new IndexedDbArtifactStore({ name: freshName() });
  const seen = watched();
  const { id } = await store.putBytes(noise(4 * MIB).subarray(100, 110));
  expect(seen.written).toEqual([10]);
  expect(same(await store.get(id), noise(4 * MIB).slice(100, 110))).toBe(true);
});
