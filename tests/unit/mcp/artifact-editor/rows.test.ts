/** Cells and rows of CSV, TSV, NDJSON and JSON arrays. */
import * as fc from "fast-check";
import Papa from "papaparse";
import { describe, expect, test } from "vitest";
import { dataOf } from "../artifact-reader/artifacts.js";
import { edited, refusal, textAfter } from "./editing.js";

const CSV = { mime_type: "text/csv" };
const TABLE = 'id,name,note\r\n1,Ada,"a, b"\r\n2,Bob,\r\n\r\n3,Cleo,"x\r\ny"\r\n';

describe("CSV", () => {
  test("a row is added at the end, by column, in the file's own form", async () => {
    const { text, words, result } = await edited(TABLE, { add_rows: [{ name: 'D "d"', id: 4 }] }, CSV);
    expect(text).toBe(`${TABLE}4,"D ""d""",\r\n`);
    expect(words).toContain("1 row added at the end");
    expect(dataOf(result)).toContain('4,"D ""d""",');
  });

  test("rows are added before a row, as arrays, and short ones are filled", async () => {
    expect(await textAfter(TABLE, { add_rows: [[8], ["9", null, true]], before_row: 3 }, CSV)).toBe(
      TABLE.replace("3,Cleo", "8,,\r\n9,,true\r\n3,Cleo"),
    );
  });

  test("cells are set by name and by number; the others keep their spelling", async () => {
    const cells = [
      { row: 1, column: "name", value: "A;B" },
      { row: 2, column: 3, value: "new\nline" },
      { row: 3, column: "3", value: "" },
    ];
    expect(await textAfter(TABLE, { cells }, CSV)).toBe(
      'id,name,note\r\n1,A;B,"a, b"\r\n2,Bob,"new\nline"\r\n\r\n3,Cleo,""\r\n',
    );
  });

  test("rows are deleted: one, a range, the rest", async () => {
    expect(await textAfter(TABLE, { delete_rows: "1" }, CSV)).toBe(TABLE.replace('1,Ada,"a, b"\r\n', ""));
    expect(await textAfter(TABLE, { delete_rows: "2-" }, CSV)).toBe('id,name,note\r\n1,Ada,"a, b"\r\n');
    expect(await textAfter(TABLE, { delete_rows: [1, "2-3"] }, CSV)).toBe("id,name,note\r\n");
  });

  test("all kinds go together, and count rows as they were", async () => {
    const args = { cells: [{ row: 3, column: "id", value: 33 }], delete_rows: "1", add_rows: [[4]], before_row: 2 };
    expect(await textAfter("id\n1\n2\n3\n", args, CSV)).toBe("id\n4\n2\n33\n");
    expect(await textAfter("id\n1\n2\n3\n", { delete_rows: "2-3", add_rows: [[4]], before_row: 3 }, CSV)).toBe(
      "id\n1\n4\n",
    );
    expect(await textAfter("id\n1\n2\n3", { delete_rows: "2-3", add_rows: [[4]], before_row: 2 }, CSV)).toBe(
      "id\n1\n4",
    );
  });

  test("a file without a line end at its end stays one", async () => {
    expect(await textAfter("a,b\n1,2", { add_rows: [[3, 4]] }, CSV)).toBe("a,b\n1,2\n3,4");
    expect(await textAfter("a,b\n1,2\n3,4", { delete_rows: "2" }, CSV)).toBe("a,b\n1,2");
    expect(await textAfter("a,b", { add_rows: [[3, 4]] }, { ...CSV, filename: "a.csv" })).toBe("a,b\n3,4");
  });

  test("an empty row of one column is not an empty line, which is none", async () => {
    expect(await textAfter("a\n1\n", { add_rows: [[""]], cells: [{ row: 1, column: "a", value: null }] }, CSV)).toBe(
      'a\n""\n""\n',
    );
  });

  test("other delimiters, and files whose fields are all in quotes", async () => {
    expect(await textAfter("a;b\n1;2\n", { add_rows: [["x;y", "1,5"]] }, CSV)).toBe('a;b\n1;2\n"x;y";1,5\n');
    expect(await textAfter("a\tb\n1\t2\n", { add_rows: [["x", "y z"]] }, { filename: "t.tsv" })).toBe(
      "a\tb\n1\t2\nx\ty z\n",
    );
    expect(await textAfter('"a","b"\n"1","2"\n', { add_rows: [[3, 4]] }, CSV)).toBe('"a","b"\n"1","2"\n"3","4"\n');
  });

  test.each([
    [
      { cells: [{ row: 4, column: 1, value: "" }] },
      "There is no row 4: the artifact has 3 rows below the header, 1 to 3.",
    ],
    [{ cells: [{ row: 1, column: "nam", value: "" }] }, 'there is no column "nam", the header has 3 columns'],
    [{ cells: [{ row: 1, column: 4, value: "" }] }, 'there is no column "4"'],
    [{ cells: [{ row: 1, column: 1, value: [1] }] }, "must be a string, a number, a boolean or null"],
    [{ cells: [{ row: 1, column: 1 }] }, "cells[0] must be an object with row, column and value"],
    [{ cells: [{ row: 1, column: 1, value: 1 }], delete_rows: "1-2" }, "Row 1 is both changed and deleted"],
    [{ add_rows: [[1, 2, 3, 4]] }, "add_rows[0] has 4 cells, the header 3 columns"],
    [{ add_rows: [{ age: 1 }] }, 'add_rows[0]: there is no column "age"'],
    [{ add_rows: [1] }, "add_rows[0] must be an array of cells, or an object"],
    [{ add_rows: [] }, "Nothing is to be changed"],
    [{ before_row: 1, delete_rows: "1" }, "before_row says where add_rows go"],
    [{ delete_rows: "4" }, "There is no row 4"],
    [{ delete_rows: "0" }, 'delete_rows has "0"'],
    [{ delete_rows: "b" }, 'delete_rows has "b"'],
    [{ add_rows: [[1]], old_string: "a", new_string: "b" }, "old_string and add_rows are two kinds of edit"],
    [{ cells: [{ row: 1, column: 0, value: "" }] }, "cells[0].column must be a column's name, or its number from 1"],
    [{ cells: [{ row: "first", column: 1, value: "" }] }, "cells[0].row must be the number of a row, from 1"],
    [{ add_rows: [[1]], before_row: 0 }, "before_row must be the number of a row, from 1"],
    [{ delete_rows: [{}] }, 'delete_rows has ""'],
    [{ rows: 1 }, 'There is no argument "rows"'],
    [{}, "Say what to change"],
  ])("%j is refused with the remedy", async (args, said) => {
    expect(await refusal(TABLE, args, CSV)).toContain(said);
  });

  test("a quote that is never closed is told", async () => {
    expect(await refusal('a,b\n1,"2\n', { add_rows: [[1]] }, CSV)).toContain("A quote of the artifact is never closed");
  });

  test("cells that have the value already make no artifact", async () => {
    const { ref, words } = await edited(TABLE, { cells: [{ row: 1, column: "note", value: "a, b" }] }, CSV);
    expect(ref).toBeUndefined();
    expect(words).toContain("Nothing was changed: the cells have these values already");
  });

  test("the result is that of an edit in memory, whatever the chunks", async () => {
    const cell = fc.constantFrom("", "a", "b c", 'q"q', "x,y", "l\nm", "r\r\ns", "é", "😀", '"');
    const row = fc.array(cell, { minLength: 2, maxLength: 2 }).filter((cells) => cells.some((each) => each !== ""));
    const rows = fc.array(row, { minLength: 1, maxLength: 6 });
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
    const newline = fc.constantFrom("\n", "\r\n");
    await fc.assert(
      fc.asyncProperty(
        rows,
        row,
        fc.nat(),
        fc.nat(),
        newline,
        sizes,
        async (before, added, at, gone, lineEnd, pieces) => {
          const data = [["h1", "h2"], ...before];
          const place = (at % before.length) + 1;
          const deleted = (gone % before.length) + 1;
          const text = Papa.unparse(data, { newline: lineEnd });
          const args = { add_rows: [added], before_row: place, delete_rows: String(deleted) };
          const after = await textAfter(text, args, { ...CSV, sizes: pieces });
          const expected = [...before.slice(0, place - 1), added, ...before.slice(place - 1)];
          expected.splice(deleted >= place ? deleted : deleted - 1, 1);
          expect(Papa.parse(after, { newline: lineEnd, delimiter: "," }).data).toEqual([["h1", "h2"], ...expected]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("NDJSON", () => {
  const LINES = '{"id":1, "n":12345678901234567890}\n\n{"id":2}\n[1,2]\n';
  const NDJSON = { mime_type: "application/x-ndjson" };

  test("cells are set by key, rows added and deleted", async () => {
    const args = {
      cells: [
        { row: 1, column: "id", value: "one" },
        { row: 1, column: "x", value: { y: [1] } },
        { row: 3, column: 2, value: null },
      ],
      add_rows: [{ id: 4 }],
      delete_rows: 2,
    };
    expect(await textAfter(LINES, args, NDJSON)).toBe(
      '{"id":"one", "n":12345678901234567890, "x":{"y":[1]}}\n\n[1,null]\n{"id":4}\n',
    );
  });

  test("a row that is no object, or no JSON, is told", async () => {
    expect(await refusal('{"a":1}\nwords\n', { cells: [{ row: 2, column: "a", value: 1 }] }, NDJSON)).toContain(
      "Row 2 is not JSON",
    );
    expect(await refusal(LINES, { add_rows: [1] }, NDJSON)).toContain("add_rows[0] must be an object or an array");
  });
});

describe("a JSON array", () => {
  const ARRAY = '[\n  {"id": 1},\n  {"id": 2},\n  {"id": 3}\n]\n';
  const JSON_TYPE = { mime_type: "application/json" };

  test("cells are set, rows added and deleted", async () => {
    const args = {
      cells: [{ row: 2, column: "id", value: 22 }],
      add_rows: [{ id: 0, tags: ["a"] }],
      before_row: 3,
      delete_rows: [1, 3],
    };
    expect(await textAfter(ARRAY, args, JSON_TYPE)).toBe('[\n  {"id": 22},\n  {"id": 0, "tags": ["a"]}\n]\n');
    expect(await textAfter(ARRAY, { add_rows: [{ id: 4 }] }, JSON_TYPE)).toBe(
      ARRAY.replace("3}\n", '3},\n  {"id": 4}\n'),
    );
    expect(await textAfter(ARRAY, { delete_rows: "1-3" }, JSON_TYPE)).toBe("[]\n");
  });

  test("rows beyond its end are told", async () => {
    const told = "There is no row 4: the artifact has 3 rows";
    expect(await refusal(ARRAY, { delete_rows: "2-4" }, JSON_TYPE)).toContain(told);
    expect(await refusal(ARRAY, { delete_rows: "4-" }, JSON_TYPE)).toContain(told);
    const cells = [{ row: "1", column: "a", value: 1 }];
    expect(await refusal("[]", { cells }, JSON_TYPE)).toContain("There is no row 1: the artifact has no rows");
  });
});

test.each([
  ["CSV", "text/csv", "id,name\n1,Ada\n2,Bob\n", "3,Cleo\n", "1,Ada\n"],
  [
    "NDJSON",
    "application/x-ndjson",
    '{"id":1,"name":"Ada"}\n{"id":2,"name":"Bob"}\n',
    '{"id":3,"name":"Cleo"}\n',
    '{"id":1,"name":"Ada"}\n',
  ],
])("lines of words above and below %s stay where they are", async (kind, mime_type, rows, added, first) => {
  const info = { mime_type, source: { description: `${kind}, 2 columns, 2 rows, 1 line above, 1 line below` } };
  const text = `Found these:\n${rows}[truncated: 2 of 9000]\n`;
  expect(await textAfter(text, { add_rows: [{ id: 3, name: "Cleo" }], delete_rows: "1" }, info)).toBe(
    `Found these:\n${rows.replace(first, "")}${added}[truncated: 2 of 9000]\n`,
  );
  expect(await refusal(text, { delete_rows: "3" }, info)).toContain("There is no row 3");
});

test("what has no rows is told, with what can be done", async () => {
  expect(await refusal('{"a": 1}', { add_rows: [[1]] }, { mime_type: "application/json" })).toContain("Use patch.");
  expect(await refusal("some words", { add_rows: [[1]] }, { mime_type: "text/plain" })).toContain("Use old_string");
  expect(await refusal(Buffer.from("504b0304000000", "hex"), { add_rows: [[1]] })).toContain("only UTF-8 text, JSON");
});
