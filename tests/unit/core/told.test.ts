/** What a model is told of long texts: what they say last, what they are, and what stands in them. */
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

  test.each(["...", "… [200]", "... <truncated> [200]", " [truncated] x"])(
    "that is cut by %j stays as it is",
    async (cut) => {
      const data = base64(Buffer.concat([PNG, Buffer.alloc(300, 7)])).slice(0, 201);
      const text = `## Network requests\nreqid=3 GET data:image/png;base64,${data}${cut}\nreqid=4 GET /favicon.ico [404]`;
      expect((await tell(text)).words).toBe(text);
    },
  );
});
