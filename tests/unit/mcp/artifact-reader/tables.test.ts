/** Tables and texts as programs write them: UTF-16, titles above a table, decimal commas, characters of two units, lines of any length. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { ArtifactEditor } from "../../../../web/src/mcp/artifact-editor/artifact-editor.js";
import { ArtifactReader } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { encodeText } from "../../../support/encode-text.js";
import { dataOf, wordsOf } from "./artifacts.js";

type Args = Readonly<Record<string, unknown>>;

/** What one call answers: what is of the file, and our own words. */
interface Reply {
  readonly data: string;
  readonly words: string;
}

async function open(content: string | Uint8Array, filename: string): Promise<(args: Args) => Promise<Reply>> {
  const store = new MemoryArtifactStore();
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const { id } = await store.putBytes(bytes, { filename, mime_type: null, namespace: "ns" });
  const source = new ArtifactSource(store, {}, "ns");
  return async (args) => {
    const uri = `artifact://${id}`;
    const result =
      "cells" in args
        ? await new ArtifactEditor(source, { tool: "edit", readTool: "read" }).call({ uri, ...args })
        : await new ArtifactReader(source).call({ uri, ...args });
    return { data: dataOf(result) ?? "", words: wordsOf(result) };
  };
}

/** A text in UTF-16 with its mark, as Excel's "Unicode text" is. */
function toUtf16(text: string, isBig = false): Uint8Array {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBig ? bytes.swap16() : bytes;
}

test("a table whose first column is called as a format's mark is a table", async () => {
  for (const name of ["PAR1", "FEA1", "ARROW1"]) {
    const ask = await open(`${name},b\n1,2\n3,4\n`, "x.csv");
    expect((await ask({ query: `SELECT SUM(${name}) AS n FROM rows` })).data).toBe("n\n4");
  }
});

test("a gzip of one table is asked and read as that table, and its bytes are its own", async () => {
  const table = `id,amount\n${Array.from({ length: 500 }, (_, id) => `${id},${id * 2}`).join("\n")}\n`;
  const ask = await open(gzipSync(table), "orders.csv.gz");
  expect((await ask({ query: "SELECT COUNT(*) AS n, SUM(amount) AS total FROM rows" })).data).toBe(
    "n,total\n500,249500",
  );
  expect((await ask({ rows: "2-3" })).data).toBe("id,amount\n1,2\n2,4");
  expect((await ask({ search: "499,998" })).data).toContain("499,998");
  expect((await ask({})).data).toMatch(/^id,amount\n0,0\n/);
  expect((await ask({ bytes: "0-1" })).data).toContain("1f 8b");
  expect((await ask({ entry: "orders.csv", lines: "1-1" })).data).toBe("id,amount");
});

