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
];
