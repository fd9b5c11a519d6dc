/** What nobody between a server and its client may touch passes the mcp dialect byte for byte. */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice, type Transformed } from "../../../web/src/index.js";
import { documents, type Json } from "./documents.js";
import { base64, LARGE_PNG, PDF, PNG, prose } from "./samples.js";
import { amount } from "../../support/full.js";

const MEMBERS = ["_meta", "requestState", "inputRequests", "inputResponses", "nextCursor", "resultType"] as const;
const TEMPTING = { run: base64(PNG), text: prose(12_000), bytes: [...PNG], "sluice/other": `see ${base64(PDF)}` };
const rows = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`member ${n}`, "small"]));

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice({ store: new MemoryArtifactStore() });
});

/** The reduced result of a text that arrives in pieces. */
async function passed(text: string, piece = text.length): Promise<Transformed> {
  await using stream = sluice.open({ dialect: "mcp" });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += piece) await stream.write(bytes.subarray(at, at + piece));
  return await stream.close();
}

async function restored(text: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of sluice.restoreStream(text)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe.each(MEMBERS)("%s", (name) => {
  test.each([
    ["of a result", (result: string) => result],
    ["of a JSON-RPC response", (result: string) => `{"jsonrpc":"2.0","id":4,"result":${result}}`],
  ])("%s stands as it came", async (_, wrap) => {
    // `_meta` is given a member of ours in front of its last brace.
    const member = `"${name}" : { "a" : ${JSON.stringify(TEMPTING)}`;
    const text = wrap(`{"content":[{"type":"text","text":"${base64(PDF)}"}],${member} }}`);
    const { text: reduced, artifacts } = await passed(text);
    expect(artifacts).toHaveLength(1);
    expect(reduced).toContain(member);
    expect(JSON.parse(await restored(reduced))).toEqual(JSON.parse(text));
  });
});

test("any value stands under any of them, in any chunks, and restores", async () => {
  const members = fc.dictionary(fc.constantFrom(...MEMBERS), documents, { minKeys: 1, noNullPrototype: true });
  const size = fc.constantFrom(0, 3_000);
  await fc.assert(
    fc.asyncProperty(members, size, fc.integer({ min: 1, max: 5_000 }), async (kept, count, piece) => {
      const result = { ...kept, ...rows(count), pdf: base64(PDF) };
      const text = JSON.stringify({ jsonrpc: "2.0", id: "seven", result });
      const whole = await passed(text);
      expect((await passed(text, piece)).text).toBe(whole.text);
      const value = whole.value as { id: string; result: Record<string, Json> };
      expect(value.id).toBe("seven");
      const others = Object.entries(kept).filter(([name]) => name !== "_meta");
      for (const [name, wanted] of others) {
        expect(JSON.stringify(value.result[name])).toBe(JSON.stringify(wanted));
      }
      expect(JSON.stringify(JSON.parse(await restored(whole.text)))).toBe(text);
    }),
    { numRuns: amount(15, 60) },
  );
});

describe("_meta of what a result holds", () => {
  const kept = { TEMPTING };
  const resource = { uri: "file:///a.txt", mimeType: "text/plain", text: "a", _meta: kept };

  test.each([
    ["a content block", { content: [{ type: "text", text: "a", _meta: kept }] }],
    ["an embedded resource", { content: [{ type: "resource", resource, _meta: kept }] }],
    ["a link", { content: [{ type: "resource_link", uri: "file:///a.txt", name: "a", _meta: kept }] }],
    ["a message", { messages: [{ role: "user", content: { type: "text", text: "a", _meta: kept } }] }],
    ["contents", { contents: [resource] }],
    ["tools", { tools: [{ name: "a", inputSchema: { type: "object" }, _meta: kept }] }],
    ["resources", { resources: [{ name: "a", uri: "file:///a.txt", _meta: kept }] }],
    ["a task", { task: { taskId: "a", status: "working", _meta: kept } }],
    ["a task's result", { taskId: "a", result: { content: [{ type: "text", text: "a", _meta: kept }], _meta: kept } }],
  ])("stands byte for byte in %s", async (_, result) => {
    for (const document of [result, { jsonrpc: "2.0", id: 4, result }]) {
      const { text, artifacts } = await passed(JSON.stringify(document, null, 1));
      expect(artifacts).toEqual([]);
      expect(text).toBe(JSON.stringify(document, null, 1));
    }
  });

  test("stays with the note that takes a block's place", async () => {
    const png = { type: "image", mimeType: "image/png", data: base64(PNG), _meta: kept };
    const document = { content: [png, { type: "text", text: base64(PDF), _meta: kept }] };
    const { value, text, artifacts } = await passed(JSON.stringify(document));
    expect(artifacts).toHaveLength(2);
    expect(value).toMatchObject({
      content: [
        { type: "text", _meta: kept },
        { type: "text", _meta: kept },
      ],
    });
    expect(JSON.parse(await restored(text))).toEqual(document);
  });

  test("is like anything else in structuredContent and in JSON that is text", async () => {
    const meta = { run: base64(PDF) };
    const structuredContent = { content: [{ type: "text", _meta: meta }] };
    const document = { content: [{ type: "text", text: JSON.stringify({ _meta: meta }) }], structuredContent };
    const { text, artifacts } = await passed(JSON.stringify(document));
    expect(artifacts.length).toBeGreaterThan(0);
    expect(text).not.toContain(base64(PDF).slice(0, 200));
    expect(JSON.parse(await restored(text))).toEqual(document);
  });
});

test("a result of thousands of members goes, and those stay with the list of references", async () => {
  const kept = { _meta: { a: TEMPTING }, nextCursor: base64(LARGE_PNG), resultType: "complete" };
  const document = { jsonrpc: "2.0", id: 9, result: { ...rows(4_000), ...kept } };
  const { value, text, artifacts } = await passed(JSON.stringify(document));
  expect(artifacts).toHaveLength(1);
  expect(value).toEqual({
    jsonrpc: "2.0",
    id: 9,
    result: {
      content: [{ type: "text", text: expect.stringContaining("Stored, not shown") as string }],
      ...kept,
      _meta: { a: TEMPTING, "sluice/refs": expect.any(Array) as unknown },
    },
  });
  expect(JSON.stringify(JSON.parse(await restored(text)))).toBe(JSON.stringify(document));
});

test.each([
  ["empty", {}],
  ["a list of references of the server's own", { "sluice/refs": [{ at: "", uri: "artifact://x" }], b: 1 }],
  ["no object", "text"],
  ["absent", undefined],
])("a result that goes restores when its _meta is %s", async (_, _meta) => {
  const document = { ...rows(4_000), _meta, nextCursor: "n" };
  const { value, text } = await passed(JSON.stringify(document));
  expect(value).toMatchObject({ nextCursor: "n", _meta: { "sluice/refs": [{ at: "" }] } });
  expect(JSON.stringify(JSON.parse(await restored(text)))).toBe(JSON.stringify(document));
});

test("icons stand wherever they are an array", async () => {
  const icons = [{ src: `data:image/png;base64,${base64(LARGE_PNG)}`, sizes: ["48x48"] }];
  const structuredContent = { servers: [{ icons }, { icons: base64(PDF) }], png: base64(PNG) };
  const { value, artifacts } = await passed(JSON.stringify({ content: [], structuredContent }));
  expect(artifacts).toHaveLength(2);
  expect(value).toMatchObject({ structuredContent: { servers: [{ icons }, {}] } });
});

test("eight MiB of a message are protected, and no more", async () => {
  const chars = 9 * 2 ** 20;
  const document = { content: [], requestState: "w ".repeat(chars / 2), nextCursor: base64(PNG) };
  const { value, text, artifacts } = await passed(JSON.stringify(document), 1_000_000);
  expect(artifacts.map((ref) => ref.size_bytes)).toEqual([chars]);
  expect(value).toMatchObject({ nextCursor: base64(PNG) });
  expect((await restored(text)) === JSON.stringify(document)).toBe(true);
});

test("an observation is for the model alone: its members are gated as ever", async () => {
  const { text, artifacts } = await sluice.transform({ nextCursor: base64(PDF), content: [] });
  expect(artifacts).toHaveLength(1);
  expect(text).not.toContain(base64(PDF).slice(0, 200));
});
