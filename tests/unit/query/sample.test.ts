/** Texts that SQLite would add, compare or sort as something else: each is told, with what reads it, and that gives what a person reads. */
import { describe, expect, test } from "vitest";
import { answerOf, csvTable, jsonTable, ndjsonTable, rowsOf } from "./tables.js";

/** A table of two columns, whose second one has these cells. */
const column = (cells: readonly string[], delimiter = ";"): string =>
  ["k", ...cells.map((_, at) => `r${at}`)]
    .map((k, at) => `${k}${delimiter}${at === 0 ? "v" : `"${cells[at - 1]}"`}`)
    .join("\n");

const noteOf = async (sql: string, text: string): Promise<string> =>
  (await answerOf(sql, csvTable(text))).notes.join(" ");

describe("numbers that are text are told, and read", () => {
  test.each<[string, readonly string[], number]>([
    ["dollars", ["$1,234.50", "-$5.25", "$-1.00", "$0.75"], 1229],
    ["euros behind the number", ["1.234,50 €", "-5,25 €", "0,75 €"], 1230],
    ["a code of a currency", ["EUR 5.50", "EUR 1,000.25"], 1005.75],
    ["parentheses of accountants", ["(1,200.00)", "1,500.50"], 300.5],
    ["a minus behind the number", ["12.50-", "20.00"], 7.5],
    ["a plus", ["+12.5", "-2.5", "+1"], 11],
    ["thin spaces between thousands", ["1\u202f234,50", "2\u00a0000,00", "3 000,25"], 6234.75],
    ["apostrophes between thousands", ["1'234.50", "2’000.00"], 3234.5],
    ["points between thousands alone", ["1.234.000", "12.500"], 1_246_500],
    ["lakhs", ["₹12,34,567.50", "₹1,000.00"], 1_235_567.5],
    ["percent", ["12.5%", "3%"], 15.5],
    ["ranks", ["#1", "#12"], 13],
    ["one unit", ["5 kg", "1.5 kg"], 6.5],
    ["words for nothing among them", ["1.5", "NULL", "2.5", "n/a", "-", "\\N"], 4],
  ])("%s", async (_, cells, sum) => {
    const note = await noteOf("SELECT SUM(v) FROM rows", column(cells));
    const [, call] = /: (to_number\("v"(?:, ',')?\)) is the number/.exec(note) ?? [];
    expect(note).toContain('"v" is text, such as ');
    expect(await rowsOf(`SELECT SUM(${call}) FROM rows`, csvTable(column(cells)))).toEqual([[sum]]);
    expect(await noteOf(`SELECT SUM(${call}) FROM rows`, column(cells))).toBe("");
  });

  test.each<[string, readonly string[]]>([
    ["names", ["SKU-12", "A4", "K9"]],
    ["codes with leading zeros", ["007", "012"]],
    ["addresses", ["10.0.0.1", "192.168.100.101"]],
    ["sentences with a number", ["3 blind mice", "7 dwarfs at home", "x"]],
  ])("%s are none", async (_, cells) => {
    expect(await noteOf("SELECT MAX(v) FROM rows", column(cells))).toBe("");
  });

  test("several units are told, since no sum of them means anything", async () => {
    const note = await noteOf("SELECT SUM(v) FROM rows", column(["512 KB", "2 MB", "3 MB"]));
    expect(note).toContain('"v" is text with several units, such as "512 KB" and "2 MB"');
  });

  test("a point before three digits may be either, and the value stays as it is written", async () => {
    const text = "Ort;Zahl\nA;1.234\nB;12.500\n";
    const { rows, notes } = await answerOf("SELECT Ort, Zahl FROM rows ORDER BY Zahl", csvTable(text));
    expect(rows).toEqual([
      ["A", "1.234"],
      ["B", "12.500"],
    ]);
    expect(notes.join(" ")).toContain(`to_number("Zahl", ',') is the number if the point separates thousands`);
    expect((await rowsOf("SELECT SUM(x) FROM rows", csvTable("k;x\na;1.234\nb;0.500\n")))[0]).toEqual([1.734]);
  });

  test("texts behind the rows by which a column was told are counted, once however often they are read", async () => {
    const text = `id,v\n${Array.from({ length: 3000 }, (_, id) => `${id},${id < 2000 ? id : id % 2 === 0 ? "n/a" : id}`).join("\n")}\n`;
    const sql = "SELECT COUNT(*) FROM rows a JOIN rows b ON a.id = b.id WHERE a.v > 2990";
    expect(await noteOf("SELECT AVG(v) FROM rows WHERE v > 10", text)).toContain(
      '500 cells are text in "v", which has numbers, such as "n/a"',
    );
    expect(await noteOf(sql, text)).toContain("500 cells are text");
    expect(await noteOf("SELECT COUNT(id) FROM rows", text)).toBe("");
    expect((await rowsOf("SELECT MAX(to_number(v)) FROM rows", csvTable(text)))[0]).toEqual([2999]);
  });

  test("in members of JSON, too, at any depth", async () => {
    const orders = Array.from({ length: 20 }, (_, at) => ({
      id: at,
      price: `${at}.50`,
      lines: [{ cost: { amount: `${at * 10}.00` } }],
    }));
    const table = jsonTable(JSON.stringify(orders));
    expect((await answerOf("SELECT id FROM rows ORDER BY price DESC LIMIT 1", table)).notes.join()).toContain(
      'to_number("price") is the number',
    );
    const sql = "SELECT COUNT(*) FROM rows, json_each(lines) l WHERE l.value->>'$.cost.amount' > 50";
    expect((await answerOf(sql, table)).notes.join()).toContain("to_number(l.value->>'$.cost.amount') is the number");
    const mixed = ndjsonTable('{"ms":12}\n{"ms":"7"}\n{"ms":9}\n');
    expect((await answerOf("SELECT MAX(ms) FROM rows", mixed)).notes.join()).toContain('"ms" is in part text');
  });

  test("objects and arrays of JSON are no numbers, and their members are", async () => {
    const rows = Array.from({ length: 5 }, (_, at) => ({ total: { amount: at, note: "x".repeat(80) }, list: [at] }));
    const table = jsonTable(JSON.stringify(rows));
    const notes = async (sql: string): Promise<string> => (await answerOf(sql, table)).notes.join(" ");
    expect(await notes("SELECT COUNT(*) FROM rows WHERE total > 2")).toContain(`"total"->>'$."amount"' is a member`);
    expect(await notes("SELECT SUM(list) FROM rows")).toContain('"list"->>0 is its first element');
    expect(await answerOf(`SELECT COUNT(*) FROM rows WHERE "total"->>'$."amount"' > 2`, table)).toMatchObject({
      rows: [[2]],
      notes: [],
    });
  });

  test("whatever quotes a name is in", async () => {
    for (const name of ["v", '"v"', "`v`", "[v]", "r.v", 'r."v"'])
      expect(await noteOf(`SELECT SUM(${name}) FROM rows r`, column(["$1", "$2"]))).toContain("to_number");
  });

  test("a name that is long, or has a line of its own, is told on one line and in few characters", async () => {
    const table = (name: string): string => `k,"${name}"\nr0,"$1,234.50"\nr1,$2.00\n`;
    expect(await noteOf('SELECT SUM("v\n(USD)") FROM rows', table("v\n(USD)"))).toBe(
      '"v (USD)" is text, such as "$1,234.50", which SQLite adds and compares as text: to_number(…) is the number.',
    );
    const note = await noteOf("SELECT * FROM rows ORDER BY 2", table(`v${"x".repeat(70)}`));
    expect(note).toMatch(/^"vx{39}…" is text, .*: to_number\(…\) is the number\.$/);
  });

  test("what is only shown needs no word", async () => {
    expect(await noteOf("SELECT k, v FROM rows LIMIT 3", column(["$1", "$2"]))).toBe("");
  });
});

