import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice, humanSize, NoOpArtifactStore, type Sluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/bytes.js";
import { documents, results } from "./documents.js";
import { base64, longestRun, onlyBytes, opened, PDF, prose, sha256, textResult } from "./samples.js";

const chars = (text: string): number => Array.from(text).length;

async function limited(guardrail: Readonly<Record<string, unknown>>): Promise<Sluice> {
  return createSluice({ store: new MemoryArtifactStore(), config: { guardrail } });
}

describe("no observation is longer than the limit", () => {
  const unicode = fc.string({ unit: "grapheme", minLength: 0, maxLength: 400 });
  const broken = fc.constantFrom("\ud800", "😀", "é", "\u0000", '"', "\\", "\n", "\u2028");
  const wide = fc.tuple(broken, fc.integer({ min: 0, max: 3_000 })).map(([one, times]) => one.repeat(times));
  const value = fc.oneof(
    documents,
    results,
    wide,
    fc.array(fc.oneof(wide, unicode), { maxLength: 30 }),
    fc.dictionary(unicode, wide, { maxKeys: 20, noNullPrototype: true }),
    fc.integer({ min: 1, max: 300 }).map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown),
  );

  test.each([256, 300, 1_000, 5_000])("%i characters, whatever a tool returned", async (limit) => {
    for (const preserve_structure of [true, false]) {
      const sluice = await limited({ max_observation_chars: limit, max_field_chars: 100, preserve_structure });
      const property = fc.property(value, (observation) => {
        const clamp = sluice.clamp(observation);
        expect(chars(clamp.text)).toBeLessThanOrEqual(limit);
        expect(clamp.clampedChars).toBe(chars(clamp.text));
        expect(clamp.originalChars).toBe(chars(JSON.stringify(observation)));
        expect(JSON.parse(clamp.text)).toEqual(clamp.value);
        expect(clamp.changed).toBe(clamp.text !== JSON.stringify(observation));
        expect(clamp.changed).toBe(clamp.originalChars > limit);
      });
      fc.assert(property, { numRuns: 60 });
    }
  });

  test.each([256, 1_000])("%i characters, through the whole of transform", async (limit) => {
    const sluice = await limited({ max_observation_chars: limit });
    const property = fc.asyncProperty(value, async (result) => {
      const { text, value: parsed } = await sluice.transform(result, { tool: "t", namespace: "ns" });
      expect(chars(text)).toBeLessThanOrEqual(limit);
      expect(JSON.parse(text)).toEqual(parsed);
    });
    await fc.assert(property, { numRuns: 80 });
  });

  test("whatever limit it is given, smaller or larger than the one that is configured", async () => {
    const sluice = await limited({ max_observation_chars: 1_000 });
    const property = fc.property(value, fc.integer({ min: 1, max: 4_000 }), (observation, maxChars) => {
      const json = JSON.stringify(observation);
      const { text, changed } = sluice.clampText(json, { maxChars });
      expect(chars(text)).toBeLessThanOrEqual(Math.max(maxChars, 256));
      expect(changed).toBe(chars(json) > Math.max(maxChars, 256));
      expect(sluice.clamp(observation, { maxChars }).text).toBe(text);
    });
    fc.assert(property, { numRuns: 100 });
    expect(sluice.clamp(prose(3_000)).clampedChars).toBeLessThanOrEqual(1_000);
  });

  test("not even when the suffix alone is", async () => {
    const sluice = await limited({ max_observation_chars: 256, truncation_suffix: "😀".repeat(200) });
    expect(chars(sluice.clamp(prose(10_000)).text)).toBeLessThanOrEqual(256);
  });
});

