import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createSluice, NoOpArtifactStore } from "../../../../../web/src/index.js";
import {
  ContentsSplitter,
  readContents,
  type Reading,
} from "../../../../../web/src/tools/sources/mcp/read-contents.js";
import { setting } from "./setting.js";

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
    const given = Array.from({ length: 40 }, (_, index) => (index % 4 === 3 ? blob(index) : textContent(index, 9000)));
    const { contents } = await read({ contents: given });
    expect(contents.map(({ kind }) => kind)).toEqual(given.map((_, index) => (index % 4 === 3 ? "artifact" : "text")));
    expect(contents.map(({ uri }) => uri)).toEqual(given.map((_, index) => `a://${index}`));
  });

  it.each([0, 9, 10, 11, 5000, 10_000, 15_000])("stay where they have at most %i characters", async (inlineChars) => {
    const sizes = [9, 10, 11, 4999, 5000, 5001, 10_000, 10_001, 15_000, 15_001];
    const { contents, at, reading } = await read(
      { contents: sizes.map((size, index) => textContent(index, size)) },
      { inlineChars },
    );
    expect(contents.map(({ kind }) => kind)).toEqual(sizes.map((size) => (size <= inlineChars ? "text" : "artifact")));
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
    const { contents } = await read({ contents: [{ uri: "a", text: `see data:application/pdf;base64,${PDF} there` }] });
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
  expect(() => split(JSON.stringify(["x".repeat(9_000_000)]), 65_536)).toThrow(/more contents than can be held/);
});
