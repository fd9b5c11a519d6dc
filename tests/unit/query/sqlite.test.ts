/** Answers are those of SQLite itself, compiled natively, over the same rows in a table of its own. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { QueryTable } from "../../../web/src/query/types.js";
import { csvRecord } from "../../../web/src/query/csv-cells.js";
import { amount } from "../../support/full.js";
import { hasSqlite, RealSqlite } from "../../support/sqlite.js";
import { bytesOf, csvTable, ndjsonTable, rowsOf } from "./tables.js";

type Value = string | number | null;
type Row = Readonly<Record<string, Value | object>>;

const optional = <T extends Value | object>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(values, { freq: 6 });
/** Sums of quarters are exact in any order. */
const quarters = fc.integer({ min: -4000, max: 4000 }).map((count) => count / 4);
const texts = fc.constantFrom(
  "plain",
  "50 % off",
  "a_b",
  "O'Hara",
  "två",
  "ÄB",
  "x\ny",
  '"q"',
  "  pad ",
  "12 kg",
  "Zz",
  "*",
  "[a]",
);
const day = fc
  .integer({ min: 0, max: 1500 })
  .map((days) => new Date(Date.UTC(2023, 0, 1 + days)).toISOString().slice(0, 10));

const ROWS = fc
  .array(
    fc.record({
      city: optional(fc.constantFrom("Oslo", "Rome", "Paris", "rome", "Åre")),
      code: fc.constantFrom("007", "012", "7", "A1", "0"),
      size: optional(fc.integer({ min: -20, max: 40 })),
      price: optional(quarters),
      day: optional(day),
      note: optional(texts),
      mixed: optional(fc.oneof(fc.integer({ min: -9, max: 9 }), quarters, fc.constantFrom("x", "5", "1e2", "05"))),
      doc: optional(
        fc.record({
          a: fc.integer({ min: 0, max: 5 }),
          b: fc.array(fc.constantFrom(1, "two", null, 2.5), { maxLength: 3 }),
        }),
      ),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((rows) => rows.map((row, id) => ({ id: id + 1, ...row })));

const CITIES: readonly Row[] = [
  { name: "Oslo", country: "NO", people: 700_000 },
  { name: "Rome", country: "IT", people: 2_800_000 },
  { name: "Paris", country: "FR", people: null },
  { name: "Bern", country: "CH", people: 134_000 },
];

/** A cell of CSV is a number if it is written like one, without leading zeros and exponents. */
const readCell = (value: Value): Value =>
  typeof value === "string" && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value) ? Number(value) : value;

/** The type of a column, as the rows of a format have it. */
function findType(values: readonly Value[], isCsv: boolean): string {
  const there = values.filter((value) => value !== null).map((value) => (isCsv ? readCell(value) : value));
  if (there.length === 0) return isCsv ? "TEXT" : "";
  const numbers = there.filter((value) => typeof value === "number");
  if (numbers.length === there.length) return numbers.every(Number.isInteger) ? "INTEGER" : "REAL";
  return isCsv || numbers.length === 0 ? "TEXT" : "";
}

/** JSON has no infinity, which SQLite writes so as text, and no zero below zero. */
function toPlain(value: unknown): unknown {
  if (value === Infinity) return "Inf";
  if (value === -Infinity) return "-Inf";
  return Object.is(value, -0) ? 0 : value;
}

const toValue = (value: Value | object | undefined): Value =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null);

async function fillTable(database: RealSqlite, name: string, rows: readonly Row[], isCsv: boolean): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const quote = (value: Value): string => {
    if (value === null) return "NULL";
    return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
  };
  const types = columns.map((column) =>
    findType(
      rows.map((row) => toValue(row[column])),
      isCsv,
    ),
  );
  await database.run(`CREATE TABLE ${name} (${columns.map((column, at) => `${column} ${types[at]}`).join(", ")})`);
  const lines = rows.map((row) => `(${columns.map((column) => quote(toValue(row[column]))).join(", ")})`);
  await database.run(`INSERT INTO ${name} VALUES ${lines.join(", ")}`);
}

const FORMATS = {
  csv: (rows: readonly Row[]): QueryTable => {
    const columns = Object.keys(rows[0] ?? {});
    const lines = rows.map((row) => columns.map((column) => String(toValue(row[column]) ?? "")));
    return csvTable([columns, ...lines].map((cells) => csvRecord(cells)).join("\n"), 100, {
      delimiter: ",",
      newline: "\n",
    });
  },
  ndjson: (rows: readonly Row[]): QueryTable => ndjsonTable(rows.map((row) => JSON.stringify(row)).join("\n"), 100),
  json: (rows: readonly Row[]): QueryTable => ({
    form: { kind: "rows", keys: [] },
    bytes: bytesOf(JSON.stringify(rows), 100),
  }),
} as const;

