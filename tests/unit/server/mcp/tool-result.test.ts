/** Results in the form of MCP, written piece by piece. */
import { expect, test } from "vitest";
import { addResultType } from "../../../../web/src/server/mcp/tool-result.js";

const RESULT = '{"content":[{"type":"text","text":"Größe: 4 € – 小さい"}]}';

async function* yieldPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(0);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

test.each([1, 37, 45, 46, 1000])(
  "a result in pieces of %s bytes keeps each character, and gets its type",
  async (length) => {
    const written: Uint8Array<ArrayBuffer>[] = [];
    for await (const piece of addResultType(yieldPieces(new TextEncoder().encode(RESULT), length))) {
      written.push(typeof piece === "string" ? new TextEncoder().encode(piece) : new Uint8Array(piece));
    }
    const text = await new Blob(written).text();
    expect(JSON.parse(text)).toEqual({ resultType: "complete", ...(JSON.parse(RESULT) as object) });
  },
);
