/** Resources of so many contents that the gate diverts their list, or all of the result: none is lost, none stays base64. */
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { SluiceConfig } from "../../../../../web/src/config/types.js";
import { createSluice, NoOpArtifactStore } from "../../../../../web/src/index.js";
import type { ReadContent, ReadResult } from "../../../../../web/src/tools/source-features.js";
import {
  ContentsSplitter,
  readContents,
  type Reading,
} from "../../../../../web/src/tools/sources/mcp/read-contents.js";
import { amount } from "../../../../support/full.js";
import { setting } from "./setting.js";

describe("many reads", () => {
  const SCOPE = { user_id: "ada" };

  interface Read extends ReadResult {
    readonly bytes: (content: ReadContent | undefined) => Promise<Buffer>;
  }

  async function read(result: object, config: SluiceConfig = {}, deps: Partial<Reading> = {}): Promise<Read> {
    const store = new MemoryArtifactStore({ retention: null });
    const sluice = await createSluice({ store, config });
    const reading: Reading = {
      scope: SCOPE,
      namespace: "fix",
      inlineChars: 9_999,
      signal: new AbortController().signal,
      ...deps,
    };
    const reduced = await sluice.transform(result, { dialect: "mcp", scope: SCOPE, namespace: "fix" });
    const bytes = async (content: ReadContent | undefined): Promise<Buffer> =>
      Buffer.from((content?.kind === "artifact" && (await store.get(content.id, SCOPE))) || "not there");
    return { ...(await readContents(reduced, reading, { sluice, store })), bytes };
  }

  /** Bytes that no two contents share. */
  function some(size: number, index: number): Buffer {
    return Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 37 + (at >> 8) * 11 + index * 101) % 256));
  }

  const blob = (size: number, index: number): { readonly uri: string; readonly blob: string } => ({
    uri: `a://${index}`,
    blob: some(size, index).toString("base64"),
  });

  /** What is not as it was sent of so many blobs of these sizes. */
  async function amiss(sizes: readonly number[], config: SluiceConfig = {}): Promise<readonly string[]> {
    const { contents, bytes } = await read({ contents: sizes.map(blob) }, config);
    const wrong = contents.length === sizes.length ? [] : [`${contents.length} of ${sizes.length}`];
    for (const [index, size] of sizes.entries()) {
      const content = contents[index];
      const isRight = content?.uri === `a://${index}` && (await bytes(content)).equals(some(size, index));
      if (!isRight) wrong.push(`${index}: ${content?.kind} ${content?.uri} of ${size} bytes`);
    }
    return wrong;
  }

  describe("every blob is an artifact with its very bytes", () => {
    test.each([
      [250, 300],
      [1000, 300],
      [1000, 3],
      [40, 7000],
      [300, 7600],
      [800, 8000],
      [3, 300_000],
    ])("%i of %i bytes", async (count, size) => {
      expect(await amiss(Array.from({ length: count }, () => size))).toEqual([]);
    });

    test("whatever their number and their sizes", { timeout: 120_000 }, async () => {
      // Around what stays in a document, what a run is, what is diverted by itself.
      const size = fc.oneof(
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 730, max: 770 }),
        fc.integer({ min: 7450, max: 7550 }),
        fc.integer({ min: 18_000, max: 40_000 }),
      );
      const group = fc.record({ size, count: fc.integer({ min: 1, max: 150 }) });
      const sizes = fc
        .array(group, { minLength: 1, maxLength: 4 })
        .map((groups) => groups.flatMap(({ size: each, count }) => Array.from({ length: count }, () => each)))
        .filter((all) => all.reduce((sum, each) => sum + each, 0) < 1_000_000);
      const config = fc.constantFrom<SluiceConfig>({}, { max_inline_size: 300 }, { max_inline_size: 200_000 });
      await fc.assert(
        fc.asyncProperty(sizes, config, async (all, deps) => {
          expect(await amiss(all, deps)).toEqual([]);
        }),
        { numRuns: amount(6, 20) },
      );
    });

    test.each<SluiceConfig>([
      { max_inline_size: 10_000_000 },
      { max_inline_size: 256 },
      { auto_artifact_large_content: false },
      { binary_detection: { enabled: false }, max_inline_size: 1_000_000 },
      { guardrail: { max_observation_chars: 256 } },
    ])("with %j", async (config) => {
      const short = Array.from({ length: 250 }, () => 300);
      expect(await amiss([1, 2, 3, 300, 40_000, 200_000, ...short], config)).toEqual([]);
    });

    test("beside members that have the content, or the result, diverted", async () => {
      const many = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`key${index}`, index]));
      for (const result of [
        {
          contents: [
            { ...blob(300, 0), ...many },
            { ...blob(300, 1), ...many },
          ],
        },
        { contents: [blob(300, 0), blob(300, 1)], ...many, ttlMs: 60_000 },
        { ...many, contents: [blob(300, 0), { ...blob(300, 1), extra: Array.from({ length: 20_000 }, () => 1) }] },
      ]) {
        const { contents, bytes } = await read(result);
        expect(contents.map(({ kind, uri }) => [kind, uri])).toEqual([
          ["artifact", "a://0"],
          ["artifact", "a://1"],
        ]);
        for (const index of [0, 1]) expect(await bytes(contents[index])).toEqual(some(300, index));
      }
    });

    test("also one that the gate takes for no base64", async () => {
      const { contents, bytes } = await read({ contents: [{ uri: "a", blob: "YR==" }] });
      expect(await bytes(contents[0])).toEqual(Buffer.from("a"));
    });
  });

  describe("texts among many contents", () => {
    test("are whole, in their order, and hold no bytes", async () => {
      const pdf = Buffer.alloc(3000, 7).fill("%PDF-1.7\n", 0, 9).toString("base64");
      const texts = Array.from({ length: 300 }, (_, index) => ({ uri: `t://${index}`, text: `${index} ${pdf} end` }));
      const { contents } = await read({ contents: texts });
      expect(contents).toHaveLength(300);
      for (const [index, content] of contents.entries()) {
        expect(content).toMatchObject({ kind: "text", uri: `t://${index}` });
        expect(content).toMatchObject({
          text: expect.stringMatching(new RegExp(`^${index} artifact://fix_\\S+ end$`)),
        });
      }
    });

    test("are whatever JSON can hold", async () => {
      const contents = fc.array(fc.record({ uri: fc.webUrl(), text: fc.string({ unit: "binary", maxLength: 400 }) }), {
        minLength: 200,
        maxLength: 300,
      });
      await fc.assert(
        fc.asyncProperty(contents, async (given) => {
          const filler = { uri: "x:", text: "word ".repeat(1900) };
          const all = [...given, ...Array.from({ length: 6 }, () => filler)];
          const result = await read({ contents: all });
          expect(result.contents).toMatchObject(all.map(({ text, uri }) => ({ kind: "text", uri, text })));
        }),
        { numRuns: amount(4, 10) },
      );
    });

    test("are not held without end", async () => {
      const contents = Array.from({ length: 1000 }, (_, index) => ({
        uri: `t://${index}`,
        text: "word ".repeat(1900),
      }));
      await expect(read({ contents })).rejects.toMatchObject({ code: "E_TOO_LARGE" });
    });

    test("are not held without end where there is nothing in them", async () => {
      const nothing = { contents: Array.from({ length: 60_000 }, () => ({})) };
      await expect(read(nothing)).rejects.toMatchObject({ code: "E_TOO_LARGE" });
    });
  });

  test("what says how long it may be kept is not kept where that was diverted", async () => {
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`key${index}`, index]));
    expect(await read({ contents: [blob(300, 0)], ttlMs: 60_000, ...many })).toMatchObject({ ttl_ms: 0 });
    expect(await read({ contents: Array.from({ length: 250 }, () => blob(300, 0)), ttlMs: 60_000 })).toMatchObject({
      ttl_ms: 60_000,
    });
  });

  test("a caller may give up meanwhile", async () => {
    const controller = new AbortController();
    const contents = Array.from({ length: 1000 }, (_, index) => blob(300, index));
    const reason = new Error("no longer wanted");
    setTimeout(() => controller.abort(reason));
    await expect(read({ contents }, {}, { signal: controller.signal })).rejects.toBe(reason);
  });

  test("a server's own words that name an artifact are no reason to fail", async () => {
    const id = `fix_${createHash("sha256").update(some(8000, 0)).digest("hex").slice(0, 12)}`;
    const named = Array.from({ length: 3000 }, () => `artifact://${id}?type=application/json&size=8000`);
    const { contents } = await read({ contents: [blob(8000, 0), ...named] });
    expect(contents).toHaveLength(3001);
    expect(contents[0]).toMatchObject({ kind: "artifact", id });
    expect(contents[3000]).toMatchObject({ kind: "text", text: "" });
  });
});

