/** A share of the disk stays free, whoever writes. */
import { once } from "node:events";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactInfo, ArtifactWriter, StoredArtifact, StoreSpace } from "../../../../web/src/artifacts/store.js";
import type { RetentionConfig } from "../../../../web/src/config/types.js";
import { createSluice } from "../../../../web/src/index.js";
import { emptyFolder } from "../../../support/folder.js";
import { listed, noise } from "../bytes.js";
import { mounted, unmounted } from "../small-disk.js";

describe("a disk that fills up", () => {
  const MIB = 1024 * 1024;
  const TENTH: RetentionConfig = {
    ttl_seconds: null,
    max_artifact_bytes: null,
    min_free_disk: 0.1,
  };
  const FULL = { code: "E_STORE_FULL", path: "retention.min_free_disk" };

  /** A store on a disk of its own: what writers took lies on it, and what others put there. */
  class Disk extends BareMemoryStore {
    readonly total: number;
    others = 0;
    looks = 0;
    /** The fewest bytes that were ever free. */
    least: number;
    /** Turns of the microtask queue that answers take, over and over. */
    hops: readonly number[] = [1];
    afterAbort: () => Promise<void> = () => Promise.resolve();
    #answers = 0;
    readonly #writing = new Map<object, number>();
    readonly #blobs = new Map<string, { bytes: number; refs: Set<string> }>();

    constructor(total: number, clock?: () => number) {
      super(clock ? { clock } : {});
      this.total = total;
      this.least = total;
    }

    get free(): number {
      let used = this.others;
      for (const bytes of this.#writing.values()) used += bytes;
      for (const { bytes } of this.#blobs.values()) used += bytes;
      return this.total - used;
    }

    async space(): Promise<StoreSpace> {
      this.looks += 1;
      await this.#pause();
      const space = { free_bytes: this.free, total_bytes: this.total };
      await this.#pause();
      return space;
    }

    async #pause(): Promise<void> {
      const hops = this.hops[this.#answers++ % this.hops.length] ?? 0;
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
    }

    override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
      const inner = await super.openWriter(info);
      const me = {};
      return {
        write: async (chunk) => {
          this.#writing.set(me, (this.#writing.get(me) ?? 0) + chunk.byteLength);
          this.least = Math.min(this.least, this.free);
          await inner.write(chunk);
        },
        close: async (patch) => {
          const ref = await inner.close(patch);
          const blob = this.#blobs.get(ref.sha256) ?? { bytes: ref.size_bytes, refs: new Set() };
          this.#blobs.set(ref.sha256, blob);
          blob.refs.add(`${ref.id} ${ref.scope.session_id}`);
          this.#writing.delete(me);
          return ref;
        },
        abort: async () => {
          await this.#pause();
          await inner.abort();
          this.#writing.delete(me);
          await this.#pause();
          await this.afterAbort();
        },
        [Symbol.asyncDispose]: async () => inner[Symbol.asyncDispose](),
      };
    }

    override async evict(seen: StoredArtifact): Promise<boolean> {
      const gone = await super.evict(seen);
      const blob = this.#blobs.get(seen.sha256);
      if (gone) blob?.refs.delete(`${seen.id} ${seen.scope.session_id}`);
      if (blob?.refs.size === 0) this.#blobs.delete(seen.sha256);
      await this.#pause();
      return gone;
    }
  }

  const textOf = (letter: string, size: number): string => letter.repeat(size);

  async function idsIn(store: { list: BareMemoryStore["list"] }): Promise<string[]> {
    return (await listed(store.list())).map(({ id }) => id);
  }

  describe("a store that may not use the last tenth", () => {
    test("takes what fits to the byte, and has the oldest leave for more", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      const ids = [];
      for (const letter of ["a", "b", "c"]) ids.push((await store.putText(textOf(letter, 300))).id);
      expect(disk.free).toBe(100);
      const last = await store.putText("x");
      expect(await idsIn(store)).toEqual([ids[1], ids[2], last.id]);
      await expect(store.get(ids[0] ?? "")).rejects.toMatchObject({ code: "E_EXPIRED" });
      expect(disk.least).toBeGreaterThanOrEqual(100);
    });

    test("refuses what would never fit before a byte of it is written, and nobody leaves for it", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      await store.putText(textOf("a", 500));
      await expect(store.putText(textOf("b", 901))).rejects.toMatchObject(FULL);
      expect(await idsIn(store)).toHaveLength(1);
      expect(disk.least).toBe(500);
    });

    test("says how much stays free, and what to do", async () => {
      const store = new RetainingArtifactStore(new Disk(10), { ...TENTH, min_free_disk: 0.07 });
      await expect(store.putText("more than ten bytes")).rejects.toThrow(
        "The disk has less than the 7 % free that retention.min_free_disk requires: free some disk " +
          "space, lower it, or delete artifacts.",
      );
    });

    test.each([
      ["too young", { min_age_seconds: 3_600 }],
      ["to stay by the strategy", { cleanup_strategy: "none" as const }],
    ])("takes nobody away who is %s", async (_, more) => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, { ...TENTH, ...more });
      await store.putText(textOf("a", 900));
      await expect(store.putText("x")).rejects.toMatchObject(FULL);
      expect(await idsIn(store)).toHaveLength(1);
    });

    test("has the expired leave first", async () => {
      let now = 0;
      const disk = new Disk(1_000, () => now);
      const store = new RetainingArtifactStore(disk, { ...TENTH, ttl_seconds: 60 }, { clock: () => now });
      await store.putText(textOf("a", 500));
      now = 30_000;
      const { id } = await store.putText(textOf("b", 400));
      now = 60_000;
      const last = await store.putText(textOf("c", 500));
      expect(await idsIn(store)).toEqual([id, last.id]);
    });

    test("counts a content once: two who share it leave together", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      const scopes = [{ session_id: "s" }, { session_id: "t" }];
      for (const scope of scopes) await store.putText(textOf("a", 400), { scope });
      expect(disk.free).toBe(600);
      await store.putText(textOf("b", 501));
      expect(await idsIn(store)).toHaveLength(1);
      expect(disk.free).toBe(499);
    });

    test("notices what others write, and what they leave", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, { ...TENTH, cleanup_strategy: "none" });
      disk.others = 900;
      await expect(store.putText("x")).rejects.toMatchObject(FULL);
      disk.others = 950;
      await expect(store.putText("x")).rejects.toMatchObject(FULL);
      await store.putText("");
      disk.others = 899;
      await store.putText("x");
    });

    test("asks for no more than its disk, when another limit does not hold either", async () => {
      let now = 0;
      const disk = new Disk(1_000, () => now);
      const limits = { ...TENTH, max_session_bytes: 300, min_age_seconds: 60 };
      const store = new RetainingArtifactStore(disk, limits, { clock: () => now });
      await store.putText(textOf("a", 300));
      now = 120_000;
      const scope = { session_id: "s" };
      const other = new RetainingArtifactStore(disk, {}, { clock: () => now });
      const young = [];
      for (const letter of ["b", "c"]) young.push((await other.putText(textOf(letter, 200), { scope })).id);
      const { id } = await store.putText(textOf("d", 350));
      expect(await idsIn(store)).toEqual([...young, id]);
    });

    test("holds within other limits", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, { ...TENTH, max_total_bytes: 500 });
      await store.putText(textOf("a", 300));
      await store.putText(textOf("b", 300));
      expect(disk.free).toBe(700);
      disk.others = 550;
      await store.putText(textOf("c", 100));
      expect(disk.free).toBe(350);
      await expect(store.putText(textOf("d", 501))).rejects.toMatchObject({ path: "retention.max_total_bytes" });
    });
  });

  describe("a store that", () => {
    test("cannot tell what is free leaves nothing free", async () => {
      const store = new RetainingArtifactStore(new BareMemoryStore(), { ...TENTH, min_free_disk: 0.9 });
      await store.putText(textOf("a", 10_000));
      expect(store.space).toBeUndefined();
    });

    test.each([
      { free_bytes: 0, total_bytes: 0 },
      { free_bytes: Number.NaN, total_bytes: 100 },
      { free_bytes: 0, total_bytes: Number.NaN },
    ])("says %j has said nothing", async (space) => {
      const bare = Object.assign(new BareMemoryStore(), { space: async () => space });
      const store = new RetainingArtifactStore(bare, TENTH);
      await store.putText(textOf("a", 10_000));
      expect(await store.space?.()).toEqual(space);
    });

    test("fails to say takes nothing, and says why", async () => {
      const failing = { space: () => Promise.reject(Object.assign(new Error("/secret"), { code: "EIO" })) };
      const store = new RetainingArtifactStore(Object.assign(new BareMemoryStore(), failing), TENTH);
      await expect(store.putText("x")).rejects.toMatchObject({ code: "E_STORE_READ" });
    });

    test("is not asked where nothing has to stay free", async () => {
      const disk = new Disk(10);
      await new RetainingArtifactStore(disk, { max_artifact_bytes: null }).putText(textOf("a", 10_000));
      expect(disk.looks).toBe(0);
    });
  });

  describe("a stream", () => {
    test("ends where there is no more room, and leaves nothing behind", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      const writer = await store.openWriter();
      for (let turn = 0; turn < 9; turn++) await writer.write(new Uint8Array(100));
      await expect(writer.write(new Uint8Array(1))).rejects.toMatchObject(FULL);
      await expect(writer.close()).rejects.toMatchObject(FULL);
      expect([disk.free, disk.least, await idsIn(disk)]).toEqual([1_000, 100, []]);
      await store.putText(textOf("a", 900));
    });

    test("makes room as it comes", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      for (let turn = 0; turn < 8; turn++) await store.putText(textOf(String(turn), 100));
      const writer = await store.openWriter();
      const left = [];
      for (let turn = 0; turn < 5; turn++) {
        await writer.write(new Uint8Array(100));
        left.push((await idsIn(disk)).length);
      }
      await writer.close();
      expect(left).toEqual([8, 7, 6, 5, 4]);
      expect(disk.least).toBe(100);
    });

    test("asks once for itself, and once every 64 MiB", async () => {
      const disk = new Disk(1_000 * MIB);
      const store = new RetainingArtifactStore(disk, TENTH);
      await store.putText("small");
      expect(disk.looks).toBe(1);
      const writer = await store.openWriter();
      const chunk = new Uint8Array(MIB / 4);
      for (let turn = 0; turn < 4 * 200; turn++) await writer.write(chunk);
      await writer.abort();
      expect(disk.looks).toBe(2 + 3);
    });

    test("notices after 64 MiB what others wrote meanwhile", async () => {
      const disk = new Disk(1_000 * MIB);
      const store = new RetainingArtifactStore(disk, TENTH);
      const writer = await store.openWriter();
      const chunk = new Uint8Array(8 * MIB);
      await writer.write(chunk);
      disk.others = 880 * MIB;
      let written = 1;
      const writing = async (): Promise<never> => {
        for (;;) await writer.write(chunk).then(() => (written += 1));
      };
      await expect(writing()).rejects.toMatchObject(FULL);
      expect(written).toBe(8);
    });
  });

  describe("several writers at once", () => {
    const step = fc.record({
      who: fc.nat(4),
      do: fc.constantFrom("write" as const, "write" as const, "write" as const, "close" as const, "abort" as const),
      bytes: fc.integer({ min: 1, max: 400 }),
      waits: fc.boolean(),
    });

    test("never use what stays free, and only a refusal for that reason ends one", async () => {
      expect.hasAssertions();
      const strategy = fc.constantFrom("lru" as const, "fifo" as const, "none" as const);
      const hops = fc.array(fc.nat(40), { minLength: 1, maxLength: 7 });
      const all = fc.array(step, { maxLength: 60 });
      const property = fc.asyncProperty(strategy, hops, all, async (cleanup_strategy, pauses, steps) => {
        const disk = new Disk(1_000);
        disk.hops = pauses;
        const store = new RetainingArtifactStore(disk, { ...TENTH, cleanup_strategy });
        const writers = new Map<number, Promise<ArtifactWriter>>();
        const begun: Promise<unknown>[] = [];
        for (const [turn, { who, do: what, bytes, waits }] of steps.entries()) {
          const writer = writers.get(who) ?? store.openWriter();
          writers.set(who, writer);
          const work = writer.then(async (open): Promise<unknown> => {
            if (what === "write") return open.write(new Uint8Array(bytes).fill(turn));
            return what === "close" ? open.close() : open.abort();
          });
          const failure = work.then(
            () => null,
            (error: unknown) => error,
          );
          begun.push(failure);
          if (what !== "write") writers.delete(who);
          if (waits && (await failure) !== null) writers.delete(who);
        }
        const failures = (await Promise.all(begun)).filter((failure) => failure !== null);
        expect(failures).toEqual(failures.map(() => expect.objectContaining(FULL) as unknown));
        for (const writer of writers.values()) await (await writer).abort();
        expect(disk.least).toBeGreaterThanOrEqual(100);
        // What was given up is free again: a store that is left alone can be filled.
        if (cleanup_strategy !== "none") await store.putBytes(new Uint8Array(900).fill(0xff));
      });
      await fc.assert(property, { numRuns: 300 });
    });

    test("what one gives up is counted once, when a look has seen it already", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      const one = await store.openWriter();
      await one.write(new Uint8Array(500));
      const gate = new AbortController();
      const ended = once(gate.signal, "abort").then(() => undefined);
      disk.afterAbort = () => ended;
      const aborting = one.abort();
      await expect.poll(() => disk.free).toBe(1_000);
      const two = await store.openWriter();
      gate.abort();
      await aborting;
      await two.write(new Uint8Array(900));
      await expect(two.write(new Uint8Array(1))).rejects.toMatchObject(FULL);
    });

    test("one is refused, the other finds its room", async () => {
      const disk = new Disk(1_000);
      const store = new RetainingArtifactStore(disk, TENTH);
      const [one, two] = [await store.openWriter(), await store.openWriter()];
      await one.write(new Uint8Array(500));
      await two.write(new Uint8Array(400));
      const outcomes = await Promise.allSettled([one.write(new Uint8Array(300)), two.write(new Uint8Array(300))]);
      expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
      await two.close();
      expect([disk.free, disk.least]).toEqual([300, 100]);
    });
  });
});

