/** Rows made of bytes: what is a column, and what a value. */
import { describe, expect, test } from "vitest";
import type { QueryTable } from "../../../web/src/query/types.js";
import { answerOf, bytesOf, cellTable, csvTable, failureOf, jsonTable, ndjsonTable, rowsOf } from "./tables.js";

const all = "SELECT * FROM rows";

describe("CSV", () => {
  test("a cell is a number where its column has numbers, written as JSON writes them; an empty one is NULL", async () => {
    const numbers = "a,b,c,d,e\n5,-0.25,007,+4,1\n1.5e3,,12,5,x\n";
    expect(await rowsOf(all, csvTable(numbers))).toEqual([
      [5, -0.25, "007", "+4", "1"],
      [1500, null, "12", "5", "x"],
    ]);
  });

  test("a column with one cell that is no number is text, and CAST makes numbers of it", async () => {
    const cells = ["5", "007", "+4", "1,5", "12E4", "12345678901234567890", " 5", "", "NULL", "-", "0"];
    const table = csvTable(`n\n${cells.map((cell) => `"${cell}"`).join("\n")}\n`);
    expect((await rowsOf(all, table)).flat()).toEqual(cells.map((cell) => (cell === "" ? null : cell)));
    expect((await rowsOf("SELECT CAST(n AS INTEGER) FROM rows LIMIT 2", table)).flat()).toEqual([5, 7]);
  });

  test("cells without a column are left out, and said so", async () => {
    const { rows, notes } = await answerOf(all, csvTable("a,b\n1,2\n3,4,5\n6\n"));
    expect(rows).toEqual([
      [1, 2],
      [3, 4],
      [6, null],
    ]);
    expect(notes).toEqual(["1 of the first rows have more cells than the header: these cells are left out."]);
  });

  test("sums and counts pass over empty cells", async () => {
    const table = csvTable("a,b\n1,x\n,y\n3,\n\n");
    expect(await rowsOf("SELECT SUM(a), COUNT(a), COUNT(*), AVG(a) FROM rows", table)).toEqual([[4, 2, 3, 2]]);
    expect(await rowsOf("SELECT a FROM rows WHERE b IS NULL", table)).toEqual([[3]]);
  });

  test.each([
    ["tabs", "a\tb\n1\t2\n"],
    ["semicolons", "a;b\n1;2\n"],
    ["bars", "a|b\n1|2\n"],
    ["returns and newlines, and a byte order mark", "\uFEFFa,b\r\n1,2\r\n"],
    ["returns alone", "a,b\r1,2\r"],
  ])("with %s", async (_, text) => {
    expect(await answerOf(all, csvTable(text, 3))).toMatchObject({ columns: ["a", "b"], rows: [[1, 2]] });
  });

  test("a delimiter that is given is taken", async () => {
    const table = csvTable("a b;c\n1 2;3\n", undefined, { delimiter: " " });
    expect((await answerOf(all, table)).columns).toEqual(["a", "b;c"]);
  });

  test("names of columns are usable, whatever the header is", async () => {
    const { columns } = await answerOf(all, csvTable("id,, name ,id,id_2\n1,2,3,4,5\n"));
    expect(columns).toEqual(["id", "column_2", "name", "id_2", "id_2_2"]);
  });

  test("without a row there is no table; without rows below the header an empty one", async () => {
    expect(await failureOf(all, csvTable(""))).toMatchObject({ code: "E_INVALID_ARGUMENT", path: "query" });
    expect(await rowsOf("SELECT COUNT(*), SUM(a) FROM rows", csvTable("a,b"))).toEqual([[0, null]]);
  });
});

