/** The same answer whatever way the rows arrive, and whatever way they are answered. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { QueryTable } from "../../../web/src/query/types.js";
import { answerOf, cellTable, csvTable, failureOf, jsonTable, ndjsonTable, rowsOf } from "./tables.js";

const COLUMNS = ["city", "kind", "size", "price"];

/** Numbers are multiples of a quarter: sums of these are exact in any order. */
const ROW = fc.tuple(
  fc.option(fc.constantFrom("Oslo", "Rome", "Paris", "x%y", "O'Hara"), { freq: 6 }),
  fc.constantFrom("a", "b"),
  fc.option(fc.integer({ min: -20, max: 20 }), { freq: 4 }),
  fc.option(
    fc.integer({ min: -400, max: 400 }).map((quarters) => quarters / 4),
    { freq: 8 },
  ),
);
const ROWS = fc.array(ROW, { maxLength: 60 });

const CONDITION = fc.constantFrom(
  "",
  "WHERE size > 3",
  "WHERE city IS NOT NULL AND price <= 10",
  "WHERE kind = 'a' OR size < 0",
  "WHERE city IN ('Oslo', 'Rome')",
  "WHERE city LIKE '%o%'",
  "WHERE price BETWEEN -50 AND 50",
  "WHERE CASE WHEN kind = 'a' THEN size > 0 ELSE price > 0 END",
);
const AGGREGATES = fc.uniqueArray(
  fc.constantFrom(
    "COUNT(*)",
    "COUNT(size)",
    "COUNT(DISTINCT city)",
    "SUM(size)",
    "SUM(price)",
    "AVG(price)",
    "MIN(price)",
    "MAX(city)",
    "SUM(size * 2 + 1)",
    "COUNT(*) FILTER (WHERE size > 0)",
    "MEDIAN(price)",
  ),
  { minLength: 1, maxLength: 4 },
);
const GROUPED = fc
  .record({
    keys: fc.uniqueArray(fc.constantFrom("city", "kind", "UPPER(city)"), { minLength: 1, maxLength: 2 }),
    aggregates: AGGREGATES,
    condition: CONDITION,
    having: fc.constantFrom("", "HAVING COUNT(*) > 2"),
  })
  .map(({ keys, aggregates, condition, having }) => {
    const list = [...keys, ...aggregates].map((text, index) => `${text} AS c${index}`).join(", ");
    const order = keys.map((_, index) => `c${index} NULLS FIRST`).join(", ");
    return { list, condition, rest: `GROUP BY ${keys.join(", ")} ${having} ORDER BY ${order}` };
  });

test("groups are the same by our hash table and by SQLite's sorter", async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, GROUPED, async (rows, { list, condition, rest }) => {
      const table = cellTable(COLUMNS, rows);
      const grouped = await rowsOf(`SELECT ${list} FROM rows ${condition} ${rest}`, table);
      // What is joined is sorted.
      const joined = `SELECT ${list} FROM rows, (SELECT 1) AS one ${condition} ${rest}`;
      expect(await rowsOf(joined, table)).toEqual(grouped);
    }),
  );
});

test("conditions leave the rows for which they hold", async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, CONDITION, async (rows, condition) => {
      const table = cellTable(COLUMNS, rows);
      const filtered = await rowsOf(`SELECT * FROM rows ${condition}`, table);
      // Materialized, SQLite alone looks at the rows.
      const kept = `WITH kept AS MATERIALIZED (SELECT * FROM rows) SELECT * FROM kept ${condition}`;
      expect(await rowsOf(kept, table)).toEqual(filtered);
    }),
  );
});

const NAME = fc.constantFrom("id", "na me", "__proto__", "constructor", "ünï", "a.b");
const CELL = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constantFrom("", "007", '"', "a,b", "line\nbreak", "1e5", "12345678901234567890"),
);

test("the answer does not depend on the pieces that the bytes come in", async () => {
  const document = fc.array(fc.dictionary(NAME, fc.oneof(CELL, fc.boolean(), fc.constant(null), fc.array(CELL))), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(document, fc.integer({ min: 1, max: 40 }), async (rows, size) => {
      const text = JSON.stringify(rows);
      const lines = rows.map((row) => JSON.stringify(row)).join("\n");
      const csv = `a,b\r\n${rows.map((row) => Object.values(row).slice(0, 2).map(quoted).join(",")).join("\r\n")}`;
      const tables: ((size?: number) => QueryTable)[] = [
        (each) => ({ ...jsonTable(text, undefined, each), form: { kind: "rows", keys: [] } }),
        (each) => ndjsonTable(lines, each),
        (each) => csvTable(csv, each),
      ];
      for (const make of tables) {
        const sql = "SELECT * FROM rows";
        expect(await answerOf(sql, make(size))).toEqual(await answerOf(sql, make()));
      }
    }),
  );
});

const quoted = (value: unknown): string => `"${String(value).replaceAll('"', '""')}"`;

const OURS = { name: "SluiceError", path: "query" };

test("any text as a query gives rows or an error of ours", async () => {
  const words = fc.constantFrom(
    ..."SELECT FROM WHERE * rows city ( ) , ' \" LIKE '%a' NOT AND COUNT( 1 ORDER LIMIT JOIN ON = a.b.c ` -- /* CASE END WITH AS ; :: [ ] NULL IN UNION -> ->> '$.a' ?".split(
      " ",
    ),
    "GROUP BY",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 14 }), ROWS, async (text, rows) => {
      const failure = await failureOf(text.join(" "), cellTable(COLUMNS, rows));
      const { name, path } = (failure ?? OURS) as typeof OURS;
      expect({ name, path }).toEqual(OURS);
    }),
  );
});
