/** Tables and lines of JSON among words, tables in HTML, and text in UTF-16 without a mark: read as they were told. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { createSluice } from "../../../../web/src/index.js";
import { dataOf, wordsOf } from "./artifacts.js";

const rows = Array.from({ length: 900 }, (_, id) => ({ id, name: `row ${id}`, amount: id * 2 }));
const csv = ["id,name,amount", ...rows.map(({ id, name, amount }) => `${id},${name},${amount}`)].join("\n");
const html = rows.map(({ id, name, amount }) => `<tr><td>${id}<td>${name}<td>${amount}</tr>`).join("");

type Ask = (args: Readonly<Record<string, string>>) => Promise<{ readonly data: string; readonly words: string }>;

/** Sends a block through a gate, and reads what it stored. */
async function send(block: object): Promise<Ask> {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const { artifacts } = await sluice.transform({ content: [block] }, { dialect: "mcp", namespace: "t" });
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "t"), { sluice });
  return async (args) => {
    const result = await reader.call({ uri: `artifact://${artifacts[0]?.id}`, ...args });
    return { data: dataOf(result) ?? "", words: wordsOf(result) };
  };
}

const SUM = { query: "SELECT COUNT(*) AS n, MAX(id) AS last, SUM(amount) AS total FROM rows" };

const ABOVE = 'The table begins at line 2: lines "1-1" tells what stands above it.';

test.each([
  ["a title", `Sales 2026\n${csv}\n`, [ABOVE]],
  ["a sentence with a comma", `Query OK, 900 rows:\n${csv}`, [ABOVE]],
  [
    "nothing",
    `${csv}\n# truncated at 900 of 48211 rows\n`,
    ['The table ends before the end: bytes "-33" tells what stands below it.'],
  ],
])("CSV below %s is a table without the words, which are read as lines", async (_, text, notes) => {
  const ask = await send({ type: "text", text });
  expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
  const first = await ask({ rows: "1-2" });
  expect(first.data).toBe("id,name,amount\n0,row 0,0\n1,row 1,2");
  expect(first.words).toContain("rows 1-2 of 900");
  for (const note of notes) expect(first.words).toContain(note);
  expect((await ask({ rows: "900-" })).data).toBe("id,name,amount\n899,row 899,1798");
  expect((await ask({ lines: "1-1" })).data).toBe(text.split("\n")[0]);
});

test("rows without a header are counted as they were told, and their columns have numbers", async () => {
  const text = rows.map(({ id, name, amount }) => `${id},"${name}, new",${amount}\n`).join("");
  const ask = await send({ type: "text", text });
  const sum = await ask({
    query: "SELECT COUNT(*) AS n, MAX(c1) AS last, SUM(c3) AS total, MIN(c2) AS first FROM rows",
  });
  expect(sum.data).toBe('n,last,total,first\n900,899,809100,"row 0, new"');
  expect(sum.words).toContain("The table has no header: its columns are c1, c2, c3.");
  const first = await ask({ rows: "1-2" });
  expect(first.data).toBe('0,"row 0, new",0\n1,"row 1, new",2');
  expect(first.words).toContain("rows 1-2 of 900, of a table without a header");
  expect((await ask({ search: "row 899" })).data).toContain("row 900, ");
  expect((await ask({ query: "SELECT COUNT(*) AS n FROM rows", header: "1" })).data).toBe("n\n899");
  expect((await ask({ rows: "901" })).words).toContain('has 900 rows: ask for "1-900"');
});

test("a first row of words is a header until it is said otherwise", async () => {
  const word = (at: number): string =>
    at.toString(26).replace(/[0-9]/g, (digit) => "qrstuvwxyz"[Number(digit)] as string);
  const text = rows.map(({ id }) => `name${word(id)},city${word(id * 7)},team${word(id * 3)}\n`).join("");
  const ask = await send({ type: "text", text });
  const first = await ask({ rows: "1" });
  expect(first.data).toBe(text.split("\n", 2).join("\n"));
  expect(first.words).toContain("Guessed: header 1 (0 for none); give it as an argument to say otherwise.");
  const count = { query: "SELECT COUNT(*) AS n FROM rows" };
  expect((await ask(count)).data).toBe("n\n899");
  const all = await ask({ ...count, header: "0" });
  expect(all.data).toBe("n\n900");
  expect(all.words).toContain("The table has no header: its columns are c1, c2, c3.");
  expect((await ask({ rows: "900", header: "0" })).data).toBe(text.split("\n")[899]);
});

test("below the line that names the delimiter the header is that of the table", async () => {
  const ask = await send({ type: "text", text: `sep=;\n${csv.replaceAll(",", ";")}\n` });
  expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
  expect((await ask({ rows: "900" })).data).toBe("id;name;amount\n899;row 899;1798");
});