describe("a table and a text in an old encoding", () => {
  const TABLE = "Straße;Größe;Preis\r\nMühlenweg;ä;1,50\r\nKönigsallee;öü;2,50\r\n";

  test("is read, searched and asked as what it says, and its bytes are its own", async () => {
    const ask = await open(encodeText(TABLE, "windows-1252"), "preise.csv");
    expect((await ask({ rows: "1-2" })).data).toBe("Straße;Größe;Preis\nMühlenweg;ä;1,50\nKönigsallee;öü;2,50");
    expect((await ask({ lines: "2-2" })).data).toBe("Mühlenweg;ä;1,50");
    expect((await ask({ search: "mühlen" })).data).toContain("Mühlenweg;ä;1,50");
    expect((await ask({ query: "SELECT Straße, SUM(Preis) AS p FROM rows GROUP BY 1 ORDER BY 1" })).data).toBe(
      "Straße,p\nKönigsallee,2.5\nMühlenweg,1.5",
    );
    expect((await ask({ bytes: "4-4" })).data).toContain("df");
    const info = await ask({});
    expect(info.data).toContain("Mühlenweg");
    expect(info.words).toContain("decoded from Windows-1252");
    expect((await ask({ cells: [{ row: 1, column: "Preis", value: "2" }] })).words).not.toContain("\u{fffd}");
  });

  test.each([
    ["shift_jis", "Shift-JIS", "品名,価格\nりんご,120\nみかん,80\n"],
    ["euc-jp", "EUC-JP", "品名,価格\nりんご,120\nみかん,80\n"],
    ["gb18030", "GB18030", "名称,价格\n苹果,120\n橘子,80\n"],
    ["windows-1251", "Windows-1251", "Название,Цена\nЯблоко,120\nМандарин,80\n"],
    ["utf-16le", "UTF-16", "Name,Größe\nÅsa,120\nJosé,80\n"],
    ["utf-32be", "UTF-32, big-endian", "Name,Größe\nÅsa,120\nJosé,80\n"],
  ])("%s", async (label, name, text) => {
    const [header = "", first = ""] = text.split("\n");
    const [column = "", number = ""] = header.split(",");
    const ask = await open(encodeText(text, label), "table.csv");
    expect((await ask({ rows: "1-2" })).data).toBe(text.trimEnd());
    expect((await ask({ search: first.split(",")[0] })).data).toContain(`row 1`);
    expect((await ask({ query: `SELECT ${column} FROM rows ORDER BY ${number} DESC LIMIT 1` })).data).toBe(
      `${column}\n${first.split(",")[0]}`,
    );
    expect((await ask({})).words).toContain(`decoded from ${name}`);
  });

  test("is told where the first letter beyond ASCII stands far behind the beginning", async () => {
    const ask = await open(encodeText(`${"a,1\n".repeat(20_000)}日本の値段です,2\n`, "shift_jis"), "far.csv");
    expect((await ask({ lines: "20001-20001" })).data).toBe("日本の値段です,2");
  });

  test("as a resource is text", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putBytes(encodeText("Größe: 5 m²\n", "windows-1252"), {
      filename: "a.txt",
      namespace: "ns",
    });
    const { contents } = await new ArtifactReader(new ArtifactSource(store, {}, "ns")).resource(`artifact://${id}`);
    expect(contents[0]).toMatchObject({ text: "Größe: 5 m²\n" });
  });

  test("of a page of HTML that does not name it", async () => {
    const ask = await open(encodeText("<p>Привет, мир. Как дела?</p>", "windows-1251"), "page.html");
    expect((await ask({ as: "text", lines: "1-3" })).data).toContain("Привет, мир");
    expect((await ask({ search: "привет" })).data).toContain("Привет");
  });
});

test("of a private key nothing is shown unless a call asks for it", async () => {
  const store = new MemoryArtifactStore();
  const key = `# made today\nAGE-SECRET-KEY-1SECRET\n${"# padding\n".repeat(900)}`;
  const ref = { filename: "key.txt", mime_type: "text/plain", namespace: "ns" };
  const { id } = await store.putBytes(new TextEncoder().encode(key), {
    ...ref,
    source: { description: "private key, 8.8 KB" },
  });
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "ns"));
  const told = await reader.call({ uri: `artifact://${id}` });
  expect(JSON.stringify(told)).not.toContain("SECRET");
  expect(wordsOf(told)).toContain('lines "1-50"');
  expect(dataOf(await reader.call({ uri: `artifact://${id}`, lines: "2-2" }))).toContain("SECRET");
});

