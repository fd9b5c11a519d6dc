/** Parquet: columns with their types, and rows as CSV. */
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { convertParquet } from "../../../web/src/documents/parquet.js";
import { readAll } from "../../support/documents.js";

function sales(): Uint8Array {
  const columnData = [
    { name: "city", data: ["Bern", 'Os"lo', null], type: "STRING" as const },
    { name: "amount", data: [3, 5, 4], type: "INT32" as const },
    { name: "id", data: [9_007_199_254_740_993n, 2n, 3n], type: "INT64" as const },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

test("rows come as CSV, whole numbers exact, and the columns are told", async () => {
  const { text, facts } = await readAll(convertParquet(sales(), { form: "rows" }));
  expect(text).toBe('city,amount,id\nBern,3,9007199254740993\n"Os""lo",5,2\n,4,3\n');
  // Names are the file's words: they stand among its data, not in a sentence of our own.
  expect(facts.notices).toEqual(["It has 3 rows."]);
  expect(facts).toMatchObject({
    part: "column",
    parts: 3,
    names: ["city", "amount", "id"],
    about: ["utf8", "int32", "int64"],
  });
});

test("a date is a day, not a moment", async () => {
  const columnData = [{ name: "day", data: [20_484, null] }];
  const schema = [
    { name: "root", num_children: 1 },
    { name: "day", type: "INT32", converted_type: "DATE", repetition_type: "OPTIONAL" },
  ] as const;
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, schema: [...schema] }));
  const { text } = await readAll(convertParquet(bytes, { form: "rows" }));
  expect(text).toBe("day\n2026-01-31\n\n");
});

test("many rows are read in batches", async () => {
  const data = Array.from({ length: 50_000 }, (_, at) => at);
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "n", data, type: "INT32" }] }));
  const { text } = await readAll(convertParquet(bytes, { form: "rows" }));
  expect(text).toBe(`n\n${data.join("\n")}\n`);
});

test("one that is cut or changed anywhere ends in rows or a coded error", async () => {
  const bytes = sales();
  for (let at = 4; at < bytes.length; at += 7) {
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ 0xff;
    for (const broken of [bytes.slice(0, at), changed]) {
      const outcome = await readAll(convertParquet(broken, { form: "rows" })).then(
        ({ text }) => typeof text,
        (error: { code?: string }) => error.code,
      );
      expect(["string", "E_DOCUMENT"]).toContain(outcome);
    }
  }
});
