/** Values within a text: blocks, strings of JSON, fences and several values, each told and read by itself. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../web/src/mcp/artifact-reader/source.js";
import { createSluice } from "../../../web/src/index.js";
import { dataOf } from "../mcp/artifact-reader/artifacts.js";

const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `row ${id}`, amount: (id * 37) % 1000 }));
const json = JSON.stringify(rows);
const csv = ["code,city,amount", ...rows.map(({ id, amount }) => `C${id},"City of ${id}, new",${amount}`)].join("\n");
const log = rows.map(({ id }) => `10:00:${10 + (id % 50)} INFO part ${id}: it is "closed" at ${id}`).join("\n");
const NOTICE = "Notice: 400 of 48,211 rows, ask for page 2.";
const SUM = { query: "SELECT COUNT(*) AS n, SUM(amount) AS total FROM rows" };

interface Told {
  readonly words: string;
  readonly count: number;
  /** Reads what was stored first, second and so on. */
  readonly read: (at: number, args: object) => Promise<string>;
}

/** Passes blocks through a gate, as a whole and in pieces, and puts them back. */
async function send(...texts: readonly string[]): Promise<Told> {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const document = { content: texts.map((text) => ({ type: "text", text })) };
  const { value, text, artifacts } = await sluice.transform(document, { dialect: "mcp", namespace: "t" });
  expect(await sluice.restore(value)).toEqual(document);
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  for (const size of [1, 7, 4099]) {
    const stream = sluice.open({ dialect: "mcp", namespace: "t" });
    for (let at = 0; at < bytes.length; at += size) await stream.write(bytes.slice(at, at + size));
    expect((await stream.close()).text).toBe(text);
  }
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "t"), { sluice });
  const { content } = value as { content: readonly { readonly text: string }[] };
  return {
    words: content.map((block) => block.text).join("\n"),
    count: artifacts.length,
    read: async (at, args) => dataOf(await reader.call({ uri: `artifact://${artifacts[at]?.id}`, ...args })) ?? "",
  };
}

describe("blocks that are too large together", () => {
  const page = (at: number): string =>
    `# Page ${at}\n${`A line of page ${at} that says something of it.\n`.repeat(100)}Next: page ${at + 1}`;

  test("are told and read one by one, whichever came last", async () => {
    const { words, count, read } = await send(...Array.from({ length: 14 }, (_, at) => page(at)));
    expect(count).toBe(14);
    for (let at = 0; at < 14; at += 1) {
      expect(words).toContain(`"Page ${at}"`);
      expect(words).toMatch(new RegExp(`(?:> |")Next: page ${at + 1}\\b`));
      expect(await read(at, { lines: "-1" })).toBe(`Next: page ${at + 1}`);
    }
  });

  test("stay where they are short, and below the limit of a document", async () => {
    const { words, count } = await send("Three files:", ...Array.from({ length: 13 }, (_, at) => page(at)), "Done.");
    expect(count).toBe(13);
    expect(words).toMatch(/^Three files:\n/);
    expect(words).toMatch(/\nDone\.$/);
    expect((await send(...Array.from({ length: 8 }, (_, at) => page(at)))).count).toBe(0);
  });

  test("are one list where there are many short ones", async () => {
    const { words, count, read } = await send(
      ...Array.from({ length: 900 }, (_, at) => `File ${at}: ${"x".repeat(60)}`),
    );
    expect(count).toBe(1);
    expect(words).toContain("array of 900 {type: string, text: string}");
    expect(await read(0, { pointer: "/899/text" })).toContain("File 899: ");
  });
});

