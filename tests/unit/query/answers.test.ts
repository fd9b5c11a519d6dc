/** What SQL means here: NULL, exact sums, order, names, and what models write. It is SQLite's. */
import { describe, expect, test } from "vitest";
import { answerOf, csvTable, jsonTable, rowsOf } from "./tables.js";

const TEXT = `id,name,n,ok,day
1,Ada,10,true,2026-01-31
2,Ben,,false,2026-02-01
3,Cy,30,,2026-02-15T10:30:00Z
4,,20,true,
`;
const table = csvTable(TEXT);
const ids = async (condition: string): Promise<unknown[]> =>
  (await rowsOf(`SELECT id FROM rows WHERE ${condition}`, table)).flat();

describe("NULL is unknown, and neither true nor false", () => {
  test.each([
    ["n = NULL", []],
    ["n <> 10", [3, 4]],
    ["NOT (n = 10)", [3, 4]],
    ["NOT (n > 10 AND name = 'Cy')", [1, 2]],
    ["n NOT IN (10, 20)", [3]],
    ["n NOT IN (10, NULL)", []],
    ["name NOT LIKE 'A%'", [2, 3]],
    ["NOT (name LIKE 'A%' OR n > 100)", [3]],
    ["ok = 'true'", [1, 4]],
    ["ok != 'true'", [2]],
    ["COALESCE(n, 0) < 15", [1, 2]],
    ["IFNULL(n, 0) = 0", [2]],
    ["NULLIF(n, 10) IS NULL", [1, 2]],
    ["n NOT IN (SELECT n FROM rows WHERE id < 2)", [3, 4]],
    ["n NOT IN (SELECT n FROM rows)", []],
    ["n NOT IN (SELECT n FROM rows WHERE id > 9)", [1, 2, 3, 4]],
    ["n IN (SELECT n FROM rows)", [1, 3, 4]],
  ])("WHERE %s", async (condition, wanted) => {
    expect(await ids(condition)).toEqual(wanted);
    const joined = condition.replaceAll(/\b(?<!SELECT )(?:n|name|ok)\b/g, "a.$&");
    const rows = await rowsOf(`SELECT a.id FROM rows a JOIN rows b ON a.id = b.id WHERE ${joined} ORDER BY 1`, table);
    expect(rows.flat()).toEqual(wanted);
  });
});

test("NULL comes first, and last in descending order, unless the query says otherwise", async () => {
  const order = async (by: string): Promise<unknown[]> =>
    (await rowsOf(`SELECT id FROM rows ORDER BY ${by}`, table)).flat();
  expect(await order("n")).toEqual([2, 1, 4, 3]);
  expect(await order("n DESC")).toEqual([3, 4, 1, 2]);
  expect(await order("n NULLS LAST")).toEqual([1, 4, 3, 2]);
  expect(await order("n DESC NULLS FIRST")).toEqual([2, 3, 4, 1]);
  expect(await order("ok DESC, 1 DESC")).toEqual([4, 1, 2, 3]);
});

test("columns are named as they are written", async () => {
  const { columns } = await answerOf("SELECT COUNT(*), SUM(n)  AS total, n + 1, name FROM rows", table);
  expect(columns).toEqual(["COUNT(*)", "total", "n + 1", "name"]);
});

test("true and false are numbers, which is told where the text of a file may be meant", async () => {
  const { rows, notes } = await answerOf("SELECT id FROM rows WHERE ok = true", table);
  expect(rows).toEqual([]);
  expect(notes).toEqual([`"ok" is text, 'true' or 'false', and true is 1 in SQLite: compare it with the text.`]);
  expect((await answerOf("SELECT id FROM rows WHERE ok = 'true'", table)).notes).toEqual([]);
  const json = jsonTable('[{"ok": true}, {"ok": false}]');
  expect(await answerOf("SELECT ok FROM rows WHERE ok", json)).toMatchObject({ rows: [[1]], notes: [] });
});

