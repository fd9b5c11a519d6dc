/** A share of the disk stays free while bytes come. */
import { once } from "node:events";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactWriter } from "../../../../web/src/artifacts/store.js";
import { Disk, FULL, idsIn, MIB, TENTH, textOf } from "./disk.js";

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
