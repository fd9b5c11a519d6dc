/** Text beside `structuredContent`: told once where it says the same, kept where it says anything else. */
import { describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/index.js";
import { base64, PDF, prose, textResult } from "./samples.js";

const rows = (count: number): object[] => Array.from({ length: count }, (_, id) => ({ id, n: "row é 😀" }));
const textOf = (text: string): object => ({ type: "text", text });

/** As Python writes JSON. */
const ascii = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const STRUCTURED: readonly (readonly [string, object])[] = [
  ["rows that stay", { rows: rows(400) }],
  ["rows that are stored", { rows: rows(5_000), total: 5_000 }],
  ["a long text", { log: prose(20_000), 'a "quoted"\\ key': [1.5e3, null] }],
  ["a file", { rows: rows(400), pdf: base64(PDF) }],
  ["bytes", { rows: rows(400), data: [...PDF.subarray(0, 3_000)] }],
  ["all of it", { a: rows(5_000), log: prose(20_000), files: [base64(PDF), base64(PDF.subarray(0, 9_000))] }],
];

describe.each(["structured", "content"] as const)("where %s is preferred", (prefer) => {
  describe.each(STRUCTURED)("%s", (_, structuredContent) => {
    const reduced = async (text: string): Promise<string> => {
      const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }), config: { prefer } });
      return (await sluice.transform({ content: [textOf(text)], structuredContent })).text;
    };

    test.each([
      ["compact", (value: unknown) => JSON.stringify(value)],
      ["indented", (value: unknown) => JSON.stringify(value, null, 2)],
      ["ASCII", ascii],
    ])("its %s JSON is told once", async (_name, spell) => {
      const text = await reduced(spell(structuredContent));
      expect(text).not.toMatch(/^\{"structured"|^\{"content"/);
    });

    test("what says more, less or something else stays", async () => {
      const warned = { ...structuredContent, warning: "WARNING: only a part" };
      const other = { ...structuredContent, [Object.keys(structuredContent)[0] ?? ""]: null };
      for (const value of [warned, other]) {
        const { content, structured } = JSON.parse(await reduced(JSON.stringify(value))) as Record<string, unknown>;
        expect(content).toBeDefined();
        expect(structured).toBeDefined();
      }
      expect(Object.keys(JSON.parse(await reduced(`${JSON.stringify(structuredContent)} WARNING`)) as object)).toEqual(
        expect.arrayContaining(["structured", "content"]),
      );
    });
  });
});

test("another file in the same place is no twin", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
  const content = [textOf(JSON.stringify({ rows: rows(400), pdf: base64(PDF) }))];
  const withFile = (pdf: Uint8Array): object => ({ content, structuredContent: { rows: rows(400), pdf: base64(pdf) } });
  expect((await sluice.transform(withFile(PDF))).text).toMatch(/^\{"rows"/);
  const { text, artifacts } = await sluice.transform(withFile(PDF.subarray(0, 9_000)));
  expect(text).toMatch(/^\{"structured"/);
  expect(artifacts).toHaveLength(3);
});

test("without a store, and as the result of a wrapped value", async () => {
  const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
  const said = JSON.stringify(rows(400));
  const once = await sluice.transform({ content: [textOf(said)], structuredContent: { result: rows(400) } });
  expect(once.text).toMatch(/^\{"result"/);
  const more = await sluice.transform({ content: [textOf(said)], structuredContent: { result: rows(399) } });
  expect(more.text).toMatch(/^\{"structured"/);
});

describe("what a server sent twice is shown once", () => {
  const structured = { total: 3, rows: [1, 2, 3] };
  const json = JSON.stringify(structured, undefined, 2);
  const both = { ...textResult(json), structuredContent: structured };
  const warned = { ...textResult("WARNING: only 3 of 900 rows"), structuredContent: structured };

  test("the structured half is shown when nothing else is asked", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    expect((await sluice.transform(both)).value).toEqual(structured);
  });

  test("the content half is shown on request", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
    const observed = await sluice.transform(both);
    expect(observed.value).toEqual(structured);
    expect(observed.text).toBe(json);
  });

  test("a text that is not the structured half over again is shown beside it", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    expect((await sluice.transform(warned)).value).toEqual({ structured, content: warned.content });
    expect((await sluice.transform({ ...warned, structuredContent: {} })).value).toEqual({
      structured: {},
      content: warned.content,
    });
  });

  test("what only the structured half says is shown beside the content", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
    expect((await sluice.transform(warned)).value).toEqual({ content: warned.content[0]?.text, structured });
  });

  test("a half that is missing is not preferred", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    expect((await sluice.transform({ content: [], structuredContent: structured })).value).toEqual(structured);
    const sluiceOfContent = await createSluice({ store: new MemoryArtifactStore(), config: { prefer: "content" } });
    expect((await sluiceOfContent.transform({ content: [], structuredContent: structured })).value).toEqual(structured);
    expect((await sluice.transform(textResult("only text"))).value).toBe("only text");
  });

  test("the mcp dialect keeps both halves", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    expect((await sluice.transform(both, { dialect: "mcp" })).value).toEqual(both);
  });
});
