/**
 * Places that the configuration names leave JSON that is stored as a whole for its many rows, whichever way it comes.
 */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type SluiceConfig } from "../../../web/src/node.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { MESSAGE_WAYS, startSaying, type Saying } from "./listeners.js";

const config: SluiceConfig = {
  tool_fields: {
    give: [
      {
        field_path: "report",
        content_type: "report",
        mime_type: "text/markdown",
        summary_template: "The report, {size} bytes",
      },
      { field_path: "pages.*.data", content_type: "page" },
    ],
  },
};

const pdf = Buffer.from("%PDF-1.4\n1 0 obj\n<< >>\nendobj\n");
const rows = Array.from({ length: 900 }, (_, id) => ({ id, name: "row" }));
const value = { report: "# All is well", rows, pages: [{ data: pdf.toString("base64") }], kept: "as it is" };
const result = { content: [{ type: "text", text: JSON.stringify(value) }] };

let folder: string;
let saying: Saying;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sluice-fields-")));
  saying = await startSaying(folder);
});

afterAll(async () => {
  await saying[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const SENTENCE = /with files inside: The report, 13 bytes \(artifact:\/\/\w+\), page, 30 B \(artifact:\/\/\w+\)/;

describe.each(MESSAGE_WAYS)("$name", (way) => {
  test("names them in the sentence of the JSON", async () => {
    await saying.say({ "tools/call": { result } });
    await using listener = await way.listen(saying, "suite", config);
    const told = (await listener.ask("tools/call", { name: "give", arguments: {} })).join("\n");
    expect(told).toMatch(SENTENCE);
    expect(told).not.toContain("All is well");
  });
});

describe.each(["observation", "mcp"] as const)("a Sluice, %s", (dialect) => {
  test.each([
    ["text", result],
    ["a value", { content: [], structuredContent: { wrapped: [value, ...rows] } }],
  ])("stores them apart, with the type that is configured, and restores: %s", async (_, given) => {
    const store = new MemoryArtifactStore();
    const paths = ["", "wrapped.*."].flatMap((before) =>
      (config.tool_fields?.["give"] ?? []).map((field) => ({ ...field, field_path: before + field.field_path })),
    );
    const sluice = await createSluice({ store, config: { tool_fields: { give: paths } } });
    const reduced = await sluice.transform(given, { tool: "give", dialect });
    const found = new Map<string, string>();
    for (const { id, mime_type } of reduced.artifacts) {
      found.set(String(mime_type), Buffer.from((await store.get(id)) ?? []).toString());
    }
    expect(found.get("text/markdown")).toBe("# All is well");
    expect(found.get("application/pdf")).toBe(pdf.toString());
    expect(found.get("application/json")).toContain('"report":"artifact://');
    expect(found.get("application/json")).toContain('"kept":"as it is"');
    const mcp = await sluice.transform(given, { tool: "give", dialect: "mcp" });
    expect(await sluice.restore(mcp.value)).toEqual(given);
    const other = await sluice.transform(given, { tool: "other", dialect });
    expect(new Set(other.artifacts.map(({ mime_type }) => mime_type))).toEqual(new Set(["application/json"]));
  });
});

test("a ToolNode", async () => {
  await saying.say({
    "tools/list": { result: { tools: [{ name: "give", inputSchema: { type: "object" } }] } },
    "tools/call": { result },
  });
  const artifact_extraction = config;
  const source = { name: "src", transport: "mcp", connection: saying.url, artifact_extraction } as const;
  await using node = new ToolNode(source, { store: new MemoryArtifactStore() });
  await node.connect();
  const { text } = await node.call("src.give", {});
  expect(text).toMatch(SENTENCE);
});
