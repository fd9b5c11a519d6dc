/**
 * `npm run bench:query`: the languages that a table could be asked in, each tried on the same thirty questions. They are installed in
 * a temporary folder, in these versions. `--quick` takes fewer rows.
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { query } from "../../../dist/query/query.js";
import { root } from "../../run.mjs";
import { inFolder, median } from "../measure.mjs";
import { npm } from "../package/registry.mjs";
import { benchTables } from "./tables.mjs";
import { ORDERS, PEOPLE, QUESTIONS, REPOSITORIES } from "./questions.mjs";

const PACKAGES = {
  "jq-wasm": "1.0.1",
  jsonata: "2.2.2",
  "@jmespath-community/jmespath": "1.3.0",
  "sql.js": "1.16.0",
  "@duckdb/node-api": "1.5.6-r.1",
};

const quick = process.argv.includes("--quick");

/** Rows of the question that is timed: the paid total of each city. */
const ROWS = quick ? 10_000 : 100_000;
const ROUNDS = quick ? 1 : 3;

/** Milliseconds that 4,000 rows may take for more to be tried. */
const BEARABLE = 5000;

/** Rows of the CSV file that streams. */
const CSV_ROWS = quick ? 100_000 : 1_000_000;

/** Rows of the CSV file that the module of tables and DuckDB are asked. */
const TABLE_ROWS = 4_000_000;

const CITIES = ["Oslo", "Paris", "Rome", "Bern", "Riga"];

const many = (count) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    customer: `customer ${id % 977}`,
    city: CITIES[id % 5],
    status: id % 3 === 0 ? "open" : "paid",
    total: (id % 400) / 4,
  }));

const TIMED = {
  sql: "SELECT city, SUM(total) FROM orders WHERE status = 'paid' GROUP BY city ORDER BY city",
  jq: 'map(select(.status == "paid")) | group_by(.city)[] | [.[0].city, (map(.total) | add)]',
  jsonata: "$each($[status = 'paid']{city: $sum(total)}, function($t, $c) {[$c, $t]})^($[0])",
  jmespath: "items(group_by([?status == 'paid'], &city)) | sort_by(@, &[0])[*].[[0], sum([1][].total)]",
};

const encode = (text) => ({
  async *open(start) {
    yield Buffer.from(text).subarray(start);
  },
});

const openCsv = (bytes) => ({ form: { kind: "csv", start: 0, delimiter: ",", newline: "\n" }, bytes });

const openJson = (text, keys = []) => ({ form: { kind: "rows", keys }, bytes: encode(text) });

