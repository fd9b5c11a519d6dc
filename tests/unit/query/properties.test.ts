/** The same answer whatever way the rows arrive, and whatever way they are answered. */
import * as fc from "fast-check";
import { executeSql, type SqlPrimitive } from "squirreling";
import { expect, test } from "vitest";
import type { QueryTable } from "../../../web/src/query/types.js";
import { csvTable, jsonTable, ndjsonTable, tableOf } from "../../../web/src/query/table.js";
import { answerOf, failureOf, pieces, rowsOf } from "./tables.js";

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
    keys: fc.uniqueArray(fc.constantFrom("city", "kind", "UPPER(city)"), { maxLength: 2 }),
    aggregates: AGGREGATES,
    condition: CONDITION,
    having: fc.constantFrom("", "HAVING COUNT(*) > 2"),
  })
  .map(({ keys, aggregates, condition, having }) => {
    const list = [...keys, ...aggregates].map((text, index) => `${text} AS c${index}`).join(", ");
    const groups = keys.length === 0 ? "" : `GROUP BY ${keys.join(", ")} ${having}`;
    const order = keys.length === 0 ? "" : `ORDER BY ${keys.map((_, index) => `c${index} NULLS FIRST`).join(", ")}`;
    return `SELECT ${list} FROM rows ${condition} ${groups} ${order}`;
  });
const PLAIN = fc
  .record({
    columns: fc.constantFrom("*", "city, size", "size + price AS n, kind", "DISTINCT city, kind", "DISTINCT size"),
    condition: CONDITION,
    order: fc.constantFrom("", "ORDER BY size NULLS FIRST, price NULLS FIRST", "ORDER BY size DESC NULLS LAST"),
    limit: fc.constantFrom("", "LIMIT 5", "LIMIT 3 OFFSET 2", "LIMIT 1000"),
  })
  // The order of different rows decides which of them are there.
  .map(
    ({ columns, condition, order, limit }) =>
      `SELECT ${columns} FROM rows ${condition} ${columns.startsWith("DISTINCT") ? "" : order} ${limit}`,
  );

/** What squirreling answers over all rows at once. */
async function whole(sql: string, rows: readonly (readonly unknown[])[]): Promise<unknown[][]> {
  const source = {
    columns: COLUMNS,
    numRows: rows.length,
    scan: () => ({
      async *rows() {
        for (const row of rows) {
          const cells = Object.fromEntries(
            COLUMNS.map((name, index) => [name, async () => row[index] as SqlPrimitive]),
          );
          yield { columns: COLUMNS, cells };
        }
      },
      appliedWhere: false,
      appliedLimitOffset: false,
    }),
  };
  const all: unknown[][] = [];
  for await (const { columns, cells } of executeSql({ tables: { rows: source }, query: sql }).rows()) {
    all.push(await Promise.all(columns.map(async (name) => cells[name]?.())));
  }
  return all;
}

async function* batched<T>(rows: readonly T[], size: number): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}

test("streaming answers as squirreling does over all rows at once", async () => {
  await fc.assert(
    fc.asyncProperty(ROWS, fc.oneof(GROUPED, PLAIN), fc.integer({ min: 1, max: 70 }), async (rows, sql, size) => {
      const answer = await rowsOf(sql, tableOf(COLUMNS, batched(rows, size)));
      expect(answer).toEqual(await whole(sql, rows));
    }),
  );
});

test("a query that is answered whole is answered alike", async () => {
  // A subquery in a condition takes the other way, and changes nothing here.
  await fc.assert(
    fc.asyncProperty(ROWS, CONDITION, async (rows, condition) => {
      const plain = `SELECT city, COUNT(*), SUM(price) FROM rows ${condition} GROUP BY city ORDER BY city`;
      const other = plain.replace(
        / GROUP/,
        `${condition === "" ? " WHERE" : " AND"} EXISTS (SELECT 1 FROM rows) GROUP`,
      );
      const streamed = await rowsOf(plain, tableOf(COLUMNS, batched(rows, 7)));
      if (/ OR /.test(condition)) return;
      expect(await rowsOf(other, tableOf(COLUMNS, batched(rows, 7)))).toEqual(streamed);
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
      const makers: ((bytes: AsyncIterable<Uint8Array>) => Promise<QueryTable>)[] = [jsonTable, ndjsonTable, csvTable];
      for (const [index, source] of [text, lines, csv].entries()) {
        const make = makers[index] as (typeof makers)[number];
        const inPieces = await answerOf("SELECT * FROM rows", await make(pieces(source, size)));
        expect(inPieces).toEqual(await answerOf("SELECT * FROM rows", await make(pieces(source))));
      }
    }),
  );
});

const quoted = (value: unknown): string => `"${String(value).replaceAll('"', '""')}"`;

const OURS = { name: "SluiceError", path: "query" };

test("any text as a query gives rows or an error of ours", async () => {
  const words = fc.constantFrom(
    "SELECT",
    "FROM",
    "WHERE",
    "*",
    "rows",
    "city",
    "(",
    ")",
    ",",
    "'",
    '"',
    "LIKE",
    "'%a'",
    "NOT",
    "AND",
    "COUNT(",
    "1",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "ON",
    "=",
    "a.b.c",
    "`",
    "--",
    "/*",
    "CASE",
    "END",
    "WITH",
    "AS",
    ";",
    "::",
    "[",
    "]",
    "NULL",
    "IN",
    "UNION",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 14 }), ROWS, async (text, rows) => {
      const failure = await failureOf(text.join(" "), tableOf(COLUMNS, batched(rows, 9)));
      const { name, path } = (failure ?? OURS) as typeof OURS;
      expect({ name, path }).toEqual(OURS);
    }),
  );
});