const pick = (...parts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...parts);

/** Puts words from arbitraries into a text. */
function write(parts: TemplateStringsArray, ...words: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...words).map((found) => parts.reduce((text, part, at) => text + (found[at - 1] ?? "") + part));
}

const { text, any, condition } = fc.letrec<Record<"number" | "text" | "any" | "condition", string>>((tie) => ({
  number: fc.oneof(
    { maxDepth: 2, depthIdentifier: "sql" },
    pick(
      "id",
      "size",
      "price",
      "size",
      "3",
      "-2",
      "2.5",
      "LENGTH(note)",
      "CAST(code AS INTEGER)",
      "CAST(price AS INTEGER)",
      "(doc->>'$.a')",
    ),
    pick(
      "JULIANDAY(day) - JULIANDAY('2024-01-01')",
      "CAST(STRFTIME('%m', day) AS INTEGER)",
      "INSTR(note, 'a')",
      "UNICODE(city)",
    ),
    write`(${tie("number")} ${pick("+", "-", "*", "%")} ${tie("number")})`,
    // Versions of SQLite write other digits of a third.
    write`(${tie("number")} / ${pick("2", "-4", "0", "0.5")})`,
    write`${pick("ABS", "ROUND", "SIGN", "TYPEOF", "CEIL")}(${tie("number")})`,
    write`${pick("MAX", "MIN", "COALESCE", "IFNULL", "NULLIF")}(${tie("number")}, ${tie("number")})`,
    write`CASE WHEN ${tie("condition")} THEN ${tie("number")} ELSE ${tie("number")} END`,
    write`CAST(${tie("text")} AS ${pick("INTEGER", "REAL", "NUMERIC")})`,
  ),
  text: fc.oneof(
    { maxDepth: 2, depthIdentifier: "sql" },
    pick(
      "city",
      "code",
      "note",
      "day",
      "mixed",
      "'x'",
      "STRFTIME('%Y-%m', day)",
      "DATE(day, '+1 month', '-1 day')",
      "(doc->>'$.b[0]')",
      "(doc->'$.b')",
    ),
    pick(
      "PRINTF('%05d|%s|%.2f', id, city, price)",
      "JSON_EXTRACT(doc, '$.a', '$.b')",
      "JSON_ARRAY_LENGTH(doc, '$.b')",
      "JSON_OBJECT('n', note, 's', size)",
      "JSON_TYPE(doc, '$.b[1]')",
    ),
    write`${pick("UPPER", "LOWER", "TRIM", "HEX", "QUOTE", "TYPEOF", "LENGTH", "LTRIM")}(${tie("any")})`,
    write`(${tie("text")} || ${tie("any")})`,
    write`SUBSTR(${tie("text")}, ${pick("1", "2", "-2", "0")}, ${pick("1", "3", "-1")})`,
    write`REPLACE(${tie("text")}, ${pick("'a'", "'0'", "' '", "code")}, ${pick("''", "'oo'")})`,
    write`CAST(${tie("any")} AS TEXT)`,
  ),
  any: fc.oneof(tie("number"), tie("text")),
  condition: fc.oneof(
    { maxDepth: 2, depthIdentifier: "sql" },
    write`${pick("id", "size", "price", "mixed", "code", "city", "note", "day")} ${pick("=", "<>", "<", ">", "<=", ">=", "IS", "IS NOT")} ${pick("3", "7", "'7'", "'007'", "2.5", "-3", "'Rome'", "'x'", "'5'", "5", "'2024-02-01'", "''", "NULL", "TRUE", "size", "code", "mixed")}`,
    write`${tie("number")} ${pick("=", "<", ">=", "<>")} ${tie("any")}`,
    write`${pick("city", "note", "code", "mixed", "size", "day")} ${pick("LIKE", "NOT LIKE")} ${pick("'%o%'", "'r%'", "'_a%'", "'%\\%%' ESCAPE '\\'", "'å%'", "'Å%'", "'7'", "'2024-%'", "'%'")}`,
    write`${pick("city", "note", "code", "mixed", "day")} GLOB ${pick("'*o*'", "'R*'", "'[A-P]*'", "'?a*'", "'[[]a]'", "'202[34]-0*'")}`,
    write`${pick("size", "price", "mixed", "code", "day")} ${pick("", "NOT ")}BETWEEN ${pick("-5", "'0'", "'2023-06-01'")} AND ${pick("10", "'2024-06-01'", "'9'")}`,
    write`${pick("city", "size", "code", "mixed")} ${pick("", "NOT ")}IN (${pick("'Oslo', 'Rome'", "1, 2, 3, 7", "'7', 'A1', '5'", "NULL, 'x', 5", "SELECT name FROM cities", "SELECT size FROM rows WHERE id < 5")})`,
    write`${pick("city", "size", "price", "mixed", "doc", "note")} IS ${pick("NULL", "NOT NULL")}`,
    write`(${tie("condition")} ${pick("AND", "OR")} ${tie("condition")})`,
    write`NOT (${tie("condition")})`,
    pick("EXISTS (SELECT 1 FROM cities WHERE name = city AND people > 1000000)"),
  ),
}));

