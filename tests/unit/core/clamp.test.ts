import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { documents, results } from "./documents.js";
import { base64, onlyBytes, PDF, prose } from "./samples.js";

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
