/** Bytes that are pulled: what layers over a stream cost no web stream of, and whose memory a piece has. */
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { getByteReader, streamFrom, type ByteReader } from "../../../web/src/artifacts/byte-reader.js";
import { sha256 } from "../../../web/src/artifacts/hash-node.js";
import { verifyStream } from "../../../web/src/artifacts/hash.js";
import { limitStoreTime } from "../../../web/src/core/store-access.js";
import { FileArtifactStore } from "../../../web/src/node.js";
import { startBody } from "../../../web/src/server/artifacts/bytes.js";
import { noise } from "./bytes.js";

/** Counts to three; what was asked of it. */
class Counting implements ByteReader {
  readonly asked: (boolean | "cancel")[] = [];
  #at = 0;

  async next(reuse: boolean): Promise<Uint8Array | null> {
    this.asked.push(reuse);
    this.#at += 1;
    return this.#at > 3 ? null : new Uint8Array([this.#at]);
  }

  async cancel(): Promise<void> {
    this.asked.push("cancel");
  }
}

async function all(source: ByteReader, reuse: boolean): Promise<Buffer> {
  const copies: Uint8Array[] = [];
  for (let piece = await source.next(false); piece !== null; piece = await source.next(reuse)) {
    copies.push(Uint8Array.from(piece));
  }
  return Buffer.concat(copies);
}

describe("a stream over a reader", () => {
  test("asks for a piece when one is read, for memory of its own, and ends with what it reads", async () => {
    const source = new Counting();
    const reader = streamFrom(source).getReader();
    expect(source.asked).toEqual([]);
    expect((await reader.read()).value).toEqual(new Uint8Array([1]));
    expect(source.asked).toEqual([false]);
    expect([...(await reader.read()).value!, ...(await reader.read()).value!]).toEqual([2, 3]);
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  test("passes on a cancel, also while a piece is awaited, and a failure", async () => {
    const [next, cancel] = [vi.fn<ByteReader["next"]>(), vi.fn<ByteReader["cancel"]>()];
    let give: ((piece: Uint8Array) => void) | undefined;
    next.mockReturnValue(new Promise((resolve) => void (give = resolve)));
    const reader = streamFrom({ next, cancel }).getReader();
    const reading = reader.read();
    await vi.waitFor(() => expect(next).toHaveBeenCalledOnce());
    await reader.cancel("gone");
    expect(await reading).toEqual({ done: true, value: undefined });
    expect(cancel).toHaveBeenCalledExactlyOnceWith("gone");
    give?.(new Uint8Array(1));
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    const broken = streamFrom({ next: () => Promise.reject(new Error("EIO")), cancel: () => Promise.resolve() });
    await expect(broken.getReader().read()).rejects.toThrow("EIO");
  });
});

describe("the reader of a stream", () => {
  test("is the one it was made of, and nobody else can read then", async () => {
    const source = new Counting();
    const stream = streamFrom(source);
    expect(getByteReader(stream)).toBe(source);
    expect(() => getByteReader(stream)).toThrow(TypeError);
    expect(() => stream.getReader()).toThrow(TypeError);
  });

  test("goes on where somebody stopped reading", async () => {
    const source = new Counting();
    const stream = streamFrom(source);
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    const rest = getByteReader(stream);
    expect(rest).not.toBe(source);
    expect([...(await all(rest, true))]).toEqual([2, 3]);
  });

  test("has nothing of a stream that was cancelled", async () => {
    const stream = streamFrom(new Counting());
    await stream.cancel();
    expect(await getByteReader(stream).next(false)).toBeNull();
  });

  test("reads any other stream, whose pieces stay as they are", async () => {
    const piece = new Uint8Array([7]);
    const onCancel = vi.fn<() => void>();
    const source = getByteReader(
      new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece), cancel: onCancel }),
    );
    expect(await source.next(false)).toBe(piece);
    expect(await source.next(true)).toBe(piece);
    await source.cancel();
    expect(onCancel).toHaveBeenCalledOnce();
    expect(await source.next(true)).toBeNull();
  });
});

describe("an artifact in a folder, below a time limit, a check of its hash and of its length", () => {
  const data = noise(1_000_000);

  async function body(): Promise<{ source: ByteReader; blob: string }> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-reader-"));
    onTestFinished(async () => new FileArtifactStore(folder).purge());
    const store = new FileArtifactStore(folder);
    const { id, sha256: name } = await store.putBytes(data);
    const stream = await limitStoreTime(store).openReader(id);
    return {
      source: getByteReader(await startBody(stream!, data.byteLength)),
      blob: join(folder, "blobs", name.slice(0, 2), name),
    };
  }

  test.each([true, false])("is all there (in the same memory: %j)", async (reuse) => {
    const { source } = await body();
    expect((await all(source, reuse)).equals(data)).toBe(true);
    expect(await source.next(reuse)).toBeNull();
  });

  test("takes the memory of the piece before only where that was allowed", async () => {
    const { source } = await body();
    const first = (await source.next(false))!;
    const kept = Buffer.from(first);
    const second = (await source.next(false))!;
    expect(second.buffer).not.toBe(first.buffer);
    expect(kept.equals(first)).toBe(true);
    expect((await source.next(true))!.buffer).toBe(second.buffer);
  });

  test("that is damaged does not come to its end", async () => {
    const { source, blob } = await body();
    await writeFile(blob, data.with(999_999, (data[999_999] ?? 0) ^ 1));
    await expect(all(source, true)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  });

  test("is given up in the middle of a read, which is no damage", async () => {
    const { source, blob } = await body();
    await source.next(false);
    const reading = source.next(false);
    await source.cancel();
    expect(await reading).toBeNull();
    expect(data).toHaveLength((await readFile(blob)).byteLength);
  });
});

test("a check of a stream that is given up does not tell of damage", async () => {
  const onDamage = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const silent = new ReadableStream<Uint8Array>();
  const reader = (await verifyStream(silent, { sha256: "0".repeat(64), size_bytes: 1 }, sha256, onDamage)).getReader();
  const reading = reader.read();
  // The piece is asked for by then.
  await new Promise(setImmediate);
  await reader.cancel();
  expect((await reading).done).toBe(true);
  await new Promise(setImmediate);
  expect(onDamage).not.toHaveBeenCalled();
});
