import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Needle } from "../../../../web/src/mcp/artifact-reader/needle.js";
import { amount } from "../../../support/full.js";
import { dataOf, readingOf, URI } from "./artifacts.js";

const encoder = new TextEncoder();

/** Characters with one form, with two, and with two of different lengths (K of Kelvin, long s). */
const LETTERS = ["a", "b", "A", "É", "é", "ß", "€", "😀", "7", "\n", "k", "K", "\u212a", "s", "\u017f", "İ", "z"];

const parts = fc
  .uniqueArray(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 6 })
  .chain((some) => fc.array(fc.constantFrom(...some), { maxLength: 600 }).map((all) => ({ some, all })));

/** What a character may be in the text that is searched. */
function listCases(character: string): readonly string[] {
  const cases = [character, character.toLowerCase(), character.toUpperCase()];
  return cases.filter((each) => Array.from(each).length === 1);
}

/** Offsets of matches, each behind the one before, found by comparing every character with every other. */
function findPlainly(text: readonly string[], wanted: readonly string[]): readonly number[] {
  const found: number[] = [];
  let offset = 0;
  for (let at = 0; at < text.length;) {
    const isMatch = wanted.every((character, index) => listCases(character).includes(text[at + index] ?? ""));
    if (isMatch) found.push(offset);
    const length = isMatch ? wanted.length : 1;
    offset += encoder.encode(text.slice(at, at + length).join("")).length;
    at += length;
  }
  return found;
}

test("matches are those that a comparison of every character finds, however the bytes before were", () => {
  fc.assert(
    fc.property(
      parts,
      fc.array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 12 }),
      fc.tuple(fc.nat(599), fc.integer({ min: 1, max: 300 })),
      fc.uint8Array({ maxLength: 300 }),
      fc.boolean(),
      ({ all }, other, [from, length], sample, isPart) => {
        const part = all.slice(from, from + length);
        const wanted = isPart && part.length > 0 ? part : other;
        const needle = new Needle(wanted.join(""));
        const bytes = encoder.encode(all.join(""));
        needle.adapt(sample.length === 0 ? bytes : sample);
        needle.open(bytes);
        const found: number[] = [];
        for (let at = needle.findCandidate(0, bytes.length); at < bytes.length;) {
          const size = needle.matchAt(at);
          if (size > 0) found.push(at);
          at = needle.findCandidate(at + Math.max(1, size), bytes.length);
        }
        expect(found).toEqual(findPlainly(all, wanted));
      },
    ),
    { numRuns: amount(2000, 100_000) },
  );
}, 600_000);

test("places far into a text have their lines, and what is between them is not told", async () => {
  const lines = Array.from({ length: 120_000 }, (_, at) => (at % 40_000 === 39_999 ? "here HERE" : `line ${at}`));
  const text = lines.join("\n");
  const offset = (line: number): number => lines.slice(0, line - 1).join("\n").length + 1;
  const expected = [40_000, 80_000, 120_000].map(
    (line) => `line ${line}, byte ${offset(line)} and 1 place behind it: here HERE`,
  );
  for (const size of [1000, 65_536, 1_000_000]) {
    const result = await readingOf(text, { sizes: [size] }).call({ uri: URI, search: "here" });
    expect(dataOf(result)).toBe(expected.join("\n"));
  }
});