describe("dates that SQLite does not read are told, and read", () => {
  test.each<[string, readonly string[], string]>([
    ["months first", ["1/2/2025", "12/31/2024"], "2025-01-02"],
    ["days first", ["31/12/2024", "2/1/2025"], "2025-01-02"],
    ["points", ["31.12.2024", "02.01.2025"], "2025-01-02"],
    ["names of months", ["31 Dec 2024", "2 Jan 2025"], "2025-01-02"],
    ["the American way", ["Dec 31, 2024 10:00 PM", "January 2nd, 2025 3:05 AM"], "2025-01-02 03:05"],
    ["German months", ["31. März 2024", "2. Oktober 2024"], "2024-10-02"],
    ["mail", ["Tue, 31 Dec 2024 10:00:00 +0100", "Thu, 02 Jan 2025 10:00:00 GMT"], "2025-01-02 10:00:00Z"],
    ["Jira's zones", ["2024-12-31T09:30:00.000+0100", "2025-01-02T09:30:00.000+0100"], "2025-01-02 09:30:00.000+01:00"],
    ["web servers", ["31/Dec/2024:10:00:00 +0100", "02/Jan/2025:10:00:00 +0100"], "2025-01-02 10:00:00+01:00"],
  ])("%s", async (_, cells, latest) => {
    const note = await noteOf("SELECT MAX(v) FROM rows", column(cells));
    const [, call] = /: (to_date\("v"(?:, '\w+')?\)) is ISO 8601/.exec(note) ?? [];
    expect(await rowsOf(`SELECT MAX(${call}) FROM rows`, csvTable(column(cells)))).toEqual([[latest]]);
  });

  test("which comes first, the day or the month, is told to be unknown", async () => {
    expect(await noteOf("SELECT MAX(v) FROM rows", column(["1/2/2025", "3/4/2025"]))).toContain(
      "the first rows do not tell",
    );
    expect(
      await rowsOf("SELECT to_date(v), to_date(v, 'DD/MM/YYYY') FROM rows", csvTable(column(["1/2/2025"]))),
    ).toEqual([[null, "2025-02-01"]]);
  });

  test("offsets are told where they are taken off", async () => {
    const text = column(["2025-01-31T23:30:00-05:00", "2025-01-30T10:00:00-05:00"]);
    expect(await noteOf("SELECT strftime('%m', v), COUNT(*) FROM rows GROUP BY 1", text)).toContain("make UTC of them");
    expect(await noteOf("SELECT MAX(v) FROM rows", text)).toBe("");
  });

  test("numbers that are no time are told to be taken for days", async () => {
    expect(await noteOf("SELECT date(t) FROM rows", "id,t\n1,7\n")).toContain("take for a Julian day");
    expect(await noteOf("SELECT date(t) FROM rows", "id,t\n1,2460677\n")).toBe("");
  });

  test.each([
    ["date(t)", 1_735_689_600, `date("t", 'unixepoch')`],
    ["date(t, 'unixepoch')", 1_735_689_600_000, `date("t" / 1000, 'unixepoch')`],
    ["strftime('%Y-%m-%d', t)", 20_250_101, `to_date("t")`],
    ["date(t)", 45_658, `date(("t" - 25569) * 86400, 'unixepoch')`],
  ])("%s of %s", async (asked, t, right) => {
    const text = `id,t\n1,${t}\n`;
    expect(await noteOf(`SELECT ${asked} FROM rows`, text)).toContain(`: ${right} is the day`);
    expect(await answerOf(`SELECT ${right} FROM rows`, csvTable(text))).toMatchObject({
      rows: [["2025-01-01"]],
      notes: [],
    });
  });

  test.each([
    ["00:02:10", "; unixepoch('1970-01-01 ' || \"v\") is its seconds"],
    ["9:03", "as text."],
    ["1h 30m", "as text."],
  ])("%s is a length of time", async (time, words) => {
    const note = await noteOf("SELECT SUM(v) FROM rows", column([time, time]));
    expect(note).toContain(`"v" is text, such as "${time}", of which SQLite adds the first figures alone`);
    expect(note).toContain(words);
  });

  test("no day that there is not", async () => {
    expect(await rowsOf("SELECT to_date(v, 'dmy') FROM rows", csvTable(column(["31/02/2025", "29/02/2024"])))).toEqual([
      [null],
      ["2024-02-29"],
    ]);
  });
});

