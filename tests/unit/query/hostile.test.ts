/** Queries and rows that are made to break something: all end soon, with rows or with an error that says what to do. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { query } from "../../../web/src/query/query.js";
import type { QueryTable } from "../../../web/src/query/types.js";
import { answerOf, cellTable, csvTable, failureOf, jsonTable, ndjsonTable, rowsOf } from "./tables.js";

const PEOPLE = csvTable("name,city,age\nAda,Oslo,36\nBen,Rome,\nCy,Oslo,7\n");
const json = (value: unknown): QueryTable => jsonTable(JSON.stringify(value));

const OURS = { name: "SluiceError", path: "query" };
const REFUSED = { code: "E_INVALID_ARGUMENT", path: "query" };
const TOO_LARGE = { code: "E_TOO_LARGE", path: "query" };

interface Seen {
  chunks: number;
  closed: number;
}

/** A CSV file without an end, whose chunks are 16 KiB. */
function endless(seen: Seen = { chunks: 0, closed: 0 }): QueryTable {
  const size = 16 * 1024;
  const encoder = new TextEncoder();
  const chunk = (index: number): Uint8Array => {
    const lines = Array.from({ length: size / 64 }, (_, at) =>
      `${1e9 + index * 256 + at},${"some text ".repeat(6)}`.slice(0, 63),
    );
    if (index === 0) lines[0] = "id,text".padEnd(63, " ");
    return encoder.encode(`${lines.join("\n")}\n`);
  };
  return {
    form: { kind: "csv", start: 0, delimiter: ",", newline: "\n" },
    bytes: {
      async *open(start) {
        try {
          for (let index = Math.floor(start / size); ; index += 1) {
            seen.chunks += 1;
            yield chunk(index).subarray(Math.max(0, start - index * size));
          }
        } finally {
          seen.closed += 1;
        }
      },
    },
  };
}