/** A real disk, of which a part stays free; and what a file store tells of any disk. */
describe("a small disk", () => {
  const MIB = 1024 * 1024;
  const FULL = { code: "E_STORE_FULL", path: "retention.min_free_disk" };
  /** What folders and refs take beside the bytes of artifacts. */
  const BLOCKS = 64 * 1024;

  const folder = mounted(16);

  async function freeOn(disk: string): Promise<number> {
    const { bsize, bavail } = await statfs(disk);
    return bsize * bavail;
  }

  describe.skipIf(folder === undefined)("a disk of 16 MiB, a quarter of which stays free", () => {
    const disk = folder ?? "";
    const config = { ttl_seconds: null, max_artifact_bytes: null, min_free_disk: 0.25 };
    afterAll(() => {
      unmounted(disk);
    });

    test("four who stream at once never use it, and who is refused leaves nothing", async () => {
      const bare = new FileArtifactStore(join(disk, "streams"));
      const store = new RetainingArtifactStore(bare, { ...config, cleanup_strategy: "none" });
      let least = Infinity;
      const stream = async (seed: number): Promise<unknown> => {
        const writer: ArtifactWriter = await store.openWriter();
        const piece = noise(64 * 1024, seed);
        for (let turn = 0; turn < 5 * 16; turn++) {
          piece.fill(turn, 0, 1);
          await writer.write(piece);
          least = Math.min(least, await freeOn(disk));
        }
        return writer.close();
      };
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map(stream));
      const refused = outcomes.filter(({ status }) => status === "rejected");
      expect(refused.length).toBeGreaterThanOrEqual(2);
      for (const outcome of refused) expect(outcome).toMatchObject({ reason: FULL });
      expect(await listed(store.list())).toHaveLength(4 - refused.length);
      expect(least).toBeGreaterThan(4 * MIB - BLOCKS);
      await bare.purge();
      expect(await freeOn(disk)).toBeGreaterThan(16 * MIB - BLOCKS);
    });

    test("the oldest make room", async () => {
      const bare = new FileArtifactStore(join(disk, "oldest"));
      const store = new RetainingArtifactStore(bare, config);
      const refs = [];
      for (let seed = 1; seed <= 9; seed++) {
        refs.push(await store.putBytes(noise(3 * MIB, seed)));
        expect(await freeOn(disk)).toBeGreaterThan(4 * MIB - BLOCKS);
      }
      expect((await listed(store.list())).map(({ id }) => id)).toEqual(refs.slice(-3).map(({ id }) => id));
      await bare.purge();
    });

    test("an answer comes all the same, and says what was not stored and why", async () => {
      const ballast = join(disk, "ballast");
      await writeFile(ballast, noise(13 * MIB));
      const store = new FileArtifactStore(join(disk, "answers"));
      const sluice = await createSluice({ store, config: { retention: config } });
      const { text, artifacts, failures } = await sluice.transform({ log: "many words ".repeat(2_000), kept: 42 });
      expect(failures).toMatchObject([FULL]);
      expect(artifacts).toMatchObject([{ source: { truncated: true } }]);
      expect(text).toContain("42");
      await rm(ballast);
      expect((await sluice.transform({ log: "many words ".repeat(2_000) })).failures).toEqual([]);
    });

    test("bytes that a writer still holds count as used", async () => {
      const store = new FileArtifactStore(join(disk, "held"));
      await store.putText("so that there are folders");
      const before = (await store.space()).free_bytes;
      const writers = [await store.openWriter(), await store.openWriter()];
      await writers[0]?.write(noise(40_000));
      await writers[1]?.write(noise(3 * MIB));
      const held = before - (await store.space()).free_bytes;
      expect(held).toBeGreaterThanOrEqual(3 * MIB + 40_000);
      // What is being written may count twice.
      expect(held).toBeLessThan(4 * MIB + 40_000 + BLOCKS);
      await writers[0]?.close();
      await writers[1]?.abort();
      expect(before - (await store.space()).free_bytes).toBeLessThan(BLOCKS);
    });
  });

  test("a folder that is not there yet lies on the disk that it will be made on", async () => {
    const parent = await emptyFolder();
    const store = new FileArtifactStore(join(parent, "not", "there"));
    const { free_bytes, total_bytes } = await store.space();
    const { bsize, blocks } = await statfs(parent);
    expect(total_bytes).toBe(bsize * blocks);
    expect(free_bytes).toBeGreaterThan(0);
    expect(free_bytes).toBeLessThanOrEqual(total_bytes);
    expect(await store.isThere()).toBe(false);
  });
});
