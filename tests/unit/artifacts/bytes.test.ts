/** Bytes as stores take them, hash them and give them back: what is read again is checked. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test, describe, vi } from "vitest";
import { chunksOf, type Uploaded } from "../../../web/src/artifacts/bytes.js";
import { sha256 as nodeHash } from "../../../web/src/artifacts/hash-node.js";
import { sha256 as webHash } from "../../../web/src/artifacts/hash-web.js";
import { verified } from "../../../web/src/artifacts/hash.js";
import { noise } from "./noise.js";

const MIB = 1024 * 1024;

test.each([
  ["node", nodeHash],
  ["web", webHash],
])("%s: whole and in pieces, small and past what WebCrypto is given", async (_, hashing) => {
  for (const length of [0, 1, 55, 56, 64, 100_000, 8 * MIB, 8 * MIB + 1]) {
    const data = noise(length);
    const expected = createHash("sha256").update(data).digest("hex");
    expect(await hashing.whole(data)).toBe(expected);
    expect(await hashing.whole(new Uint8Array([9, ...data.subarray(0, 50)]).subarray(1))).toBe(
      createHash("sha256").update(data.subarray(0, 50)).digest("hex"),
    );
    const hash = await hashing.stream();
    const reused = new Uint8Array(70_001);
    for (let at = 0; at < length; at += reused.byteLength) {
      const piece = data.subarray(at, at + reused.byteLength);
      reused.set(piece);
      hash.update(reused.subarray(0, piece.byteLength));
      reused.fill(0);
    }
    expect(hash.digest()).toBe(expected);
  }
});

test("hashes in progress do not mix", async () => {
  const [one, two] = [await webHash.stream(), await webHash.stream()];
  one.update(new Uint8Array([1]));
  two.update(new Uint8Array([2]));
  expect(one.digest()).toBe(await nodeHash.whole(new Uint8Array([1])));
  expect(two.digest()).toBe(await nodeHash.whole(new Uint8Array([2])));
});

test("bytes in shared memory are hashed too", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set([1, 2, 3]);
  expect(await webHash.whole(shared)).toBe(await nodeHash.whole(new Uint8Array([1, 2, 3])));
});

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

async function textOf(data: Uploaded): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(data)) chunks.push(chunk);
  return new Response(new Blob(chunks as BlobPart[])).text();
}

async function* inPieces(): AsyncIterable<Uint8Array> {
  yield utf8("one ");
  yield utf8("zwölf");
}

test.each<[string, () => Uploaded]>([
  ["a text", () => "one zwölf"],
  ["bytes", () => utf8("one zwölf")],
  ["an async iterable", inPieces],
  ["a list", () => [utf8("one "), utf8("zwölf")] as unknown as Uploaded],
  ["a stream", () => new Blob(["one zwölf"]).stream()],
])("%s comes chunk by chunk", async (_, data) => {
  expect(await textOf(data())).toBe("one zwölf");
});

test.each([undefined, null, 7, {}, true])("what is no upload is refused before it is read: %j", (data) => {
  expect(() => chunksOf(data as never)).toThrow("data must be a Uint8Array, a string, or a stream of Uint8Arrays");
});

test("a stream that is read no further is let go", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(utf8("x")),
    cancel: () => void (isCancelled = true),
  });
  for await (const chunk of chunksOf(endless)) {
    expect(chunk).toEqual(utf8("x"));
    break;
  }
  expect(isCancelled).toBe(true);
});

/** A stream of `data` in pieces of these sizes, then of what is left. */
function streamOf(
  data: Uint8Array,
  sizes: readonly number[],
  onCancel = (): void => undefined,
): ReadableStream<Uint8Array> {
  let at = 0;
  const left = [...sizes];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        const size = left.shift() ?? data.length - at;
        if (at < data.length) controller.enqueue(data.slice(at, (at += size)));
        else controller.close();
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

interface Drained {
  readonly bytes: Buffer;
  readonly failure: unknown;
}

async function drained(stream: ReadableStream<Uint8Array>): Promise<Drained> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of stream) pieces.push(piece);
  } catch (failure) {
    return { bytes: Buffer.concat(pieces), failure };
  }
  return { bytes: Buffer.concat(pieces), failure: undefined };
}

async function checked(data: Uint8Array, expected: Uint8Array, sizes: readonly number[]): Promise<Drained> {
  const said = { sha256: await nodeHash.whole(expected), size_bytes: expected.length };
  return drained(await verified(streamOf(data, sizes), said, nodeHash));
}

const CORRUPT = {
  name: "SluiceError",
  code: "E_STORE_CORRUPT",
  message: expect.stringContaining("delete the artifact"),
};

describe("a checked stream", () => {
  test("gives what was stored, in any pieces", async () => {
    const property = fc.asyncProperty(fc.nat(5_000), fc.array(fc.nat(900), { maxLength: 12 }), async (size, sizes) => {
      const data = noise(size);
      const { bytes, failure } = await checked(data, data, sizes);
      expect(failure).toBeUndefined();
      expect(bytes.equals(data)).toBe(true);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("never gives the end of anything else: changed, longer or shorter", async () => {
    const damage = fc.constantFrom<(data: Uint8Array, at: number) => Uint8Array>(
      (data, at) => data.with(at, (data[at] ?? 0) ^ 1),
      (data) => Buffer.concat([data, Buffer.of(0)]),
      (data) => data.subarray(0, -1),
      () => new Uint8Array(0),
    );
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 5_000 }),
      fc.nat(),
      fc.array(fc.nat(900), { maxLength: 12 }),
      damage,
      async (size, at, sizes, damaging) => {
        const data = noise(size);
        const { bytes, failure } = await checked(damaging(data, at % size), data, sizes);
        expect(failure).toMatchObject(CORRUPT);
        expect(bytes.length).toBeLessThan(size);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("gives nothing at all of a small content that is damaged", async () => {
    const { bytes, failure } = await checked(noise(1_000, 2), noise(1_000), []);
    expect(failure).toMatchObject(CORRUPT);
    expect(bytes).toHaveLength(0);
  });

  test("lets go of its source, and tells, before it fails", async () => {
    const [onCancel, onDamage] = [
      vi.fn<() => void>(),
      vi.fn<() => Promise<void>>(() => Promise.reject(new Error("busy"))),
    ];
    const said = { sha256: "0".repeat(64), size_bytes: 10 };
    const { failure } = await drained(await verified(streamOf(noise(10), [4], onCancel), said, nodeHash, onDamage));
    expect(failure).toMatchObject(CORRUPT);
    expect(onCancel).toHaveBeenCalledOnce();
    expect(onDamage).toHaveBeenCalledOnce();
  });

  test("is read no faster than it is asked, and passes a cancel and a failure on", async () => {
    const onCancel = vi.fn<() => void>();
    const said = { sha256: await nodeHash.whole(noise(10)), size_bytes: 10 };
    const reader = (await verified(streamOf(noise(10), [4], onCancel), said, nodeHash)).getReader();
    expect((await reader.read()).value).toHaveLength(4);
    await reader.cancel();
    expect(onCancel).toHaveBeenCalledOnce();
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("EIO")) });
    const { failure } = await drained(await verified(broken, said, nodeHash));
    expect(failure).toMatchObject({ message: "EIO" });
  });
});