describe("what is wrong with a query is said", () => {
  test.each([
    ["SELECT nam FROM rows", /no column "nam".*mean "name".*"name", "city", "age"/],
    ['SELECT name FROM rows WHERE city = "Oslo"', /no column "Oslo".*single quotes/],
    ["DELETE FROM rows", /one SELECT/],
    ["DROP TABLE rows; SELECT 1", /one SELECT/],
    ["SELECT name FROM rows; DROP TABLE rows", /one SELECT/],
    ["PRAGMA table_info(rows)", /one SELECT/],
    ["ATTACH 'x' AS y", /one SELECT/],
    ["EXPLAIN SELECT 1", /one SELECT/],
    ["SELECT load_extension('x')", /load_extension|one SELECT/],
    ["SELECT UPPR(name) FROM rows", /no such function: UPPR/],
    ["SELECT SUM(age) FROM rows WHERE SUM(age) > 1", /misuse of aggregate/],
    ["SELECT a.name FROM people a JOIN cities b ON a.city = b.city", /one table.*"people", "cities"/],
    ["SELECT REGEXP_MATCHES(name, '(a+)+$') FROM rows", /no regular expressions: use LIKE or GLOB/],
    ["SELECT constructor FROM rows", /no column "constructor"/],
    ["SELECT a.__proto__ FROM rows a JOIN rows b ON a.name = b.name", /no column "__proto__"/],
    ["SELECT when, name FROM rows", /If "when" is a column, write it in double quotes/],
    ["SELECT", /incomplete input/],
    ["", /empty: write one SELECT/],
  ])("%s", async (sql, sentence) => {
    expect(await failureOf(sql, PEOPLE)).toMatchObject({
      code: "E_INVALID_ARGUMENT",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });
});

describe("what is too much is refused", () => {
  test("a query of a megabyte", async () => {
    const failure = await failureOf(`SELECT '${"x".repeat(1024 * 1024)}' FROM rows`, PEOPLE);
    expect(failure).toMatchObject({ code: "E_INVALID_ARGUMENT", path: "query" });
  });

  test.each([
    `SELECT ${"(".repeat(4000)}1${")".repeat(4000)} FROM rows`,
    `SELECT ${"NOT ".repeat(2000)}TRUE FROM rows`,
    `SELECT ${"-(".repeat(1500)}age${")".repeat(1500)} FROM rows`,
    `SELECT * FROM ${"(SELECT * FROM ".repeat(500)}rows${")".repeat(500)}`,
  ])("a query that is too deep: %.30s…", async (sql) => {
    expect((await failureOf(sql, PEOPLE)) ?? REFUSED).toMatchObject(REFUSED);
  });

  test("a list of conditions is not deep", async () => {
    const sql = `SELECT name FROM rows WHERE age IN (${Array.from({ length: 1500 }, (_, at) => at).join(", ")})`;
    expect(await rowsOf(sql, PEOPLE)).toEqual([["Ada"], ["Cy"]]);
  });

  const nested = (expression: string, column: string, times: number): string =>
    Array.from({ length: times }).reduce<string>(
      (inner) => `SELECT ${expression} AS x FROM (${inner}) t`,
      `SELECT ${column} AS x FROM rows`,
    );

  test("a number whose digits double again and again", async () => {
    const failure = await failureOf(nested("x * x", "n", 40), csvTable("n\n123456789012345678\n"), { timeoutMs: 500 });
    expect(failure ?? OURS).toMatchObject(OURS);
  });

  test("a text that doubles again and again", async () => {
    const failure = await failureOf(nested("x || x", "name", 30), PEOPLE, { timeoutMs: 500 });
    expect(failure).toMatchObject({ name: "SluiceError", path: "query" });
    const made = await failureOf("SELECT length(printf('%.*c', 100000000, 'x')) FROM rows", PEOPLE);
    expect(made ?? TOO_LARGE).toMatchObject(TOO_LARGE);
    expect(await failureOf("SELECT length(zeroblob(2000000000))", PEOPLE)).toMatchObject({ code: "E_TOO_LARGE" });
  });

  test("a query without an end", async () => {
    const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
    expect(await failureOf(sql, PEOPLE, { timeoutMs: 300 })).toMatchObject({
      code: "E_TOO_LARGE",
      message: expect.stringMatching(/longer than 0.3 s/) as string,
    });
  });

  test("a subquery for each row ends in time", async () => {
    const text = `k,m\n${Array.from({ length: 100_000 }, (_, at) => `k${at},${at % 7}\n`).join("")}`;
    const sql = "SELECT k FROM rows a WHERE m = (SELECT MAX(m) FROM rows b WHERE b.k < a.k)";
    const started = performance.now();
    expect(await failureOf(sql, csvTable(text), { timeoutMs: 1000 })).toMatchObject({ code: "E_TOO_LARGE" });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("a pattern that fits nearly everywhere in a long text", async () => {
    const condition = `text LIKE '%${"a_".repeat(200)}b%'`;
    const sql = `SELECT COUNT(*) FROM rows WHERE ${Array.from({ length: 20 }, () => condition).join(" OR ")}`;
    const table = json(Array.from({ length: 40 }, () => ({ text: "a".repeat(30_000) })));
    const started = performance.now();
    expect(await failureOf(sql, table, { timeoutMs: 100 })).toMatchObject({ code: "E_TOO_LARGE" });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("a row of CSV whose quote is never closed", async () => {
    const text = `a,b\n1,"${"x,\n".repeat(600_000)}`;
    expect(await failureOf("SELECT COUNT(*) FROM rows", csvTable(text))).toMatchObject({
      code: "E_TOO_LARGE",
      message: expect.stringMatching(/Row 1 .*quote/) as string,
    });
  });

  test("a row of JSON, and one of NDJSON", async () => {
    const row = JSON.stringify({ text: "x".repeat(9 * 1024 * 1024) });
    for (const table of [jsonTable(`[${row}]`, "/"), ndjsonTable(row)]) {
      const rows: QueryTable = table.form.kind === "rows" ? { ...table, form: { kind: "rows", keys: [] } } : table;
      expect(await failureOf("SELECT COUNT(*) FROM rows", rows)).toMatchObject({
        code: "E_TOO_LARGE",
        message: expect.stringMatching(/Row 1 is larger than 4 MiB/) as string,
      });
    }
  });

  test("JSON that is too deep", async () => {
    const deep = `[${"[".repeat(5000)}${"]".repeat(5000)}]`;
    expect(await failureOf("SELECT DISTINCT a FROM rows", ndjsonTable(`{"a":${deep}}`))).toMatchObject({
      code: "E_JSON_SYNTAX",
    });
  });

  test.each([
    ["SELECT id FROM rows ORDER BY text, id", /more memory than it may take.*LIMIT/],
    ["SELECT id, COUNT(*) FROM rows GROUP BY id", /[\d,]+ groups were seen/],
    ["SELECT DISTINCT id FROM rows", /more memory/],
    ["SELECT a.id FROM rows a JOIN rows b ON a.id = b.id", /more memory/],
    // SQLite says what it could not hold when the rows have ended.
    ["SELECT json_group_array(text) FROM rows", /longer than 0.5 s|more memory/, 500],
    ["SELECT COUNT(DISTINCT id || text) FROM rows", /more memory/],
    ["SELECT COUNT(*) FROM rows", /longer than 0.5 s; [\d,]+ rows were read/, 500],
  ])("over an endless table: %s", async (sql, sentence, timeoutMs = 20_000) => {
    const failure = await failureOf(sql, endless(), {
      maxGroups: 100,
      maxBytes: 4 * 1024 * 1024,
      timeoutMs,
    });
    expect(failure).toMatchObject({
      code: "E_TOO_LARGE",
      path: "query",
      message: expect.stringMatching(sentence) as string,
    });
  });

  test("a join that would take forever", async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => [id, id % 3]);
    const start = performance.now();
    const sql = "SELECT COUNT(*) FROM rows a JOIN rows b ON a.id < b.id + a.n";
    const failure = await failureOf(sql, cellTable(["id", "n"], rows), { timeoutMs: 400 });
    expect(failure).toMatchObject({ code: "E_TOO_LARGE" });
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

test("LIMIT stops reading a table that has no end", async () => {
  const seen = { chunks: 0, closed: 0 };
  const rows = await rowsOf("SELECT id FROM rows WHERE id > 1000001000 LIMIT 2 OFFSET 1", endless(seen));
  expect(rows).toHaveLength(2);
  expect(await rowsOf("SELECT * FROM rows LIMIT 0", endless(seen))).toEqual([]);
  expect(seen.chunks).toBeLessThan(200);
});

test.each(["SELECT * FROM rows LIMIT 0", "SELECT nothing FROM rows", "SELECT", "SELECT id FROM rows LIMIT 1"])(
  "what the bytes come from is closed: %s",
  async (sql) => {
    const seen = { chunks: 0, closed: 0 };
    await failureOf(sql, endless(seen));
    await expect.poll(() => seen.closed).toBeGreaterThan(0);
  },
);

test("a signal aborts a query, whatever it does, and the next one is answered", async () => {
  const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";
  for (const endlessly of [sql, "SELECT COUNT(*) FROM rows"]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("no longer wanted")), 50);
    const { signal } = controller;
    expect(await failureOf(endlessly, endless(), { signal })).toEqual(new Error("no longer wanted"));
    await expect(query("SELECT 1 FROM rows", PEOPLE, { signal })).rejects.toThrow("no longer wanted");
  }
  expect(await rowsOf("SELECT COUNT(*) FROM rows", PEOPLE)).toEqual([[3]]);
});

test("what reading throws is thrown", async () => {
  const failure = new Error("the disk is gone");
  const bytes = {
    async *open(start: number) {
      yield new TextEncoder().encode("a,b\n1,2\n".repeat(1000)).subarray(start);
      throw failure;
    },
  };
  const table: QueryTable = { form: { kind: "csv", start: 0, delimiter: ",", newline: "\n" }, bytes };
  expect(await failureOf("SELECT COUNT(*) FROM rows", table)).toBe(failure);
});

test("many questions at a time are all answered", async () => {
  const answers = Array.from({ length: 12 }, (_, at) => rowsOf(`SELECT COUNT(*) + ${at} FROM rows`, PEOPLE));
  expect((await Promise.all(answers)).flat(2)).toEqual(Array.from({ length: 12 }, (_, at) => 3 + at));
});

test.each(["rows", "rows a JOIN rows b ON a.t = b.t"])(
  "patterns that hang a regular expression end in time: FROM %s",
  async (from) => {
    const column = from === "rows" ? "t" : "a.t";
    const table = json([{ t: "a".repeat(20_000) }, { t: `${"a".repeat(50)}b` }]);
    const start = performance.now();
    const sql = `SELECT LENGTH(${column}) FROM ${from} WHERE ${column} LIKE '${"%a".repeat(30)}%b' AND ${column} NOT LIKE '_'`;
    const failure = await failureOf(sql, table, { timeoutMs: 2000 });
    expect(failure ?? TOO_LARGE).toMatchObject(TOO_LARGE);
    expect(performance.now() - start).toBeLessThan(20_000);
  },
);

test("columns may have any name", async () => {
  const table = ndjsonTable('{"__proto__": 1, "constructor": 2, "toString": 3, "a.b": 4, "select": 5, "ünï x": 6}');
  expect(await answerOf("SELECT * FROM rows", table)).toMatchObject({
    columns: ["__proto__", "constructor", "toString", "a.b", "select", "ünï x"],
    rows: [[1, 2, 3, 4, 5, 6]],
  });
  const sql =
    'SELECT __proto__, constructor, `toString`, "a.b", "select", "ünï x", COUNT(*) FROM rows GROUP BY __proto__';
  expect(await rowsOf(sql, table)).toEqual([[1, 2, 3, 4, 5, 6, 1]]);
  const joined = "SELECT a.constructor FROM rows a JOIN rows b ON a.constructor = b.constructor";
  expect(await rowsOf(joined, table)).toEqual([[2]]);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test.each(["rows", "artifact", "data", "t", '"a; DROP TABLE x"', "__proto__", "constructor"])(
  "the table may be called %s",
  async (name) => {
    expect(await rowsOf(`SELECT name FROM ${name} WHERE age > 30`, PEOPLE)).toEqual([["Ada"]]);
    const most = `SELECT name FROM ${name} WHERE age = (SELECT MAX(age) FROM ${name})`;
    expect(await rowsOf(most, PEOPLE)).toEqual([["Ada"]]);
  },
);

test("a thread that signals late, while the worker waits for the next bytes, changes no answer", async () => {
  const text = `n\n${Array.from({ length: 1000 }, (_, n) => n).join("\n")}\n`;
  const bytes = new TextEncoder().encode(text);
  const slow: QueryTable = {
    ...csvTable(text),
    bytes: {
      async *open(start) {
        for (let at = start; at < bytes.length; at += 500) {
          await sleep(5);
          yield bytes.slice(at, at + 500);
        }
      },
    },
  };
  const notify = Atomics.notify.bind(Atomics);
  const late = vi.spyOn(Atomics, "notify").mockImplementation((memory, index, count) => {
    setTimeout(() => notify(memory, index, count), 2);
    return notify(memory, index, count);
  });
  try {
    expect(await rowsOf("SELECT COUNT(*), SUM(n) FROM rows", slow)).toEqual([[1000, 499_500]]);
  } finally {
    late.mockRestore();
  }
});
