import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../../web/src/index.js";
import { sentText } from "../../../../web/ui/result/restore.js";
import type { MarkedText } from "../../../../web/ui/result/marked-text.js";
import { documents, type Json, results } from "../../core/documents.js";
import { base64, PDF, PNG, prose, textResult } from "../../core/samples.js";

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
});

/** Whether what was written stands where it stood, in order, and holes where something was taken out. */
function fits({ text, holes }: MarkedText, original: string): boolean {
  const starts = [0, ...holes.map(({ end }) => end)];
  const ends = [...holes.map(({ begin }) => begin), text.length];
  let at = 0;
  for (const [index, start] of starts.entries()) {
    const literal = text.slice(start, ends[index]);
    const isLast = index === holes.length;
    const place = isLast ? original.length - literal.length : original.indexOf(literal, at);
    if (place < at || (index === 0 && place !== 0) || !original.startsWith(literal, place)) return false;
    at = place + literal.length;
  }
  return true;
}

async function sentOf(document: unknown): Promise<MarkedText> {
  const { text, refs } = await sluice.transform(document, { dialect: "mcp", namespace: "r" });
  return sentText(text, refs);
}

async function check(document: unknown): Promise<void> {
  expect(fits(await sentOf(document), JSON.stringify(document))).toBe(true);
}

describe("what was sent is rebuilt with holes", () => {
  test("from tool results", async () => {
    await fc.assert(fc.asyncProperty(results, check), { numRuns: 40 });
  });

  test("from JSON of any shape", async () => {
    await fc.assert(fc.asyncProperty(documents, check), { numRuns: 40 });
  });

  test("from JSON-RPC responses", async () => {
    const response = results.map((result): Json => ({ jsonrpc: "2.0", id: 7, result }));
    await fc.assert(fc.asyncProperty(response, check), { numRuns: 20 });
  });

  test("from typed blocks, links, nested texts and structured values", async () => {
    const document = {
      content: [
        { type: "image", data: base64(PNG), mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: base64(PDF) } },
        { type: "resource_link", uri: "file:///b.csv", name: "b" },
        { type: "text", text: JSON.stringify({ inner: JSON.stringify({ pdf: base64(PDF) }) }) },
        { type: "text", text: `![](data:image/png;base64,${base64(PNG)}) and ${base64(PDF)}.` },
      ],
      structuredContent: { bytes: [...PDF.subarray(0, 3000)] },
    };
    const sent = await sentOf(document);
    expect(fits(sent, JSON.stringify(document))).toBe(true);
    expect(sent.holes.map(({ kind, mimeType }) => `${kind} ${mimeType}`)).toEqual([
      "run image/png",
      "run application/pdf",
      "run application/pdf",
      "run image/png",
      "run application/pdf",
      "bytes application/pdf",
    ]);
  });

  test.each([
    ["a string alone", base64(PDF), "run"],
    ["a long text alone", prose(40_000), "text"],
    ["many rows", Array.from({ length: 9_000 }, (_, n) => ({ n, name: `row ${n}` })), "json"],
    ["many rows in a text", textResult(JSON.stringify(Array.from({ length: 9_000 }, (_, n) => [n, "x"]))), "text"],
    ["many blocks", { content: Array.from({ length: 4_000 }, (_, n) => ({ type: "text", text: `row ${n}` })) }, "json"],
    ["bytes in a key", { [base64(PNG)]: 1, b: 2 }, "run"],
  ])("from %s", async (_, document, kind) => {
    const sent = await sentOf(document);
    const { holes } = sent;
    expect(fits(sent, JSON.stringify(document))).toBe(true);
    expect(holes.map((hole) => hole.kind)).toEqual([kind]);
    expect(holes[0]?.id).toMatch(/^r_[0-9a-f]{12}$/);
  });

  test("numbers of any length and keys that occur twice stay", async () => {
    const source = `{"n":12345678901234567890.10,"a":"${base64(PNG)}","a":[1 , 2],"_meta":{"k":1}}`;
    const stream = sluice.open({ dialect: "mcp", namespace: "r" });
    await stream.write(new TextEncoder().encode(source));
    const { text } = await stream.close();
    const sent = sentText(text);
    expect(fits(sent, source)).toBe(true);
    expect(sent.text).toMatch(
      /^\{"n":12345678901234567890\.10,"a":"artifact:[^"]*","a":\[1 , 2\],"_meta":\{"k":1\}\}$/,
    );
  });
});

describe("a list that does not fit", () => {
  test.each([
    [{ a: 1, _meta: { "sluice/refs": [{ at: "/b", added: true }] } }, "/b"],
    [{ a: "x", _meta: { "sluice/refs": [{ at: "/a", uri: "artifact://r_1" }] } }, "/a"],
    [{ a: "x", _meta: { "sluice/refs": [{ at: "a", added: true }] } }, "a"],
    [{ a: "x", _meta: { "sluice/refs": [{ at: "/a" }] } }, "/a"],
    [{ a: "x", _meta: { "sluice/refs": [{ at: "/a", was: 1, added: true }] } }, "/a"],
  ])("is refused with its place: %j", (document, path) => {
    expect(() => sentText(JSON.stringify(document))).toThrow(expect.objectContaining({ code: "E_RESTORE_REFS", path }));
  });

  test("a list that is none is refused", () => {
    expect(() => sentText('{"_meta":{"sluice/refs":7}}')).toThrow(expect.objectContaining({ code: "E_RESTORE_REFS" }));
  });

  test("text that is no JSON comes back as it is", () => {
    expect(sentText('{"half": [1,')).toEqual({ text: '{"half": [1,', holes: [] });
  });
});