describe("what models write", () => {
  test.each<[string, unknown[][]]>([
    ["SELECT COUNT(*) FROM rows;", [[4]]],
    ["select Name from Rows where ID = 1", [["Ada"]]],
    ["SELECT `name` FROM `artifact` WHERE `id` = 1 -- the first", [["Ada"]]],
    ["SELECT r.name FROM rows AS r WHERE r.id = 2", [["Ben"]]],
    ["SELECT name FROM rows WHERE name LIKE 'aD%'", [["Ada"]]],
    ["SELECT n * 2 AS double FROM rows WHERE double = 60", [[60]]],
    ["SELECT ok, COUNT(*) AS c FROM rows GROUP BY 1 ORDER BY 2 DESC LIMIT 1", [["true", 2]]],
    [
      "SELECT strftime('%m', day) m, COUNT(*) FROM rows WHERE day IS NOT NULL GROUP BY m ORDER BY m",
      [
        ["01", 1],
        ["02", 2],
      ],
    ],
    ["SELECT CAST(strftime('%Y', day) AS INTEGER) FROM rows WHERE id = 3", [[2026]]],
    ["SELECT date(day, 'start of month') FROM rows WHERE id = 1", [["2026-01-01"]]],
    ["SELECT id FROM rows WHERE day >= '2026-02-01' AND day < '2026-03-01'", [[2], [3]]],
    [
      "SELECT UPPER(name), LENGTH(name), SUBSTR(name, 1, 1), CONCAT(name, '!'), name || '?' FROM rows WHERE id = 1",
      [["ADA", 3, "A", "Ada!", "Ada?"]],
    ],
    [
      "SELECT CAST(n AS TEXT), CAST('7' AS INTEGER), ROUND(n / 7.0, 2), n / 7 FROM rows WHERE id = 1",
      [["10", 7, 1.43, 1]],
    ],
    ["SELECT TOTAL(n), STRING_AGG(name, '/'), MEDIAN(n) FROM rows", [[60, "Ada/Ben/Cy", 20]]],
    ["SELECT COUNT(*) FILTER (WHERE ok = 'true') * 100 / COUNT(*) FROM rows", [[50]]],
    [
      "SELECT big, COUNT(*) FROM (SELECT n >= 20 AS big FROM rows WHERE n IS NOT NULL) t GROUP BY big ORDER BY big",
      [
        [0, 1],
        [1, 2],
      ],
    ],
    ["WITH a AS (SELECT n FROM rows WHERE n > 10), b AS (SELECT SUM(n) AS s FROM a) SELECT s FROM b", [[50]]],
    ["SELECT name FROM rows WHERE n = (SELECT MAX(n) FROM rows)", [["Cy"]]],
    ["SELECT id FROM rows WHERE id IN (SELECT id FROM rows WHERE ok = 'true')", [[1], [4]]],
    ["SELECT id FROM rows WHERE n > 10 UNION ALL SELECT id FROM rows WHERE n IS NULL ORDER BY id", [[2], [3], [4]]],
    ["SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS place FROM rows ORDER BY place LIMIT 1", [[4, 1]]],
    [
      "SELECT id, SUM(n) OVER (ORDER BY id) FROM rows WHERE n > 10",
      [
        [3, 30],
        [4, 50],
      ],
    ],
    [
      "SELECT strftime('%Y', a.day), IFNULL(a.n, 0) FROM rows a JOIN rows b ON a.id = b.id WHERE a.id = 2",
      [["2026", 0]],
    ],
    ["SELECT 1 + 1", [[2]]],
  ])("%s", async (sql, wanted) => {
    expect(await rowsOf(sql, table)).toEqual(wanted);
  });

  test.each<[string, unknown[][]]>([
    ["SELECT user->>'name' FROM rows WHERE user->>'$.address.city' = 'Rome'", [["Bo"]]],
    ["SELECT json_extract(user, '$.address.city') FROM rows WHERE json_array_length(tags) = 2", [["Oslo"]]],
    ["SELECT tags->>1, tags FROM rows WHERE id = 1", [["b", '["a","b"]']]],
    [
      "SELECT t.value AS tag, COUNT(*) FROM rows, json_each(rows.tags) t GROUP BY tag ORDER BY tag",
      [
        ["a", 2],
        ["b", 1],
      ],
    ],
    ["SELECT user->>'$.address.city' AS city, MAX(id) FROM rows GROUP BY city HAVING MAX(id) > 1", [["Rome", 2]]],
  ])("nested values: %s", async (sql, wanted) => {
    const rows = [
      { id: 1, user: { name: "Ada", address: { city: "Oslo" } }, tags: ["a", "b"] },
      { id: 2, user: { name: "Bo", address: { city: "Rome" } }, tags: ["a"] },
    ];
    expect(await rowsOf(sql, jsonTable(JSON.stringify(rows)))).toEqual(wanted);
  });
});