/** The tables as values, for languages that take these. Cells of CSV are those that we make of them. */
async function tables() {
  const table = openCsv(encode(PEOPLE));
  const { columns, rows } = await query("SELECT * FROM people", table);
  const people = [];
  for await (const row of rows) people.push(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
  return { orders: ORDERS, repositories: REPOSITORIES, people };
}

/** The languages: how each is asked, what it weighs, and what it can do. */
function languages(folder, values) {
  const require = createRequire(join(folder, "index.js"));
  const file = (name) => readFileSync(join(folder, "node_modules", name));
  const jq = require("jq-wasm");
  const jsonata = require("jsonata");
  const jmespath = require("@jmespath-community/jmespath");
  const own = readdirSync(join(root, "dist/query")).filter((name) => name.endsWith(".js"));
  return [
    {
      name: "SQL (SQLite, `web/src/query`)",
      written: ({ sql }) => sql,
      ask: async (sql, of) => rowsOf(sql, tableIn(of)),
      timed: async (text) => rowsOf(TIMED.sql, openJson(text)),
      files: [
        ...own.map((name) => readFileSync(join(root, "dist/query", name))),
        ...["tables.mjs", "tables.wasm"].map((name) => readFileSync(join(root, "dist/core", name))),
      ],
      streams: "yes",
      packages: "0, bundled",
    },
    {
      name: "SQL (SQLite, sql.js)",
      written: ({ sql }) => sql,
      ask: async (sql, of) => inSqlite(require("sql.js"), sql, of, rowsIn(of, values)),
      timed: async (text) => inSqlite(require("sql.js"), TIMED.sql, "orders", JSON.parse(text)),
      files: [file("sql.js/dist/sql-wasm.js"), file("sql.js/dist/sql-wasm.wasm")],
      streams: "no",
      packages: "1",
    },
    {
      name: "jq (jq-wasm)",
      written: ({ jq: text }) => text,
      ask: async (text, of) => lines(await jq.raw(JSON.stringify(values[of]), text, ["-c"])),
      timed: async (text) => lines(await jq.raw(text, TIMED.jq, ["-c"])),
      files: [file("jq-wasm/dist/index.js"), file("jq-wasm/dist/build/jq.js")],
      streams: "no",
      packages: "1",
    },
    {
      name: "JSONata",
      written: ({ jsonata: text }) => text,
      ask: async (text, of) => jsonata(text).evaluate(values[of]),
      timed: async (text) => jsonata(TIMED.jsonata).evaluate(JSON.parse(text)),
      files: [file("jsonata/jsonata.min.js")],
      streams: "no",
      packages: "1",
    },
    {
      name: "JMESPath (community edition)",
      written: ({ jmespath: text }) => text,
      ask: async (text, of) => jmespath.search(values[of], text),
      timed: async (text) => jmespath.search(JSON.parse(text), TIMED.jmespath),
      files: [file("@jmespath-community/jmespath/dist/index.esm.min.js")],
      streams: "no",
      packages: "1",
    },
  ];
}

const tableIn = (of) =>
  of === "people"
    ? openCsv(encode(PEOPLE))
    : of === "orders"
      ? openJson(JSON.stringify(ORDERS))
      : openJson(JSON.stringify(REPOSITORIES), ["data", "repositories"]);

const rowsIn = (of, values) => (of === "repositories" ? values[of].data.repositories : values[of]);

async function rowsOf(sql, table) {
  const { rows } = await query(sql, table, { timeoutMs: 600_000 });
  const all = [];
  for await (const row of rows) all.push(row);
  return all;
}

const lines = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

async function inSqlite(load, sql, name, rows) {
  const { Database } = await load();
  const database = new Database();
  const columns = [...new Set(rows.slice(0, 1000).flatMap(Object.keys))];
  database.run(`CREATE TABLE ${name} (${columns.join(", ")})`);
  database.run("BEGIN");
  const insert = database.prepare(`INSERT INTO ${name} VALUES (${columns.map(() => "?").join(", ")})`);
  for (const row of rows) {
    insert.run(
      columns.map((column) =>
        typeof row[column] === "object" && row[column] !== null ? JSON.stringify(row[column]) : (row[column] ?? null),
      ),
    );
  }
  const [result] = database.exec(sql);
  database.close();
  return result?.values ?? [];
}

/** Whether an answer has the rows that are wanted. One row, and rows of one cell, may come without the brackets. */
function isRight(answer, wanted) {
  const list = Array.isArray(answer) ? [...answer] : [answer];
  const rows = list.map((row) => (Array.isArray(row) ? [...row] : [row]));
  return isDeepStrictEqual(rows, wanted) || isDeepStrictEqual([list], wanted);
}

async function tried(language) {
  const unsaid = [];
  const wrong = [];
  for (const question of QUESTIONS) {
    const text = language.written(question);
    if (text === null) {
      unsaid.push(question.ask);
      continue;
    }
    const answer = await language.ask(text, question.of).catch((error) => `${error}`);
    if (!isRight(answer, question.answer)) wrong.push(`${question.ask} ${JSON.stringify(answer)}`);
  }
  return { unsaid, wrong };
}

/** Milliseconds for all rows; for as many as it can in a bearable time otherwise. */
async function timed(language) {
  for (const count of [1000, 4000, ROWS]) {
    const text = JSON.stringify(many(count));
    const times = [];
    for (let round = 0; round < (count === ROWS ? ROUNDS : 1); round += 1) {
      const start = performance.now();
      await language.timed(text);
      times.push(performance.now() - start);
    }
    const time = Math.round(median(times));
    if (count === ROWS) return `${time}`;
    if (time > BEARABLE) return `${time} for ${count} rows`;
  }
  return "";
}

/** The bytes of so many rows from an offset on, made each time that they are read. */
async function* csvFrom(count, from) {
  let at = 0;
  for await (const piece of csv(count)) {
    if (at + piece.length > from) yield piece.subarray(Math.max(0, from - at));
    at += piece.length;
  }
}

async function* csv(count) {
  yield Buffer.from("id,customer,city,status,total\n");
  for (let from = 0; from < count; from += 1000) {
    let text = "";
    for (let id = from; id < from + 1000; id += 1) {
      text += `${id},customer ${id % 977},${CITIES[id % 5]},${id % 3 === 0 ? "open" : "paid"},${(id % 400) / 4}\n`;
    }
    yield Buffer.from(text);
  }
}

/** Seconds and MiB that a question of a long CSV file takes, and reading it to the end alone. */
async function streamed(sql) {
  globalThis.gc();
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  const start = performance.now();
  if (sql === undefined) {
    let bytes = 0;
    for await (const { length } of csv(CSV_ROWS)) bytes += length;
    if (bytes === 0) throw new Error("There are no rows.");
  } else await rowsOf(sql, openCsv({ open: (from) => csvFrom(CSV_ROWS, from) }));
  clearInterval(timer);
  return `${((performance.now() - start) / 1000).toFixed(1)} s, ${Math.max(0, Math.round((peak - before) / 2 ** 20))} MiB more`;
}

await inFolder(async (folder) => {
  // First, before others have taken memory.
  const streams = [];
  for (const [work, sql] of [
    ["made, and not read", undefined],
    ["filter, group, sum", TIMED.sql],
    ["the ten largest", "SELECT * FROM orders ORDER BY total DESC, id LIMIT 10"],
    ["the first ten of a city", "SELECT * FROM orders WHERE city = 'Rome' LIMIT 10"],
  ]) {
    streams.push(`| ${work} | ${await streamed(sql)} |`);
  }
  writeFileSync(join(folder, "package.json"), '{"private":true}');
  await npm(["install", ...Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)], folder);
  const rows = [];
  const remarks = [];
  for (const language of languages(folder, await tables())) {
    process.stderr.write(`asking in ${language.name} …\n`);
    const { unsaid, wrong } = await tried(language);
    const size = language.files.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
    const time = await timed(language).catch((error) => `fails: ${error.message ?? JSON.stringify(error)}`);
    rows.push(
      `| ${[
        language.name,
        QUESTIONS.length - unsaid.length - wrong.length,
        unsaid.length,
        `${Math.round(size / 1024)} KB`,
        time,
        language.streams,
        language.packages,
      ].join(" | ")} |`,
    );
    remarks.push(...unsaid.map((ask) => `${language.name} cannot say: ${ask}`));
    remarks.push(...wrong.map((ask) => `${language.name} is wrong: ${ask}`));
  }
  console.log(
    `| language | right of ${QUESTIONS.length} | cannot be said | gzipped | ms for ${ROWS} rows of JSON | streams | packages |`,
  );
  console.log("|---|---|---|---|---|---|---|");
  for (const row of rows) console.log(row);
  for (const remark of remarks) console.log(remark);
  console.log(`\n| ${CSV_ROWS} rows of CSV | seen |\n|---|---|`);
  for (const row of streams) console.log(row);
  const count = quick ? CSV_ROWS : TABLE_ROWS;
  console.log(`\n${count} rows of CSV, seconds of the processor`);
  for (const line of await benchTables(folder, csv(count), ROUNDS)) console.log(line);
});
