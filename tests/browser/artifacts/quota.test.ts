/** A site that may not store any more, for real: the browser counts. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { listed, same } from "../../unit/artifacts/bytes.js";
import { noise } from "../../unit/artifacts/noise.js";
import { contentsIn, freshName, wrongIn } from "./database.js";

interface Buckets {
  open(name: string, options: { readonly quota: number }): Promise<{ readonly indexedDB: IDBFactory }>;
  delete(name: string): Promise<void>;
}

const MIB = 1024 * 1024;
const FULL = { code: "E_STORE_FULL" };
const BUCKET = "small";
const { storageBuckets } = navigator as Navigator & { readonly storageBuckets: Buckets };

// A bucket is what a site has, only that its quota can be chosen: the browser counts and refuses as it does there.
beforeAll(async () => {
  vi.stubGlobal("indexedDB", (await storageBuckets.open(BUCKET, { quota: 12 * MIB })).indexedDB);
});

afterAll(async () => {
  vi.unstubAllGlobals();
  await storageBuckets.delete(BUCKET);
});

test("a full store says so, keeps what it has, leaves nothing half-written, and has room after a delete", async () => {
  const name = freshName();
  await using store = new IndexedDbArtifactStore({ name, retention: null });
  const small = await store.putText("small");
  const large = await store.putBytes(noise(4 * MIB, 1));
  const before = await listed(store.list());
  await expect(store.putBytes(noise(20 * MIB, 2))).rejects.toMatchObject(FULL);
  expect(await listed(store.list())).toEqual(before);
  expect(await contentsIn(name)).toBe(2);
  expect(await wrongIn(name)).toEqual([]);

  // Smaller and smaller ones until not even a byte fits.
  let kept = 0;
  const fillingWith = async (size: number): Promise<void> => {
    for (; kept < 20_000; kept++) await store.putBytes(noise(size, kept), { namespace: `n${kept}` });
  };
  for (const size of [200_000, 5_000, 1]) await expect(fillingWith(size)).rejects.toMatchObject(FULL);
  expect(kept).toBeGreaterThan(0);
  expect(await wrongIn(name)).toEqual([]);
  expect(same(await store.get(large.id), noise(4 * MIB, 1))).toBe(true);
  expect(await store.get(small.id)).toEqual(new TextEncoder().encode("small"));

  expect(await store.delete(large.id)).toBe(true);
  expect(await store.putBytes(noise(2 * MIB, 5))).toMatchObject({ size_bytes: 2 * MIB });
  expect(await wrongIn(name)).toEqual([]);
});
