/** Avro: rows as CSV, by the writers of avsc, Polars and Apache, and what is damaged. */
import { type Schema, streams, Type } from "avsc";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convertAvro } from "../../../web/src/documents/avro.js";
import { findFaults, readAll } from "../../support/documents.js";

/** A file by avsc. */
async function writeAvro(schema: object | string, values: readonly unknown[], codec = "null"): Promise<Uint8Array> {
  const encoder = new streams.BlockEncoder(Type.forSchema(schema as Schema), { codec });
  const chunks: Buffer[] = [];
  encoder.on("data", (chunk: Buffer) => chunks.push(chunk));
  for (const value of values) encoder.write(value);
  encoder.end();
  await new Promise((resolve) => encoder.on("end", resolve));
  return new Uint8Array(Buffer.concat(chunks));
}

async function readRows(bytes: Uint8Array): Promise<string> {
  return (await readAll(convertAvro(bytes, { form: "rows" }))).text;
}

const PET = {
  type: "record",
  name: "zoo.Pet",
  fields: [
    { name: "name", type: ["null", "string"] },
    { name: "age", type: "int" },
    { name: "kind", type: { type: "enum", name: "Kind", symbols: ["CAT", "DOG"] } },
    { name: "mark", type: { type: "fixed", name: "Mark", size: 2 } },
    { name: "tags", type: { type: "array", items: "string" } },
    { name: "sizes", type: { type: "map", values: "double" } },
    { name: "mother", type: ["null", "Pet"], default: null },
    { name: "likes", type: ["null", "zoo.Kind"] },
  ],
};
const pet = (more: object): object => ({
  name: 'Ti"ger',
  age: -3,
  kind: "DOG",
  mark: Buffer.from([1, 255]),
  tags: ["a", "b"],
  sizes: { tail: 0.5 },
  mother: null,
  likes: null,
  ...more,
});
const PETS = [pet({}), pet({ name: null, mother: pet({ age: 9 }), likes: "CAT" })];

describe.each(["null", "deflate"])("a file with the codec %s", (codec) => {
  test("comes as CSV, and tells its columns", async () => {
    const { text, facts } = await readAll(convertAvro(await writeAvro(PET, PETS, codec), { form: "rows" }));
    const [header, first, second] = text.split("\n");
    expect(header).toBe("name,age,kind,mark,tags,sizes,mother,likes");
    expect(first).toBe('"Ti""ger",-3,DOG,0x01ff,"[""a"",""b""]","{""tail"":0.5}",,');
    expect(second).toMatch(/^,-3,DOG,.*,"\{""name"":""Ti\\""ger"",""age"":9,.*\}",CAT$/);
    expect(facts.notices).toEqual(["It has 2 rows."]);
    expect(facts.about).toEqual(["string", "int", "enum", "fixed", "array", "map", "record", "enum"]);
  });

  test("that is cut or changed anywhere ends in rows or a coded error", async () => {
    const bytes = await writeAvro(PET, PETS, codec);
    expect(await findFaults(readRows, bytes, { from: 4, step: 5 })).toEqual([]);
  });
});

test("numbers of 64 bits are exact, whatever they are", async () => {
  const type = { type: "record", name: "N", fields: [{ name: "n", type: "long" }] };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }), { minLength: 1 }), async (values) => {
      const bytes = await writeAvro(
        type,
        values.map((n) => ({ n })),
      );
      expect(await readRows(bytes)).toBe(`n\n${values.join("\n")}\n`);
    }),
    { numRuns: 50 },
  );
});

