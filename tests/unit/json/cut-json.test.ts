/** JSON of which the end is missing. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findWholeJson } from "../../../web/src/json/cut-json.js";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What is whole of a text that comes in pieces, as a text. */
async function complete(text: string, size = 7): Promise<string | undefined> {
  const bytes = bytesOf(text);
  // oxlint-disable-next-line require-await -- what reads it takes streams
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const whole = await findWholeJson(pieces());
  return whole === undefined ? undefined : new TextDecoder().decode(bytes.subarray(0, whole.end)) + whole.closers;
}

test.each([
  ['[{"id":1},{"id":2},{"id":3,"na', '[{"id":1},{"id":2}]'],
  ['{"page":2,"rows":[{"id":1,"tags":["a"]},{"id":2,"tags":["b","c', '{"page":2,"rows":[{"id":1,"tags":["a"]}]}'],
  ['{"rows":[1,2,3... [truncated, 3421 chars more]', '{"rows":[1,2]}'],
  ['{"a":{"b":1,"c":"long te', '{"a":{"b":1}}'],
  ["[1,2,3]\n[truncated]", "[1,2,3]"],
  ['{"a":', "{}"],
])("of %s is whole %s", async (text, whole) => {
  expect(await complete(text)).toBe(whole);
});

test("nothing of what is no JSON is whole", async () => {
  expect(await complete("words")).toBeUndefined();
  expect(await complete("")).toBeUndefined();
});

test("wherever a document is cut, its beginning is JSON, and the same for any pieces", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 5 }), fc.nat(), fc.integer({ min: 1, max: 20 }), async (json, at, size) => {
      const text = json.slice(0, at % (json.length + 1));
      const whole = await complete(text, size);
      expect(await complete(text, 1)).toBe(whole);
      if (whole === undefined) return;
      JSON.parse(whole);
      expect(text.startsWith(whole.replace(/[\]}]*$/, ""))).toBe(true);
    }),
  );
});
