/** Real MCP servers over stdio, behind the official SDK's client. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePdf } from "../../../scripts/demo/pdf.mjs";
import { makePng } from "../../../scripts/demo/png.mjs";
import { startServers } from "../../../scripts/demo/servers.mjs";
import { createSluice, MemoryArtifactStore, type Dialect } from "../../../web/src/index.js";
import { longestRun, sha256 } from "../core/samples.js";

const PNG = makePng({ width: 320, height: 200 });
const WORKBOOK = makePdf({ title: "Sales Dashboard" });
const VIEW = makePdf({ title: "Revenue by Region", pages: 1, seed: 7 });
const REPORT = makePdf({ title: "Report", pages: 1 });

let folder: string;
let servers: Readonly<Record<Call["server"], Client>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-e2e-"));
  await writeFile(join(folder, "photo.png"), PNG);
  await writeFile(join(folder, "report.pdf"), REPORT);
  await writeFile(join(folder, "notes.txt"), "three lines\nof plain\ntext\n");
  servers = await startServers(folder);
});

afterAll(async () => {
  await Promise.all(Object.values(servers).map((client) => client.close()));
  await rm(folder, { recursive: true });
});

interface Call {
  readonly server: "tableau" | "everything" | "filesystem";
  readonly tool: string;
  readonly args: () => Readonly<Record<string, unknown>>;
  /** What has to be in the store afterwards, byte for byte. */
  readonly originals: readonly Buffer[];
}

const CALLS: readonly Call[] = [
  { server: "tableau", tool: "download_workbook", args: () => ({ name: "Sales Dashboard" }), originals: [WORKBOOK] },
  { server: "tableau", tool: "get_view_as_pdf", args: () => ({ view_name: "Revenue by Region" }), originals: [VIEW] },
  { server: "tableau", tool: "list_workbooks", args: () => ({}), originals: [] },
  { server: "tableau", tool: "no_such_tool", args: () => ({}), originals: [] },
  { server: "everything", tool: "get-resource-links", args: () => ({ count: 3 }), originals: [] },
  { server: "everything", tool: "get-structured-content", args: () => ({ location: "Chicago" }), originals: [] },
  { server: "everything", tool: "echo", args: () => ({ message: "hi" }), originals: [] },
  {
    server: "filesystem",
    tool: "read_media_file",
    args: () => ({ path: join(folder, "photo.png") }),
    originals: [PNG],
  },
  {
    server: "filesystem",
    tool: "read_media_file",
    args: () => ({ path: join(folder, "report.pdf") }),
    originals: [REPORT],
  },
  { server: "filesystem", tool: "read_text_file", args: () => ({ path: join(folder, "notes.txt") }), originals: [] },
  { server: "filesystem", tool: "list_directory", args: () => ({ path: folder }), originals: [] },
];

describe.each(CALLS)("$server $tool", ({ server, tool, args, originals }) => {
  test.each<Dialect>(["observation", "mcp"])("in the %s dialect", async (dialect) => {
    const client = servers[server];
    const result = await client.callTool({ name: tool, arguments: { ...args() } });
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store });
    const { text, value, artifacts, changed } = await sluice.transform(result, { tool, namespace: server, dialect });
    expect(longestRun(text.replaceAll(folder, ""))).toBeLessThan(200);
    expect(new Set(artifacts.map(({ sha256: hash }) => hash))).toEqual(new Set(originals.map(sha256)));
    for (const { id, sha256: hash } of artifacts) {
      expect(sha256((await store.get(id)) ?? Buffer.alloc(0))).toBe(hash);
      expect(text).toContain(id);
    }
    if (dialect === "observation") return;
    expect(CallToolResultSchema.safeParse(value).error).toBeUndefined();
    expect(await sluice.restore(value)).toEqual(result);
    expect(value === result).toBe(originals.length === 0);
    expect(changed).toBe(originals.length > 0);
  });
});

test("an image block and an embedded blob keep what stands beside them; a blob that is a text is told as it", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const { everything } = servers;
  const image = await everything.callTool({ name: "get-tiny-image", arguments: {} });
  const { content } = image as { content: { type: string; data?: string; text?: string }[] };
  const original = Buffer.from(content.find(({ type }) => type === "image")?.data ?? "", "base64");
  const { text, artifacts } = await sluice.transform(image, { dialect: "mcp", namespace: "everything" });
  expect(artifacts.map(({ sha256: hash }) => hash)).toEqual([sha256(original)]);
  for (const { text: words = "" } of content) expect(text).toContain(JSON.stringify(words).slice(1, -1));

  const blob = await everything.callTool({
    name: "get-resource-reference",
    arguments: { resourceType: "Blob", resourceId: 1 },
  });
  const mcp = await sluice.transform(blob, { dialect: "mcp", namespace: "everything" });
  // The server's blob says what it is in words.
  expect(mcp.artifacts).toEqual([]);
  expect(mcp.text).toContain('"text":"Resource 1: This is a base64 blob');
  expect(CallToolResultSchema.safeParse(mcp.value).error).toBeUndefined();
  expect(await sluice.restore(mcp.value)).toEqual(blob);
});

test("a PDF that a server read as text is stored, not shown", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store });
  const result = await servers.filesystem.callTool({
    name: "read_text_file",
    arguments: { path: join(folder, "report.pdf") },
  });
  const observed = await sluice.transform(result, { namespace: "filesystem" });
  expect(observed.text.length).toBeLessThan(3_000);
  expect(observed.artifacts.length).toBeGreaterThan(0);
  const mcp = await sluice.transform(result, { dialect: "mcp", namespace: "filesystem" });
  expect(mcp.text.length).toBeLessThan(6_000);
  expect(await sluice.restore(mcp.value)).toEqual(result);
});

test("a linked resource is read through the client when the policy allows", async () => {
  const store = new MemoryArtifactStore();
  const config = { resources: { auto_read_if_size_under_bytes: 1_000_000 } };
  const sluice = await createSluice({ store, config });
  const client = servers.everything;
  const { content } = (await client.callTool({ name: "get-resource-links", arguments: { count: 2 } })) as {
    content: Readonly<Record<string, unknown>>[];
  };
  const sized = content.map((block) => (block["type"] === "resource_link" ? { ...block, size: 100 } : block));
  const readResource = (uri: string): Promise<unknown> => client.readResource({ uri });
  const { value } = await sluice.transform({ content: sized }, { readResource, namespace: "everything" });
  const links = (value as { content: Readonly<Record<string, unknown>>[] }).content.filter(
    (block) => "fetched" in block,
  );
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(link).toMatchObject({ fetched: true });
});
