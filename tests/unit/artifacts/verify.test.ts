import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { sha256 } from "../../../web/src/artifacts/hash-node.js";
import { verified } from "../../../web/src/artifacts/hash.js";
import { noise } from "./noise.js";

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
  const said = { sha256: await sha256.whole(expected), size_bytes: expected.length };
  return drained(await verified(streamOf(data, sizes), said, sha256));
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
    const { failure } = await drained(await verified(streamOf(noise(10), [4], onCancel), said, sha256, onDamage));
    expect(failure).toMatchObject(CORRUPT);
    expect(onCancel).toHaveBeenCalledOnce();
    expect(onDamage).toHaveBeenCalledOnce();
  });

  test("is read no faster than it is asked, and passes a cancel and a failure on", async () => {
    const onCancel = vi.fn<() => void>();
    const said = { sha256: await sha256.whole(noise(10)), size_bytes: 10 };
    const reader = (await verified(streamOf(noise(10), [4], onCancel), said, sha256)).getReader();
    expect((await reader.read()).value).toHaveLength(4);
    await reader.cancel();
    expect(onCancel).toHaveBeenCalledOnce();
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("EIO")) });
    const { failure } = await drained(await verified(broken, said, sha256));
    expect(failure).toMatchObject({ message: "EIO" });
  });
});