describe("JSON", () => {
  const json = (value: unknown, pointer?: string): QueryTable => jsonTable(JSON.stringify(value), pointer, 11);

  test("an array of objects that are not alike", async () => {
    const { columns, rows } = await answerOf(all, json([{ a: 1 }, { b: [1], a: null }, { c: { d: true } }]));
    expect(columns).toEqual(["a", "b", "c"]);
    expect(rows).toEqual([
      [1, null, null],
      [null, "[1]", null],
      [null, null, '{"d":true}'],
    ]);
  });

  test("arrays of arrays, and of values", async () => {
    expect(await answerOf(all, json([[1, "x"], [2]]))).toMatchObject({
      columns: ["column_1", "column_2"],
      rows: [
        [1, "x"],
        [2, null],
      ],
    });
    expect(await rowsOf("SELECT SUM(value) FROM rows", json([1, 2, 3]))).toEqual([[6]]);
  });

  test("an object of objects has a column for the key", async () => {
    const table = json({ ada: { age: 36 }, bo: { age: 7 } });
    expect(await rowsOf("SELECT key FROM rows WHERE age > 10", table)).toEqual([["ada"]]);
  });

  test("the array of objects within a document is found, and any other by its pointer", async () => {
    const value = { count: 2, tags: ["x"], data: { items: [{ id: 1 }, { id: 2 }], errors: [{ code: 5 }] } };
    expect(await rowsOf("SELECT id FROM rows", json(value))).toEqual([[1], [2]]);
    expect(await rowsOf("SELECT code FROM rows", json(value, "/data/errors"))).toEqual([[5]]);
    expect(await rowsOf("SELECT value FROM rows", json(value, "/tags"))).toEqual([["x"]]);
  });

  test("any other object is one row", async () => {
    expect(await rowsOf("SELECT a, b->>'c' FROM rows", json({ a: 1, b: { c: 2 } }))).toEqual([[1, 2]]);
  });

  test.each(["/nowhere", "/n", "/n/x", "/nul\0"])("nothing is at pointer %j", async (pointer) => {
    expect(await failureOf(all, json({ n: 1, items: [] }, pointer))).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "pointer",
      message: "There are no rows at that pointer: point to an array or object.",
    });
  });

  test("whole numbers of any length stay what they are", async () => {
    const table = jsonTable('[{"id": 9007199254740993, "t": "say \\"12345678901234567890\\""}]');
    expect(await rowsOf(all, table)).toEqual([["9007199254740993", 'say "12345678901234567890"']]);
  });

  test("members that come after the first thousand rows can be asked for, and what never comes cannot", async () => {
    const table = json(
      Array.from({ length: 3000 }, (_, id) => ({
        id,
        ...(id === 2500 && { late: "x" }),
        ...(id === 2600 && { later: 7 }),
      })),
    );
    expect(await rowsOf("SELECT id, late FROM rows WHERE late IS NOT NULL", table)).toEqual([[2500, "x"]]);
    expect(await rowsOf("SELECT r.id FROM rows r WHERE r.late = 'x' OR r.later = 7", table)).toEqual([[2500], [2600]]);
    expect(await failureOf("SELECT id FROM rows WHERE never = 1", table)).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringMatching(/no column "never"/) as string,
    });
    expect((await answerOf(`${all} LIMIT 1`, table)).columns).toEqual(["id"]);
  });

  test("what is not JSON is said with its place", async () => {
    const notJson = { code: "E_JSON_SYNTAX", path: "query" };
    expect(
      await failureOf(all, { form: { kind: "rows", keys: [] }, bytes: bytesOf('[{"a": 1}, {"a" 2}]') }),
    ).toMatchObject({
      ...notJson,
      message: expect.stringMatching(/^Row 2 /) as string,
    });
    expect(await failureOf(all, ndjsonTable('{"a": 1}\n\n{"a": \n'))).toMatchObject({
      ...notJson,
      message: expect.stringMatching(/^Row 2 /) as string,
    });
  });
});

test("lines are rows with numbers", async () => {
  const table: QueryTable = { form: { kind: "lines" }, bytes: bytesOf("one\r\ntwo\n\nfour", 2) };
  expect(await answerOf(all, table)).toMatchObject({
    columns: ["number", "line"],
    rows: [
      [1, "one"],
      [2, "two"],
      [3, ""],
      [4, "four"],
    ],
  });
  expect(await rowsOf("SELECT number FROM rows WHERE line LIKE '%o%r%'", table)).toEqual([[4]]);
});

test("rows of another origin, as of a sheet", async () => {
  const sheet = cellTable(
    ["name", "age"],
    [
      ["Ada", 36],
      ["Bo, jr", 7],
    ],
  );
  expect(await rowsOf("SELECT name FROM sheet1 WHERE age < 10", sheet)).toEqual([["Bo, jr"]]);
});
