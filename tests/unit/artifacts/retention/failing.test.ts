/** Limits over stores that fail, lie or are busy, and clocks that cannot be believed. */
import * as fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { BareMemoryStore, MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../../../../web/src/artifacts/store.js";
import type { RetentionConfig } from "../../../../web/src/config/types.js";
import { createSluice } from "../../../../web/src/index.js";
import { amount } from "../../../support/full.js";
import { listed } from "../bytes.js";

describe("a store that fails", () => {
  const ROOM_FOR_TWO: RetentionConfig = { ttl_seconds: null, max_total_bytes: 20 };
  const S = { session_id: "s" };
  const DENIED = Object.assign(new Error("EACCES: /secret"), { code: "EACCES" });

  /** A store that does some things otherwise. */
  function changed(inner: ArtifactStore, otherwise: Partial<ArtifactStore>): ArtifactStore {
    return new Proxy(inner, {
      get(_, name): unknown {
        const value: unknown = Reflect.get(otherwise, name) ?? Reflect.get(inner, name, inner);
        return typeof value === "function" ? (value.bind(inner) as unknown) : value;
      },
    });
  }

  /** Puts `count` artifacts of ten bytes. */
  async function filled(store: ArtifactStore, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let turn = 0; turn < count; turn++) ids.push((await store.putText(`content ${turn}.`)).id);
    return ids;
  }

  async function idsIn(store: ArtifactStore): Promise<string[]> {
    return (await listed(store.list())).map(({ id }) => id);
  }

  /** Refuses one artifact, the first that it is asked for. */
  function stubborn(refuse: () => Promise<boolean>): { inner: BareMemoryStore; store: ArtifactStore } {
    const inner = new BareMemoryStore();
    let first: string | undefined;
    const evict = (seen: StoredArtifact): Promise<boolean> =>
      seen.id === (first ??= seen.id) ? refuse() : inner.evict(seen);
    return { inner, store: changed(inner, { evict }) };
  }

  describe("an artifact that cannot be taken away", () => {
    test.each([
      ["refuses", () => Promise.resolve(false)],
      ["fails", () => Promise.reject(DENIED)],
    ])("because it %s costs no put, and others make room in its place", async (_, refuse) => {
      const { inner, store } = stubborn(refuse);
      const ids = await filled(new RetainingArtifactStore(store, ROOM_FOR_TWO), 8);
      expect(await idsIn(inner)).toEqual([ids[0], ids[7]]);
    });

    test("of a damaged ref is left alone by those who come", async () => {
      const inner = new BareMemoryStore();
      const ids = await filled(inner, 2);
      const stat = (id: string): Promise<StoredArtifact | null> =>
        id === ids[0] ? Promise.reject(new Error("damaged")) : inner.stat(id);
      const store = new RetainingArtifactStore(changed(inner, { stat }), ROOM_FOR_TWO);
      await store.putText("another 3.");
      expect(await idsIn(inner)).toContain(ids[0]);
      expect(await idsIn(inner)).not.toContain(ids[1]);
    });

    test("is told by a collection, after all that can go has gone", async () => {
      const { inner, store } = stubborn(() => Promise.reject(DENIED));
      await filled(inner, 8);
      const limited = new RetainingArtifactStore(store, ROOM_FOR_TWO);
      await expect(limited.collect()).rejects.toMatchObject({ code: "E_STORE_DENIED" });
      expect(await idsIn(inner)).toHaveLength(2);
    });

    test("is over all the same when its time is", async () => {
      let now = 0;
      const inner = new BareMemoryStore({ clock: () => now });
      const store = new RetainingArtifactStore(
        changed(inner, { evict: () => Promise.reject(DENIED) }),
        { ttl_seconds: 1 },
        { clock: () => now },
      );
      const { id } = await store.putText("x");
      now = 1_000;
      expect(await store.exists(id)).toBe(false);
      expect(await listed(store.list())).toEqual([]);
      await expect(store.get(id)).rejects.toMatchObject({ code: "E_EXPIRED" });
    });
  });

  test("a store in which looking counts as use does not hold a put up for ever", async () => {
    const inner = new BareMemoryStore();
    let looks = 0;
    const stat = async (id: string): Promise<StoredArtifact | null> => {
      const seen = await inner.stat(id);
      return seen && { ...seen, used_at: seen.used_at + 10 * ++looks };
    };
    await filled(new RetainingArtifactStore(changed(inner, { stat }), ROOM_FOR_TWO), 8);
    expect(looks).toBeLessThan(1_000);
  });

  test("a store that cannot be listed takes nothing, says why, and recovers", async () => {
    const inner = new BareMemoryStore();
    await filled(inner, 3);
    let broken = true;
    const list = async function* (): AsyncIterable<StoredArtifact> {
      for await (const artifact of inner.list()) {
        yield artifact;
        if (broken) throw new Error("the line went dead");
      }
    };
    const store = new RetainingArtifactStore(changed(inner, { list }), ROOM_FOR_TWO);
    await expect(store.putText("another 4.")).rejects.toMatchObject({ code: "E_STORE_READ" });
    await expect(store.collect()).rejects.toMatchObject({ code: "E_STORE_READ" });
    broken = false;
    await store.putText("another 4.");
    expect(await idsIn(inner)).toHaveLength(2);
  });

  describe("a clock", () => {
    test("that was put back does not close the store", async () => {
      let now = 1e12;
      const store = new MemoryArtifactStore({
        clock: () => now,
        retention: { max_artifacts_per_session: 2, min_age_seconds: 60 },
      });
      await store.putText("1", { scope: S });
      await store.putText("2", { scope: S });
      now -= 3_600_000;
      await store.putText("3", { scope: S });
      expect(await listed(store.list())).toHaveLength(2);
    });

    test("that stands still does not either, however often an artifact is read", async () => {
      const store = new MemoryArtifactStore({ clock: () => 5, retention: { max_artifacts_per_session: 1 } });
      const { id } = await store.putText("1", { scope: S });
      for (let turn = 0; turn < 1_500; turn++) await store.get(id, S);
      await store.putText("2", { scope: S });
      expect(await store.exists(id, S)).toBe(false);
    });

    test.each([Number.NaN, Infinity, -Infinity, 1e300])(
      "that says %s expires nothing and refuses nobody",
      async (no) => {
        let now = 1e12;
        const retention = { max_artifacts_per_session: 2, ttl_seconds: 60 };
        const store = new MemoryArtifactStore({ clock: () => now, retention });
        const { id } = await store.putText("1", { scope: S });
        now = no;
        expect(await store.exists(id, S)).toBe(true);
        for (const text of ["2", "3", "4"]) await store.putText(text, { scope: S });
        expect(await listed(store.list())).toHaveLength(2);
        now = 1e12 + 61_000;
        expect(await listed(store.list())).toEqual([]);
      },
    );

    test("of a store with limits stays its clock when it is given others", async () => {
      const store = new MemoryArtifactStore({ clock: () => 1_000 });
      const sluice = await createSluice({ store, config: { retention: { ttl_seconds: 60 } } });
      const original = { log: "many words ".repeat(2_000) };
      const { value } = await sluice.transform(original, { dialect: "mcp" });
      expect(await sluice.restore(value)).toEqual(original);
    });
  });

  test("a proxy of a store with limits is a store like any", async () => {
    const memory = new MemoryArtifactStore();
    const store = new RetainingArtifactStore(changed(memory, {}), { max_artifact_bytes: 3 });
    const { id } = await store.putText("abc");
    expect(await memory.exists(id)).toBe(true);
    await expect(store.putText("abcd")).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  });

  test("a retention that is undefined is one left out", async () => {
    const inner = new BareMemoryStore({ clock: () => 0 });
    const config = { retention: undefined } as unknown as { retention: RetentionConfig };
    const sluice = await createSluice({ store: inner, config });
    const original = { log: "many words ".repeat(2_000) };
    const { value } = await sluice.transform(original, { dialect: "mcp" });
    // Limits would be the defaults, and by them what was stored in 1970 has expired.
    expect(await sluice.restore(value)).toEqual(original);
  });
});

