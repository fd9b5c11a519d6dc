/** What a model is told of long texts: what they say last, what they are, and what stands in them. */
import { createHash } from "node:crypto";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";
import { base64 } from "./samples.js";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `row ${id}`, amount: (id * 37) % 1000 }));

/** What the result of one text is told as, and all of its text for a planner. */
async function tell(text: string): Promise<{ readonly words: string; readonly observation: string }> {
  const sluice = await createSluice({ store: "memory" });
  const document = { content: [{ type: "text", text }] };
  const { value } = await sluice.transform(document, { dialect: "mcp", namespace: "t" });
  const { content } = value as { content: readonly { readonly text: string }[] };
  expect(await sluice.restore(value)).toEqual(document);
  const { text: observation } = await sluice.transform(document, { namespace: "t" });
  return { words: content.map((block) => block.text).join("\n"), observation };
}

/** A resource whose bytes are JSON, which is stored whole. */
async function tellFile(json: string): Promise<string> {
  const sluice = await createSluice({ store: "memory" });
  const resource = { uri: "file:///page.json", mimeType: "application/json", blob: base64(Buffer.from(json)) };
  const { value } = await sluice.transform({ content: [{ type: "resource", resource }] }, { dialect: "mcp" });
  return JSON.stringify(value);
}

describe("what is said last", () => {
  test("of a page of HTML is in sight, where a table stands before it", async () => {
    const cells = rows.map(({ id, name }) => `<tr><th>${id}</th><td>${name}</td></tr>`).join("\n");
    const notice = `<p>This sheet has more ranges.</p>\n<code>{ "range": "A220:B438" }</code>\n`;
    const { words, observation } = await tell(
      `<h2>Sheet</h2>\n<table>\n${cells}\n</table>\n<h2>Notice</h2>\n${notice}`,
    );
    expect(words).toContain("This sheet has more ranges.");
    expect(words).toContain("A220:B438");
    expect(observation).toContain("A220:B438");
  });

  test.each([
    [
      "a table of Markdown",
      `| id | name |\n|---|---|\n${rows.map(({ id, name }) => `| ${id} | ${name} |`).join("\n")}\n`,
    ],
    ["lines of JSON", rows.map((row) => `${JSON.stringify(row)}\n`).join("")],
    ["CSV", `id,name\n${rows.map(({ id, name }) => `${id},${name}\n`).join("")}`],
    ["words", rows.map(({ name }) => `Words about ${name} and more.\n`).join("")],
  ])("behind %s is in sight", async (_, text) => {
    for (const last of ['{"next_cursor":"tok_8f31c2","has_more":true}', "Showing 400 of 48,211: ask for page 2."]) {
      const { words, observation } = await tell(`${text}${last}\n`);
      expect(words).toContain(last);
      expect(observation).toContain(JSON.stringify(last).slice(1, -1));
    }
  });

  test("of JSON are the values of its short members, whatever its size", async () => {
    const page = {
      items: rows,
      pageInfo: { hasNextPage: true, endCursor: "Y3Vyc29yOjQwMA_b2Zmc2V0OjQwMCwic29ydCI6Im" },
    };
    for (const length of [1, 200]) {
      const lists = Array.from({ length }, () => rows);
      const told = await tellFile(JSON.stringify({ ...page, lists, total: 48_211, "next~page": "x".repeat(600) }));
      expect(told).toContain("/pageInfo/hasNextPage: true");
      expect(told).toContain(`/pageInfo/endCursor: \\"${page.pageInfo.endCursor}\\"`);
      expect(told).toContain("/total: 48211");
      expect(told).toContain("/next~0page: 602 B");
    }
  });

  test.each([
    [
      "the page of a query to GraphQL",
      { data: { repository: { issues: { nodes: rows, pageInfo: { endCursor: "Y3Vyc29y" } } } } },
      "/data/repository/issues/pageInfo/endCursor",
    ],
    ["an error in a list of errors", { rows, errors: [{ message: "no such shard" }] }, "no such shard"],
    ["a page in a list", [{ rows, nextPageToken: "tok_8f31" }], "tok_8f31"],
    ["the last of many elements", [...rows, { _meta: { next_cursor: "tok_8f31" } }], "tok_8f31"],
    ["the last of many lines", [...rows.map(({ name }) => name), "ERROR: disk full"], "ERROR: disk full"],
    [
      "the end of a long text",
      { stdout: "it goes on\n".repeat(800), stderr: `${"warn\n".repeat(400)}fatal: it broke`, code: 1 },
      "fatal: it broke",
    ],
  ])("of JSON is %s", async (_, value, last) => {
    const { words, observation } = await tell(JSON.stringify(value));
    expect(words).toContain(last);
    expect(observation).toContain(last);
  });

  test("of a page of HTML is a comment, too", async () => {
    const { words } = await tell(
      `<h1>News</h1>${"<p>words</p>\n".repeat(1000)}<!-- truncated: next page at /p/2 -->\n`,
    );
    expect(words).toContain("> words\n>  truncated: next page at /p/2");
  });
});