describe("numbers", () => {
  const first = async (sql: string, text: string): Promise<unknown> => (await rowsOf(sql, csvTable(text)))[0];

  test("that are whole are added exactly, up to 64 bits", async () => {
    const sum = "SELECT SUM(n), COUNT(n) FROM rows";
    expect(await first(sum, "n\n9007199254740991\n9007199254740991\n3\n")).toEqual(["18014398509481985", 3]);
    const ids19 = "id\n1234567890123456789\n1234567890123456791\n";
    expect(await first("SELECT MIN(id), MAX(id) FROM rows", ids19)).toEqual([
      "1234567890123456789",
      "1234567890123456791",
    ]);
    expect(await first("SELECT COUNT(*) FROM rows WHERE id = 1234567890123456791", ids19)).toEqual([1]);
    const cents = JSON.stringify(Array.from({ length: 1000 }, () => ({ n: 0.1 })));
    expect(await rowsOf("SELECT SUM(n) FROM rows", jsonTable(cents))).toEqual([[100]]);
  });

  test("with more digits than 64 bits hold are text, and are told apart", async () => {
    const json = '[{"x":12345678901234567001},{"x":12345678901234567000}]';
    for (const wanted of ["12345678901234567000", "12345678901234567001"]) {
      const sql = `SELECT x FROM rows WHERE x = '${wanted}'`;
      expect(await rowsOf(sql, jsonTable(json))).toEqual([[wanted]]);
    }
  });

  test("of 16 digits and more are compared as numbers", async () => {
    const text = "x\n5\n9999999999999999\n10000000000000000\n12345678901234567\n";
    expect(await first("SELECT MAX(x), MIN(x) FROM rows", text)).toEqual(["12345678901234567", 5]);
    expect((await rowsOf("SELECT x FROM rows ORDER BY x DESC LIMIT 2", csvTable(text))).flat()).toEqual([
      "12345678901234567",
      "10000000000000000",
    ]);
    const joined = "SELECT a.x FROM rows a JOIN rows b ON a.x = b.x ORDER BY a.x DESC LIMIT 2";
    expect((await rowsOf(joined, csvTable(text))).flat()).toEqual(["12345678901234567", "10000000000000000"]);
    const fractions = "x\n9.5\n10.100000000000001\n0.30000000000000004\n0.5\n";
    expect((await rowsOf("SELECT x FROM rows WHERE x > 0.3 ORDER BY x", csvTable(fractions))).flat()).toEqual([
      0.30000000000000004, 0.5, 9.5, 10.100000000000001,
    ]);
  });

  test.each([
    ["x % 10", 7],
    ["-x", "-12345678901234567"],
    ["ABS(-x)", "12345678901234567"],
    ["x / 1", "12345678901234567"],
    ["x - 12345678901234566", 1],
  ])("keep their digits in %s", async (expression, wanted) => {
    expect(await first(`SELECT ${expression} FROM rows`, "x\n12345678901234567\n")).toEqual([wanted]);
  });

  test("are fractions in JSON as they are in JavaScript", async () => {
    const values = [0.012345678901234561, 1e-7, 0.30000000000000004, 5e-324];
    const json = jsonTable(JSON.stringify(values.map((x) => ({ x }))));
    expect((await rowsOf("SELECT x FROM rows", json)).flat()).toEqual(values);
  });
});

test("a column without an alias has its own name, also for the query around it", async () => {
  const text = "größe,it's,city\n1,2,Bern\n";
  const { columns } = await answerOf(`SELECT größe, "it's", r.city FROM rows r`, csvTable(text));
  expect(columns).toEqual(["größe", "it's", "city"]);
  const nested = `SELECT größe, "it's", t.city FROM (SELECT größe, "it's", r.city FROM rows r) t`;
  expect(await rowsOf(nested, csvTable(text))).toEqual([[1, 2, "Bern"]]);
});