describe("clamping", () => {
  test("leaves a text that fits as it is written", async () => {
    const sluice = await limited({});
    const json = '{"n": 12345678901234567890.10, "a": 1, "a": 2}';
    expect(sluice.clampText(json)).toMatchObject({ text: json, changed: false });
    expect(() => sluice.clampText("{")).toThrow(expect.objectContaining({ code: "E_JSON_END" }));
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 40, "300"])("no limit is %j", async (maxChars) => {
    const sluice = await limited({});
    const wrong = { code: "E_INVALID_ARGUMENT", path: "maxChars" };
    expect(() => sluice.clamp("a", { maxChars: maxChars as number })).toThrow(expect.objectContaining(wrong));
  });

  test("leaves alone what fits", async () => {
    const sluice = await limited({});
    const observation = { a: prose(40_000) };
    expect(sluice.clamp(observation)).toMatchObject({ value: observation, changed: false, method: "none" });
  });

  test("cuts strings first, never inside a character, and says how much is missing", async () => {
    const sluice = await limited({ max_observation_chars: 2_000, max_field_chars: 100 });
    const { value, method } = sluice.clamp({ long: "😀".repeat(5_000), short: "kept", n: 7 });
    expect(method).toBe("fields");
    expect(value).toMatchObject({ short: "kept", n: 7 });
    expect((value as { long: string }).long).toMatch(/^(😀)+\n\.\.\. \[truncated: \d+ chars\]$/u);
  });

  test("keeps the structure unless it may not", async () => {
    const rows = Array.from({ length: 5_000 }, (_, n) => ({ n, name: `row ${n}` }));
    const kept = (await limited({ max_observation_chars: 2_000 })).clamp({ rows, total: 5_000 });
    expect(kept).toMatchObject({ method: "structure", changed: true, value: { total: 5_000 } });
    const text = (await limited({ max_observation_chars: 2_000, preserve_structure: false })).clamp({ rows });
    expect(text.method).toBe("text");
    expect(typeof text.value).toBe("string");
  });

  test("keeps references rather than anything else", async () => {
    const config = {
      auto_artifact_large_content: false,
      guardrail: { max_observation_chars: 3_000, auto_artifact_threshold: 1_000_000 },
    };
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    const filler = Array.from({ length: 40 }, (_, n) => [`field ${n}`, prose(2_000)]);
    const { artifacts, text } = await sluice.transform(
      { ...Object.fromEntries(filler), pdf: base64(PDF) },
      { namespace: "kept" },
    );
    expect(text).toContain(artifacts.find(({ mime_type }) => mime_type === "application/pdf")?.id ?? "-");
  });

  test("a clamped observation is stored as a whole, and referred to", async () => {
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store, config: { auto_artifact_large_content: false } });
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ n, text: prose(60) }));
    const { clamped, artifacts, text } = await sluice.transform(rows);
    expect(clamped).toBe(true);
    expect(chars(text)).toBeLessThanOrEqual(50_000);
    expect(text).toContain(artifacts[0]?.id ?? "-");
    expect(JSON.parse((await onlyBytes(store, artifacts)).toString())).toEqual(rows);
  });

  test("what JSON cannot say is refused, and the next call works", async () => {
    const sluice = await limited({});
    expect(() => sluice.clamp(undefined)).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
    expect(() => sluice.clamp({ n: 1n })).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
    const deep = JSON.parse("[".repeat(700) + "]".repeat(700)) as unknown;
    expect(() => sluice.clamp(deep)).toThrow(expect.objectContaining({ code: "E_JSON_DEPTH" }));
    expect(sluice.clamp([1]).value).toEqual([1]);
  });
});

/** Files in JSON and in text: what a planner and a host get in their place, and what is stored of it. */
const DOWNLOAD = { content: base64(PDF), name: "Sales Dashboard", format: "pdf" };
const VIEW = { pdf_data: base64(PDF), view_name: "Revenue by Region", generated_at: "2025-12-22T10:30:00Z" };
const WORKBOOKS = {
  workbooks: [
    { id: "123", name: "Sales", project: "Analytics" },
    { id: "456", name: "Marketing", project: "Analytics" },
  ],
};
const ID = `tableau_${sha256(PDF).slice(0, 12)}`;

describe.each([
  ["download_workbook", DOWNLOAD, "content"],
  ["get_view_as_pdf", VIEW, "pdf_data"],
] as const)("%s", (tool, answer, field) => {
  const call = { tool, namespace: "tableau" };
  const shown = {
    ...answer,
    [field]: {
      artifact: { id: ID, mime_type: "application/pdf", size_bytes: PDF.length, filename: `${tool}.pdf` },
      summary: expect.stringMatching(/^PDF, 114\.3 KB/),
    },
  };

  test.each([
    ["as JSON", answer],
    ["as JSON in a text block", textResult(JSON.stringify(answer))],
    ["in a JSON-RPC response", { jsonrpc: "2.0", id: 1, result: textResult(JSON.stringify(answer)) }],
  ])("%s: the planner gets the document with a reference in the PDF's place", async (_, result) => {
    const { store, sluice } = await opened();
    const { value, text, artifacts, changed, clamped } = await sluice.transform(result, call);
    expect(value).toEqual(shown);
    expect(JSON.parse(text)).toEqual(shown);
    expect({ changed, clamped }).toEqual({ changed: true, clamped: false });
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
    expect(longestRun(text)).toBeLessThan(100);
  });

  test("a host gets a CallToolResult that names the artifact and the tool that reads it", async () => {
    const { store, sluice } = await opened();
    const original = textResult(JSON.stringify(answer));
    sluice.tools({ namespace: "tableau" });
    const { value, text, artifacts } = await sluice.transform(original, { ...call, dialect: "mcp" });
    const { content } = value as ReturnType<typeof textResult>;
    expect(JSON.parse(content[0]?.text ?? "")).toEqual({
      ...answer,
      [field]: `artifact://${ID}?type=application/pdf&size=${PDF.length}`,
    });
    expect(content[1]?.text).toMatch(
      /^\[sluice\] PDF, 114\.3 KB.*Stored, not shown\. Read it with tableau_artifact_read \{"uri":"artifact:\/\/tableau_\w+"\}/,
    );
    expect(content).toHaveLength(2);
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
    expect(longestRun(text)).toBeLessThan(100);
    expect(await sluice.restore(value)).toEqual(original);
  });
});