const where = fc.oneof(fc.constant(""), write` WHERE ${condition}`);
const limit = pick("", "", " LIMIT 5", " LIMIT 3 OFFSET 2", " LIMIT -1 OFFSET 4");
const aggregate = fc.oneof(
  pick(
    "COUNT(*)",
    "COUNT(size)",
    "SUM(size)",
    "SUM(price)",
    "AVG(price)",
    "AVG(size)",
    "TOTAL(size)",
    "MIN(price)",
    "MAX(price)",
    "MIN(city)",
    "MAX(mixed)",
    "MIN(mixed)",
    "SUM(mixed)",
    "COUNT(DISTINCT city)",
    "COUNT(DISTINCT mixed)",
    "SUM(DISTINCT size)",
    "MAX(day)",
  ),
  pick(
    "GROUP_CONCAT(id, '-' ORDER BY id)",
    "JSON_GROUP_ARRAY(size ORDER BY id)",
    "COUNT(*) FILTER (WHERE size > 3)",
    "SUM(price) FILTER (WHERE city = 'Rome')",
    "SUM(price) / COUNT(*)",
  ),
  write`${pick("COUNT", "MIN", "MAX", "COUNT")}(${any})`,
  write`COUNT(CASE WHEN ${condition} THEN 1 END)`,
);
const key = fc.oneof(
  pick("city", "code", "mixed", "size", "STRFTIME('%Y', day)", "UPPER(city)", "size > 3", "LENGTH(note)", "price"),
  text,
);
const list = (items: fc.Arbitrary<string>, most: number): fc.Arbitrary<readonly string[]> =>
  fc.array(items, { minLength: 1, maxLength: most });
const name = (items: readonly string[], from = 0): string =>
  items.map((item, at) => `${item} AS c${at + from}`).join(", ");
const order = (items: readonly string[], directions: readonly string[]): string =>
  items.map((_, at) => `${at + 1}${directions[at % directions.length]}`).join(", ");
const directions = list(pick("", " DESC", " NULLS LAST", " DESC NULLS FIRST", " COLLATE NOCASE DESC"), 3).map((all) =>
  all.filter((each) => !each.includes("COLLATE")).concat(""),
);

const grouped = fc
  .tuple(
    list(key, 2),
    list(aggregate, 3),
    where,
    pick("", " HAVING COUNT(*) > 1", " HAVING SUM(size) > 5", " HAVING MAX(price) IS NOT NULL"),
  )
  .map(([keys, aggregates, filter, having]) => ({
    keys,
    sql: `SELECT ${name([...keys, ...aggregates])} FROM rows${filter} GROUP BY ${keys.map((_, at) => at + 1).join(", ")}${having}`,
  }));

const overRows = fc.oneof(
  write`${pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(3)", "LAG(price)", "LEAD(city, 2, 'none')", "FIRST_VALUE(note)", "PERCENT_RANK()")} OVER (${pick("", "PARTITION BY city ", "PARTITION BY size > 3 ")}ORDER BY ${pick("id", "size, id", "price DESC, id", "day NULLS LAST, id")})`,
  write`${pick("SUM(size)", "COUNT(*)", "AVG(price)", "MAX(mixed)", "GROUP_CONCAT(code)")} OVER (${pick("", "PARTITION BY code ")}ORDER BY id ${pick("", "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN 3 PRECEDING AND CURRENT ROW", "ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW")})`,
);

