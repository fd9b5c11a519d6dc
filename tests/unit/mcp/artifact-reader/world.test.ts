/** Tables as they are in the world, through the tool: what is guessed is right, or said; and can be said otherwise. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { workbook, zipped } from "../../../support/documents.js";
import { dataOf, wordsOf } from "./artifacts.js";

type Ask = (args: Readonly<Record<string, unknown>>) => Promise<{ data: string; words: string; isError: boolean }>;

async function open(content: string | Uint8Array, filename: string | null): Promise<Ask> {
  const store = new MemoryArtifactStore();
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const { id } = await store.putBytes(bytes, { filename, mime_type: null, namespace: "ns" });
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "ns"));
  return async (args) => {
    const result = await reader.call({ uri: `artifact://${id}`, ...args });
    return { data: dataOf(result) ?? "", words: wordsOf(result), isError: result.isError === true };
  };
}

const latin = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));

test("sep=; is no header, and says what separates cells", async () => {
  const ask = await open("sep=;\r\nOrt;Betrag\r\nBerlin;1.499,50\r\nRom;999,5\r\n", "umsatz.csv");
  expect((await ask({ query: "SELECT MAX(Betrag) AS m, SUM(Betrag) AS s FROM rows" })).data).toBe("m,s\n1499.5,2499");
  expect((await ask({ rows: "1" })).data).toBe("Ort;Betrag\nBerlin;1.499,50");
  expect((await ask({ search: "Rom" })).data).toContain("row 2, ");
});

test("decimal commas in quotes are numbers, thousands are told, and lists of numbers stay text", async () => {
  const ask = await open('a,b,c,d\n"1.499,50","12,50","1,234","1,2"\n"999,5","3,75","5,678.5","3,4,5"\n', "quoted.csv");
  const { data, words } = await ask({ query: "SELECT SUM(a) AS a, SUM(b) AS b, MAX(c) AS c, MAX(d) AS d FROM rows" });
  expect(data).toBe('a,b,c,d\n2499,16.25,"5,678.5","3,4,5"');
  expect(words).toContain('A comma in "a", "b" is read as the decimal point.');
  expect(words).toContain('"c" is text, such as "1,234", which SQLite adds and compares as text: to_number("c")');
});

describe.each([
  ["Windows-1252", latin, 'encoding "Windows-1252"'],
  ["UTF-16 without a mark", (text: string) => Uint8Array.from(Buffer.from(text, "utf16le")), ""],
])("a table in %s", (_, encode, guessed) => {
  test("is read, searched and asked as any other", async () => {
    const ask = await open(encode(`Ort;Preis\r\nZürich;3,5\r\n${"x;1\r\n".repeat(9000)}Köln;5\r\n`), "orte.csv");
    expect((await ask({ query: "SELECT Preis FROM rows WHERE Ort IN ('Zürich', 'Köln')" })).data).toBe("Preis\n3.5\n5");
    expect((await ask({ rows: "1" })).data).toBe("Ort;Preis\nZürich;3,5");
    expect((await ask({ lines: "2" })).data).toBe("Zürich;3,5");
    const { data, words } = await ask({ search: "köln" });
    expect(data).toContain("Köln;5");
    expect(words).toContain(guessed);
  });
});

test("other bytes are not taken for Windows-1252", async () => {
  const words = async (bytes: Uint8Array): Promise<string> => (await (await open(bytes, null))({ lines: "1" })).words;
  expect(await words(Uint8Array.from({ length: 4000 }, (_, at) => (at * 197 + ((at * at) >> 3)) & 0xff))).toContain(
    "not text",
  );
  const mostlyUtf8 = new TextEncoder().encode("Zürich, Köln und München, größer\n".repeat(20));
  const [broken] = [mostlyUtf8.slice()];
  broken.set([0xfc], 40);
  expect(await words(broken)).not.toContain("Windows-1252");
});

test("header, delimiter and encoding can be said otherwise", async () => {
  const ask = await open("Report for Q1, all regions,,\nid,name,total\n1,a,3\n2,b,4\n", "report.csv");
  expect((await ask({ query: "SELECT SUM(total) AS s FROM rows", header: 2 })).data).toBe("s\n7");
  expect((await ask({ rows: "1", header: 2 })).data).toBe("id,name,total\n1,a,3");
  expect((await ask({ rows: "1", header: 99 })).words).toContain("no line 99");
  const piped = await open("a:b\n1:2\n", "colons.txt");
  expect((await piped({ query: "SELECT b FROM rows", delimiter: ":" })).data).toBe("b\n2");
  const tabs = await open("a\tb,c\n1\t2,3\n", "t.csv");
  expect((await tabs({ query: 'SELECT "b,c" FROM rows', delimiter: "tab" })).data).toBe('"b,c"\n2.3');
  const japanese = await open(
    Uint8Array.from([0x93, 0xfa, 0x96, 0x7b, 0x2c, 0x61, 0x0a, 0x31, 0x2c, 0x32, 0x0a]),
    "j.csv",
  );
  expect((await japanese({ query: "SELECT 日本 FROM rows", encoding: "shift_jis" })).data).toBe("日本\n1");
  for (const [name, value] of [
    ["header", -1],
    ["header", "x"],
    ["delimiter", ";;"],
    ["encoding", "klingon"],
  ] as const) {
    const { isError, words } = await ask({ rows: "1", [name]: value });
    expect([isError, words]).toEqual([true, expect.stringContaining(name)]);
  }
});

describe("JSON in a string of JSON", () => {
  const pods = {
    pods: [
      { name: "p1", on: "n1" },
      { name: "p2", on: "n2" },
    ],
    nodes: [{ n: 1 }],
  };
  test.each([
    ["in a member", { result: JSON.stringify(pods) }],
    ["twice", { result: JSON.stringify({ body: JSON.stringify(pods, null, 2) }) }],
    ["as the document", JSON.stringify(pods)],
  ])("%s is asked and read as what it is", async (_, document) => {
    const ask = await open(JSON.stringify(document), "answer.json");
    expect((await ask({ query: "SELECT name FROM pods WHERE \"on\" = 'n2'" })).data).toBe("name\np2");
    expect((await ask({ query: "SELECT COUNT(*) AS n FROM rows" })).data).toBe("n\n2");
    expect((await ask({ rows: "1-2" })).words).toContain('whose arrays are at "/pods", "/nodes"');
    const row: unknown = JSON.parse((await ask({ rows: "2", pointer: "/pods" })).data);
    expect(row).toEqual({ name: "p2", on: "n2" });
    expect((await ask({ query: "SELECT n FROM rows", pointer: "/nodes" })).data).toBe("n\n1");
  });

  test("is reached by pointers that go on in it", async () => {
    const ask = await open(JSON.stringify({ result: JSON.stringify(pods), id: 7 }), "answer.json");
    expect((await ask({ pointer: "/result/pods/0/name" })).data).toBe('"p1"');
    expect((await ask({ query: "SELECT name FROM rows LIMIT 1", pointer: "/result/pods" })).data).toBe("name\np1");
    expect((await ask({ pointer: "/id" })).data).toBe("7");
    expect((await ask({ pointer: "/result/nothing" })).isError).toBe(true);
  });
});

test("rows with a pointer are the elements there, and rows of an object name its arrays", async () => {
  const ask = await open(JSON.stringify({ meta: { ids: [7, 8] }, pods: [{ a: 1 }, { a: 2 }, { a: 3 }] }), "x.json");
  const rows = await ask({ rows: "2-3", pointer: "/pods" });
  expect(rows.data).toBe('{"a":2}\n{"a":3}');
  expect(rows.words).toContain("rows 2-3 of 3, where row 1 is pointer /pods/0");
  expect((await ask({ rows: "1", pointer: "/meta/ids" })).data).toBe("7");
  expect((await ask({ rows: "1" })).words).toContain('whose arrays are at "/pods", "/meta/ids": give one as pointer');
  expect((await ask({ rows: "1", pointer: "/meta" })).words).toContain("point to an array");
  expect((await ask({ rows: "1", pointer: "/nope" })).isError).toBe(true);
  const csv = await open("a,b\n1,2\n", "x.csv");
  expect((await csv({ rows: "1", pointer: "/a" })).words).toContain("not JSON");
});

test("FROM counts no other table than it names", async () => {
  const ask = await open(JSON.stringify({ items: [{ a: 1 }] }), "answer.json");
  expect((await ask({ query: "SELECT COUNT(*) FROM pods" })).words).toContain(
    'There is no table "pods". The tables are "rows", "items"',
  );
  const csv = await open("a,b\n1,2\n", "Orders.csv");
  expect((await csv({ query: "SELECT COUNT(*) FROM pods" })).isError).toBe(true);
  for (const name of ["orders", '"orders.csv"', "data", "rows"])
    expect((await csv({ query: `SELECT b FROM ${name}` })).data).toBe("b\n2");
});

test("averages and sums that are rounded do not look exact, and a sum that is too large says how to go on", async () => {
  const ask = await open("x\n1234567890123456789\n1234567890123456791\n", "x.csv");
  expect((await ask({ query: "SELECT AVG(x) AS a, SUM(x) AS s, MAX(x) AS m FROM rows" })).data).toBe(
    "a,s,m\n1.2345678901234568e+18,2469135780246913580,1234567890123456791",
  );
  const large = await open("x\n9223372036854775807\n9223372036854775807\n", "x.csv");
  expect((await large({ query: "SELECT SUM(x) FROM rows" })).words).toContain("TOTAL(a) adds numbers that are rounded");
  expect((await large({ query: "SELECT TOTAL(x) AS t FROM rows" })).data).toBe("t\n1.8446744073709552e+19");
});

test("the header of a sheet is found below titles, and can be said otherwise", async () => {
  const cell = (at: string, value: string | number): string =>
    typeof value === "number"
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const rows: readonly (readonly (string | number)[])[] = [
    ["Sales 2024"],
    [],
    ["city", "items", "total"],
    ["Rome", 2, 10],
    ["Oslo", 3, 20],
    ["Bern", 4, 30],
  ];
  const content = rows
    .map(
      (cells, at) =>
        `<row r="${at + 1}">${cells.map((value, column) => cell(`${"ABC"[column]}${at + 1}`, value)).join("")}</row>`,
    )
    .join("");
  const ask = await open(await workbook([["Q1", content]]), "sales.xlsx");
  const { data, words } = await ask({ query: "SELECT SUM(total) AS s, COUNT(*) AS n FROM rows" });
  expect(data).toBe("s,n\n60,3");
  expect(words).toContain("Guessed: header 3, since titles stand above it");
  expect((await ask({ query: 'SELECT COUNT(*) AS n, MAX("2") AS m FROM Q1', header: 4 })).data).toBe("n,m\n2,4");
  expect((await ask({ query: "SELECT SUM(total) AS s FROM Q1" })).data).toBe("s\n60");
});

describe("rows of JSON that are arrays", () => {
  const cells = Array.from({ length: 50 }, (_, at) => [at, `n${at}`, at * 1.5]);

  test.each([
    ["pandas", { columns: ["id", "name", "amount"], index: cells.map((_, at) => at), data: cells }],
    [
      "a service with metadata first",
      {
        meta: { view: { columns: [{ name: "x" }], columns_names: [] } },
        headers: ["id", "name", "amount"],
        data: cells,
      },
    ],
  ])("of %s are found, and their columns named", async (_, document) => {
    const ask = await open(JSON.stringify(document), "x.json");
    const { data, words } = await ask({ query: "SELECT COUNT(*) AS n, SUM(column_3) AS s FROM rows" });
    expect(data).toBe("n,s\n50,1837.5");
    expect(words).toContain('column_1 is "id", column_2 is "name", column_3 is "amount"');
    expect((await ask({ query: "SELECT amount FROM rows" })).words).toContain('column_3 is "amount"');
  });

  test("with a row of names say that it is counted", async () => {
    const ask = await open(JSON.stringify([["id", "name", "amount"], ...cells]), "x.json");
    expect(await ask({ query: "SELECT COUNT(*) AS n FROM rows" })).toMatchObject({
      data: "n\n51",
      words: expect.stringContaining("Row 1 seems to name the columns, and is counted as a row") as string,
    });
  });
});

test("a schema in front of rows is not taken for them", async () => {
  const document = {
    schema: { fields: [{ name: "a" }, { name: "b" }] },
    rows: [{ f: [{ v: "1" }] }, { f: [] }, { f: [] }],
  };
  const ask = await open(JSON.stringify(document), "bq.json");
  expect((await ask({ query: "SELECT COUNT(*) AS n FROM rows" })).data).toBe("n\n3");
});

test("FROM names the array that stands in an object of that name, or deeper", async () => {
  const search = { took: 5, hits: { total: { value: 9 }, hits: [{ _id: "a" }, { _id: "b" }, { _id: "c" }] } };
  const answers = await open(JSON.stringify(search), "hits.json");
  expect((await answers({ query: "SELECT COUNT(*) AS n FROM hits" })).data).toBe("n\n3");
  const nodes = await open(
    JSON.stringify({ data: { repository: { edges: [{ node: 1 }, { node: 2 }] } } }),
    "graph.json",
  );
  expect((await nodes({ query: "SELECT COUNT(*) AS n FROM edges" })).data).toBe("n\n2");
  const both = await open(JSON.stringify({ order: { items: [{ a: 1 }] }, items: [{ a: 1 }, { a: 2 }] }), "both.json");
  expect((await both({ query: "SELECT COUNT(*) AS n FROM items" })).data).toBe("n\n2");
});

test("objects of objects are rows where they are alike, and not where they wrap others", async () => {
  const count = async (document: unknown, from = "rows"): Promise<string> => {
    const { data, words } = await (
      await open(JSON.stringify(document), "x.json")
    )({ query: `SELECT COUNT(*) AS n FROM ${from}` });
    return `${data.replace("n\n", "")} ${/The rows are .*?[.,]/.exec(words)?.[0] ?? ""}`.trim();
  };
  const items = [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }];
  expect(await count({ _embedded: { items }, _links: { self: {} }, page: { size: 4 } })).toBe(
    "4 The rows are those of the array at /_embedded/items.",
  );
  expect(await count({ data: { items }, extensions: { cost: 1 } })).toBe(
    "4 The rows are those of the array at /data/items.",
  );
  expect(await count({ ada: { a: 1 }, ben: { a: 2 } })).toBe("2 The rows are the members of the object,");
  const operation = { get: { parameters: [{ name: "id" }] } };
  const api = { openapi: "3.0.0", paths: { "/a": operation, "/b": operation, "/c": operation } };
  expect(await count(api)).toBe("3 The rows are the members of the object at /paths,");
  expect(await count(api, "paths")).toBe("3");
});

test("a path into an archive in an archive says what to take out first", async () => {
  const inner = await zipped({ "deep/a.csv": "n\n1\n" });
  const ask = await open(await zipped({ "inner.zip": inner, "b.txt": "x" }), "outer.zip");
  const { words } = await ask({ entry: "inner.zip/deep/a.csv", query: "SELECT n FROM rows" });
  expect(words).toContain('take "inner.zip" out first, and read its artifact with entry "deep/a.csv"');
  expect((await ask({ entry: "inner.zip", rows: "1" })).data).toContain("deep/a.csv");
});
