/**
 * Tables and data.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "SQLite",
    debian: ["sqlite3"],
    shell: `sqlite3 shop.db "create table users(a);create table orders(b);create index i on users(a);insert into users values(1);"`,
    files: { "shop.db": ["SQLite database", "2 tables", '"users"'] },
  },
  {
    maker: "hyparquet-writer",
    npm: ["hyparquet-writer@0.17.0"],
    node: `
import { writeFileSync } from "node:fs";
import { parquetWriteBuffer } from "hyparquet-writer";
writeFileSync("hyparquet.parquet", Buffer.from(parquetWriteBuffer({ columnData: [{ name: "id", data: [1, 2, 3], type: "INT32" }, { name: "name", data: ["a", "b", "c"], type: "STRING" }] })));
`,
    files: { "hyparquet.parquet": ["Parquet table", "3 rows", "2 columns", '"id"'] },
  },
  {
    maker: "GDAL's Parquet",
    debian: ["gdal-bin"],
    shell: `printf 'a,b,c\\n1,2,3\\n4,5,6\\n' > g.csv; ogr2ogr -f SQLite g.sqlite g.csv; ogr2ogr -f XLSX g.xlsx g.csv; ogr2ogr -f ODS g.ods g.csv`,
    files: {
      "g.sqlite": ["SQLite database", /tables?/],
      "g.xlsx": ["Excel workbook", "1 sheet"],
      "g.ods": ["OpenDocument spreadsheet", "1 sheet"],
    },
  },
  {
    maker: "Apache Avro",
    debian: ["python3-avro"],
    python: `
import avro.schema, avro.datafile, avro.io, json
s = avro.schema.parse(json.dumps({"type": "record", "name": "User", "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]}))
w = avro.datafile.DataFileWriter(open("users.avro", "wb"), avro.io.DatumWriter(), s)
for n in range(9): w.append({"id": n, "name": "x"})
w.close()
`,
    files: { "users.avro": ["Avro data"] },
  },
  {
    maker: "Apache Arrow",
    npm: ["apache-arrow@21.2.0"],
    node: `
import { writeFileSync } from "node:fs";
import { tableFromArrays, tableToIPC } from "apache-arrow";
const table = tableFromArrays({ id: Int32Array.from([1, 2, 3]), v: Float64Array.from([1, 2, 3]) });
writeFileSync("table.arrow", tableToIPC(table, "file")); writeFileSync("table.arrows", tableToIPC(table, "stream"));
`,
    files: { "table.arrow": ["Arrow table"], "table.arrows": ["Arrow stream"] },
  },
  {
    maker: "pandas",
    debian: ["python3-pandas"],
    python: `
import pandas, pickle
f = pandas.DataFrame({"a": range(25), "b": 1.5, "c": "x"})
f.to_stata("frame.dta", version=118); f.to_pickle("frame.pkl"); f.to_csv("frame.csv", index=False); f.to_json("frame.json", orient="records"); f.to_json("frame.ndjson", orient="records", lines=True)
`,
    files: {
      "frame.dta": ["Stata data", "25 rows"],
      "frame.pkl": ["Python pickle"],
      "frame.csv": ["CSV", "25 rows", "3 columns"],
      "frame.json": ["JSON", "array of 25"],
      "frame.ndjson": ["NDJSON", "25 lines"],
    },
  },
  {
    maker: "R",
    debian: ["r-base-core"],
    shell: `Rscript -e 'd <- data.frame(a = 1:7, b = letters[1:7]); saveRDS(d, "r.rds"); save(d, file = "r.RData"); save(d, file = "plain.RData", compress = FALSE); write.csv(d, "r.csv", row.names = FALSE); write.table(d, "r.tsv", sep = "\\t", row.names = FALSE); pdf("r.pdf", title = "R plot"); plot(1:3); dev.off(); svg("r.svg"); plot(1:3); dev.off()' >/dev/null`,
    files: {
      "r.rds": [/R data|RDS/],
      "plain.RData": [/R data|R workspace/],
      "r.csv": ["CSV", "7 rows", "2 columns"],
      "r.tsv": ["TSV", "7 rows", "2 columns"],
    },
  },
  {
    maker: "PSPP",
    debian: ["pspp"],
    shell: `printf 'DATA LIST FREE /age height.\\nBEGIN DATA\\n1 2\\n3 4\\n5 6\\nEND DATA.\\nSAVE OUTFILE="pspp.sav".\\nSAVE OUTFILE="pspp-packed.sav" /COMPRESSED.\\nEXPORT OUTFILE="pspp.por".\\n' > p.sps; pspp -o /dev/null p.sps`,
    files: {
      "pspp.sav": ["SPSS data", "3 rows"],
      "pspp-packed.sav": ["SPSS data", "3 rows"],
      "pspp.por": [/SPSS/],
    },
  },
  {
    maker: "MessagePack, CBOR and BSON for Python",
    debian: ["python3-msgpack", "python3-cbor2", "python3-bson"],
    python: `
import msgpack, cbor2, bson
d = {"id": 7, "names": ["a", "b"], "rows": [{"x": n, "y": n / 2} for n in range(20)]}
open("python.msgpack", "wb").write(msgpack.packb(d)); open("python.cbor", "wb").write(cbor2.dumps(cbor2.CBORTag(55799, d))); open("python.bson", "wb").write(bson.BSON.encode(d))
`,
    files: { "python.msgpack": ["MessagePack"], "python.cbor": ["CBOR"], "python.bson": ["BSON"] },
  },
  {
    maker: "LMDB, Berkeley DB and GDBM",
    debian: ["db-util", "gdbmtool", "python3-lmdb"],
    shell: `python3 -c "import lmdb; e = lmdb.open('l'); t = e.begin(write=True); t.put(b'a', b'b'); t.commit()"; cp l/data.mdb l.mdb; printf 'a\\nb\\n' | db_load -T -t btree b.db; echo 'store a b' | gdbmtool -n g.gdbm`,
    files: { "l.mdb": [/LMDB/], "b.db": [/Berkeley DB/], "g.gdbm": [/GDBM|GNU dbm/] },
  },
  {
    maker: "RRDtool",
    debian: ["rrdtool"],
    shell: `rrdtool create r.rrd --start 0 --step 60 DS:a:GAUGE:120:U:U DS:b:GAUGE:120:U:U RRA:AVERAGE:0.5:1:10`,
    files: { "r.rrd": [/RRD|round-robin/] },
  },
  {
    maker: "Miller and csvkit",
    debian: ["miller", "csvkit"],
    shell: `printf 'a,b,c\\n1,2,3\\n4,5,6\\n' > in.csv; mlr --icsv --ojson cat in.csv > miller.json; mlr --icsv --otsv cat in.csv > miller.tsv; mlr --icsv --ojsonl cat in.csv > miller.jsonl; mlr --icsv --omd cat in.csv > miller.md; csvformat -D ';' in.csv > csvkit.csv; csvjson in.csv > csvkit.json`,
    files: {
      "miller.json": ["JSON", "array of 2"],
      "miller.tsv": ["TSV", "2 rows", "3 columns"],
      "miller.jsonl": ["NDJSON", "2 lines"],
      "csvkit.csv": ["CSV", "2 rows", "3 columns"],
      "csvkit.json": ["JSON", "array of 2"],
    },
  },
  {
    maker: "DuckDB",
    npm: ["@duckdb/node-api@1.5.6-r.1"],
    node: `
import { DuckDBInstance } from "@duckdb/node-api";
const it = await (await DuckDBInstance.create("store.duckdb")).connect();
await it.run("create table t as select range as id, 'n' || range as name from range(500)");
await it.run("copy t to 'duck.parquet' (format parquet)"); await it.run("copy t to 'duck.zstd.parquet' (format parquet, compression zstd)"); await it.run("copy t to 'duck.csv' (header)"); await it.run("copy t to 'duck.json' (array true)"); await it.run("checkpoint");
it.closeSync();
`,
    files: {
      "store.duckdb": ["DuckDB database"],
      "duck.parquet": ["Parquet table", "500 rows", "2 columns", '"id"'],
      "duck.zstd.parquet": ["Parquet table", "500 rows", "2 columns"],
      "duck.csv": ["CSV", "500 rows", "2 columns"],
      "duck.json": ["JSON", "array of 500"],
    },
  },
  {
    maker: "Arrow's Rust by parquet-wasm",
    npm: ["parquet-wasm@0.8.0", "apache-arrow@21.2.0"],
    node: `
import { writeFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
const wasm = createRequire(process.cwd() + "/")("parquet-wasm/node");
import { tableFromArrays, tableToIPC } from "apache-arrow";
const table = wasm.Table.fromIPCStream(tableToIPC(tableFromArrays({ x: Int32Array.from([1, 2, 3, 4]), y: Float64Array.from([1, 2, 3, 4]) }), "stream"));
writeFileSync("rust.parquet", wasm.writeParquet(table));
`,
    files: { "rust.parquet": ["Parquet table", "4 rows", "2 columns", '"x"'] },
  },
  {
    maker: "avsc",
    npm: ["avsc@5.7.9"],
    node: `
import avro from "avsc";
const type = avro.Type.forSchema({ type: "record", name: "Pet", fields: [{ name: "kind", type: "string" }, { name: "age", type: "int" }] });
const out = avro.createFileEncoder("avsc.avro", type);
for (let n = 0; n < 12; n++) out.write({ kind: "cat", age: n });
out.end(); await new Promise((resolve) => out.on("finish", resolve));
`,
    files: { "avsc.avro": ["Avro data", '"kind"'] },
  },
  {
    maker: "msgpackr, cbor-x and bson",
    npm: ["msgpackr@2.1.3", "cbor-x@1.6.8", "bson@7.3.4"],
    node: `
import { writeFileSync } from "node:fs";
import { pack } from "msgpackr";
import { encode } from "cbor-x";
import { serialize } from "bson";
const data = { id: 7, name: "thing", rows: Array.from({ length: 30 }, (_, n) => ({ n, half: n / 2 })) };
writeFileSync("npm.msgpack", pack(data)); writeFileSync("npm.cbor", encode(data)); writeFileSync("npm.bson", serialize(data));
`,
    files: { "npm.msgpack": ["MessagePack"], "npm.cbor": ["CBOR"], "npm.bson": ["BSON"] },
  },
  {
    maker: "sql.js and property lists",
    npm: ["sql.js@1.16.0", "bplist-creator@0.3.0", "plist@5.0.0"],
    node: `
import { writeFileSync } from "node:fs";
import initSqlJs from "sql.js";
import bplist from "bplist-creator";
import * as plist from "plist";
const SQL = await initSqlJs(); const db = new SQL.Database(); db.run("create table pets(a); create table owners(b);"); writeFileSync("sqljs.db", db.export());
writeFileSync("binary.plist", bplist({ Name: "x", List: [1, 2] })); writeFileSync("text.plist", plist.build({ Name: "x" }));
`,
    files: {
      "sqljs.db": ["SQLite database", "2 tables", '"pets"'],
      "binary.plist": ["binary property list"],
      "text.plist": ["property list"],
    },
  },
];
