/**
 * What real programs answer: values in the text of a block, behind a sentence, in a fence, in strings of other JSON; colours; numbers that
 * JSON does not have. Nothing that a model needs to go on is out of its sight, and each result comes back.
 * @module
 */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../web/src/mcp/artifact-reader/source.js";
import { createSluice } from "../../../web/src/node.js";

const rows = (count: number): object[] =>
  Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, "n/a": "é" }));
const lines = (count: number): string => Array.from({ length: count }, (_, id) => `${id},"Oslo"\tna\\ve/é\n`).join("");

/** JSON as Python, PHP, Go and .NET write it. */
const SPELLINGS: readonly (readonly [string, (value: unknown) => string])[] = [
  ["JavaScript", (value) => JSON.stringify(value)],
  ["Python", (value) => escaped(JSON.stringify(value, null, 1), /[\u0080-\uffff]/g)],
  ["PHP", (value) => escaped(JSON.stringify(value), /[\u0080-\uffff]/g).replaceAll("/", String.raw`\/`)],
  ["Go", (value) => escaped(JSON.stringify(value), /[<>&]/g)],
  [".NET", (value) => escaped(JSON.stringify(value).replaceAll(String.raw`\"`, String.raw`\u0022`), /['+`]/g)],
];

function escaped(json: string, which: RegExp): string {
  return json.replace(which, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

async function reduce(text: string): Promise<{ seen: string; observed: string; read: Reading; isBack: boolean }> {
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  const result = { content: [{ type: "text", text }] };
  const mcp = await sluice.transform(result, { dialect: "mcp" });
  const observed = (await sluice.transform(result)).text;
  const { content } = mcp.value as { content: readonly { readonly text: string }[] };
  const [artifact] = mcp.artifacts;
  const reader = new ArtifactReader(new ArtifactSource(store, {}, undefined));
  const read: Reading = async (query) =>
    JSON.stringify(await reader.call({ uri: `artifact://${artifact?.id}`, ...query }));
  return {
    seen: content.map((block) => block.text).join("\n"),
    observed,
    read,
    isBack: JSON.stringify(await sluice.restore(mcp.value)) === JSON.stringify(result),
  };
}

type Reading = (query: Readonly<Record<string, string>>) => Promise<string>;

describe.each(SPELLINGS)("as %s writes JSON", (_, write) => {
  test("the envelope of a program's output stays, and its lines can be read", async () => {
    const { seen, observed, read, isBack } = await reduce(write({ stdout: lines(900), stderr: "", exitCode: 3 }));
    for (const view of [seen, observed]) expect(view).toMatch(/"stderr":\s*"",\s*"exitCode":\s*3/);
    expect(await read({ lines: "900" })).toContain(String.raw`899,\"Oslo\"`);
    expect(isBack).toBe(true);
  });

  test("a list leaves its cursor in sight, and can be read", async () => {
    const { seen, observed, read, isBack } = await reduce(
      write({ data: { items: rows(500), cursor: "tok_1" }, total: 48_211 }),
    );
    for (const view of [seen, observed]) {
      expect(view).toMatch(/data\/cursor: \\?"tok_1/);
      expect(view).toContain("/total: 48211");
    }
    expect(await read({ pointer: "/data/items/499" })).toContain("row 499");
    expect(await read({ pointer: "/data/items/7/name" })).toContain("row 7");
    expect(isBack).toBe(true);
  });

  test("JSON in a string of JSON is taken apart as well", async () => {
    const { seen, read, isBack } = await reduce(write({ body: write({ pods: rows(500), more: true }), status: 200 }));
    expect(seen).toMatch(/"status":\s*200/);
    expect(seen).toContain("array of 500 {id: integer");
    expect(await read({ query: "SELECT count(*) AS n FROM artifact" })).toContain("500");
    expect(isBack).toBe(true);
  });

  test.each([
    ["a sentence", "Found 500 rows:\n", ""],
    ["a fence", "Script ran and returned:\n```json\n", "\n```\n[WARNING] page 1 of 9"],
  ])("behind %s it is JSON, and the words stay", async (_where, before, behind) => {
    const { seen, read, isBack } = await reduce(before + write(rows(500)) + behind);
    expect(seen).toContain(before);
    expect(seen).toContain(behind);
    expect(seen).toContain("array of 500 {id: integer");
    expect(await read({ rows: "500" })).toContain("row 499");
    expect(isBack).toBe(true);
  });

  test("JSON that breaks off keeps what came before", async () => {
    const { seen, isBack } = await reduce(
      `${write({ log: lines(900), rows: rows(500) }).slice(0, 40_000)}… <truncated>`,
    );
    expect(seen).toContain("artifact://");
    expect(isBack).toBe(true);
  });
});

test("both halves of a result have one limit", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
  const structuredContent = { rows: rows(500), next: "tok_1" };
  const result = { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  const { value, artifacts } = await sluice.transform(result, { dialect: "mcp" });
  // The text is kept whole, and says over again what the other half says.
  expect(artifacts.map(({ size_bytes }) => size_bytes)).toEqual([
    Buffer.byteLength(JSON.stringify(structuredContent)),
    Buffer.byteLength(JSON.stringify(structuredContent.rows)),
  ]);
  expect(value).toMatchObject({
    content: [{ text: expect.stringMatching(/^\{"rows":"artifact:[^"]*","next":"tok_1"\}$/) as string }, {}],
    structuredContent: { rows: expect.stringMatching(/^artifact:/) as string, next: "tok_1" },
  });
  expect(await sluice.restore(value)).toEqual(result);
});

test("colours of a terminal are no damage, no table, and not shown", async () => {
  const hit = (at: number): string =>
    `\u001b[35msrc/m.ts\u001b[0m:\u001b[01;32m${at}\u001b[0m:const handler = ${at};\n`;
  const { seen, isBack } = await reduce(Array.from({ length: 300 }, (_, at) => hit(at)).join(""));
  expect(seen).toContain('300 hits in 1 file (from the file): "src/m.ts"');
  expect(seen).toContain("> src/m.ts:3:const handler = 3;");
  expect(isBack).toBe(true);
});

test("NaN and Infinity, as Python writes them, leave JSON what it is, with a note", async () => {
  const text = `[${Array.from({ length: 600 }, (_, t) => `{"t": ${t}, "s": "NaN", "v": ${t % 7 === 0 ? "NaN" : t % 5 === 0 ? "-Infinity" : "1.5"}}`).join(", ")}]`;
  const { seen, read, isBack } = await reduce(text);
  expect(seen).toContain(
    "array of 600 {t: integer, s: string, v: number}, with NaN or Infinity, which JSON does not have",
  );
  expect(await read({ rows: "8" })).toContain("NaN");
  expect(await read({ pointer: "/5/v" })).toContain("-Infinity");
  expect(await read({ query: "SELECT count(*) AS n, count(v) AS v FROM artifact WHERE s = 'NaN'" })).toMatch(/600,412/);
  expect(isBack).toBe(true);
});