test("list_workbooks passes through", async () => {
  const { sluice } = await opened();
  const call = { tool: "list_workbooks", namespace: "tableau" };
  const plain = await sluice.transform(WORKBOOKS, call);
  expect(plain).toMatchObject({ value: WORKBOOKS, artifacts: [], changed: false });
  const result = textResult(JSON.stringify(WORKBOOKS));
  expect((await sluice.transform(result, call)).value).toEqual(WORKBOOKS);
  const { value, text, changed } = await sluice.transform(result, { ...call, dialect: "mcp" });
  expect(value).toBe(result);
  expect(text).toBe(JSON.stringify(result));
  expect(changed).toBe(false);
});

// What is told of a text with files in it is what is stored of it.

/** A file of about `size` bytes, another for each number. */
const file = (number: number, size = 1_500): string =>
  base64(Buffer.concat([Buffer.from("%PDF-1.7\n1 0 obj\n"), noise(size, number + 1)]));

const csv = (count: number): string =>
  `id,data\n${Array.from({ length: count }, (_, id) => `${id},${file(id)}`).join("\n")}`;

test.each([10, 20, 60])(
  "a table of %i files that is short without them stays, with a reference for each",
  async (count) => {
    for (const store of [new MemoryArtifactStore(), new NoOpArtifactStore({ warn: () => undefined })]) {
      const sluice = await createSluice({ store });
      const { text, artifacts } = await sluice.transform(textResult(csv(count)));
      expect(artifacts).toHaveLength(count);
      expect(text).toMatch(/^"id,data\\n0,artifact:\/\//);
      for (const { id } of artifacts) expect(text).toContain(id);
      expect(text).not.toContain("All of it is shown");
    }
  },
);

test("a stored table has one size wherever it is told", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  const original = textResult(csv(140));
  const { value, artifacts } = await sluice.transform(original);
  const table = artifacts.find(({ mime_type }) => mime_type === "text/csv");
  const stored = Buffer.from((await store.get(table?.id ?? "")) ?? []);
  const said = `CSV, ${humanSize(stored.length)}, 140 rows`;
  expect(table?.size_bytes).toBe(stored.length);
  expect(table?.source["description"]).toContain(said);
  expect(value).toMatchObject({ artifact: { size_bytes: stored.length }, summary: expect.stringContaining(said) });
  const { preview } = value as { preview: string };
  // In a preview a reference has no form.
  expect(stored.toString().replace(/&form=[^\n,]*/g, "")).toContain(preview);
  expect(preview).toMatch(/^id,data\n0,artifact:\/\/.*\n1,artifact:/);

  const mcp = await sluice.transform(original, { dialect: "mcp" });
  expect(mcp.text).toContain(said);
  expect(await sluice.restore(mcp.value)).toEqual(original);
});

test("so has JSON that was collapsed, and a text inside it", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const sluice = await createSluice({ store });
  const log = `${"so it went, ".repeat(1_000)}${file(999)}`;
  const original = { a: Array.from({ length: 200 }, (_, id) => `${id} ${file(id)} ${"and so on ".repeat(40)}`), log };
  const { artifacts, value } = await sluice.transform(original, { dialect: "mcp" });
  expect(await sluice.restore(value)).toEqual(original);
  expect(artifacts.filter(({ mime_type }) => mime_type !== "application/pdf")).toHaveLength(2);
  for (const { id, size_bytes, source } of artifacts) {
    const stored = Buffer.from((await store.get(id)) ?? []);
    expect(size_bytes).toBe(stored.length);
    expect(source["description"]).toContain(`, ${humanSize(stored.length)}`);
    for (const [, inner = "", size] of stored
      .toString("latin1")
      .matchAll(/artifact:\/\/([\w-]+)\?type=[^&]*&size=(\d+)/g)) {
      expect((await store.stat(inner))?.size_bytes).toBe(Number(size));
    }
  }
});

test("where nothing is stored, a table says that its files are lost", async () => {
  const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
  const { text } = await sluice.transform(textResult(csv(140)));
  expect(text).not.toContain("All of it is shown.");
  expect(text).toContain("error=not-stored");
});
