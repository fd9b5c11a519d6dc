/** No encoded bytes as text, ever: the promise that everything else serves. */
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { encodedAs, files, results, type Json } from "./documents.js";
import { base64, longestRun } from "./samples.js";
import { amount } from "../../support/full.js";

let sluice: Sluice;
beforeAll(async () => {
  sluice = await createSluice({ store: new MemoryArtifactStore() });
});

/** A string at some place of a document, or of JSON in a string of one. */
function placed(text: string, level: number): Json {
  if (level === 0) return text;
  const inner = placed(text, level - 1);
  return level % 2 === 0 ? { note: "see", file: inner } : [JSON.stringify({ answer: inner, n: level })];
}

describe("a file in any spelling, at any depth, in any shape", () => {
  const text = encodedAs(files);
  const result = fc
    .tuple(text, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 4 }))
    .map(([run, level, shape]) => {
      const value = placed(run, level);
      const words = typeof value === "string" ? value : JSON.stringify(value);
      const shapes: readonly Json[] = [
        value,
        { content: [{ type: "text", text: words }] },
        { content: [{ type: "text", text: words }], structuredContent: { value } },
        { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: words }], isError: true } },
        [{ type: "text", text: words }],
      ];
      return shapes[shape] ?? null;
    });

  test.each(["observation", "mcp"] as const)("does not reach whoever reads the %s dialect", async (dialect) => {
    const property = fc.asyncProperty(result, async (document) => {
      const { text: seen, artifacts } = await sluice.transform(document, { dialect, namespace: "l" });
      expect(longestRun(seen)).toBeLessThan(200);
      expect(seen).not.toMatch(/(\d{1,3}, ?){64}/);
      expect(seen).not.toMatch(/(\\\\*x[0-9a-f]{2}){64}/);
      expect(artifacts.length).toBeGreaterThan(0);
    });
    await fc.assert(property, { numRuns: amount(40, 150) });
  });

  test("typed blocks hold none either, whatever they say of themselves", async () => {
    const types = fc.constantFrom("image/png", "application/pdf", "text/plain", "nonsense", "");
    const property = fc.asyncProperty(files, types, async (data, mimeType) => {
      const blocks = [
        { type: "image", data: base64(data), mimeType },
        { type: "audio", data: data.toString("base64url"), mimeType },
        { type: "resource", resource: { uri: "file:///a", mimeType, blob: base64(data) } },
      ];
      for (const dialect of ["observation", "mcp"] as const) {
        const { text: seen } = await sluice.transform({ content: blocks }, { dialect });
        expect(longestRun(seen)).toBeLessThan(200);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

test("a valid CallToolResult stays one", async () => {
  const property = fc.asyncProperty(results, async (result) => {
    fc.pre(CallToolResultSchema.safeParse(result).success);
    const { value } = await sluice.transform(result, { dialect: "mcp" });
    expect(CallToolResultSchema.safeParse(value).error).toBeUndefined();
  });
  await fc.assert(property, { numRuns: amount(40, 150) });
});
