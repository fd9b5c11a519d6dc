/** Records and cells of CSV: as Papa Parse tells them, in bytes as in text, whatever the pieces are. */
import * as fc from "fast-check";
import Papa from "papaparse";
import { expect, test } from "vitest";
import { CsvRows, csvCell, csvCellPieces, csvRecord, splitFields } from "../../../web/src/query/csv-cells.js";
import { CsvRecords, findDialect, type CsvDialect } from "../../../web/src/query/csv.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
const DELIMITER = fc.constantFrom(",", ";", "\t", "|");
const LINE_END = fc.constantFrom("\n", "\r\n", "\r");
const CELL = fc
  .array(fc.constantFrom("", "a", '"', '""', ",", ";", "\t", "|", "\n", "\r\n", " ", "é", "😀", "7"), { maxLength: 4 })
  .map((parts) => parts.join(""));
/** Rows of two cells or more, so that none of them is an empty line. */
const TABLE = fc.array(fc.array(CELL, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 8 });
/** Anything, well-formed or not. */
const NOISE = fc
  .array(fc.constantFrom("a", "bc", '"', '""', ",", ";", "\n", "\r\n", "\r", " ", "é", "😀"), { maxLength: 40 })
  .map((parts) => parts.join(""));

function cut<T extends Uint8Array | string>(whole: T, sizes: readonly number[]): T[] {
  const pieces: T[] = [];
  for (let at = 0, turn = 0; at < whole.length;) {
    const size = sizes[turn++ % sizes.length] ?? 1;
    pieces.push(whole.slice(at, at + size) as T);
    at += size;
  }
  return pieces;
}

function rowsOf(text: string, sizes: readonly number[], known?: Partial<CsvDialect>): (readonly string[])[] {
  const rows = new CsvRows(known);
  return [...cut(text, sizes).flatMap((piece) => rows.push(piece)), ...rows.end()];
}

/** The records of bytes or of text, by the offsets that their ends have in all of it. */
function recordsOf<T extends Uint8Array | string>(whole: T, dialect: CsvDialect, sizes: readonly number[]): T[] {
  const records = new CsvRecords(dialect);
  const ends: number[] = [];
  let base = 0;
  for (const piece of cut(whole, sizes)) {
    records.push(piece, (end) => ends.push(base + end));
    base += piece.length;
  }
  return [...ends, whole.length].map((end, at) => whole.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end) as T);
}

test("rows are those of Papa Parse, in pieces of any size", () => {
  fc.assert(
    fc.property(TABLE, DELIMITER, LINE_END, fc.boolean(), SIZES, (table, delimiter, newline, quotes, sizes) => {
      const text = Papa.unparse(table, { delimiter, newline, quotes });
      expect(Papa.parse(text, { delimiter, newline }).data).toEqual(table);
      const known = { delimiter, newline: newline === "\r" ? "\r" : "\n" } as const;
      expect(rowsOf(text, sizes, known)).toEqual(table);
      expect(rowsOf(text + newline, [1e6], known)).toEqual(table);
    }),
    { numRuns: 500 },
  );
});

test("what is written is read as it was, by us and by Papa Parse", () => {
  fc.assert(
    fc.property(TABLE, DELIMITER, fc.boolean(), (table, delimiter, isQuoted) => {
      const text = table.map((cells) => csvRecord(cells, { delimiter, isQuoted })).join("\n");
      expect(rowsOf(text, [3], { delimiter, newline: "\n" })).toEqual(table);
      expect(Papa.parse(text, { delimiter, newline: "\n" }).data).toEqual(table);
    }),
    { numRuns: 300 },
  );
});

