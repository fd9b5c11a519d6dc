/**
 * Questions of a long CSV file: of the module of tables alone, which reads the file itself; through `query`, whose worker gets the bytes
 * from the thread that asks; and of DuckDB on one thread.
 * @module
 */
import { closeSync, createReadStream, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { query } from "../../../dist/query/query.js";
import { buildFolder, buildNative } from "../../build.mjs";
import { median } from "../measure.mjs";

/** Each is about a table with the name `rows`. */
const QUESTIONS = {
  "rows that meet a condition": "SELECT id, total FROM rows WHERE city = 'Rome' AND total > 99 AND id % 1000 = 2",
  "the ten largest": "SELECT * FROM rows ORDER BY total DESC, id LIMIT 10",
  "COUNT with LIKE": "SELECT COUNT(*) FROM rows WHERE customer LIKE '%77%'",
  "sum by group": "SELECT city, SUM(total) FROM rows WHERE status = 'paid' GROUP BY city ORDER BY city",
  "COUNT DISTINCT": "SELECT COUNT(DISTINCT customer) FROM rows",
};

/** Bytes of cells that are taken at once. */
const BATCH = 64 * 1024;

/** Writes the rows of a generator to a file, and gives its name. */
async function writeFile(folder, pieces) {
  const path = join(folder, "rows.csv");
  const file = openSync(path, "w");
  for await (const piece of pieces) writeSync(file, piece);
  closeSync(file);
  return path;
}

/** A function that asks the module, which is compiled once. */
async function openModule(path) {
  await buildNative("wasm-release", ["sluice_table_query"]);
  const folder = buildFolder("wasm-release");
  const { default: create } = await import(pathToFileURL(join(folder, "tables.mjs")));
  const compiled = await WebAssembly.compile(readFileSync(join(folder, "tables.wasm")));
  const instance = await create({
    instantiateWasm: (imports, receive) => {
      void WebAssembly.instantiate(compiled, imports).then(receive);
      return {};
    },
    locateFile: (name) => name,
  });
  const file = openSync(path, "r");
  const read = (_, offset, into) => readSync(file, into, 0, into.length, offset);
  return async (sql) => {
    const asked = new instance.TableQuery(read, 600_000, 2 ** 30, 1e7);
    const give = (text) => asked.input(Buffer.byteLength(text)).set(Buffer.from(text));
    give("rows");
    let goesOn = asked.add(0, 0, 0, ",".charCodeAt(0), "\n".charCodeAt(0), false);
    give(sql);
    goesOn &&= asked.prepare();
    while (goesOn && !asked.isOver()) goesOn = asked.readRows(BATCH);
    asked.failure();
    if (!goesOn) throw new Error(Buffer.from(asked.output()).toString());
    asked.delete();
  };
}

async function openDuck(folder, path) {
  const { DuckDBInstance } = createRequire(join(folder, "index.js"))("@duckdb/node-api");
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const from = `FROM read_csv('${path.replaceAll("'", "''")}')`;
  return async (sql) => (await connection.run(sql.replace("FROM rows", () => from))).getRows();
}

async function askQuery(path, sql) {
  const form = { kind: "csv", start: 0, delimiter: ",", newline: "\n" };
  const bytes = { open: (start) => createReadStream(path, { start, highWaterMark: 2 ** 20 }) };
  const { rows } = await query(sql, { form, bytes }, { timeoutMs: 600_000 });
  let count = 0;
  for await (const { length } of rows) count += length;
  return count;
}

/** Seconds of this process, which other work on the machine does not lengthen. */
async function timeWork(work) {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

/**
 * Asks each question of all three, one after the other, `rounds` times.
 * @returns {Promise<string[]>} lines of a table
 */
export async function benchTables(folder, pieces, rounds) {
  const path = await writeFile(folder, pieces);
  const ask = await openModule(path);
  const duck = await openDuck(folder, path);
  const lines = ["| question | module, s | × DuckDB on one thread | `query`, × DuckDB |", "|---|---|---|---|"];
  for (const [name, sql] of Object.entries(QUESTIONS)) {
    const times = { module: [], duck: [], query: [] };
    for (let round = 0; round < rounds; round += 1) {
      times.module.push(await timeWork(() => ask(sql)));
      times.duck.push(await timeWork(() => duck(sql)));
      times.query.push(await timeWork(() => askQuery(path, sql)));
    }
    const [own, other, whole] = [times.module, times.duck, times.query].map(median);
    lines.push(`| ${name} | ${own.toFixed(2)} | ${(own / other).toFixed(2)} | ${(whole / other).toFixed(2)} |`);
  }
  return lines;
}
