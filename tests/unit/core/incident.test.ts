/** A PDF and other bytes in JSON in text, in the shapes that servers send. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice } from "../../../web/src/index.js";
import { base64, longestRun, onlyBytes, PDF, sha256, textResult } from "./samples.js";

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
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store });
    const { value, text, artifacts, changed, clamped } = await sluice.transform(result, call);
    expect(value).toEqual(shown);
    expect(JSON.parse(text)).toEqual(shown);
    expect({ changed, clamped }).toEqual({ changed: true, clamped: false });
    expect((await onlyBytes(store, artifacts)).equals(PDF)).toBe(true);
    expect(longestRun(text)).toBeLessThan(100);
  });

  test("a host gets a CallToolResult that names the artifact and the tool that reads it", async () => {
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store });
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
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
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

test("the same PDF in both halves of a result is one artifact, shown once", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const both = { ...textResult(JSON.stringify(VIEW)), structuredContent: VIEW };
  const { value, artifacts } = await sluice.transform(both, { namespace: "tableau", tool: "get_view_as_pdf" });
  expect(value).toMatchObject({ ...VIEW, pdf_data: { artifact: { id: ID } } });
  expect(new Set(artifacts.map(({ id }) => id))).toEqual(new Set([ID]));
  const mcp = (await sluice.transform(both, { namespace: "tableau", dialect: "mcp" })).value as typeof both;
  const reference = `artifact://${ID}?type=application/pdf&size=${PDF.length}`;
  expect(mcp.structuredContent).toEqual({ ...VIEW, pdf_data: reference });
  expect(JSON.parse(mcp.content[0]?.text ?? "")).toEqual({ ...VIEW, pdf_data: reference });
  expect(await sluice.restore(mcp)).toEqual(both);
});