test("bytes and text have the same records, in pieces of any size", () => {
  fc.assert(
    fc.property(NOISE, SIZES, fc.constantFrom<CsvDialect["newline"]>("\n", "\r"), (text, sizes, newline) => {
      const dialect = { delimiter: ",", newline };
      const whole = recordsOf(text, dialect, [1e6]);
      expect(recordsOf(text, dialect, sizes)).toEqual(whole);
      const bytes = recordsOf(encoder.encode(text), dialect, sizes);
      expect(bytes.map((record) => decoder.decode(record))).toEqual(whole);
      const records = new CsvRecords(dialect);
      const parts = cut(text, sizes).map((piece) => records.split(piece));
      // The last part of a piece goes on in the next one.
      const joined = parts.reduce<readonly string[]>(
        (all, [first = "", ...rest]) => [...all.slice(0, -1), (all.at(-1) ?? "") + first, ...rest],
        [""],
      );
      expect(joined).toEqual(whole);
    }),
    { numRuns: 1000 },
  );
});

test("fields stand in the record where they say, and no more than a delimiter lies between two", () => {
  fc.assert(
    fc.property(NOISE, (text) => {
      for (const record of recordsOf(text, { delimiter: ",", newline: "\n" }, [1e6])) {
        const fields = splitFields(record, ",");
        expect(fields.map(({ start, end }) => record.slice(start, end)).join(",")).toBe(record);
        for (const { value, start, end, isQuoted } of fields) {
          expect(isQuoted).toBe(record[start] === '"');
          expect(isQuoted || value === record.slice(start, end)).toBe(true);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  [
    '5" pipe,6" pipe\nx,y\n',
    [
      ['5" pipe', '6" pipe'],
      ["x", "y"],
    ],
  ],
  [
    '"a"b,c\n1,2\n',
    [
      ["ab", "c"],
      ["1", "2"],
    ],
  ],
  [
    '"a" "b",c\n1,2\n',
    [
      ['a "b"', "c"],
      ["1", "2"],
    ],
  ],
  [
    'a, "b"\n1,2\n',
    [
      ["a", ' "b"'],
      ["1", "2"],
    ],
  ],
  [
    'a,b\n1,"2\n3,4',
    [
      ["a", "b"],
      ["1", "2\n3,4"],
    ],
  ],
  [
    "a,b\r\n\r\n1,2\n\n3,4\r\n",
    [
      ["a", "b"],
      ["1", "2"],
      ["3", "4"],
    ],
  ],
  ['a\n""\n', [["a"], [""]]],
  ["", []],
  ["\n\r\n", []],
])("%j has the rows %j", (text, rows) => {
  for (const size of [1, 2, 1000]) expect(rowsOf(text, [size], { delimiter: ",", newline: "\n" })).toEqual(rows);
});

test.each<[string, string, CsvDialect["newline"]]>([
  ["a,b\n1,2\n", ",", "\n"],
  ["a;b;c,d\r\n1;2;3", ";", "\n"],
  ['"a,b,c"\tb\n', "\t", "\n"],
  ["a|b\r1|2\r", "|", "\r"],
  ["a,b\rc;d;e\r", ",", "\r"],
  ['"a\rb",c\n', ",", "\n"],
  ["a,b\rc\n1,2\n", ",", "\n"],
  ["a,b\r", ",", "\n"],
  ["alone", ",", "\n"],
  ["", ",", "\n"],
])("the dialect of %j is %j and %j", (text, delimiter, newline) => {
  expect(findDialect(text)).toEqual({ delimiter, newline });
});

test("a cell of any length is written in pieces that are bounded, and are the cell", () => {
  for (const text of ["", "a", 'q"q', " a", '"'.repeat(200_000), `${"x".repeat(65_535)}""${"y".repeat(70_000)}`]) {
    const pieces = [...csvCellPieces(text)];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(128 * 1024);
    expect(splitFields(pieces.join(""), ",").map(({ value }) => value)).toEqual([text]);
  }
  expect(csvCell('a;"b"', { delimiter: ";" })).toBe('"a;""b"""');
});

test("a quote that is never closed is refused after a mebibyte, whatever the pieces, in time that grows with the bytes", () => {
  for (const size of [1, 1000, 1e7]) {
    const rows = new CsvRows();
    const bomb = `a,b\n1,"${"x,\n".repeat(400_000)}`;
    expect(() => cut(bomb, [size]).forEach((piece) => rows.push(piece))).toThrow(/Row 2 is longer than 1 MiB/);
  }
});