test("of several tables the first is read, and the one whose header is named", async () => {
  const other = rows.map(({ id }) => `k${id},${id}`).join("\n");
  const text = `=== A ===\n${csv}\n\n=== B ===\nkey,value\n${other}\n\n=== C ===\n${csv}\n`;
  const ask = await send({ type: "text", text });
  const sum = await ask(SUM);
  expect(sum.data).toBe("n,last,total\n900,899,809100");
  expect(sum.words).toContain("Other tables begin at lines 905, 1808: give that line as header to read it.");
  expect((await ask({ rows: "900-" })).data).toBe("id,name,amount\n899,row 899,1798");
  const second = await ask({ rows: "900-", header: "905" });
  expect(second.data).toBe("key,value\nk899,899");
  expect(second.words).toContain("Another table begins at line 1808");
  expect((await ask({ ...SUM, header: "1808" })).data).toBe("n,last,total\n900,899,809100");
});

test("a table of two columns between tabs is read below one line", async () => {
  const text = `Using a password can be insecure.\nid\tname\n${rows.map(({ id, name }) => `${id}\t${name}\n`).join("")}`;
  const ask = await send({ type: "text", text });
  expect((await ask({ query: "SELECT COUNT(*) AS n, MAX(id) AS last FROM rows" })).data).toBe("n,last\n900,899");
});

test("lines of JSON between words are rows", async () => {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const ask = await send({ type: "text", text: `Found 400 records:\n${lines}[truncated: 400 of 9000 records]\n` });
  expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
  expect((await ask({ rows: "900-" })).data).toBe(JSON.stringify(rows[899]));
});

test.each(["", "... [truncated]\n"])(
  "lines of JSON are rows where the last was cut, with %j behind it",
  async (mark) => {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const ask = await send({ type: "text", text: `${lines}{"id":900,"na${mark}` });
    expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
    expect((await ask({ rows: "900-" })).data).toBe(JSON.stringify(rows[899]));
  },
);

test("the longest table of HTML has rows, and its words are read with pages", async () => {
  const head = "<h2>Sheet</h2><table><tr><td>small</table><table><tr><th>id<th>name<th>amount</tr>";
  const ask = await send({ type: "text", text: `${head}${html}</table>\n<p>more ranges: A1001:D2000</p>` });
  expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
  const { data, words } = await ask({ rows: "2-3" });
  expect(data).toBe("id,name,amount\n1,row 1,2\n2,row 2,4");
  expect(words).toContain("These are the rows of table 2, the one of 2 that has the most rows");
});

test("cells of HTML that take several columns and rows are in their places", async () => {
  const head =
    '<table><tr><th>a<th>b<th>c<th>d</tr><tr><td rowspan=2>x<td colspan="2">y<br>z<td>1</tr><tr><td>2<td>3<td>4</tr>';
  const ask = await send({ type: "text", text: `${head}${"<tr><td>n<td>0<td>0<td>0</tr>".repeat(900)}</table>` });
  expect((await ask({ rows: "1-3" })).data).toBe("a,b,c,d\nx,y z,,1\nx,2,3,4\nn,0,0,0");
});

test("HTML without a table is asked as lines", async () => {
  const ask = await send({ type: "text", text: `<h2>Words</h2>\n${"<p>words of it</p>\n".repeat(600)}` });
  expect((await ask({ query: "SELECT COUNT(*) AS n FROM rows" })).data).toBe("n\n601");
  expect((await ask({ rows: "1-2" })).words).toContain("has no table with rows");
});

