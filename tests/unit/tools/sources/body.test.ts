import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { base64Of } from "../../../../web/src/core/value.js";
import { createSluice } from "../../../../web/src/index.js";
import { gateBody, HeldBytes } from "../../../../web/src/tools/sources/body.js";

async function* pieces(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of list) yield piece;
}

async function text(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let all = "";
  for await (const piece of bytes) all += Buffer.from(piece).toString("latin1");
  return all;
}

const anyPieces = fc.array(fc.uint8Array({ maxLength: 20 }));

test("base64 is that of all pieces together", async () => {
  await fc.assert(
    fc.asyncProperty(anyPieces, async (list) => {
      expect(await text(base64Of(pieces(list)))).toBe(Buffer.concat(list).toString("base64"));
    }),
  );
  const large = Buffer.alloc(1_000_001, "abcdefg");
  expect(await text(base64Of(pieces([large.subarray(0, 2), large.subarray(2)])))).toBe(large.toString("base64"));
});

test("the beginning of bytes may be read again until what follows is asked for", async () => {
  await fc.assert(
    fc.asyncProperty(anyPieces, fc.nat(60), fc.nat(60), async (list, first, second) => {
      const all = Buffer.concat(list);
      const held = new HeldBytes(pieces(list));
      for (const limit of [first, second]) {
        const head = await held.hold(limit);
        expect(Buffer.from(head)).toEqual(all.subarray(0, head.length));
        expect(head.length >= Math.min(limit, all.length)).toBe(true);
      }
      const isWhole = held.isWhole;
      const before = isWhole ? await text(held.all()) : all.toString("latin1");
      expect(before).toBe(all.toString("latin1"));
      expect(held.isSpent).toBe(false);
      expect(await text(held.all())).toBe(all.toString("latin1"));
      expect(held.isSpent).toBe(!held.isWhole);
    }),
  );
});

test("a body that nobody wants any more is let go of", async () => {
  let isOver = false;
  const giving = new AbortController();
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (let n = 0; ; n++) {
        if (n === 1_000) giving.abort(new Error("enough"));
        yield Buffer.from([0xff]);
      }
    } finally {
      isOver = true;
    }
  }
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const body = { bytes: endless(), claim: "bytes", mimeType: "application/pdf", filename: null } as const;
  await expect(gateBody(body, sluice, { signal: giving.signal })).rejects.toThrow("enough");
  expect(isOver).toBe(true);
});
