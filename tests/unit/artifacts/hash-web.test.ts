/** SHA-256 where WebAssembly is not compiled: in Cloudflare Workers, and on pages whose policy forbids it. */
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Hashing } from "../../../web/src/artifacts/hash.js";
import { amount } from "../../support/full.js";

const MIB = 1024 * 1024;

const compile = vi.fn<() => Promise<never>>(() =>
  Promise.reject(new WebAssembly.CompileError("disallowed by embedder")),
);
let sha256: Hashing;
beforeAll(async () => {
  // Other tests may have it compiled already.
  vi.resetModules();
  vi.doMock("hash-wasm", () => ({ createSHA256: compile }));
  ({ sha256 } = await import("../../../web/src/artifacts/hash-web.js"));
});
afterAll(() => {
  vi.doUnmock("hash-wasm");
  vi.resetModules();
});

test("what comes in pieces has its digest, whatever the pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), async (pieces) => {
      const hash = await sha256.stream();
      for (const piece of pieces) hash.update(piece);
      expect(hash.digest()).toBe(createHash("sha256").update(Buffer.concat(pieces)).digest("hex"));
    }),
    { numRuns: amount(50, 500) },
  );
  expect(compile).toHaveBeenCalled();
});

test("more than WebCrypto is given has its digest too", async () => {
  const data = new Uint8Array(8 * MIB + 1).fill(7);
  expect(await sha256.whole(data)).toBe(createHash("sha256").update(data).digest("hex"));
});
