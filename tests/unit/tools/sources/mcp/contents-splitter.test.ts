/** Contents found in a JSON text that comes in pieces. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ContentsSplitter } from "../../../../../web/src/tools/sources/mcp/read-contents.js";

/** The elements, and what stands in the list's place, of a text in pieces of this size. */
function split(text: string, size: number): { readonly elements: readonly unknown[]; readonly other: unknown } {
  const splitter = new ContentsSplitter();
  const bytes = new TextEncoder().encode(text);
  const elements: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    // What is handed over may be written over later.
    const piece = bytes.slice(at, at + size);
    splitter.push(piece);
    piece.fill(0);
    for (const element of splitter.take()) elements.push(JSON.parse(element));
  }
  splitter.end();
  return { elements, other: splitter.other === undefined ? undefined : JSON.parse(splitter.other) };
}

const size = fc.integer({ min: 1, max: 40 });

test("are all of a list's elements, however it is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), size, (list, chunk) => {
      expect(split(JSON.stringify(list, undefined, chunk % 3), chunk).elements).toEqual(list);
    }),
  );
});

test("are those of a result, whatever else is in it", () => {
  const rest = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(rest, fc.jsonValue({ maxDepth: 4 }), rest, size, (before, contents, after, chunk) => {
      const { contents: _, ...others } = { ...before, ...after };
      const given = JSON.stringify({ ...others, nested: [{ contents: [1] }], contents, last: { contents: [2] } });
      const { elements, other } = split(given, chunk);
      // As JSON says it: -0 is 0.
      const said = JSON.parse(JSON.stringify(contents)) as unknown;
      expect(elements).toEqual(Array.isArray(said) ? said : []);
      expect(other).toEqual(Array.isArray(said) ? undefined : said);
    }),
  );
});

test("are none of what is neither", () => {
  for (const text of ["5", '"x"', "{}", "null", '{"content":[1]}']) {
    expect(split(text, 1)).toEqual({ elements: [], other: undefined });
  }
});

test("are not held when one is beyond all measure", () => {
  expect(() => split(JSON.stringify(["x".repeat(9_000_000)]), 65_536)).toThrow(/more contents than can be held/);
});
