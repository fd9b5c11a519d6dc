/** A search says where a place is in the words of what reads on there: its row, or its pointer. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dataOf, readingOf, URI, wordsOf } from "./artifacts.js";

/** No text of a random document has it. */
const NEEDLE = "needle";
const CSV = { mime_type: "text/csv", filename: "a.csv" };
const JSON_FILE = { mime_type: "application/json", filename: "a.json" };
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });

describe("in a table", () => {
  const cell = fc.constantFrom("", "a", "1", "x,y", 'say "b"', "two\nlines", "three\r\n\r\nlines", "é");
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  test("the place is the row that reads it, whatever cells have in them", async () => {
    const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(), fc.constantFrom("\n", "\r\n", "\n\n"), sizes, async (table, at, end, chunks) => {
        const row = at % table.length;
        const lines = table.map((cells, index) => [index === row ? NEEDLE : "-", ...cells].map(quoted).join(","));
        const reader = readingOf(`id,b,c${end}${lines.join(end)}${end}`, { sizes: chunks, info: CSV });
        expect(dataOf(await reader.call({ uri: URI, search: NEEDLE }))).toMatch(
          new RegExp(`^row ${row + 1}, byte \\d+: `),
        );
        expect(dataOf(await reader.call({ uri: URI, rows: String(row + 1) }))).toContain(NEEDLE);
      }),
      { numRuns: 60 },
    );
  });

  test("the header is called that, and rows are what reads on", async () => {
    const reader = readingOf("city,price\nBern,3\nOslo,5\n", { info: CSV });
    const answer = await reader.call({ uri: URI, search: "i" });
    expect(dataOf(answer)).toBe("header, byte 1: city,price\nheader, byte 7: city,price");
    expect(wordsOf(answer)).toContain("with rows or bytes");
  });
});

describe("in JSON", () => {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(1, -2.5e9, true, null, "text", "ü", 'a"b\\c'),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom("a", "b/c", "d~e", "", "ключ"), tie("tree"), { maxKeys: 4 }),
    ),
  }));

  /** Pointers of all values of a document, with what is there. */
  function valuesOf(value: unknown, pointer = ""): readonly (readonly [pointer: string, value: unknown])[] {
    if (typeof value !== "object" || value === null) return [[pointer, value]];
    const below = Object.entries(value).flatMap(([key, each]) =>
      valuesOf(each, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    );
    return [[pointer, value], ...below];
  }

  test("the place is the pointer of its value", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tree), fc.constantFrom(0, 2), sizes, async (before, indent, chunks) => {
        const document = { before, it: { here: [NEEDLE] } };
        const reader = readingOf(JSON.stringify(document, null, indent), { sizes: chunks, info: JSON_FILE });
        expect(dataOf(await reader.call({ uri: URI, search: NEEDLE }))).toMatch(/^\/it\/here\/0, line \d+, byte \d+: /);
      }),
      { numRuns: 60 },
    );
  });

  test("every number of a document is found where its pointer says", async () => {
    await fc.assert(
      fc.asyncProperty(tree, sizes, async (value, chunks) => {
        const reader = readingOf(JSON.stringify([value, 0]), { sizes: chunks, info: JSON_FILE });
        const found = dataOf(await reader.call({ uri: URI, search: "-2500000000" })) ?? "";
        const pointers = found.match(/^\/\S*(?=, line)/gm) ?? [];
        const expected = valuesOf([value, 0]).flatMap(([pointer, each]) => (each === -2.5e9 ? [pointer] : []));
        expect(pointers).toEqual(expected.slice(0, 50));
      }),
      { numRuns: 100 },
    );
  });

  test("a key belongs to its value, and pointer reads on", async () => {
    const reader = readingOf('{"services":{"growth-173":{"first_ms":283}}}', { info: JSON_FILE });
    const answer = await reader.call({ uri: URI, search: "growth" });
    expect(dataOf(answer)).toMatch(/^\/services\/growth-173, line 1, byte 14: /);
    expect(wordsOf(answer)).toContain("with pointer, lines or bytes");
  });

  test("what is no JSON any more still has lines", async () => {
    const reader = readingOf(`{"a":"${NEEDLE}","b":"${"-".repeat(10_000)}"}\n} ${NEEDLE}`, { info: JSON_FILE });
    const found = dataOf(await reader.call({ uri: URI, search: NEEDLE }));
    expect(found).toMatch(/^\/a, line 1, byte 6: .*\nline 2, byte \d+: /);
  });
});
