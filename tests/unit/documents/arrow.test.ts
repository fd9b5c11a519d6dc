/** Arrow: files and streams as CSV, compressed or not, and what is damaged. */
import { gunzipSync } from "node:zlib";
import {
  bool,
  columnFromArray,
  type DataType,
  dateDay,
  decimal,
  dictionary,
  field,
  float32,
  int32,
  int64,
  list,
  map,
  struct,
  tableFromColumns,
  tableToIPC,
  timestamp,
  TimeUnit,
  timeMillisecond,
  utf8,
} from "@uwdata/flechette";
import { describe, expect, test } from "vitest";
import { convertArrow } from "../../../web/src/documents/arrow.js";
import { decodeLz4Frame } from "../../../web/src/documents/lz4.js";
import { findFaults, readAll } from "../../support/documents.js";

type Columns = Readonly<Record<string, readonly [values: readonly unknown[], type: DataType]>>;

function writeArrow(columns: Columns, format: "file" | "stream" = "file"): Uint8Array {
  const entries = Object.entries(columns).map(([name, [values, type]]) => [name, columnFromArray([...values], type)]);
  return tableToIPC(tableFromColumns(Object.fromEntries(entries) as never), { format }) as Uint8Array;
}

async function readRows(bytes: Uint8Array): Promise<string> {
  return (await readAll(convertArrow(bytes, { form: "rows" }))).text;
}

const SALES: Columns = {
  city: [["Bern", 'Os"lo', null], utf8()],
  id: [[9_007_199_254_740_993n, 2n, -3n], int64()],
  paid: [[true, false, null], bool()],
};

describe.each(["file", "stream"] as const)("an Arrow %s", (format) => {
  test("comes as CSV, whole numbers exact, and tells its columns", async () => {
    const { text, facts } = await readAll(convertArrow(writeArrow(SALES, format), { form: "rows" }));
    expect(text).toBe('city,id,paid\nBern,9007199254740993,true\n"Os""lo",2,false\n,-3,\n');
    expect(facts).toMatchObject({ part: "column", names: ["city", "id", "paid"], about: ["utf8", "int64", "bool"] });
    expect(facts.notices).toEqual(["It has 3 rows."]);
  });

  test("that is cut or changed anywhere ends in rows or a coded error", async () => {
    const bytes = writeArrow(SALES, format);
    expect(await findFaults(readRows, bytes, { from: 8, step: 3 })).toEqual([]);
  });
});

test("days, times and moments come as they are written, to the digit that they have", async () => {
  const noon = Date.parse("2026-01-31T12:00:00.123Z");
  const text = await readRows(
    writeArrow({
      day: [[new Date("1969-12-31"), null], dateDay()],
      at: [[noon, -1], timestamp(TimeUnit.MICROSECOND, "UTC")],
      local: [[noon - 123, 0], timestamp(TimeUnit.SECOND)],
      time: [[3_723_004, 0], timeMillisecond()],
    }),
  );
  expect(text).toBe(
    "day,at,local,time\n1969-12-31,2026-01-31T12:00:00.123Z,2026-01-31T12:00:00.000,01:02:03.004\n" +
      ",1969-12-31T23:59:59.999Z,1970-01-01T00:00:00.000,00:00:00\n",
  );
});

test("decimal numbers are exact, and numbers of 32 bits have no digits that they never had", async () => {
  const text = await readRows(writeArrow({ price: [[-12.34, 0.05], decimal(30, 2)], share: [[0.1, null], float32()] }));
  expect(text).toBe("price,share\n-12.34,0.1\n0.05,\n");
});

test("values with parts are JSON, and those of a dictionary are what they stand for", async () => {
  const text = await readRows(
    writeArrow({
      tags: [[["a", "b"], []], list(utf8())],
      size: [[{ wide: 2n ** 60n, day: new Date(0) }, null], struct({ wide: int64(), day: dateDay() })],
      count: [[[["k", 1]], []], map(field("key", utf8()), field("value", int32()))],
      kind: [["x", "x"], dictionary(utf8())],
    }),
  );
  expect(text).toBe(
    'tags,size,count,kind\n"[""a"",""b""]","{""wide"":""1152921504606846976"",""day"":""1970-01-01""}","{""k"":1}",x\n[],,{},x\n',
  );
});

test("Feather of version 1 is told, with what to do", async () => {
  await expect(readRows(new TextEncoder().encode("FEA1....FEA1"))).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("version 2") as string,
  });
});

