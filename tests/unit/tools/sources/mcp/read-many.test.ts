/** Resources of so many contents that the gate diverts their list, or all of the result: none is lost, none stays base64. */
import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../../web/src/artifacts/memory.js";
import type { SluiceConfig } from "../../../../../web/src/config/types.js";
import { createSluice } from "../../../../../web/src/index.js";
import type { ReadContent, ReadResult } from "../../../../../web/src/tools/resources/connection.js";
import { readContents, type Reading } from "../../../../../web/src/tools/sources/mcp/read-contents.js";
import { amount, isFull } from "../../../../support/full.js";

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
      expect(content).toMatchObject({ text: expect.stringMatching(new RegExp(`^${index} artifact://fix_\\S+ end$`)) });
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
    const contents = Array.from({ length: 1000 }, (_, index) => ({ uri: `t://${index}`, text: "word ".repeat(1900) }));
    await expect(read({ contents })).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  });

  test.runIf(isFull)("are not held without end where there is nothing in them", async () => {
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

test("whoever gives up meanwhile is heard", async () => {
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