test.each(["utf16le", "swapped"])("UTF-16 without a mark is decoded, %s", async (order) => {
  const text = rows.map(({ id }) => `Zeile ${id} über Straßen, привет\n`).join("");
  const bytes = Buffer.from(text, "utf16le");
  const blob = (order === "swapped" ? bytes.swap16() : bytes).toString("base64");
  const ask = await send({ type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", blob } });
  expect((await ask({ lines: "2-2" })).data).toBe("Zeile 1 über Straßen, привет");
  expect((await ask({ search: "ПРИВЕТ" })).words).toContain("900");
});

const drawn = {
  Markdown: [
    "| id | name | amount |",
    "|---:|:-----|--------|",
    ...rows.map((row) => `| ${row.id} | ${row.name} | ${row.amount} |`),
  ],
  psql: [
    "  id |  name   | amount ",
    "-----+---------+--------",
    ...rows.map((row) => ` ${String(row.id).padStart(3)} | ${row.name.padEnd(7)} | ${String(row.amount).padStart(6)} `),
    "(900 rows)",
  ],
  "a box": [
    "+-----+---------+--------+",
    "| id  | name    | amount |",
    "+-----+---------+--------+",
    ...rows.map((row) => `| ${String(row.id).padEnd(3)} | ${row.name.padEnd(7)} | ${String(row.amount).padEnd(6)} |`),
    "+-----+---------+--------+",
    "900 rows in set (0.01 sec)",
  ],
  "a box of lines": [
    "┌─────┬─────────┬────────┐",
    "│ id  │ name    │ amount │",
    "├─────┼─────────┼────────┤",
    ...rows.map((row) => `│ ${row.id} │ ${row.name} │ ${row.amount} │`),
    "└─────┴─────────┴────────┘",
  ],
  "a box with rules between rows": [
    "+-----+---------+--------+",
    "| id  | name    | amount |",
    "+=====+=========+========+",
    ...rows.flatMap((row) => [
      `| ${row.id} | row     | ${row.amount} |`,
      `|     | ${row.id} |        |`,
      "+-----+---------+--------+",
    ]),
  ],
};

test.each(Object.entries(drawn))("a table in %s is read as rows, and its words as lines", async (_, table) => {
  const ask = await send({
    type: "text",
    text: `# Sales\n\nsmall | one\n---|---\n1 | 2\n\nFound these:\n\n${table.join("\n")}\n\nPage 1 of 3.\n`,
  });
  expect((await ask(SUM)).data).toBe("n,last,total\n900,899,809100");
  const { data, words } = await ask({ rows: "2-3" });
  expect(data).toBe("id,name,amount\n1,row 1,2\n2,row 2,4");
  expect(words).toContain("rows 2-3 of 900");
  expect(words).toContain("These are the rows of table 2, the one of 2 that has the most rows");
  expect((await ask({})).words).toContain('rows "1-20"');
  expect((await ask({ lines: "7-7" })).data).toBe("Found these:");
});

test("cells of a drawn table have line ends and borders in them", async () => {
  const filler = Array.from({ length: 400 }, (_, id) => `| ${id} | ${"x".repeat(20)} |`);
  const markdown = await send({
    type: "text",
    text: ["| a | b |", "|---|---|", "| 1 | x \\| y |", "| 2 |", ...filler].join("\n"),
  });
  expect((await markdown({ rows: "1-2" })).data).toBe("a,b\n1,x | y\n2,");

  const box = [
    "+---+------+",
    "| a | b    |",
    "+---+------+",
    "| 1 | x",
    "y    |",
    "| 2 | p | q |",
    "| 3 | a|bc |",
    ...filler,
  ];
  const mysql = await send({ type: "text", text: box.join("\n") });
  expect((await mysql({ rows: "1-3" })).data).toBe('a,b\n1,"x\ny"\n2,p | q\n3,a|bc');

  const psql = await send({
    type: "text",
    text: [
      " a |  b  ",
      "---+-----",
      " 1 | x  +",
      "   | y   ",
      " 2 | C++",
      ...filler.map((line) => line.slice(1, -1)),
    ].join("\n"),
  });
  expect((await psql({ rows: "1-2" })).data).toBe('a,b\n1,"x\ny"\n2,C++');
});

test("any number of drawn tables, and rules of any width, are read", async () => {
  const tables = "a|b\n-|--\n1|2\n\n".repeat(200_000);
  const many = await send({ type: "text", text: `${tables}x|y\n-|--\n3|4\n5|6\n` });
  const { data, words } = await many({ rows: "1-2" });
  expect(data).toBe("x,y\n3,4\n5,6");
  expect(words).toContain("table 200001, the one of 200001");

  const wide = `|a|b|\n|--${"+".repeat(500_000)}|\n${`|1|2${"|3".repeat(1000)}|\n`.repeat(300)}`;
  expect(
    (await (await send({ type: "text", text: wide }))({ query: "SELECT COUNT(*) AS n, MIN(a) AS a FROM rows" })).data,
  ).toBe("n,a\n300,1");
});

test("a text without a drawn table has no rows, and is asked as lines", async () => {
  const ask = await send({ type: "text", text: "a | b\nnot a rule\n\n---\n".repeat(600) });
  expect((await ask({ rows: "1-2" })).words).toContain("has no rows");
  expect((await ask({ query: "SELECT COUNT(*) AS n FROM rows" })).data).toBe("n\n2400");
});

test.each(["", "...(truncated)", " [truncated, 3421 chars more]"])(
  "JSON that ends early, with %j behind it, has its whole rows",
  async (mark) => {
    const json = JSON.stringify({ page: 2, rows }).slice(0, -40);
    const ask = await send({ type: "text", text: `${json}${mark}` });
    const last = rows.length - 2;
    const total = rows.slice(0, -1).reduce((sum, { amount }) => sum + amount, 0);
    expect((await ask(SUM)).data).toBe(`n,last,total\n899,${last},${total}`);
    expect((await ask(SUM)).words).toContain("The JSON is cut off");
    expect((await ask({ rows: "899-", pointer: "/rows" })).data).toBe(JSON.stringify(rows[last]));
    expect((await ask({ pointer: "/page" })).data).toBe("2");
  },
);
