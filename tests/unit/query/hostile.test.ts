/** Queries and rows that are made to break something: all end soon, with rows or with an error that says what to do. */
import { describe, expect, test } from "vitest";
import { query } from "../../../web/src/query/query.js";
import type { QueryTable } from "../../../web/src/query/types.js";
import { csvTable, jsonTable, ndjsonTable, tableOf } from "../../../web/src/query/table.js";
import { answerOf, failureOf, pieces, rowsOf } from "./tables.js";

const csv = (text: string): Promise<QueryTable> => csvTable(pieces(text));
const json = (value: unknown): Promise<QueryTable> => jsonTable(pieces(JSON.stringify(value)));

const PEOPLE = "name,city,age\nAda,Oslo,36\nBen,Rome,\nCy,Oslo,7\n";

/** A CSV file without an end. */
async function* endless(seen: { chunks: number }): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("id,text\n");
  for (let id = 0; ; seen.chunks += 1) {
    let text = "";
    for (let row = 0; row < 1000; row += 1) text += `${(id += 1)},some text\n`;
    yield new TextEncoder().encode(text);
  }
}

describe("what is wrong with a query is said", () => {
  test.each([
    ["SELECT nam FROM rows", /no column "nam".*mean "name".*"name", "city", "age"/],
    ['SELECT name FROM rows WHERE city = "Oslo"', /no column "Oslo".*single quotes/],
    ["SELECT name FROM rows WHERE name || city = 'x'", /CONCAT/],
    ["DELETE FROM rows", /Only SELECT/],
    ["DROP TABLE rows; SELECT 1", /Only SELECT/],
    ["SELECT name FROM rows; DROP TABLE rows", /cannot be answered/],
    ["SELECT UPPR(name) FROM rows", /UPPER/],
    ["SELECT SUM(age) FROM rows WHERE SUM(age) > 1", /HAVING/],
    ["SELECT a.name FROM people a JOIN cities b ON a.city = b.city", /one table.*"people", "cities"/],
    ["SELECT REGEXP_MATCHES(name, '(a+)+$') FROM rows", /REGEXP_MATCHES is not available: use LIKE/],
    ["SELECT constructor FROM rows", /no column "constructor"/],
    ["SELECT a.__proto__ FROM rows a JOIN rows b ON a.name = b.name", /no column "__proto__"/],
    ["SELECT when, name FROM rows", /If "when" is a column, write it in double quotes/],
    ["", /Expected SELECT|cannot be answered/],
  ])("%s", async (sql, sentence) => {
    expect(await failureOf(sql, await csv(PEOPLE))).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });
});

