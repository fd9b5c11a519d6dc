/** The store of browsers: the contract, bytes that stream through memory, and a site that is cleared. */
import { sha256 } from "#hash";
import * as fc from "fast-check";
import { openDB } from "idb";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { cdp } from "vitest/browser";
import { Locks } from "../../../web/src/artifacts/indexed-db/contents.js";
import { BareIndexedDbStore } from "../../../web/src/artifacts/indexed-db/indexed-db-store.js";
import { LocalLocks } from "../../../web/src/artifacts/indexed-db/local-locks.js";
import { drained, listed, same, noise } from "../../unit/artifacts/bytes.js";
import { holds, step, type Step } from "../../unit/artifacts/contract/model.js";
import { describeStore, type OpenSubject } from "../../unit/artifacts/store-contract.js";
import { contentsIn, freshName, inside, removed, wrongIn } from "./database.js";

describe("the store", () => {
  type Options = Parameters<OpenSubject>[0] & { readonly name: string };

  /** Stores in databases of their own, which are deleted with them. */
  const opener =
    (opened: (options: Options) => IndexedDbArtifactStore | BareIndexedDbStore): OpenSubject =>
    async (options = {}) => {
      const name = freshName();
      const store = opened({ name, ...options });
      return {
        store,
        contents: () => contentsIn(name),
        dispose: async () => {
          await store.close();
          await removed(name);
        },
      };
    };

  describeStore(
    "IndexedDbArtifactStore",
    opener((options) => new IndexedDbArtifactStore(options)),
  );
  describeStore(
    "IndexedDbArtifactStore without limits and without Web Locks",
    opener((options) => new BareIndexedDbStore({ locks: null, ...options })),
  );

  async function sharedBy(steps: readonly Step[]): Promise<void> {
    const name = freshName();
    await using one = new IndexedDbArtifactStore({ name });
    await using two = new IndexedDbArtifactStore({ name, retention: null });
    await holds(one, steps.slice(0, steps.length / 2));
    for (const ref of await listed(two.list())) expect(await two.delete(ref.id, ref.scope)).toBe(true);
    await holds(two, steps);
    expect(await wrongIn(name)).toEqual([]);
    await Promise.all([one.close(), two.close()]);
    await removed(name);
  }

  test("it does what the model does, also when two objects share a database", async () => {
    expect.hasAssertions();
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), sharedBy), { numRuns: 25 });
  });

  // What goes through memory when 100 MiB go in and out.

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

  /** What the provider's session has beyond the common part. */
  interface DevTools {
    send(method: string, params: object): Promise<unknown>;
  }

  test("a store whose site was cleared is empty, and goes on", async () => {
    const name = freshName();
    await using store = new IndexedDbArtifactStore({ name });
    const ref = await store.putBytes(noise(3 * MIB));
    const writer = await store.openWriter();
    await writer.write(noise(3 * MIB, 2));
    await (cdp() as unknown as DevTools).send("Storage.clearDataForOrigin", {
      origin: location.origin,
      storageTypes: "indexeddb",
    });
    await expect(writer.close()).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    expect(await store.get(ref.id)).toBeNull();
    expect(await store.putBytes(noise(3 * MIB))).toEqual(ref);
    expect(await contentsIn(name)).toBe(1);
  });

  test("bytes that a writer still holds count as used", async () => {
    await using store = new IndexedDbArtifactStore({ name: freshName() });
    const free = async (): Promise<number> => (await store.space?.())?.free_bytes ?? 0;
    const before = await free();
    expect(before).toBeGreaterThan(0);
    const writer = await store.openWriter();
    await writer.write(noise(900_000));
    expect(before - (await free())).toBeGreaterThan(800_000);
    await writer.abort();
    expect(before - (await free())).toBeLessThan(100_000);
  });
});

/** What is in use, with Web Locks and without. */
describe("locks", () => {
  const HOUR = 3_600_000;
  const MIB = 1024 * 1024;

  afterEach(() => {
    vi.useRealTimers();
  });

  describe.each([
    ["over all tabs", () => new Locks(freshName())],
    ["in one page", () => new Locks(freshName(), new LocalLocks())],
  ])("locks %s", (_, opened) => {
    test("let many hold and nobody be alone meanwhile", async () => {
      const locks = opened();
      const leases = [await locks.hold("a"), await locks.hold("a")];
      expect(await locks.alone("a", async () => "alone")).toBeNull();
      expect(await locks.alone("b", async () => "alone")).toBe("alone");
      await leases[0]?.release();
      expect(await locks.alone("a", async () => "alone")).toBeNull();
      await leases[1]?.release();
      await leases[1]?.release();
      expect(await locks.alone("a", async () => "alone")).toBe("alone");
    });

    test("let who wants to hold wait for who is alone", async () => {
      const locks = opened();
      const order: string[] = [];
      let end: (() => void) | undefined;
      await new Promise<void>((begun) => {
        const work = (): Promise<void> =>
          new Promise((resolve) => {
            end = resolve;
            begun();
          });
        void locks.alone("a", work);
      });
      const holding = locks.hold("a").then((lease) => {
        order.push("held");
        return lease.release();
      });
      expect(await locks.alone("a", async () => "second")).toBeNull();
      order.push("ended");
      end?.();
      await holding;
      expect(order).toEqual(["ended", "held"]);
    });

    test("pass a failure on and let go", async () => {
      const locks = opened();
      await expect(locks.alone("a", () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
      expect(await locks.alone("a", async () => 1)).toBe(1);
    });
  });

  test("without Web Locks what nobody names is left alone for an hour", async () => {
    const name = freshName();
    const store = new BareIndexedDbStore({ name, locks: null });
    await store.open();
    const database = await openDB(name);
    await database.put("contents", { content: "left", touched: Date.now() });
    await database.put("chunks", noise(10), ["left", 0]);
    database.close();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + HOUR - 10_000);
    const writer = await store.openWriter();
    await writer.write(noise(2 * MIB));
    await store.open();
    expect((await inside(name)).contents).toHaveLength(2);
    vi.setSystemTime(Date.now() + 20_000);
    await store.open();
    expect((await inside(name)).contents).toHaveLength(1);
    // It is being written here, however long that takes.
    vi.setSystemTime(Date.now() + 2 * HOUR);
    await store.open();
    await writer.close();
    expect(await contentsIn(name)).toBe(1);
    await store.close();
  });
});

/** A site that may not store any more, for real: the browser counts. */
describe("quota", () => {
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
});