describe("what finds nothing is told", () => {
  const table = jsonTable(
    JSON.stringify([
      { state: "Done", at: { level: "ERROR" }, draft: true },
      { state: "To Do", at: { level: "INFO" }, draft: false },
    ]),
  );
  test.each([
    ["SELECT COUNT(*) FROM rows WHERE state = 'done'", 'Nothing was found; "state" is such as "Done", "To Do".'],
    ["SELECT COUNT(*) FROM rows WHERE draft = 'true'", 'Nothing was found; "draft" is such as 1, 0.'],
    ["SELECT state FROM rows WHERE at->>'lvl' = 'ERROR'", "at->>'lvl' is NULL in the first 2 rows"],
    ["SELECT at->>'$.levels' AS l, COUNT(*) FROM rows GROUP BY 1", '"l" is NULL in every row'],
    ["SELECT date(state) AS day FROM rows", '"day" is NULL in every row'],
  ])("%s", async (sql, note) => {
    expect((await answerOf(sql, table)).notes.join(" ")).toContain(note);
  });

  test("flags are compared as they are written", async () => {
    const text = "id,active\n1,TRUE\n2,FALSE\n";
    for (const condition of ["active", "active = 1", "active = 'true'", "NOT active"])
      expect(await noteOf(`SELECT COUNT(*) FROM rows WHERE ${condition}`, text)).toContain(
        `"active" is text, 'TRUE' or 'FALSE'`,
      );
    expect(await noteOf("SELECT COUNT(*) FROM rows WHERE active = 'TRUE'", text)).toBe("");
  });

  test("words that stand for no value are no NULL", async () => {
    const text = "id,owner,until\n1,ann,2025-01-01\n2,NULL,NULL\n3,NULL,NULL\n";
    expect(await noteOf("SELECT COUNT(owner) FROM rows", text)).toContain(`"owner" is "NULL" in 2 of the first 3 rows`);
    const note = await noteOf("SELECT COUNT(*) FROM rows WHERE until IS NULL", text);
    const [, call] = /: (NULLIF\(.*\))\./.exec(note) ?? [];
    expect(await rowsOf(`SELECT COUNT(*) FROM rows WHERE ${call} IS NULL`, csvTable(text))).toEqual([[2]]);
    expect(await noteOf("SELECT owner, COUNT(*) FROM rows GROUP BY owner", text)).toBe("");
  });

  test("letters that are not ASCII have no case", async () => {
    const text = "id,city\n1,Zürich\n2,ZÜRICH\n";
    for (const sql of ["SELECT COUNT(*) FROM rows WHERE city LIKE 'zürich'", "SELECT UPPER(city) AS u FROM rows"])
      expect(await noteOf(sql, text)).toContain('letters of "city" such as in "Zürich" have to be written as they are');
    expect(await noteOf("SELECT COUNT(*) FROM rows WHERE city LIKE 'z%'", text)).toBe("");
  });

  test("codes with leading zeros are compared as text", async () => {
    const text = "sku,qty\n000123,1\n000124,2\n";
    expect(await noteOf("SELECT qty FROM rows WHERE sku = 123", text)).toContain("compare it as in = '000123'");
    expect(await noteOf("SELECT qty FROM rows WHERE sku = '000123'", text)).toBe("");
  });
});