describe("what is too much is refused", () => {
  test("a query of a megabyte", async () => {
    const failure = await failureOf(`SELECT '${"x".repeat(1024 * 1024)}' FROM rows`, await csv(PEOPLE));
    expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path: "query" });
  });

  test.each([
    `SELECT ${"(".repeat(4000)}1${")".repeat(4000)} FROM rows`,
    `SELECT ${"NOT ".repeat(2000)}TRUE FROM rows`,
    `SELECT ${"-(".repeat(1500)}age${")".repeat(1500)} FROM rows`,
    `SELECT * FROM ${"(SELECT * FROM ".repeat(500)}rows${")".repeat(500)}`,
  ])("a query that is too deep: %.30s…", async (sql) => {
    expect(await failureOf(sql, await csv(PEOPLE))).toMatchObject({ name: "SluiceError", path: "query" });
  });

  test("a long chain of conditions is not deep", async () => {
    const sql = `SELECT name FROM rows WHERE ${Array.from({ length: 700 }, (_, at) => `age = ${at}`).join(" OR ")}`;
    expect(await rowsOf(sql, await csv(PEOPLE))).toEqual([["Ada"], ["Cy"]]);
  });

  const nested = (expression: string, column: string, times: number): string =>
    Array.from({ length: times }).reduce<string>(
      (inner) => `SELECT ${expression} AS x FROM (${inner}) t`,
      `SELECT ${column} AS x FROM rows`,
    );

  test("a number whose digits double again and again is no number", async () => {
    const rows = await rowsOf(nested("x * x", "n", 40), await csv("n\n12345678901234567890\n"));
    expect(rows).toEqual([[null]]);
  });

  test("a text that doubles again and again", async () => {
    const tooLong = { code: "E_TOO_LARGE", message: expect.stringMatching(/text of more than/) as string };
    expect(await failureOf(nested("CONCAT(x, x)", "name", 30), await csv(PEOPLE))).toMatchObject(tooLong);
  });

  test("a subquery for each row ends in time", async () => {
    const text = `k,m\n${Array.from({ length: 100_000 }, (_, at) => `k${at},${at % 7}\n`).join("")}`;
    const sql = "SELECT k FROM rows a WHERE m = (SELECT MAX(m) FROM rows b WHERE b.k < a.k)";
    const started = performance.now();
    expect(await failureOf(sql, await csv(text), { timeoutMs: 1000 })).toMatchObject({ code: "E_TOO_LARGE" });
    // Far more than it takes, and less than each of them looking at the clock for itself would.
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("values of values, computed anew for each time that they are named", async () => {
    const joined = `WITH t AS (${nested("CONCAT(x, x)", "name", 30)}) SELECT a.x FROM t a JOIN t b ON a.x = b.x`;
    expect(await failureOf(joined, await csv(PEOPLE))).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringMatching(/again and again/) as string,
    });
  });

  test("a pattern that fits nearly everywhere in a long text", async () => {
    const condition = `text LIKE '%${"a_".repeat(200)}b%'`;
    const sql = `SELECT COUNT(*) FROM rows WHERE ${Array.from({ length: 20 }, () => condition).join(" OR ")}`;
    const table = await json([{ text: "a".repeat(1_000_000) }]);
    expect(await failureOf(sql, table, { timeoutMs: 100 })).toMatchObject({
      code: "E_TOO_LARGE",
      message: expect.stringMatching(/longer than 0.1 s/) as string,
    });
  });

  test.each(["POSITION(text, RIGHT(text, 1000))", "STRPOS(text, text)", "REPLACE(text, text, 'b')"])(
    "a long text that is looked for: %s",
    async (expression) => {
      const rows = [{ text: "a".repeat(2000) }];
      for (const from of ["rows", "rows r JOIN rows s ON r.text = s.text"]) {
        const sql = `SELECT ${from === "rows" ? expression : expression.replaceAll("text", "r.text")} FROM ${from}`;
        expect(await failureOf(sql, await json(rows))).toMatchObject({
          code: "E_INVALID_ARGUMENT",
          message: expect.stringMatching(/looks for has more than 500/) as string,
        });
      }
    },
  );

  test("a row of CSV whose quote is never closed", async () => {
    const text = `a,b\n1,"${"x,\n".repeat(600_000)}`;
    expect(await failureOf("SELECT COUNT(*) FROM rows", await csv(text))).toMatchObject({
      code: "E_TOO_LARGE",
      message: expect.stringMatching(/Row 2 .*quote/) as string,
    });
  });

  test("a row of JSON, and one of NDJSON", async () => {
    const row = JSON.stringify({ text: "x".repeat(5 * 1024 * 1024) });
    const read = async (make: () => Promise<QueryTable>): Promise<unknown> =>
      make().then(
        async (table) => failureOf("SELECT COUNT(*) FROM rows", table),
        (error: unknown) => error,
      );
    expect(await read(async () => jsonTable(pieces(`[${row}]`)))).toMatchObject({ code: "E_TOO_LARGE" });
    expect(await read(async () => ndjsonTable(pieces(row)))).toMatchObject({ code: "E_TOO_LARGE" });
  });

  test("JSON that is too deep", async () => {
    const deep = `[${"[".repeat(5000)}${"]".repeat(5000)}]`;
    await expect(jsonTable(pieces(deep))).rejects.toMatchObject({ code: "E_JSON_DEPTH" });
    const table = await ndjsonTable(pieces(`{"a":${deep}}`));
    const failure = await failureOf("SELECT DISTINCT a FROM rows", table);
    expect(failure === undefined || (failure as Error).name === "SluiceError").toBe(true);
  });

  test.each([
    ["SELECT id FROM rows ORDER BY text, id", /sort more than 1000 rows.*LIMIT/],
    ["SELECT id, COUNT(*) FROM rows GROUP BY id", /more than 100 groups/],
    ["SELECT DISTINCT id FROM rows", /more than 100 different rows/],
    ["SELECT a.id FROM rows a JOIN rows b ON a.id = b.id", /up to 1000 rows/],
    ["SELECT id FROM rows WHERE id > (SELECT AVG(id) FROM rows)", /up to 1000 rows/],
    ["SELECT ARRAY_AGG(text) FROM rows", /1 MB in memory/],
    ["SELECT COUNT(DISTINCT id) FROM rows", /1 MB in memory/],
    ["SELECT COUNT(*) FROM rows", /longer than 0.5 s/],
  ])("over an endless table: %s", async (sql, sentence) => {
    const failure = await failureOf(sql, await csvTable(endless({ chunks: 0 })), {
      maxKeptRows: 1000,
      maxGroups: 100,
      maxKeptBytes: 1024 * 1024,
      timeoutMs: sql === "SELECT COUNT(*) FROM rows" ? 500 : 20_000,
    });
    expect(failure).toMatchObject({
      code: "E_TOO_LARGE",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });

  test("a join that would take forever", async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => [id, id % 3]);
    const table = tableOf(
      ["id", "n"],
      (async function* () {
        yield rows;
      })(),
    );
    const start = performance.now();
    const failure = await failureOf("SELECT COUNT(*) FROM rows a JOIN rows b ON a.id < b.id + a.n", table, {
      timeoutMs: 400,
    });
    expect(failure).toMatchObject({ code: "E_TOO_LARGE" });
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

test("LIMIT stops reading a table that has no end", async () => {
  const seen = { chunks: 0 };
  const rows = await rowsOf("SELECT id FROM rows WHERE id > 5000 LIMIT 2 OFFSET 1", await csvTable(endless(seen)));
  expect(rows).toEqual([[5002], [5003]]);
  expect(seen.chunks).toBeLessThan(20);
  expect(await rowsOf("SELECT * FROM rows LIMIT 0", await csvTable(endless(seen)))).toEqual([]);
});

test.each(["SELECT * FROM rows LIMIT 0", "SELECT nothing FROM rows", "SELECT", "SELECT id FROM rows LIMIT 1"])(
  "what the bytes come from is closed: %s",
  async (sql) => {
    let isClosed = false;
    const bytes = (async function* () {
      try {
        yield* endless({ chunks: 0 });
      } finally {
        isClosed = true;
      }
    })();
    await failureOf(sql, await csvTable(bytes));
    expect(isClosed).toBe(true);
  },
);

test("a signal aborts a query", async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("no longer wanted")), 50);
  const failure = await failureOf("SELECT COUNT(*) FROM rows", await csvTable(endless({ chunks: 0 })), {
    signal: controller.signal,
  });
  expect(failure).toEqual(new Error("no longer wanted"));
  await expect(query("SELECT 1 FROM rows", await csv(PEOPLE), { signal: controller.signal })).rejects.toThrow(
    "no longer wanted",
  );
});