// By Apache's writer for Python 1.12.0: what stands for something else, and a number beyond 53 bits.
const APACHE =
  "T2JqAQQUYXZyby5jb2RlYwhudWxsFmF2cm8uc2NoZW1hjgZ7InR5cGUiOiAicmVjb3JkIiwgIm5hbWUiOiAiTyIsICJmaWVsZHMiOiBbeyJ0eXBlIjogeyJ0eXBlIjogImJ5dGVzIiwgImxvZ2ljYWxUeXBlIjogImRlY2ltYWwiLCAicHJlY2lzaW9uIjogMTAsICJzY2FsZSI6IDJ9LCAibmFtZSI6ICJwcmljZSJ9LCB7InR5cGUiOiB7InR5cGUiOiAiaW50IiwgImxvZ2ljYWxUeXBlIjogImRhdGUifSwgIm5hbWUiOiAiZGF5In0sIHsidHlwZSI6IHsidHlwZSI6ICJsb25nIiwgImxvZ2ljYWxUeXBlIjogInRpbWVzdGFtcC1taWNyb3MifSwgIm5hbWUiOiAiYXQifSwgeyJ0eXBlIjogeyJ0eXBlIjogImludCIsICJsb2dpY2FsVHlwZSI6ICJ0aW1lLW1pbGxpcyJ9LCAibmFtZSI6ICJ0b2QifSwgeyJ0eXBlIjogImxvbmciLCAibmFtZSI6ICJiaWcifV19AHSdKz1hMSThe00IuGZk67ECOAT7LojAAoDJ2MS666QG+LvGA/3//////////wF0nSs9YTEk4XtNCLhmZOux";

test("logical types are what they stand for", async () => {
  const text = await readRows(new Uint8Array(Buffer.from(APACHE, "base64")));
  expect(text).toBe(
    "price,day,at,tod,big\n-12.34,2026-01-31,2026-01-31T12:00:00.123456Z,01:02:03.004,-9223372036854775807\n",
  );
});

// By Polars 0.25.2: ids 1 to 3, and a text of 200 characters twice.
const SNAPPY =
  "T2JqAQQUYXZyby5jb2RlYwxzbmFwcHkWYXZyby5zY2hlbWHoAXsidHlwZSI6InJlY29yZCIsIm5hbWUiOiIiLCJmaWVsZHMiOlt7Im5hbWUiOiJpZCIsInR5cGUiOlsibnVsbCIsImxvbmciXX0seyJuYW1lIjoiY2l0eSIsInR5cGUiOlsibnVsbCIsInN0cmluZyJdfV19AAECAwQBAgMEAQIDBAECAwQGXJ0DJAICApADQmVybiD+BQD+BQDuBQANBQQCBP7NAP7NAP7NAC7NAAQGAMTBWgEBAgMEAQIDBAECAwQBAgME";

test("blocks of Snappy are read, and bounded", async () => {
  const bern = `"${"Bern ".repeat(40)}"`;
  const bytes = new Uint8Array(Buffer.from(SNAPPY, "base64"));
  expect(await readRows(bytes)).toBe(`id,city\n1,${bern}\n2,${bern}\n3,\n`);
  await expect(readAll(convertAvro(bytes, { form: "rows", maxBytes: 100 }))).rejects.toMatchObject({
    code: "E_TOO_LARGE",
  });
});

test("a block that becomes too much is not inflated to its end", async () => {
  const bytes = await writeAvro("bytes", [Buffer.alloc(5_000_000)], "deflate");
  await expect(readAll(convertAvro(bytes, { form: "rows", maxBytes: 100_000 }))).rejects.toMatchObject({
    code: "E_TOO_LARGE",
  });
});

test("values that are no records are a column", async () => {
  expect(await readRows(await writeAvro("string", ["a", "b,c"]))).toBe('value\na\n"b,c"\n');
});

test("an array that claims more items than there are bytes is damaged", async () => {
  const bytes = await writeAvro({ type: "array", items: "null" }, [[]]);
  const count = bytes.length - 17;
  // A count of 2^34, and no bytes for any of them.
  const hostile = Buffer.concat([
    bytes.subarray(0, count - 1),
    Buffer.from([12, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
    bytes.subarray(-16),
  ]);
  await expect(readRows(new Uint8Array(hostile))).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

test("another codec is told, with one that is read", async () => {
  const bytes = await writeAvro("string", ["a"]);
  const at = Buffer.from(bytes).indexOf("null");
  bytes.set(new TextEncoder().encode("lzma"), at);
  await expect(readRows(bytes)).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("deflate") as string,
  });
});