describe("contents", () => {
  const PDF = Buffer.alloc(3000, 7).fill("%PDF-1.7\n", 0, 9).toString("base64");

  async function read(result: object, deps: Partial<Reading> = {}) {
    const at = await setting();
    const reading: Reading = {
      scope: { user_id: "ada" },
      namespace: "fix",
      inlineChars: 10_000,
      signal: new AbortController().signal,
      ...deps,
    };
    const { scope, namespace } = reading;
    const reduced = await at.sluice.transform(result, { dialect: "mcp", scope, namespace });
    return { at, reading, ...(await readContents(reduced, reading, at)) };
  }

  const textContent = (index: number, chars: number): object => ({
    uri: `a://${index}`,
    text: "x".repeat(chars),
    mimeType: "text/plain",
  });
  const blob = (index: number): object => ({ uri: `a://${index}`, blob: PDF, mimeType: "application/pdf" });

  describe("the contents of a resource", () => {
    it("are all there, in their order", async () => {
      const { contents } = await read({
        contents: [textContent(0, 10), blob(1), textContent(2, 20_000), blob(3), textContent(4, 0)],
      });
      expect(contents.map(({ kind, uri }) => [kind, uri])).toEqual([
        ["text", "a://0"],
        ["artifact", "a://1"],
        ["artifact", "a://2"],
        ["artifact", "a://3"],
        ["text", "a://4"],
      ]);
      expect(contents[1]).toMatchObject({ mime_type: "application/pdf", size_bytes: 3000, summary: "PDF, 2.9 KB" });
    });

    it("are all there where they are too many to be shown together", async () => {
      const given = Array.from({ length: 40 }, (_, index) =>
        index % 4 === 3 ? blob(index) : textContent(index, 9000),
      );
      const { contents } = await read({ contents: given });
      expect(contents.map(({ kind }) => kind)).toEqual(
        given.map((_, index) => (index % 4 === 3 ? "artifact" : "text")),
      );
      expect(contents.map(({ uri }) => uri)).toEqual(given.map((_, index) => `a://${index}`));
    });

    it.each([0, 9, 10, 11, 5000, 10_000, 15_000])("stay where they have at most %i characters", async (inlineChars) => {
      const sizes = [9, 10, 11, 4999, 5000, 5001, 10_000, 10_001, 15_000, 15_001];
      const { contents, at, reading } = await read(
        { contents: sizes.map((size, index) => textContent(index, size)) },
        { inlineChars },
      );
      expect(contents.map(({ kind }) => kind)).toEqual(
        sizes.map((size) => (size <= inlineChars ? "text" : "artifact")),
      );
      for (const [index, content] of contents.entries()) {
        const said = content.kind === "text" ? content.text : await at.store.get(content.id, reading.scope);
        expect(said?.length).toBe(sizes[index]);
      }
    });

    it("are counted in characters, not in units of UTF-16", async () => {
      const { contents } = await read({ contents: [{ uri: "a", text: "🙂".repeat(10) }] }, { inlineChars: 10 });
      expect(contents).toMatchObject([{ kind: "text" }]);
    });

    it("that only look like references stay what they are", async () => {
      const { contents } = await read({ contents: [{ uri: "a", text: "artifact://fix_000000000000" }, blob(1)] });
      expect(contents[0]).toMatchObject({ kind: "text", text: "artifact://fix_000000000000" });
    });

    it("that have bytes inside a text refer to them there", async () => {
      const { contents } = await read({
        contents: [{ uri: "a", text: `see data:application/pdf;base64,${PDF} there` }],
      });
      expect(contents).toMatchObject([
        { kind: "text", text: expect.stringMatching(/^see artifact:\/\/fix_\w+\S* there$/) as unknown },
      ]);
    });

    it("that are empty, no base64 or not there are no reason to fail", async () => {
      const { contents } = await read({
        contents: [{ uri: "a", blob: "" }, { uri: "b", blob: "%%%" }, { uri: "c" }, null, 7],
      });
      expect(contents).toEqual(
        ["", "%%%", "", "", ""].map(
          (said, index) =>
            expect.objectContaining({ kind: "text", text: said, uri: ["a", "b", "c"][index] ?? "" }) as unknown,
        ),
      );
      expect((await read({ contents: [] })).contents).toEqual([]);
    });

    it.each([{}, { contents: {} }, { contents: null }, { contents: "none" }])(
      "are the source's failure where there is no list of them: %j",
      async (result) => {
        await expect(read(result)).rejects.toMatchObject({
          code: "E_TOOL_SERVER",
          message: `The source "fix" answered without a list of contents: see the server's own log.`,
        });
      },
    );

    it("that are neither text nor bytes are shown as they came", async () => {
      const { contents } = await read({
        contents: [
          { uri: "a", text: 5 },
          { uri: "b", blob: { sum: [1] } },
          { uri: "c", blob: 1234 },
        ],
      });
      expect(contents).toMatchObject([
        { kind: "text", uri: "a", text: "5" },
        { kind: "text", uri: "b", text: '{"sum":[1]}' },
        { kind: "text", uri: "c", text: "1234" },
      ]);
    });

    it("come with how long they may be kept", async () => {
      expect(await read({ contents: [], ttlMs: 5, cacheScope: "public" })).toMatchObject({
        ttl_ms: 5,
        cache_scope: "public",
      });
      const odd = await read({ contents: [], ttlMs: "5", cacheScope: "all" });
      expect(odd).not.toHaveProperty("ttl_ms");
      expect(odd).not.toHaveProperty("cache_scope");
    });

    it("that nothing keeps say so where they are bytes, and are whole where they are texts", async () => {
      const store = new NoOpArtifactStore({ warn: () => undefined });
      const sluice = await createSluice({ store });
      const given = { contents: [blob(0), textContent(1, 11), textContent(2, 70_000)] };
      const reduced = await sluice.transform(given, { dialect: "mcp" });
      const reading: Reading = { scope: {}, namespace: "fix", inlineChars: 10, signal: new AbortController().signal };
      const { contents } = await readContents(reduced, reading, { sluice, store }, given);
      expect(contents).toMatchObject([
        { kind: "artifact", summary: expect.stringMatching(/^PDF, 2\.9 KB; .+/) as unknown },
        { kind: "text", text: "x".repeat(11) },
        { kind: "text", text: "x".repeat(70_000) },
      ]);
    });
  });

  /** The elements, and what stands in the list's place, of a text in pieces of this size. */
  function split(text: string, size: number): { readonly elements: readonly unknown[]; readonly other: unknown } {
    const splitter = new ContentsSplitter();
    const bytes = new TextEncoder().encode(text);
    const elements: unknown[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      // What is handed over may be written over later.
      const piece = bytes.slice(at, at + size);
      splitter.push(piece);
      piece.fill(0);
      for (const element of splitter.take()) elements.push(JSON.parse(element));
    }
    splitter.end();
    return { elements, other: splitter.other === undefined ? undefined : JSON.parse(splitter.other) };
  }

  const size = fc.integer({ min: 1, max: 40 });

  test("are all of a list's elements, however it is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), size, (list, chunk) => {
        expect(split(JSON.stringify(list, undefined, chunk % 3), chunk).elements).toEqual(list);
      }),
    );
  });

  test("are those of a result, whatever else is in it", () => {
    const rest = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(rest, fc.jsonValue({ maxDepth: 4 }), rest, size, (before, contents, after, chunk) => {
        const { contents: _, ...others } = { ...before, ...after };
        const given = JSON.stringify({ ...others, nested: [{ contents: [1] }], contents, last: { contents: [2] } });
        const { elements, other } = split(given, chunk);
        // As JSON says it: -0 is 0.
        const said = JSON.parse(JSON.stringify(contents)) as unknown;
        expect(elements).toEqual(Array.isArray(said) ? said : []);
        expect(other).toEqual(Array.isArray(said) ? undefined : said);
      }),
    );
  });

  test("are none of what is neither", () => {
    for (const text of ["5", '"x"', "{}", "null", '{"content":[1]}']) {
      expect(split(text, 1)).toEqual({ elements: [], other: undefined });
    }
  });

  test("are not held when one is beyond all measure", () => {
    expect(() => split(JSON.stringify(["x".repeat(9_000_000)]), 65_536)).toThrow(/more contents than fit in memory/);
  });
});