test.each([
  ["1-9", "SUM(v)"],
  ["9/10", "AVG(v)"],
  ["5 of 7 done", "AVG(v)"],
])("the first figures of %s are told to be all that %s takes", async (cell, call) => {
  expect(await noteOf(`SELECT ${call} FROM rows`, column([cell, cell]))).toContain(
    "of which SQLite adds the first figures alone",
  );
});

test("a quote that is never closed is told, whatever columns are read, and one that is closed at the end is not", async () => {
  const rows = Array.from({ length: 500 }, (_, id) => (id === 300 ? '300,"Smith' : `${id},n${id}`));
  const text = `id,name\n${rows.join("\n")}\n`;
  const { rows: counted, notes } = await answerOf("SELECT COUNT(*) FROM rows", csvTable(text));
  expect([counted, notes.join(" ")]).toEqual([[[301]], expect.stringContaining("A quote is never closed") as string]);
  expect(await noteOf("SELECT name, COUNT(*) FROM rows GROUP BY name", text)).toContain("never closed");
  for (const end of ['"a ""b"""', '"a\nb"', '"x"', 'a"b'])
    expect(await noteOf("SELECT COUNT(*) FROM rows", `id,name\n1,c\n2,${end}`)).toBe("");
});

test("a quotient of whole numbers is told to have no rest", async () => {
  const text = "n,m,x\n1,2,0.5\n4,2,1.5\n";
  const { rows, notes } = await answerOf("SELECT SUM(n) / COUNT(*) FROM rows", csvTable(text));
  expect([rows, notes.join(" ")]).toEqual([[[2]], expect.stringContaining("write 1.0 * a / b") as string]);
  for (const fraction of ["SUM(n) * 1.0 / COUNT(*)", "SUM(x) / COUNT(*)", "'a/b'", "AVG(n) / 2"])
    expect(await noteOf(`SELECT ${fraction} FROM rows`, text)).toBe("");
});

test("another artifact without quotes in FROM is told how it is named", async () => {
  await expect(answerOf("SELECT * FROM artifact://x_123", csvTable("a\n1\n"))).rejects.toThrow(
    'the URI of another one stands in double quotes: JOIN "artifact://…".',
  );
});

test("a column that is called as a word of SQL is told to need quotes", async () => {
  const table = csvTable("id,order,a.b\n1,2,3\n");
  await expect(answerOf("SELECT SUM(order) FROM rows", table)).rejects.toThrow(
    'The column "order" is a word of SQL: write it in double quotes.',
  );
  await expect(answerOf("SELECT x-y FROM rows", csvTable("x-y,z\n1,2\n"))).rejects.toThrow('There is a column "x-y"');
  await expect(answerOf("SELECT a.b FROM rows", table)).rejects.toThrow(
    'There is a column "a.b": write it in double quotes.',
  );
});