test("of a row that is longer than an answer the beginning is shown, and said so", async () => {
  const ask = await open(`id,note\n1,"${"words, ".repeat(20_000)}"\n`, "notes.csv");
  const { data, words } = await ask({ query: "SELECT id, note FROM rows" });
  expect(data).toMatch(/^id,note\n1,"words, words, .*…$/);
  expect(words).toContain("1 row below the header, of which the beginning is shown. ");
  expect(words).toContain("All are artifact://");
});

describe.each([
  ["little", false],
  ["big", true],
])("UTF-16, %s end first", (_, isBig) => {
  const text = `Ort\tBetrag\r\nZürich 😀\t1\r\nOslo\t2\r\n${"x\t3\r\n".repeat(3000)}`;

  test("is read, searched and asked as any text", async () => {
    const ask = await open(toUtf16(text, isBig), "export.tsv");
    expect((await ask({})).data).toContain("Zürich 😀\t1");
    expect((await ask({ rows: "1-2" })).data).toBe("Ort\tBetrag\r\nZürich 😀\t1\nOslo\t2".replace("\r", ""));
    expect((await ask({ search: "zürich" })).data).toContain("row 1, byte 12: Zürich 😀\t1");
    expect((await ask({ query: "SELECT Ort, Betrag FROM rows WHERE Betrag = 2" })).data).toBe("Ort,Betrag\nOslo,2");
  });

  test("has its own bytes", async () => {
    const ask = await open(toUtf16(text, isBig), "export.tsv");
    expect((await ask({ bytes: "0-3" })).data).toContain(isBig ? "fe ff 00 4f" : "ff fe 4f 00");
  });

  test("that ends in half a character is read to its end", async () => {
    const bytes = toUtf16("a\nb 😀", isBig);
    const ask = await open(bytes.subarray(0, bytes.length - 3), "cut.txt");
    expect((await ask({ lines: "1-2" })).data).toBe("a\nb \ufffd");
  });
});

describe("colours of a terminal", () => {
  const hits = Array.from(
    { length: 90 },
    (_, at) =>
      `\u001b[0m\u001b[35msrc/m4.ts\u001b[0m:\u001b[32m${at + 1}\u001b[0m:const hand\u001b[1m\u001b[31mler\u001b[0m_${at};\n`,
  );

  test("are neither searched nor shown, and stay in the bytes", async () => {
    const ask = await open(hits.join(""), "hits.txt");
    expect((await ask({ search: "src/m4.ts:7:const handler_6" })).data).toBe("line 7: src/m4.ts:7:const handler_6;");
    expect((await ask({ lines: "2-3" })).data).toBe("src/m4.ts:2:const handler_1;\nsrc/m4.ts:3:const handler_2;");
    expect((await ask({})).data).not.toContain("\u001b");
    expect((await ask({ search: "m4.ts" })).words).toContain("Read around a place with lines.");
    expect((await ask({ bytes: "0-3" })).data).toBe("\u001b[0m");
  });

  test("that begin late, and links and titles, are taken out as well", async () => {
    const text = `${"plain line\n".repeat(2000)}\u001b]8;;https://example.com\u001b\\docs\u001b]8;;\u0007 \u001b(B\u001b[31mfail\u001b[0med\u001b`;
    expect((await (await open(text, "build.log"))({ lines: "2001" })).data).toBe("docs failed");
  });

  test("are taken out wherever the pieces of a long text end", async () => {
    const text = `${"\u001b[1;38;5;196mx\u001b[0m".repeat(60_000)}\n\u001b[32mlast\u001b[0m`;
    const ask = await open(text, "long.log");
    expect((await ask({ lines: "2" })).data).toBe("last");
    expect((await ask({ search: "xx\u001b" })).words).toContain("not found");
  });

  test("of JSON leave JSON", async () => {
    const text = `\u001b[1;39m[\n  \u001b[1;39m{\u001b[34;1m"id"\u001b[0m: \u001b[0;39m7\u001b[1;39m}\u001b[0m\n]\u001b[0m\n`;
    expect((await (await open(text, "jq.txt"))({ pointer: "/0/id" })).data).toBe("7");
  });
});

describe("a title above a table", () => {
  const TITLED = "Regional sales 2026\n\nRegion,Sales\nNorth,10\nSouth,20\n";

  test("is no row of it, and where to find it is told", async () => {
    const ask = await open(TITLED, "sales.csv");
    const rows = await ask({ rows: "1-5" });
    expect(rows.data).toBe("Region,Sales\nNorth,10\nSouth,20");
    expect(rows.words).toContain('The table begins at line 3: lines "1-2" tells what stands above it.');
    const sum = await ask({ query: "SELECT SUM(Sales) AS total FROM rows WHERE Region <> 'x'" });
    expect(sum.data).toBe("total\n30");
    expect((await ask({ search: "South" })).data).toContain("row 2, byte 43: South,20");
    expect((await ask({ lines: "1-1" })).data).toBe("Regional sales 2026");
  });

  test("stays where it is when a cell is edited", async () => {
    const ask = await open(TITLED, "sales.csv");
    const { words } = await ask({ cells: [{ row: 2, column: "Sales", value: 21 }] });
    expect(words).toContain("1 cell");
  });

  test.each([
    ["padded to the width of the table", 'Report,,\n"Q3, final",,\n,,\na,b,c\n1,2,3\n4,,6\n7,8,9\n', "a,b,c\n1,2,3"],
    ["right above three columns", "Report\na,b,c\n1,2,3\n4,5,6\n7,8,9\n", "a,b,c\n1,2,3"],
    ["with semicolons below it", "Bericht, Teil 1\n\na;b\n1;2\n3;4\n", "Bericht, Teil 1\na;b"],
  ])("%s", async (_, text, expected) => {
    const ask = await open(text, "report.csv");
    expect((await ask({ rows: "1-1" })).data).toBe(expected);
  });

  test.each([
    ["one column", "name\nAda\nBob, junior\nEve\n"],
    ["an unnamed first column", ",0\n0,5\n1,6\n2,7\n"],
    ["rows of different lengths", "a\nb,c\nd\ne,f,g\nh\n"],
    ["a plain table", "a,b\n1,2\n3,4\n"],
  ])("is not seen in %s", async (_, text) => {
    const { data, words } = await (await open(text, "t.csv"))({ rows: "1-1" });
    expect(data).toBe(text.split("\n").slice(0, 2).join("\n"));
    expect(words).not.toContain("The table begins");
  });
});

describe("decimal commas", () => {
  test("are numbers where cells are not separated by commas, and the guess is told", async () => {
    const ask = await open("Ort;Betrag\nA;50,5\nB;1.999,5\nC;-1499,5\nD;7\nE;\n", "b.csv");
    const { data, words } = await ask({ query: "SELECT MAX(Betrag) AS m, SUM(Betrag) AS s FROM rows" });
    expect(data).toBe("m,s\n1999.5,557.5");
    expect(words).toContain('A comma in "Betrag" is read as the decimal point.');
    expect((await ask({ query: "SELECT Ort FROM rows LIMIT 1" })).words).not.toContain("decimal point");
  });

  test.each([
    ["thousands as well", "k;v\na;1,234\nb;12,345\n", "1,234"],
    ["lists", "k;v\na;1,2,3\nb;4,5\n", "1,2,3"],
    ["texts", "k;v\na;1,5\nb;about 2,5\n", "1,5"],
  ])("that may be %s stay text", async (_, text, first) => {
    const ask = await open(text, "v.csv");
    expect((await ask({ query: "SELECT v FROM rows LIMIT 1" })).data).toBe(`v\n"${first}"`.replaceAll('"', ""));
  });
});

test.each([
  ["LENGTH(e)", "3"],
  ["SUBSTR(e, 2, 1)", "b"],
  ["SUBSTR(e, 3)", "😁"],
  ["SUBSTR(e, 1, 1)", "😀"],
  ["SUBSTR(e, -2)", "b😁"],
  ["INSTR(e, '😁')", "3"],
  ["REPLACE(e, '😀', 'x')", "xb😁"],
  ["UPPER(e)", "😀B😁"],
])("%s counts characters, not units of UTF-16", async (expression, expected) => {
  const ask = await open(JSON.stringify([{ e: "😀b😁" }]), "e.json");
  expect((await ask({ query: `SELECT ${expression} AS x FROM rows` })).data).toBe(`x\n${expected}`);
});

describe("hits on one long line", () => {
  const cells = Array.from({ length: 330 }, (_, at) => `<td>${at}</td><td>Oslo ${at}</td>`);
  const page = `<html><body><table><tr>${cells.join("")}</tr></table></body></html>`;

  test("are told with each other, without repeating what is around them", async () => {
    const { data, words } = await (await open(page, "p.html"))({ search: "Oslo" });
    const lines = data.split("\n");
    expect(lines[0]).toMatch(/^line 1, byte \d+ and \d places behind it: .*Oslo 0<.*Oslo 1</);
    const [, shown = ""] = /the first (\d+) of 330 places/.exec(words) ?? [];
    expect(Number(shown)).toBeGreaterThan(150);
    const seen = data.match(/Oslo \d+(?=<)/g) ?? [];
    expect(new Set(seen).size).toBe(seen.length);
    // Behind the last one there is room for a few more.
    const named = data.match(/Oslo/g)?.length ?? 0;
    expect(named - Number(shown)).toBeGreaterThanOrEqual(0);
    expect(named - Number(shown)).toBeLessThan(6);
  });

  test("of JSON keep their pointers", async () => {
    const rows = JSON.stringify(Array.from({ length: 3 }, (_, id) => ({ id, city: "Oslo" })));
    const { data } = await (await open(rows, "r.json"))({ search: "Oslo" });
    expect(data.split("\n").map((line) => line.split(",")[0])).toEqual(["/0/city", "/1/city", "/2/city"]);
  });
});

describe("a query over several artifacts", () => {
  const CITIES = JSON.stringify({
    data: [
      { city: "Oslo", country: "NO" },
      { city: "Bern", country: "CH" },
    ],
  });
  const ORDERS = "Orders of May\nid;city;amount\n1;Oslo;1,50\n2;Bern;2,25\n3;Oslo;4,00\n";

  /** A store with both, and another scope's. */
  async function openBoth(): Promise<{
    ask: (query: string) => Promise<Reply>;
    put: (text: string, filename: string) => Promise<string>;
    cities: string;
    foreign: string;
  }> {
    const store = new MemoryArtifactStore();
    const namespace = "geo-data";
    const put = async (text: string, filename: string, user = "me"): Promise<string> =>
      (
        await store.putBytes(new TextEncoder().encode(text), {
          filename,
          mime_type: null,
          namespace,
          scope: { user_id: user },
        })
      ).id;
    const orders = await put(ORDERS, "orders.csv");
    const cities = await put(CITIES, "cities.json");
    const foreign = await put(CITIES.replace("NO", "SE"), "cities.json", "other");
    const reader = new ArtifactReader(new ArtifactSource(store, { user_id: "me" }, namespace));
    const ask = async (query: string): Promise<Reply> => {
      const result = await reader.call({ uri: `artifact://${orders}`, query });
      return { data: dataOf(result) ?? "", words: wordsOf(result) };
    };
    return { ask, put, cities, foreign };
  }

  test("names others by their URIs, and by their ids, and says what was guessed of which", async () => {
    const { ask, cities } = await openBoth();
    const uri = `artifact://${cities}`;
    for (const name of [`"${uri}"`, `'${uri}'`, `"${uri}?type=application/json"`, `"${cities}"`]) {
      const { data, words } = await ask(
        `SELECT c.country, SUM(amount) AS total FROM rows JOIN ${name} c USING (city) GROUP BY 1 ORDER BY 1`,
      );
      expect(data).toBe("country,total\nCH,2.25\nNO,5.5");
      expect(words).toContain(`${uri}: The rows are those of the array at /data.`);
      expect(words).toContain("Guessed: header 2");
    }
  });

  test("says which artifact is not there, be it another owner's or none", async () => {
    const { ask, foreign } = await openBoth();
    for (const id of [foreign, "geo-data_000000000000"]) {
      const { words } = await ask(`SELECT * FROM rows JOIN "artifact://${id}" c USING (city)`);
      expect(words).toContain(`There is no artifact ${id} here`);
    }
    expect((await ask("SELECT * FROM rows JOIN cities")).words).toContain('There is no table "cities"');
    expect((await ask(`SELECT * FROM artifact://${foreign}`)).words).toContain(
      'the URI of another one stands in double quotes: JOIN "artifact://…".',
    );
  });

  test("says of which artifact it is that it is empty, or no table", async () => {
    const { ask, put } = await openBoth();
    for (const [content, what] of [
      ["", "It is empty, and has no rows."],
      ["\u{0}\u{1}\u{2}", "The artifact is not text"],
    ] as const) {
      const id = await put(content, "other.bin");
      expect((await ask(`SELECT * FROM rows JOIN "${id}"`)).words).toContain(`Of artifact://${id}: ${what}`);
    }
  });

  test("names the columns of all that it is about, where one is missing", async () => {
    const { ask, cities } = await openBoth();
    const { words } = await ask(`SELECT land FROM rows JOIN "artifact://${cities}" c USING (city)`);
    expect(words).toContain('There is no column "land". The columns are "id", "city", "amount", "country".');
  });
});
