/** Contract: streams out, and streams in. */
import { describe, expect, test } from "vitest";
import { getByteReader } from "../../../../web/src/artifacts/byte-reader.js";
import { toChunks } from "../../../../web/src/artifacts/bytes.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { drained, same, hashOf, listed, streamed, undated, noise } from "../bytes.js";
import type { Subject } from "../store-contract.js";

const A: ArtifactScope = { session_id: "a" };

export function contractOfReading(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("readers", () => {
    const data = noise(600_000);
    test.each([
      [{ start: 0 }, 0, 600_000],
      [{ start: 0, end: 1 }, 0, 1],
      [{ start: 599_999 }, 599_999, 600_000],
      [{ start: 100_000, end: 500_001 }, 100_000, 500_001],
      [{ start: 7, end: 7 }, 7, 7],
      [{ start: 600_000 }, 0, 0],
      [{ start: 599_000, end: 10_000_000 }, 599_000, 600_000],
      [{ start: 10_000_000, end: 10_000_001 }, 0, 0],
    ])("range %j", async (range, from, to) => {
      const ref = await store().putBytes(data, { scope: A });
      expect(same(await drained(await store().openReader(ref.id, { scope: A, range })), data.slice(from, to))).toBe(
        true,
      );
    });

    test.each([
      { start: -1 },
      { start: 0.5 },
      { start: Number.NaN },
      { start: 2, end: 1 },
      { start: 0, end: Infinity },
    ])("range %j is refused", async (range) => {
      const ref = await store().putBytes(data);
      await expect(store().openReader(ref.id, { range })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    });

    test("outlive their artifact, come in pieces, and can be left early", async () => {
      const ref = await store().putBytes(data);
      const left = (await store().openReader(ref.id))?.getReader();
      const first = await left?.read();
      expect(first?.value?.byteLength).toBeLessThan(data.byteLength);
      await left?.cancel();
      const stream = await store().openReader(ref.id);
      await store().delete(ref.id);
      expect(same(await drained(stream), data)).toBe(true);
    });

    test("give pieces that stay as they are, unless their memory is given back", async () => {
      const ref = await store().putBytes(data);
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      for await (const piece of toChunks((await store().openReader(ref.id))!)) {
        pieces.push(piece as Uint8Array<ArrayBuffer>);
      }
      expect(same(await joined(pieces), data)).toBe(true);
      const reader = getByteReader((await store().openReader(ref.id))!);
      const copies: Uint8Array<ArrayBuffer>[] = [];
      for (let piece = await reader.next(false); piece !== null; piece = await reader.next(true)) {
        copies.push(Uint8Array.from(piece));
        piece.fill(0);
      }
      expect(same(await joined(copies), data)).toBe(true);
      expect(same(await store().get(ref.id), data)).toBe(true);
    });
  });
}

async function joined(pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array> {
  return new Uint8Array(await new Blob([...pieces]).arrayBuffer());
}

// Contract: streams in.

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function contractOfWriting(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("writers", () => {
    test("take 5 MB in odd chunks of a buffer that is used again", async () => {
      const data = noise(5_000_000);
      const ref = await streamed(store(), data, [1, 65_537, 3, 48 * 1024, 1_048_577, 999]);
      expect(ref).toMatchObject({ size_bytes: 5_000_000, sha256: await hashOf(data) });
      expect(same(await store().get(ref.id), data)).toBe(true);
      expect(await store().putBytes(data)).toEqual(ref);
      expect(await subject().contents()).toBe(1);
    });

    test.each([4095, 4096, 65_535, 65_536, 65_537, 1_048_576, 1_048_577, 2_097_153])(
      "take %i bytes",
      async (length) => {
        const data = noise(length, length);
        const ref = await streamed(store(), data, [8191]);
        expect(same(await store().get(ref.id), data)).toBe(true);
      },
    );

    test("publish at close, with what close says", async () => {
      const writer = await store().openWriter({ filename: "early.txt", mime_type: "text/plain", scope: A });
      await writer.write(text("body"));
      expect(await listed(store().list())).toEqual([]);
      const ref = await writer.close({ filename: "late.txt", source: { late: true } });
      expect(ref).toMatchObject({ filename: "late.txt", mime_type: "text/plain", source: { late: true } });
      expect(undated(await store().stat(ref.id, A))).toEqual(ref);
    });

    test.each([10, 3_000_000])("leave nothing of %i bytes when aborted or disposed", async (length) => {
      const aborted = await store().openWriter();
      await aborted.write(noise(length));
      await aborted.abort();
      await aborted.abort();
      const disposed = await store().openWriter();
      await disposed.write(noise(length));
      await disposed[Symbol.asyncDispose]();
      expect(await listed(store().list())).toEqual([]);
      expect(await subject().contents()).toBe(0);
      for (const late of [aborted.write(text("x")), aborted.close(), disposed.close()]) {
        await expect(late).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
      }
    });

    test("keep what was closed when disposed after", async () => {
      const writer = await store().openWriter();
      await writer.write(text("kept"));
      const ref = await writer.close();
      await writer[Symbol.asyncDispose]();
      await expect(writer.close()).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
      expect(await store().get(ref.id)).toEqual(text("kept"));
    });

    test("keep the order of writes that are not awaited", async () => {
      const data = noise(4_000_000);
      const writer = await store().openWriter();
      const writes: Promise<void>[] = [];
      for (let at = 0; at < data.byteLength; at += 70_000) writes.push(writer.write(data.subarray(at, at + 70_000)));
      const ref = await writer.close();
      await Promise.all(writes);
      expect(same(await store().get(ref.id), data)).toBe(true);
    });

    test("of one content at once agree", async () => {
      const data = noise(1_500_000);
      const refs = await Promise.all(Array.from({ length: 6 }, (_, turn) => streamed(store(), data, [100_000 + turn])));
      expect(new Set(refs.map((ref) => ref.id)).size).toBe(1);
      expect(await listed(store().list())).toHaveLength(1);
      expect(await subject().contents()).toBe(1);
      expect(same(await store().get(refs[0]?.id ?? ""), data)).toBe(true);
    });
  });
}
