import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactInfo } from "../../../../web/src/artifacts/store.js";
import { ArtifactReader, type ReadSource } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { amount } from "../../../support/full.js";
import { chunked, dataOf, readingOf, refOf, URI, wordsOf } from "./artifacts.js";

const KIB = 1024;
const MIB = 1024 * KIB;

const cell = fc.constantFrom("1", "abc", '"a,b"', '"x\ny"', '"say ""so"""', 'in"ch', "", "é😀", "z".repeat(300));
const row = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(","));
const value = fc.constantFrom('{"a":1}', "[2,[3]]", '"[,]"', "null", '{"b":"}"}', "-1.5e3");
const formats = {
  csv: { part: row, join: fc.constantFrom("\n", "\r\n", "\n\n"), ends: ["a,b\n", ""], type: "text/csv" },
  ndjson: { part: value, join: fc.constantFrom("\n", "\r\n", "\n\n"), ends: ["", "\n"], type: "application/x-ndjson" },
  array: { part: value, join: fc.constantFrom(",", ", \n"), ends: ["[", "]"], type: "application/json" },
  text: { part: row, join: fc.constantFrom("\n", "\f", "\r\n", "\n\n\f"), ends: ["", "\n"], type: "text/plain" },
} as const;

/** A text of some 300 KB with a lot of records: few that differ, over and over. */
const document = fc.constantFrom(...Object.keys(formats)).chain((name) => {
  const { part, join, ends, type } = formats[name as keyof typeof formats];
  return fc
    .tuple(fc.array(part, { minLength: 5, maxLength: 40 }), join, fc.integer({ min: 60 * KIB, max: 300 * KIB }))
    .map(([parts, border, size]) => {
      const piece = parts.join(border);
      const count = Math.ceil(size / (piece.length + border.length));
      return {
        count: count * parts.length,
        text: `${ends[0]}${Array(count).fill(piece).join(border)}${ends[1]}`,
        type,
      };
    });
});

/** A range of about so many records. */
const range = fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 30 })).chain(([place, length]) =>
  fc.constantFrom(
    (count: number) => `${1 + Math.floor((count * place) / 1000)}-${1 + Math.floor((count * place) / 1000) + length}`,
    (count: number) => `${1 + Math.floor((count * place) / 1000)}-`,
    () => `-${1 + length}`,
  ),
);
const request = fc.tuple(
  range,
  fc.constantFrom(
    { mode: "rows" },
    { mode: "lines" },
    { mode: "pages" },
    { mode: "rows", pointer: "" },
    {
      mode: "rows",
      delimiter: ";",
    },
  ),
);

test("an artifact that was read before gives the same answers as one that was not", async () => {
  await fc.assert(
    fc.asyncProperty(
      document,
      fc.array(request, { minLength: 2, maxLength: 6 }),
      fc.array(fc.integer({ min: 100, max: 90 * KIB }), { minLength: 1, maxLength: 4 }),
      async ({ text, type, count }, requests, sizes) => {
        const info = { mime_type: type };
        const known = readingOf(text, { sizes, info });
        for (const [toRange, { mode, ...others }] of requests) {
          const args = { [mode]: toRange(count), ...others };
          const fresh = readingOf(text, { info, sizes: [64 * KIB] });
          expect(await known.call({ uri: URI, ...args })).toEqual(await fresh.call({ uri: URI, ...args }));
        }
      },
    ),
    { numRuns: amount(60, 1500) },
  );
}, 600_000);

test("the last records are those that end the text", async () => {
  const lines = Array.from({ length: 30_000 }, (_, at) => `line ${at + 1}`);
  const reading = readingOf(lines.join("\n"), { sizes: [5000] });
  for (const count of [1, 7, 40]) {
    expect(dataOf(await reading.call({ uri: URI, lines: `-${count}` }))).toBe(lines.slice(-count).join("\n"));
  }
  expect(dataOf(await readingOf("a\nb").call({ uri: URI, lines: "-9" }))).toBe("a\nb");
  expect(wordsOf(await readingOf("").call({ uri: URI, lines: "-9" }))).toContain("has no lines");
});

describe("of an artifact that is too long to be counted", () => {
  const rows = Array.from({ length: 400_000 }, (_, at) => `${at + 1},"name ${at},\nof two lines"`);
  const bytes = new TextEncoder().encode(`id,name\n${rows.join("\n")}\n`);

  /** Reads it, and counts bytes. */
  function openCounted(info: ArtifactInfo): { readonly reading: ArtifactReader; readonly takeCount: () => number } {
    const source = chunked(bytes, [64 * KIB], info);
    let count = 0;
    const counted: ReadSource = {
      stat: (id) => source.stat(id),
      openReader: async (id, span) => {
        const stream = await source.openReader(id, span);
        const counter = new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            count += chunk.length;
            controller.enqueue(chunk.slice());
          },
        });
        return stream && stream.pipeThrough(counter, {});
      },
    };
    return {
      reading: new ArtifactReader(counted),
      takeCount: () => [count, (count = 0)][0] as number,
    };
  }

  test.each([["-2"], ["399999-"], ["399999-400000"]])(
    "%s is read through once, and then near its place, with how many there are",
    async (wish) => {
      const { reading, takeCount } = openCounted({ mime_type: "text/csv" });
      const wanted = ["id,name", ...rows.slice(-2)].join("\n");
      expect(dataOf(await reading.call({ uri: URI, rows: wish }))).toBe(wanted);
      expect(takeCount()).toBeLessThan(bytes.length + MIB);
      await reading.call({ uri: URI, rows: "-1" });
      takeCount();
      const again = await reading.call({ uri: URI, rows: wish });
      expect(dataOf(again)).toBe(wanted);
      expect(wordsOf(again)).toContain("rows 399999-400000 of 400,000");
      expect(takeCount()).toBeLessThan(MIB);
      expect(wordsOf(await reading.call({ uri: URI, rows: "400001-" }))).toContain("has 400,000 rows below its header");
      expect(takeCount()).toBeLessThan(MIB / 4);
    },
  );

  test("what one call does not read to is not called the end", async () => {
    const reading = new ArtifactReader(chunked(bytes, [64 * KIB]), { maxScannedBytes: 5 * MIB });
    const result = await reading.call({ uri: URI, lines: "-5" });
    expect(result.isError).toBe(true);
    expect(wordsOf(result)).toMatch(/The end is beyond the first 5\.0 MB, which have 3[0-9]{2},[0-9]{3} lines/);
  });

  test("other bytes under the same id are looked through themselves", async () => {
    let now = chunked(bytes, [64 * KIB]);
    const changing: ReadSource = {
      stat: (id) => now.stat(id),
      openReader: (id, span) => now.openReader(id, span),
    };
    const reading = new ArtifactReader(changing);
    await reading.call({ uri: URI, lines: "-1" });
    const other = new TextEncoder().encode("other\nlines\n".repeat(300_000));
    now = chunked(other, [64 * KIB]);
    const result = await reading.call({ uri: URI, lines: "599999-" });
    expect(dataOf(result)).toBe("other\nlines");
    expect(refOf(other.length).id).toBe(refOf(bytes.length).id);
  });
});