describe("a text that is a string of JSON", () => {
  test("is told and read as its lines", async () => {
    const { words, read } = await send(JSON.stringify(log));
    expect(words).toMatch(/^"artifact:\/\/[^"]+"\n\[sluice\] text, [^,]*, 400 lines\./);
    expect(words).toContain('> 10:00:59 INFO part 399: it is "closed" at 399');
    expect(await read(0, { lines: "3-3" })).toBe('10:00:12 INFO part 2: it is "closed" at 2');
  });

  test.each([1, 2, 3])("is told and read as the JSON in it, in as many strings: %i", async (depth) => {
    let text = JSON.stringify({ rows, next_cursor: "tok_8f31" });
    for (let at = 0; at < depth; at += 1) text = JSON.stringify(text);
    const { words, read } = await send(text);
    expect(words).toContain("object {rows: array of 400 {id: integer, name: string, amount: integer}");
    expect(words).toContain('/next_cursor: "tok_8f31"');
    expect(await read(0, SUM)).toBe("n,total\n400,201600");
  });

  test("is none where words or fields are quoted", async () => {
    const quoted = rows.map(({ id }) => `"C${id}","City of ${id}","and more of it"`).join("\n");
    expect((await send(quoted)).words).toMatch(/^\[sluice\] CSV, [^,]*, 400 rows/);
    expect((await send(`"It is late," she said. ${"And so on. ".repeat(1000)}`)).words).toMatch(/^\[sluice\] text, /);
  });
});

describe("several values in a text", () => {
  test("are told and read one by one, with the words around them in sight", async () => {
    const text = `Users:\n${json}\nOrders:\n${JSON.stringify(rows.map(({ id, amount }) => ({ code: id, amount })))}\n${log}\n${NOTICE}`;
    const { words, count, read } = await send(text);
    expect(count).toBe(3);
    expect(words).toMatch(/^Users:\nartifact:\S+\nOrders:\nartifact:\S+\s+artifact:\S+$/m);
    expect(await read(1, SUM)).toBe("n,total\n400,201600");
  });

  test.each([
    ["JSON, then CSV", "json", json, "csv", csv, "n,total\n400,201600"],
    ["CSV, then JSON", "csv", csv, "json", json, "n,total\n400,201600"],
    ["a log, then CSV", "", log, "csv", csv, ""],
    [
      "CSV, then YAML",
      "csv",
      csv,
      "yaml",
      rows.map(({ id }) => `- id: ${id}\n  amount: ${id * 2}\n  of: \\n`).join("\n"),
      "n,total\n400,201600",
    ],
  ])("in fences are told and read one by one: %s", async (_, first, one, second, other, sums) => {
    const { words, count, read } = await send(
      `Here:\n\`\`\`${first}\n${one}\n\`\`\`\nand\n\`\`\`\`${second}\n${other}\n\`\`\`\`\n${NOTICE}\n`,
    );
    expect(count).toBe(2);
    expect(words).toMatch(
      new RegExp(
        `^Here:\n\`\`\`${first}\nartifact:\\S+\n\`\`\`\nand\n\`\`\`\`${second}\nartifact:\\S+\n\`\`\`\`\nNotice: 4`,
      ),
    );
    expect(await read(0, SUM)).toBe(sums);
    expect(await read(1, { bytes: "0-40" })).toContain(other.slice(0, 40));
    expect(await read(1, { bytes: "-20" })).toContain(other.slice(-20));
  });

  test("in one fence are told below what stands before it, and short ones stay", async () => {
    const { words, count } = await send(
      `### Page\n\`\`\`js\ngo();\n\`\`\`\n- URL: x\n\`\`\`yaml\n${log}\n\`\`\`\n- 3 errors\n`,
    );
    expect(count).toBe(1);
    expect(words).toMatch(/^### Page\n```js\ngo\(\);\n```\n- URL: x\n```yaml\nartifact:\S+\n```\n- 3 errors\n/);
  });

  test("leave a page of Markdown with short code in it whole", async () => {
    const text = `# Title\n\n${`Words about it.\n\n\`\`\`js\ngo();\n\`\`\`\n\n`.repeat(400)}`;
    expect((await send(text)).words).toMatch(/^\[sluice\] Markdown, /);
  });
});

test("words right behind bytes are no part of their reference", async () => {
  const pdf = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(4000, "x")])
    .subarray(0, 4000)
    .toString("base64");
  const { words, count } = await send(`See data:application/pdf;base64,${pdf}Some words, and ${pdf}.`);
  expect(count).toBe(1);
  expect(words).toMatch(/^See artifact:\/\/\S+&size=4000 Some words, and artifact:\/\/\S+&size=4000\.$/m);
});