// By Polars 0.25.2: ids 1 to 3, and a text of 200 characters twice.
const POLARS = {
  LZ4: "H4sIAAAAAAACA3MMCvIPN2Rg+A8EKxgYGFiA+BOQLQJmMwJJLgZuBg4gycLwAyjOAxThAEKQLBOQNIHqOQCUkwHSAmB5BgZGCQYw+AMUZ2FgAatJziypBIm9AYpZAGkFIAYpY2QC6RMCqhFgEATr5gHr/QJU5wCSB5vJCZTnANuZmQJx7wuo3SDzwIqAAOJuZqAJwmAzeYC8e0B5Zog0wxQgBtmtA7UbAvgYZIDqeIA6RICijFA7YQDmB1YG3MAISjtAaQUo3QClraD0ASitj6QX5CdmNPNgfJg7YG5lUfKVCHFYJwxkKjECZYWY2BkmwFWnOtVNA9Ges2S0UM1jRNUP5Db8Vlhm+RfsViiNDxig6pcGMiefABJOqUV5QMM5gPEuw8DOxBAAVvWSc8IEEF13hesrRN8ERhT9oGQSD9KrwMrwvyQAzIo4YtAGUtIbW/UBw35QfDMgxbcDNB5FoGI8wLgWAKcQHrBfd0D1fUAPACgYRGn5MpByBGdDALs3oB+NAwAA",
  ZSTD: "H4sIAAAAAAACA81TPUsDQRB9m7uEiy4S4yEWEdKI6VSwiN1Ff4AhjZYHmiKNhdjYWSqCWNhZC/6BgGXKWNuLpYWFiIX4gb6dm5NLIKKdc+y+3XnzZuZ27xqt1vrGEvBJuwTgczxxHcracB7DOALOPl7ot/QEfByb47ysmh65CrEkPGBmIPZOvw9fYrY6e/vO90BfnVjlcGEm53RlxpQwKWor2mfGRY6XnEXygdTsbCf93mttl0+CaEnfHjNMSU7L3S15L6FxxuFq17R2YhOoMM5SEdJrtKazV2oNCsiTz2O0zSlGimXFA8V5xZ7ibEbr3skbypfu0z7SXmvdhQ9sXgCxoc77zhDfmdj80J8Z0BeBN/zJFgf0XaDZ5261vbuDvo8Vr350fr1WOBmpPzVZfZsLp60aHDaPp39R3903Mvcd6T2G6rM88ZJ8IVbe9Up1j8MHoPaPvuUbQkN+wy9z/vwijQMAAA==",
};

test.each(Object.entries(POLARS))("a table that is compressed with %s is read", async (_, packed) => {
  const bern = `"${"Bern ".repeat(40)}"`;
  const bytes = new Uint8Array(gunzipSync(Buffer.from(packed, "base64")));
  expect(await readRows(bytes)).toBe(`id,city\n1,${bern}\n2,${bern}\n3,\n`);
  await expect(readAll(convertArrow(bytes, { form: "rows", maxBytes: 100 }))).rejects.toMatchObject({
    code: "E_TOO_LARGE",
  });
});

// By lz4 1.9.4 with -9 -B4 -BD: blocks of 64 KB that reach into those before them.
const LINKED =
  "H4sIAAAAAAACA2NR8pVwcDggw8TA8FEsJzMvVcFAIT9NIVGhJLWiRKEkI7FEIbNYISc/L10hNS+/ND2DS5VB3lCVQVDeCEQYgwgTEGEKIsxAhDmIsAARlr6MQvzFjML8JYxC8oalIKIMRJSDiAoQUQkiqkBENYioARJGYOIDkzA/goeXMEYQuSwQXcZ4CRM04hUrRJcJdoKXP4n9/0gF9QHgqOdiZGAYycEABS8CwNkhgoEGoXEtAJy9gEYzAAD4QbPPlQMAAA==";
const LINES = Array.from({ length: 4000 }, (_, at) => `line ${at % 50} of a text that is long enough\n`).join("");

describe("a frame of LZ4", () => {
  const frame = new Uint8Array(gunzipSync(Buffer.from(LINKED, "base64")));

  test("has blocks that reach into those before them", () => {
    expect(new TextDecoder().decode(decodeLz4Frame(frame, LINES.length))).toBe(LINES);
  });

  test("of another length than is said, or that is damaged anywhere, is told", () => {
    for (const size of [0, LINES.length - 1, LINES.length + 1]) {
      expect(() => decodeLz4Frame(frame, size)).toThrow(expect.objectContaining({ code: "E_DOCUMENT" }));
    }
    for (let at = 0; at < frame.length; at += 5) {
      expect(() => decodeLz4Frame(frame.subarray(0, at), LINES.length)).toThrow(
        expect.objectContaining({ code: "E_DOCUMENT" }),
      );
    }
  });
});
