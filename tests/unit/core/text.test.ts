/** Files in JSON and in text: what a planner and a host get in their place, and what is stored of it. */
import { describe, expect, test } from "vitest";
import { createSluice, humanSize, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/index.js";
import { noise } from "../artifacts/noise.js";
import { base64, longestRun, onlyBytes, PDF, sha256, textResult, opened } from "./samples.js";

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
    const { value, text, artifacts } = await sluice.transform(original, { ...call, dialect: "mcp" });
    const { content } = value as ReturnType<typeof textResult>;
    expect(JSON.parse(content[0]?.text ?? "")).toEqual({
      ...answer,
      [field]: `artifact://${ID}?type=application/pdf&size=${PDF.length}`,
    });
    expect(content[1]?.text).toMatch(
      /^\[sluice\] PDF, 114\.3 KB.*: stored, not shown\. Read it with tableau_artifact_read \{"uri":"artifact:\/\/tableau_\w+"\}/,
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