const QUESTION = fc.oneof(
  fc
    .tuple(list(any, 3), where, limit)
    .map(([items, on, end]) => `SELECT ${name(items)} FROM rows${on} ORDER BY id${end}`),
  fc
    .tuple(list(any, 2), where, directions, limit)
    .map(
      ([items, on, ways, end]) =>
        `SELECT ${name(items)}, id AS last FROM rows${on} ORDER BY ${order(items, ways)}, id${end}`,
    ),
  fc
    .tuple(grouped, directions, limit)
    .map(([{ keys, sql }, ways, end]) => `${sql} ORDER BY ${order(keys, ways)}${end}`),
  fc.tuple(list(aggregate, 4), where).map(([items, on]) => `SELECT ${name(items)} FROM rows${on}`),
  fc
    .tuple(list(any, 2), where, directions, limit)
    .map(
      ([items, on, ways, end]) => `SELECT DISTINCT ${name(items)} FROM rows${on} ORDER BY ${order(items, ways)}${end}`,
    ),
  fc
    .tuple(pick("JOIN", "LEFT JOIN", "JOIN cities AS other ON other.country < 'J' JOIN"), any, where, limit)
    .map(
      ([join, item, on, end]) =>
        `SELECT id AS c0, ${item} AS c1, cities.country AS c2, cities.people AS c3 FROM rows ${join} cities ON cities.name = city${on} ORDER BY 1, 3, 4${end}`,
    ),
  fc
    .tuple(list(aggregate, 2), where)
    .map(
      ([items, on]) =>
        `SELECT country AS c0, ${name(items, 1)} FROM rows LEFT JOIN cities ON name = city COLLATE NOCASE${on} GROUP BY country ORDER BY 1`,
    ),
  fc
    .tuple(list(overRows, 2), where, limit)
    .map(([items, on, end]) => `SELECT id AS first, ${name(items)} FROM rows${on} ORDER BY id${end}`),
  grouped.map(
    ({ sql }) =>
      `WITH part AS (${sql}), more AS (SELECT COUNT(*) AS count, MIN(c0) AS least FROM part) SELECT count, least, (SELECT COUNT(*) FROM rows) AS all_ FROM more`,
  ),
  fc
    .tuple(text, text, where, pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
    .map(
      ([a, b, on, set]) => `SELECT ${a} AS c0 FROM rows${on} ${set} SELECT ${b} FROM rows WHERE size > 3 ORDER BY 1`,
    ),
  fc
    .tuple(condition, limit)
    .map(
      ([on, end]) =>
        `SELECT rows.id AS c0, e.key AS c1, e.value AS c2, e.type AS c3 FROM rows, JSON_EACH(rows.doc, '$.b') AS e WHERE ${on.replaceAll(/\bid\b/g, "rows.id")} ORDER BY rows.id, e.key${end}`,
    ),
  fc
    .tuple(pick("MAX(size)", "COUNT(*)", "AVG(price)"), condition)
    .map(
      ([item, on]) =>
        `SELECT id AS c0, (SELECT ${item} FROM rows AS other WHERE other.city = rows.city) AS c1 FROM rows WHERE ${on} ORDER BY id`,
    ),
  condition.map(
    (on) =>
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i AS c0, COUNT(id) AS c1 FROM n LEFT JOIN (SELECT * FROM rows WHERE ${on}) ON size % 5 = i GROUP BY i ORDER BY i`,
  ),
);

const COUNT = amount(40, 500);

test.runIf(hasSqlite)(
  "answers to generated questions are those of SQLite over the same rows",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        ROWS,
        fc.constantFrom(...(Object.keys(FORMATS) as (keyof typeof FORMATS)[])),
        QUESTION,
        async (rows, format, sql) => {
          const database = await RealSqlite.open();
          try {
            await fillTable(database, "rows", rows, format === "csv");
            await fillTable(database, "cities", CITIES, true);
            const wanted = await database.ask(sql).then(
              (all) => all.map((row) => Object.values(row).map(toPlain)),
              (error: unknown) => String(error),
            );
            const cities = FORMATS.csv(CITIES);
            const tables = {
              open: (table: string) => Promise.resolve(table === "cities" ? cities : undefined),
              names: () => Promise.resolve(["cities"]),
            };
            const found = await rowsOf(sql, FORMATS[format](rows), { tables }).catch((error: unknown) => String(error));
            if (typeof wanted === "string" && typeof found === "string") return;
            expect(typeof found === "string" ? found : found.map((row) => row.map(toPlain))).toEqual(wanted);
          } finally {
            await database.close();
          }
        },
      ),
      { numRuns: COUNT },
    );
  },
  600_000,
);
