import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256 as nodeHash } from "../../../web/src/artifacts/hash-node.js";
import { sha256 as webHash } from "../../../web/src/artifacts/hash-web.js";
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