describe("what was cut for the model", () => {
  test.each(["", "...(truncated)", "... [truncated, 3421 chars more]"])(
    "is JSON with %j behind it, and says so",
    async (mark) => {
      const { words } = await tell(`${JSON.stringify({ rows }).slice(0, -20)}${mark}`);
      expect(words).toContain(", cut off. Stored");
      expect(words).toContain(": object {rows: array of 399 {id: integer, name: string, amount: integer}}");
    },
  );

  test("does not run into the reference to it", async () => {
    const json = JSON.stringify({ items: rows.map((row) => ({ ...row, more: row.name })) });
    const cut = json.slice(0, json.lastIndexOf(":") + 1);
    for (const text of [JSON.stringify({ result: `${cut}...[truncated]` }), `Result:\n${cut}... truncated`]) {
      expect((await tell(text)).words).toMatch(/artifact:\/\/[^\s"]+&size=[0-9]+ [. ]/);
    }
    const picture = Buffer.concat([PNG.subarray(0, 40), Buffer.alloc(12_000, 7)]).toString("base64");
    const { words } = await tell(
      JSON.stringify({ shot: `data:image/png;base64,${picture.slice(0, 12_001)}... <snip>` }),
    );
    expect(words).toContain("PNG image without its end");
    expect(words).toMatch(/size=[0-9]+ \S?\.\.\. <snip>/);
  });

  test("is a picture without its last part", async () => {
    const whole = Buffer.concat([PNG.subarray(0, -12), Buffer.alloc(9000), PNG.subarray(-12)]);
    expect((await tell(`data:image/png;base64,${base64(whole)}`)).words).not.toContain("without its end");
    expect((await tell(`data:image/png;base64,${base64(whole.subarray(0, -12))}`)).words).toContain(
      "PNG image, 1 × 1, 8.8 KB, without its end",
    );
  });
});

describe("a name", () => {
  test("is spelled as it is, so that it can be asked for", async () => {
    const text = `_id,created_at,user_name\n${rows.map(({ id }) => `${id},2026-01-01,u_${id}\n`).join("")}`;
    expect((await tell(text.repeat(2))).words).toContain('"_id", "created_at", "user_name"');
  });
});

describe("a table among words", () => {
  const many = Array.from({ length: 900 }, (_, id) => ({ id, name: `row ${id}`, amount: (id * 37) % 1000 }));

  const lines = (mark: string): string =>
    ["id,name,amount", ...many.map(({ id, name, amount }) => `${id},${name},${amount}`)]
      .join("\n")
      .replaceAll(",", mark);

  test.each([
    ["a title", `Sales 2026\n${lines(",")}\n`, "CSV", ", 900 rows, 1 line above, 3 columns"],
    ["a heading", `# Sales\n\n${lines(";")}\n`, "CSV", ", 900 rows, 2 lines above, 3 columns"],
    ["a sentence", `Query OK, 900 rows:\n${lines("\t")}\n`, "TSV", ", 900 rows, 1 line above, 3 columns"],
    [
      "a fence",
      `Here it is:\n\n\`\`\`csv\n${lines(",")}\n\`\`\`\n\nAsk for page 2.\n`,
      "CSV",
      "```\n\nAsk for page 2.\n\n[sluice] CSV, 13.8 KB, 900 rows, 3 columns",
    ],
    [
      "nothing, above a comment",
      `${lines(",")}\n# truncated at 400 of 48211 rows\n`,
      "CSV",
      ", 900 rows, 1 line below",
    ],
    [
      "nothing, above a sentence",
      `${lines(",")}\n\nShowing 400 of 48,211 rows. Go on.`,
      "CSV",
      ", 900 rows, 1 line below",
    ],
  ])("below %s is told without the words", async (_, text, kind, facts) => {
    const { words } = await tell(text);
    expect(words).toContain(`[sluice] ${kind}, `);
    expect(words).toContain(facts);
    expect(words).toContain('(from the file): "id", "name", "amount"');
  });

  test("is none where rows differ in length", async () => {
    const ragged = many.map(({ id, name }) => `${id},${name}${",x".repeat(id < 3 ? 1 + id : 6)}`).join("\n");
    expect((await tell(ragged)).words).not.toContain("CSV");
    const prose = many.map(({ name }) => `Some words, about ${name}, and more.`).join("\n");
    expect((await tell(`Title\n${prose}`)).words).not.toContain("CSV");
  });

  test("of lines of JSON is told as such, and so are notices behind them", async () => {
    const text = many.map((row) => `${JSON.stringify(row)}\n`).join("");
    const { words } = await tell(`Found 400 records:\n${text}\n[truncated: 400 of 9000 records]\nAsk for page 2.\n`);
    expect(words).toContain(", 900 lines of {id: integer, name: string, amount: integer}, 1 line above, 3 lines below");
    expect(words).toContain("[truncated: 400 of 9000 records]\n> Ask for page 2.");
    const broken = many.map(({ id }) => `{"id":${id}}${id > 2 ? " x" : ""}\n`).join("");
    expect((await tell(broken)).words).toContain("[sluice] text, ");
  });

  test("of HTML is told with its rows", async () => {
    const cells = many.map(({ id, name }) => `<tr><td>${id}</td><td>${name}</td></tr>`).join("\n");
    expect((await tell(`<h2>Sheet</h2>\n<table>\n${cells}\n</table>\n`)).words).toMatch(
      /^\[sluice\] HTML, [^,]*, 903 lines, 900 table rows\./,
    );
  });
});

/** Lines made of their number, enough of them to be stored. */
const list = (line: (at: number) => string): string => Array.from({ length: 1100 }, (_, at) => line(at)).join("\n");

describe("lines with as many commas each", () => {
  test.each<[string, (at: number) => string]>([
    ["a log of Python", (at) => `2026-03-01 10:00:${10 + (at % 50)},${100 + at} INFO module: did thing ${at}`],
    ["places in brackets", (at) => `src/a${at}.ts(${at},${at % 30}): error TS2345: Argument is not assignable.`],
    ["JSON behind a time", (at) => `2026-03-01T10:00:00Z {"level":"info","message":"request ${at}","ms":${at}}`],
    ["JSON behind a name", (at) => `app-1  | {"level":30,"time":${at},"ms":${at * 2}}`],
    ["settings", (at) => `com.example.key${at}=value,${at},b`],
  ])("are no table where they are %s", async (_, line) => {
    expect((await tell(list(line))).words).not.toMatch(/\[sluice\] [CT]SV/);
  });

  test.each([
    ["quoted JSON", `id,payload,n\n${list((at) => `${at},"{""a"":${at},""b"":[1,2]}",x`)}`, '"id", "payload", "n"'],
    ["JSON between tabs", `id\tpayload\n${list((at) => `${at}\t{"a": ${at}, "b": "x (y"}`)}`, '"id", "payload"'],
    ["addresses", `id,street,city\n${list((at) => `${at},${100 + at} Main Street,Oslo`)}`, '"id", "street", "city"'],
    ["years", `country,2019,2020,2021\n${list((at) => `C${at},${at},${at * 2},${at * 9}`)}`, '"2019", "2020", "2021"'],
    ["years, the last first", `country,2021,2020\n${list((at) => `C${at},${at},${at * 9}`)}`, '"2021", "2020"'],
    ["dates", `metric,2026-01-01,2026-01-02\n${list((at) => `m${at},${at},${at * 2}`)}`, '"2026-01-01"'],
    ["numbers", `id,2nd name,3d\n${list((at) => `${at},name ${at},0.5`)}`, '"id", "2nd name", "3d"'],
  ])("are a table with %s in it", async (_, text, columns) => {
    const { words } = await tell(`${text}\n`);
    expect(words).toMatch(/^\[sluice\] [CT]SV, [^,]*, 1,100 rows, /);
    expect(words).toContain(columns);
  });

  test.each<[string, (at: number) => string]>([
    ["numbers", (at) => `${at},name ${at},${at * 2}`],
    ["times", (at) => `2026-03-01;INFO;request ${at};done`],
    ["signs that stand below again", (at) => `${at % 3 === 0 ? "M" : "A"}\tsrc/file ${at}.ts`],
    ["sizes", (at) => `${at}.0K\t./path/to/dir number ${at}`],
  ])("have no header where the first one has %s as the others do", async (_, line) => {
    expect((await tell(list(line))).words).toMatch(
      /^\[sluice\] [CT]SV, [^,]*, 1,100 rows without a header, \d columns\./,
    );
  });

  test.each<[string, string, (at: number) => string]>([
    [
      "an address has a name above it",
      ", 1,099 rows, 3 columns",
      (at) => (at === 0 ? "id,mail,team" : `a${at % 7},u@x.com,b`),
    ],
    [
      "an address is in the first, too",
      ", 1,100 rows without a header",
      (at) => `user ${"abc"[at % 3]},u${at}@x.com,a team`,
    ],
  ])("have a header or none where %s", async (_, facts, line) => {
    const lines = list((at) => (at === 0 ? line(0) : line(at + 3)));
    expect((await tell(lines)).words).toContain(facts);
  });

  test("are the rows of two tables, of which the first is counted", async () => {
    const table = `id,name,amount\n${list((at) => `${at},name ${at},${at * 2}`)}\n`;
    const both = [`# A\n${table}\n# B\n${table}`, `${table}\n\nkey,value\n${list((at) => `k${at},${at}`)}\n`];
    expect((await tell(both[0] as string)).words).toContain(
      ", 1,100 rows, 1 line above, another table from line 1105, 3 columns",
    );
    expect((await tell(both[1] as string)).words).toContain(", 1,100 rows, another table from line 1104, 3 columns");
    const sheets = [1, 2, 3, 4].map((at) => `=== Sheet: Q${at} ===\n${table}\n`).join("");
    expect((await tell(sheets)).words).toContain(
      ", 1,100 rows, 1 line above, more tables from lines 1105, 2208, 3311, 3 columns",
    );
  });

  test("are one table across empty lines, and where a line is none of its rows", async () => {
    const row = (at: number): string => `${at},name ${at},${at * 2}`;
    expect((await tell(`id,name,amount\n${list((at) => `${row(at)}\n`)}`)).words).toContain(", 1,100 rows, 3 columns");
    const broken = list((at) => (at === 350 ? "ERROR: connection lost, retrying" : row(at)));
    expect((await tell(`id,name,amount\n${broken}\n`)).words).toContain(
      ", 1,100 rows, 1 of another width, at line 352, 3 columns",
    );
  });

  test.each(['{"next_cursor":"abc","truncated":true}', "共 48,211 行，显示 700 行", "Total: 48,211 rows"])(
    "are above the notice %s, which is no row",
    async (notice) => {
      for (const columns of ["", ",city"]) {
        const lines = list((at) => `${at},用户${at}${columns}`);
        expect((await tell(`编号,姓名${columns}\n${lines}\n${notice}`)).words).toContain(
          ", 1,100 rows, 1 line below, ",
        );
      }
    },
  );
});

test("of embeddings a preview shows the first numbers, and of short lists all", async () => {
  const texts = rows.slice(0, 40).map(({ id, name }) => {
    const tags = Array.from({ length: 12 }, (_, tag) => `t${tag}`);
    return { id, tags, name, embedding: Array.from({ length: 384 }, (_, at) => Math.sin(id + at) / 3) };
  });
  const { words } = await tell(JSON.stringify(texts));
  expect(words).toMatch(
    /\n> \[\{"id":0,"tags":\["t0",[^…]*"t11"\],"name":"row 0","embedding":\[(?:[-0-9.e]+,){3}… 384 numbers\]\},/,
  );
});

describe("a column of embeddings", () => {
  const cells = rows.slice(0, 40).map(({ id, name }) => {
    const embedding = JSON.stringify(Array.from({ length: 384 }, (_, at) => Math.sin(id + at) / 3));
    return { id, name, embedding, score: id / 7 };
  });
  const first = /\[(?:[-0-9.e]+,){3}… 384 numbers\]/g;

  test.each([
    ["CSV", ",", '"'],
    ["TSV", "\t", ""],
  ])("is told as that of %s, and shown by its first numbers", async (kind, mark, quote) => {
    const lines = cells.map(({ id, name, embedding, score }) =>
      [id, name, `${quote}${embedding}${quote}`, score].join(mark),
    );
    const { words } = await tell(`${["id", "name", "embedding", "score"].join(mark)}\n${lines.join("\n")}\n`);
    expect(words).toMatch(new RegExp(`^\\[sluice\\] ${kind}, [^,]*, 40 rows, 4 columns`));
    expect(words.match(first)?.length).toBeGreaterThan(3);
  });

  test("is shown so as strings of JSON, and in a table of Markdown", async () => {
    expect((await tell(JSON.stringify(cells))).words.match(first)?.length).toBeGreaterThan(2);
    const table = cells.map(({ id, embedding }) => `| ${id} | ${embedding} |\n`).join("");
    expect((await tell(`| id | embedding |\n|---|---|\n${table}`)).words.match(first)?.length).toBeGreaterThan(3);
  });
});

describe("what programs print", () => {
  test("is told as what it is, with colours as without", async () => {
    const hits = Array.from({ length: 279 }, (_, at) => `src/m4.ts:${at + 1}:const x${at} = f(a,b); // handler\n`);
    expect((await tell(hits.join(""))).words).toContain('279 hits in 1 file (from the file): "src/m4.ts"');
    const coloured = hits.map((hit) =>
      hit.replace("src/m4.ts", "\u001b[35m$&\u001b[0m").replace("handler", "\u001b[1m\u001b[31m$&\u001b[0m"),
    );
    const { words, observation } = await tell(coloured.join(""));
    expect(words).toContain('279 hits in 1 file (from the file): "src/m4.ts"');
    expect(words).toContain("> src/m4.ts:1:const x0 = f(a,b); // handler");
    expect(observation).not.toContain("u001b");
  });

  test("of git is a diff by its files", async () => {
    const lines = Array.from(
      { length: 120 },
      (_, at) => `-export const a${at} = ${at};\n+export const a${at} = ${2 * at};\n`,
    );
    const file = (name: string): string =>
      `diff --git a/${name} b/${name}\nindex ddbdb6d..ad338f0 100644\n--- a/${name}\n+++ b/${name}\n@@ -1,30 +1,30 @@\n${lines.join("")}`;
    const { words } = await tell(["src/m0.ts", "src/m1.ts", "src/m2.ts"].map(file).join(""));
    expect(words).toContain("[sluice] diff, ");
    expect(words).toContain('3 files, +360 −360, names (from the file): "src/m0.ts" +120 −120, "src/m1.ts" +120 −120');
  });
});

describe("lines that look like those of another program", () => {
  const hash = (at: number, length: number): string =>
    createHash("sha256").update(String(at)).digest("hex").slice(0, length);

  test.each<[string, (at: number) => string]>([
    ["sums of files", (at) => `${hash(at, 32)}  file${at}.js`],
    ["sums of files, with one space", (at) => `${hash(at, 40)} file${at}.js`],
    ["containers", (at) => `${hash(at, 12)}   nginx:${at}   "nginx -g daemon"   Up   web${at}`],
    ["blame", (at) => `${hash(at, 9)} (Ann Example 2026-11-21 02:39:20 +0000 ${at}) const a = ${at};`],
    ["a dump", (at) => `${(at * 16).toString(16).padStart(8, "0")} 89 50 4e 47 0d 0a 1a 0a  |.PNG....|`],
  ])("are no log of git: %s", async (_, line) => {
    expect((await tell(list(line))).words).not.toContain("git log");
  });

  test("are a log of git with short hashes, and with branches drawn beside whole ones", async () => {
    expect((await tell(list((at) => `${hash(at, 8 + (at % 2))} Merge part ${at} of it`))).words).toContain(
      "[sluice] git log, ",
    );
    expect((await tell(list((at) => `* | ${hash(at, 40)} wip${at % 3 === 0 ? "" : " more"}`))).words).toContain(
      "1,100 commits",
    );
  });

  test.each<[string, (at: number) => string]>([
    ["names of tests", (at) => `tests/test_a${at % 9}.py::TestX::test_${at} PASSED [${at % 100}%]`],
    ["counts", (at) => `src/json/file${at}.ts:${at}`],
    ["hosts", (at) => `node${at % 5}.example.com:8080: status ok, latency ${at}ms`],
  ])("are no hits of grep: %s", async (_, line) => {
    expect((await tell(list(line))).words).not.toContain("grep output");
  });

  test("are hits in as many files as there are, in whatever order", async () => {
    const { words } = await tell(list((at) => `src/f${at % 4}.ts:${at}:const x${at} = f(a, b);`));
    expect(words).toContain(
      '1,100 hits in 4 files (from the file): "src/f0.ts", "src/f1.ts", "src/f2.ts", "src/f3.ts"',
    );
    const many = Array.from({ length: 1500 }, (_, at) => `src/f${at}.ts:${at}:const x = 1;\n`).join("");
    expect((await tell(many)).words).toContain("1,500 hits in at least 1,000 files");
  });

  test.each<[string, (at: number) => string, string]>([
    ["gcc", (at) => `src/f${at % 4}.c:${at}:5: error: unknown type`, "1,100 messages, 1,100 errors in 4 files"],
    ["tsc", (at) => `src/f${at % 4}.ts(${at},5): error TS2345: No.`, "1,100 messages, 1,100 errors in 4 files"],
    ["mypy", (at) => `app/f${at % 4}.py:${at}: note: by mypy`, "1,100 messages in 4 files"],
    ["pylint", (at) => `app/f${at % 4}.py:${at}:0: C0116: Missing`, "1,100 messages in 4 files"],
    [
      "msbuild",
      (at) => `C:\\s\\f${at % 4}.cs(${at},5): warning CS8618: X`,
      "1,100 messages, 1,100 warnings in 4 files",
    ],
    ["eslint", (at) => `/s/f${at % 4}.js: line ${at}, col 0, Error - no.`, "1,100 messages, 1,100 errors in 4 files"],
    ["javac", (at) => `/s/F${at % 4}.java:${at}: error: no symbol\n  x = y;\n  ^`, "1,100 errors in 4 files"],
  ])("are messages of %s", async (_, line, facts) => {
    const { words } = await tell(`${list(line)}\nDone.\n`);
    expect(words).toContain("[sluice] compiler messages, ");
    expect(words).toContain(facts);
  });
});

describe("a page or a table that is drawn", () => {
  const html = list((at) => `<tr><td>${at}</td><td>v${at}</td></tr>`);

  test.each([
    [
      "the header of an answer",
      `URL: https://e.com\nStatus: 200\n\n<!doctype html><title>T</title><table>${html}</table>`,
    ],
    ["a fence", `Result:\n\`\`\`html\n<table>${html}</table>\n\`\`\`\nPage 1 of 9\n`],
  ])("is told behind %s", async (_, text) => {
    expect((await tell(text)).words).toMatch(/^\[sluice\] HTML, [^,]*, 1,10\d lines, 1,100 table rows/m);
  });

  test("is told with the number of its tables", async () => {
    expect((await tell(`<table>${html}</table>\n<table><tr><td>1</td></tr></table>`)).words).toContain(
      "1,101 table rows in 2 tables",
    );
  });

  test("is XML without a prolog where one element is all of it", async () => {
    const elements = list((at) => `<ns:Row id="${at}">v ${at}</ns:Row>`);
    expect((await tell(`<ns:Root xmlns:ns="urn:x">${elements}</ns:Root>\n`)).words).toContain("[sluice] XML, ");
    expect((await tell(`<div>${elements}</div>`)).words).not.toContain("XML");
    expect((await tell(elements)).words).not.toContain("XML");
  });

  test.each([
    [
      "Markdown table",
      (at: number) => `| ${at} | a \\| b |`,
      "| id | name |\n|---:|:-----|\n",
      "\n\nTotal: 9,120 rows\n",
    ],
    ["table drawn in text", (at: number) => ` ${at} | name`, " id | name \n----+------\n", "\n(1100 rows)\n"],
    ["table drawn in text", (at: number) => `| ${at} | n |`, "+--+--+\n| id | name |\n+--+--+\n", "\n+--+--+\n"],
    ["table drawn in text", (at: number) => `│ ${at} │ n │`, "┌──┬──┐\n│ id │ name │\n├──┼──┤\n", "\n└──┴──┘\n"],
  ])("is a %s with its rows", async (kind, line, above, below) => {
    const { words } = await tell(`${above}${list(line)}${below}`);
    expect(words).toContain(`[sluice] ${kind}, `);
    expect(words).toContain(', 1,100 rows, columns (from the file): "id", "name"');
  });
});

test("YAML is told by its documents or items, and a listing with its links", async () => {
  expect((await tell(list((at) => `---\nkind: Pod\nmetadata:\n  name: app-${at}`))).words).toContain("1,100 documents");
  expect((await tell(list((at) => `- name: row ${at}\n  tags:\n    - a`))).words).toContain("1,100 items");
  const files = list((at) => `lrwxrwxrwx  1 root root  1 Aug 18  2021 X${at} -> .`);
  expect((await tell(`total 8\ndrwxr-xr-x  2 root root  1 Aug 18  2021 .\n${files}`)).words).toContain("1,100 entries");
});

describe("a text in an encoding", () => {
  test("that nothing announces is told as base64 of it", async () => {
    const log = Buffer.from("line of a log, done in 12 ms\n".repeat(420));
    expect((await tell(base64(log))).words).toContain("[sluice] base64 of text, 11.9 KB, 420 lines");
  });

  test("that is a file within another text is named in that text's sentence", async () => {
    const words = "A line of words about the harbour and the weather today.\n".repeat(120);
    const png = Buffer.concat([PNG, Buffer.alloc(900, 7)]);
    const told = (await tell(`# Report\n\n${words}\n![plan](data:image/png;base64,${base64(png)})\n\n${words}`)).words;
    expect(told).toMatch(
      /^\[sluice\] Markdown, .*, with files inside: PNG image, 970 B \(artifact:\/\/t_[0-9a-f]{12}\)/,
    );
  });

  test("in UTF-16 is told as that, with its first and last lines", async () => {
    const text = rows.map(({ id, name }) => `${id}\t${name}\n`).join("");
    for (const mimeType of ["text/csv", "text/plain", undefined]) {
      const blob = base64(Buffer.from(`\ufeff${text}`, "utf16le"));
      const sluice = await createSluice({ store: "memory" });
      const document = { content: [{ type: "resource", resource: { uri: "file:///x.csv", mimeType, blob } }] };
      const { value } = await sluice.transform(document, { dialect: "mcp", namespace: "t" });
      const { content } = value as { content: readonly { readonly text: string }[] };
      expect(content[0]?.text).toMatch(/^\[sluice\] UTF-16 text, /);
      expect(content[0]?.text).toContain("> 0\trow 0\n");
      expect(content[0]?.text).toContain("> 399\trow 399");
      expect(await sluice.restore(value)).toEqual(document);
    }
  });

  test.each(["Ao... <truncated>", "…[truncated 20000 chars] and words", "Ao…", "... "])(
    "that is long and cut by %j is no picture, and its reference does not run into the rest",
    async (cut) => {
      const data = base64(Buffer.concat([PNG, Buffer.alloc(12_000, 7)])).slice(0, 12_000);
      const text = `- GET data:image/png;base64,${data}${cut}\n- GET /favicon.ico [404]`;
      for (const each of [text, JSON.stringify({ requests: [{ url: text }] })]) {
        const { words, observation } = await tell(each);
        expect(words).toMatch(/artifact:\/\/t_[0-9a-f]+\?type=application\/octet-stream&size=[0-9]+ (?:Ao)?[….]/);
        expect(words).toContain("[sluice] PNG image without its end, which the tool left out, ");
        expect(observation).not.toContain("image/png");
      }
    },
  );

  test.each(["...", "… [200]", "... <truncated> [200]", " [truncated] x"])(
    "that is cut by %j stays as it is",
    async (cut) => {
      const data = base64(Buffer.concat([PNG, Buffer.alloc(300, 7)])).slice(0, 201);
      const text = `## Network requests\nreqid=3 GET data:image/png;base64,${data}${cut}\nreqid=4 GET /favicon.ico [404]`;
      expect((await tell(text)).words).toBe(text);
    },
  );
});

test("bytes that are the whole of structuredContent leave an object there, as clients require", async () => {
  const sluice = await createSluice({ store: "memory" });
  const document = {
    content: [{ type: "text", text: "ok" }],
    structuredContent: Object.fromEntries(Buffer.concat([PNG, Buffer.alloc(9000)]).entries()),
  };
  const { value } = await sluice.transform(document, { dialect: "mcp", namespace: "t" });
  expect(CallToolResultSchema.parse(value).structuredContent).toEqual({
    artifact: expect.stringMatching(/^artifact:\/\//) as string,
  });
  expect(await sluice.restore(value)).toEqual(document);
});