test.each(["rows", "rows a JOIN rows b ON a.t = b.t"])(
  "patterns that hang a regular expression are matched in no time: FROM %s",
  async (from) => {
    const column = from === "rows" ? "t" : "a.t";
    const table = await json([{ t: "a".repeat(20_000) }, { t: `${"a".repeat(50)}b` }]);
    const start = performance.now();
    const pattern = `${"%a".repeat(30)}%b`;
    const rows = await rowsOf(
      `SELECT LENGTH(${column}) FROM ${from} WHERE ${column} LIKE '${pattern}' AND ${column} NOT LIKE '_'`,
      table,
    );
    expect(rows).toEqual([[51]]);
    expect(performance.now() - start).toBeLessThan(20_000);
  },
);

test("columns may have any name", async () => {
  const text = '{"__proto__": 1, "constructor": 2, "toString": 3, "a.b": 4, "select": 5, "ünï x": 6}';
  const table = (): Promise<QueryTable> => ndjsonTable(pieces(text));
  expect(await answerOf("SELECT * FROM rows", await table())).toMatchObject({
    columns: ["__proto__", "constructor", "toString", "a.b", "select", "ünï x"],
    rows: [[1, 2, 3, 4, 5, 6]],
  });
  expect(
    await rowsOf(
      'SELECT __proto__, constructor, `toString`, a.b, "select", "ünï x", COUNT(*) FROM rows GROUP BY __proto__',
      await table(),
    ),
  ).toEqual([[1, 2, 3, 4, 5, 6, 1]]);
  expect(
    await rowsOf("SELECT a.constructor FROM rows a JOIN rows b ON a.constructor = b.constructor", await table()),
  ).toEqual([[2]]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

test("a member of every object is no column", async () => {
  const table = await json([{ a: { b: 1 } }]);
  expect(await rowsOf("SELECT a.b, a.constructor, a.__proto__, JSON_VALUE(a, '$.toString') FROM rows", table)).toEqual([
    [1, null, null, null],
  ]);
});

test.each(["rows", "artifact", "data", "t", '"a; DROP TABLE x"', "__proto__", "constructor"])(
  "the table may be called %s",
  async (name) => {
    expect(await rowsOf(`SELECT name FROM ${name} WHERE age > 30`, await csv(PEOPLE))).toEqual([["Ada"]]);
    expect(
      await rowsOf(`SELECT name FROM ${name} WHERE age = (SELECT MAX(age) FROM ${name})`, await csv(PEOPLE)),
    ).toEqual([["Ada"]]);
  },
);
