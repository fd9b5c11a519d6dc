/** Results that a link carries: what comes back is what was sent, and no link is believed. */
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { packResult, unpackResult } from "../../../web/playground/app/call/shared-result.js";

const stream = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();
const linked = (text: string): string => deflateRawSync(text).toString("base64url");

test("any small result comes back byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), async (json) => {
      const data = await packResult(stream(json));
      fc.pre(data !== undefined);
      expect(data).toMatch(/^[\w-]*$/);
      expect(await (await unpackResult(data)).text()).toBe(json);
    }),
    { numRuns: 100 },
  );
});

test("a result that does not fit is not carried", async () => {
  const noise = Array.from({ length: 2000 }, (_, at) => Math.sin(at)).join();
  expect(await packResult(stream(noise))).toBeUndefined();
  expect(await packResult(stream(" ".repeat(1_000_001)))).toBeUndefined();
});

test("what unpacks to more than 1 MB is refused", async () => {
  expect((await unpackResult(linked(" ".repeat(1_000_000)))).size).toBe(1_000_000);
  await expect(unpackResult(linked(" ".repeat(1_000_001)))).rejects.toThrow(RangeError);
  await expect(unpackResult(linked(" ".repeat(50_000_000)))).rejects.toThrow("larger than 1 MB");
});

test.each(["AAAA", "%%%", "!", linked("{}").slice(0, -1) + "~"])(
  "a link that is damaged is refused: %s",
  async (data) => {
    await expect(unpackResult(data)).rejects.toBeInstanceOf(Error);
  },
);