/** A store of which reading takes long: nobody waits for that, and nothing is forgotten that happens meanwhile. */
describe("a large store", () => {
  const MANY = 500;
  let now: number;

  /** Its list comes, as it was when it was asked for, when a test says so. */
  class Slow extends BareMemoryStore {
    isSlow = false;
    reads = 0;
    go: () => void = () => undefined;

    override async *list(scope?: ArtifactScope): AsyncIterable<StoredArtifact> {
      const all = await listedOf(super.list(scope));
      if (scope === undefined) this.reads += 1;
      if (scope === undefined && this.isSlow) {
        await new Promise<void>((resolve) => {
          this.go = resolve;
        });
      }
      yield* all;
    }
  }

  async function listedOf(all: AsyncIterable<StoredArtifact>): Promise<StoredArtifact[]> {
    const found: StoredArtifact[] = [];
    for await (const each of all) found.push(each);
    return found;
  }

  beforeEach(() => {
    now = 1_000_000;
  });

  const clock = (): number => now;

  /** A store with many artifacts of others, all of it known, and the clock a minute and more later. */
  async function filled(max: number): Promise<{ readonly slow: Slow; readonly store: RetainingArtifactStore }> {
    const slow = new Slow({ clock });
    for (let at = 0; at < MANY; at++) await slow.putText(`${at}`, { scope: { session_id: `other ${at}` } });
    const limits = { ttl_seconds: null, max_artifacts_per_session: max };
    const store = new RetainingArtifactStore(slow, limits, { clock });
    await store.putText("first", { scope: { session_id: "first" } });
    now += 10_000_000;
    slow.isSlow = true;
    return { slow, store };
  }

  test("puts do not wait until it is read, and it is read once at a time", async () => {
    const { slow, store } = await filled(1000);
    for (let at = 0; at < 20; at++) await store.putText(`new ${at}`, { scope: { session_id: "mine" } });
    await vi.waitFor(() => expect(slow.reads).toBe(2));
    slow.go();
    slow.isSlow = false;
    await store.putText("more", { scope: { session_id: "mine" } });
    expect(slow.reads).toBe(2);
  });

  test("what others did is known when it has been read", async () => {
    const { slow, store } = await filled(3);
    const scope = { session_id: "shared" };
    const theirs: ArtifactRef[] = [];
    for (let at = 0; at < 3; at++) theirs.push(await slow.putText(`theirs ${at}`, { scope }));
    now += 1000;
    await store.putText("mine", { scope });
    await vi.waitFor(() => expect(slow.reads).toBe(2));
    slow.go();
    slow.isSlow = false;
    now += 1000;
    await vi.waitFor(async () => {
      await store.putText("again", { scope });
      expect((await listed(store.list(scope))).length).toBe(3);
    });
    expect(await store.exists(theirs[0]?.id ?? "", scope)).toBe(false);
  });

  test("limits hold to the artifact, whatever is stored, deleted and evicted while it is read", async () => {
    const { slow, store } = await filled(4);
    const step = fc.record({
      act: fc.constantFrom("put", "put", "put", "delete", "read", "go"),
      number: fc.nat(12),
      session: fc.nat(2),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const scopes = [0, 1, 2].map(() => ({ session_id: crypto.randomUUID() }));
        const ids = new Map<string, string>();
        slow.isSlow = true;
        for (const { act, number, session } of steps) {
          now += 10;
          const scope = scopes[session] ?? {};
          const key = `${session} ${number}`;
          if (act === "put") ids.set(key, (await store.putText(key, { scope })).id);
          else if (act === "delete") await store.delete(ids.get(key) ?? "", scope);
          else if (act === "read") now += 10_000_000;
          else slow.go();
          for (const each of scopes) expect((await listed(store.list(each))).length).toBeLessThanOrEqual(4);
        }
        slow.isSlow = false;
        slow.go();
        // What is known is what is there: one more is let in, and one goes only where there were four.
        for (const scope of scopes) {
          const before = (await listed(store.list(scope))).length;
          const ref = await store.putText("last", { scope });
          expect((await listed(store.list(scope))).length).toBe(Math.min(4, before + 1));
          await store.delete(ref.id, scope);
        }
      }),
      { numRuns: amount(8, 25) },
    );
  }, 120_000);

  test("a collection lets others store meanwhile, and takes what has expired, however much that is", async () => {
    const slow = new Slow({ clock });
    for (let at = 0; at < MANY; at++) await slow.putText(`${at}`);
    const store = new RetainingArtifactStore(slow, { ttl_seconds: 10 }, { clock });
    await store.putText("known");
    now += 20_000;
    slow.isSlow = true;
    const collecting = store.collect();
    const { id } = await store.putText("meanwhile");
    await vi.waitFor(() => expect(slow.reads).toBe(2));
    slow.go();
    const second = store.collect();
    expect((await collecting)?.artifacts).toBeGreaterThan(MANY - 300);
    slow.isSlow = false;
    slow.go();
    await second;
    expect((await listed(slow.list())).map((ref) => ref.id)).toEqual([id]);
  });
});
