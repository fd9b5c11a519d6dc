/** Rows made of bytes: what is a column, and what a value. */
import { describe, expect, test } from "vitest";
import { csvTable, jsonTable, ndjsonTable, tableOf } from "../../../web/src/query/table.js";
import { answerOf, failureOf, pieces, rowsOf } from "./tables.js";

const all = "SELECT * FROM rows";

describe("CSV", () => {
  test("a number is what JSON would write as one and a number can hold; nothing is NULL", async () => {
    const cells = [
      "5",
      "-0.25",
      "1.5e3",
      "007",
      "+4",
      "1,5",
      "12E4",
      "12345678901234567890",
      " 5",
      "",
      "NULL",
      "-",
      "0",
    ];
    const table = await csvTable(pieces(`n\n${cells.map((cell) => `"${cell}",`).join("\n")}\n`));
    const { rows, notes } = await answerOf(all, table);
    expect(rows.flat()).toEqual([
      5,
      -0.25,
      1500,
      "007",
      "+4",
      "1,5",
      "12E4",
      "12345678901234567890",
      " 5",
      null,
      "NULL",
      "-",
      0,
    ]);
    expect(notes).toEqual(["13 rows have more cells than the header: these cells are left out."]);
  });

  test("sums and counts pass over empty cells", async () => {
    const table = async () => csvTable(pieces("a,b\n1,x\n,y\n3,\n\n"));
    expect(await rowsOf("SELECT SUM(a), COUNT(a), COUNT(*), AVG(a) FROM rows", await table())).toEqual([[4, 2, 3, 2]]);
    expect(await rowsOf("SELECT a FROM rows WHERE b IS NULL", await table())).toEqual([[3]]);
  });

  test.each([
    ["tabs", "a\tb\n1\t2\n"],
    ["semicolons", "a;b\n1;2\n"],
    ["bars", "a|b\n1|2\n"],
    ["returns and newlines, and a byte order mark", "\uFEFFa,b\r\n1,2\r\n"],
    ["returns alone", "a,b\r1,2\r"],
  ])("with %s", async (_, text) => {
    expect(await answerOf(all, await csvTable(pieces(text, 3)))).toMatchObject({ columns: ["a", "b"], rows: [[1, 2]] });
  });

  test("a delimiter that is given is taken", async () => {
    const table = await csvTable(pieces("a b;c\n1 2;3\n"), { delimiter: " " });
    expect(table.columns).toEqual(["a", "b;c"]);
  });

  test("names of columns are usable, whatever the header is", async () => {
    const table = await csvTable(pieces("id,, name ,id,id_2\n1,2,3,4,5\n"));
    expect(table.columns).toEqual(["id", "column_2", "name", "id_2", "id_2_2"]);
  });

  test("without a row there is no table; without rows below the header an empty one", async () => {
    await expect(csvTable(pieces(""))).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    expect(await rowsOf("SELECT COUNT(*), SUM(a) FROM rows", await csvTable(pieces("a,b")))).toEqual([[0, null]]);
  });
});

describe("JSON", () => {
  const json = async (value: unknown, pointer?: string) =>
    jsonTable(pieces(JSON.stringify(value), 11), pointer === undefined ? {} : { pointer });

  test("an array of objects that are not alike", async () => {
    const { columns, rows } = await answerOf(all, await json([{ a: 1 }, { b: [1], a: null }, { c: { d: true } }]));
    expect(columns).toEqual(["a", "b", "c"]);
    expect(rows).toEqual([
      [1, null, null],
      [null, [1], null],
      [null, null, { d: true }],
    ]);
  });

  test("arrays of arrays, and of values", async () => {
    expect(await answerOf(all, await json([[1, "x"], [2]]))).toMatchObject({
      columns: ["column_1", "column_2"],
      rows: [
        [1, "x"],
        [2, null],
      ],
    });
    expect(await rowsOf("SELECT SUM(value) FROM rows", await json([1, 2, 3]))).toEqual([[6]]);
  });

  test("an object of objects has a column for the key", async () => {
    const table = await json({ ada: { age: 36 }, bo: { age: 7 } });
    expect(await rowsOf("SELECT key FROM rows WHERE age > 10", table)).toEqual([["ada"]]);
  });

  test("the array of objects within a document is found, and the others are named", async () => {
    const value = { count: 2, tags: ["x"], data: { items: [{ id: 1 }, { id: 2 }], errors: [{ code: 5 }] } };
    const { rows, notes } = await answerOf("SELECT id FROM rows", await json(value));
    expect(rows).toEqual([[1], [2]]);
    expect(notes).toEqual([
      "The rows are those of the array at /data/items. Others are at /data/errors: ask for them by pointer.",
    ]);
    expect(await rowsOf("SELECT code FROM rows", await json(value, "/data/errors"))).toEqual([[5]]);
    expect(await rowsOf("SELECT value FROM rows", await json(value, "/tags"))).toEqual([["x"]]);
  });

  test("any other object is one row", async () => {
    const { rows, notes } = await answerOf("SELECT a, b.c FROM rows", await json({ a: 1, b: { c: 2 } }));
    expect(rows).toEqual([[1, 2]]);
    expect(notes).toEqual(["The document is one row: it has no array of objects."]);
  });

  test.each([
    ["/nowhere", /nothing at pointer "\/nowhere"/],
    ["/n", /is a number and has no rows/],
    ["items", /must be empty or begin with a slash/],
  ])("pointer %s", async (pointer, sentence) => {
    await expect(json({ n: 1, items: [] }, pointer)).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "pointer",
      message: expect.stringMatching(sentence) as string,
    });
  });

  test("whole numbers of any length stay what they are", async () => {
    const table = await jsonTable(pieces('[{"id": 9007199254740993, "t": "say \\"12345678901234567890\\""}]'));
    expect(await rowsOf(all, table)).toEqual([["9007199254740993", 'say "12345678901234567890"']]);
  });

  test("members that come after the first thousand rows can be asked for, and what never comes cannot", async () => {
    const rows = Array.from({ length: 3000 }, (_, id) => (id === 2500 ? { id, late: "x" } : { id }));
    expect(await rowsOf("SELECT id, late FROM rows WHERE late IS NOT NULL", await json(rows))).toEqual([[2500, "x"]]);
    expect(await failureOf("SELECT id FROM rows WHERE never = 1", await json(rows))).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringMatching(/no column "never"/) as string,
    });
    const { columns } = await json(rows);
    expect(columns).toEqual(["id"]);
  });

  test("what is not JSON is said with its place", async () => {
    await expect(jsonTable(pieces('[{"a": 1}, {"a" 2}]'))).rejects.toMatchObject({ code: "E_JSON_SYNTAX" });
    await expect(ndjsonTable(pieces('{"a": 1}\n\n{"a": \n'))).rejects.toMatchObject({
      code: "E_JSON_SYNTAX",
      message: expect.stringMatching(/^Line 3 /) as string,
    });
  });
});

test("rows of another origin, as of a sheet", async () => {
  const batches = (async function* () {
    yield [
      ["Ada", 36],
      ["Bo", 7],
    ];
  })();
  expect(await rowsOf("SELECT name FROM sheet1 WHERE age < 10", tableOf(["name", "age"], batches))).toEqual([["Bo"]]);
});
