/** Replacing text: exact, unique, whatever the chunks. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dataOf } from "../artifact-reader/artifacts.js";
import { edited, refusal, textAfter } from "./editing.js";

const PAGE = "<h1>Prices</h1>\n<p>One</p>\n<p>Two</p>\n<p>Two</p>\n";

describe("a text that occurs once", () => {
  test("is replaced, and the answer tells where, how much, and what stands there now", async () => {
    const { result, words, text, ref, origin } = await edited(
      PAGE,
      { old_string: "One", new_string: "Three" },
      { mime_type: "text/html", filename: "page.html", source: { tool: "get_page" } },
    );
    expect(text).toBe(PAGE.replace("One", "Three"));
    expect(words).toContain(`artifact://${ref?.id} is artifact://${origin.id} with 1 place replaced (line 2)`);
    expect(words).toContain("49 bytes before, 51 bytes now");
    expect(words).toContain(`Pass artifact://${ref?.id} as a tool argument`);
    expect(dataOf(result)).toBe("<h1>Prices</h1>\n<p>Three</p>\n<p>Two</p>\n<p>Two</p>\n");
    expect(ref).toMatchObject({
      mime_type: "text/html",
      filename: "page.html",
      source: { tool: "ns_artifact_edit", derived_from: origin.id },
    });
    expect(ref?.source).not.toHaveProperty("truncated");
  });

  test("is deleted by an empty text", async () => {
    expect(await textAfter(PAGE, { old_string: "<p>One</p>\n", new_string: "" })).toBe(
      PAGE.replace("<p>One</p>\n", ""),
    );
  });

  test("may be all there is", async () => {
    expect(await textAfter("abc", { old_string: "abc", new_string: "x" })).toBe("x");
    expect(await textAfter("abc", { old_string: "abc", new_string: "" })).toBe("");
  });
});

describe("a text that occurs several times", () => {
  test("is refused with how often and where", async () => {
    const words = await refusal(PAGE, { old_string: "Two", new_string: "2" });
    expect(words).toContain("old_string occurs 2 times, at lines 3, 4: include more");
    const many = await refusal("a\n".repeat(2000), { old_string: "a", new_string: "b" });
    expect(many).toContain("occurs 2,000 times, at lines 1, 2, 3, 4, 5 and 1,995 more");
  });

  test("is replaced everywhere where that is wanted", async () => {
    const { text, words } = await edited(PAGE, { old_string: "Two", new_string: "2", replace_all: true });
    expect(text).toBe(PAGE.replaceAll("Two", "2"));
    expect(words).toContain("2 places replaced (lines 3, 4)");
  });

  test("counts places that overlap, unless all are replaced", async () => {
    expect(await refusal("xaaax", { old_string: "aa", new_string: "b" })).toContain("occurs 2 times");
    expect(await textAfter("xaaax", { old_string: "aa", new_string: "b", replace_all: true })).toBe("xbax");
  });
});

describe("a text that does not occur", () => {
  test("is refused with the remedy", async () => {
    const words = await refusal(PAGE, { old_string: "Four", new_string: "4" });
    expect(words).toMatch(
      /old_string does not occur in artifact:\/\/ns_\w+: read the place, by search or lines of ns_art/,
    );
  });

  test.each([
    ["white space", "<p>One</p> <p>Two", "white space"],
    ["white space", "  <p>One</p>", "white space"],
    ["case", "<P>ONE</P>", "upper and lower case"],
    ["case beyond ASCII", "ÄPFEL", "upper and lower case"],
    ["quotes", "it’s", "quotes and dashes"],
  ])("is refused with the lines that differ in %s only", async (_what, old, difference) => {
    const { result, words } = await edited(`${PAGE}Äpfel, it's\n`, { old_string: old, new_string: "x" });
    expect(result.isError).toBe(true);
    expect(words).toContain(`differ`);
    expect(words).toContain(difference);
    expect(dataOf(result)).toMatch(/One|Äpfel/);
  });

  test("is refused with what ends the lines", async () => {
    const words = await refusal("a\r\nb\r\nc\r\n", { old_string: "a\nb", new_string: "x" });
    expect(words).toContain(String.raw`line ends: the artifact has \r\n`);
  });
});

test.each([
  [{ uri: 7, old_string: "One", new_string: "1" }, "uri must be a string: give the artifact:// URI"],
  [{ new_string: "1" }, "old_string is missing: give the exact text to replace"],
  [{ old_string: "One" }, 'new_string is missing: give the new text, "" to delete'],
  [{ old_string: "One", new_string: "1", replace_all: "yes" }, "replace_all must be true or false"],
  [{ old_string: "", new_string: "1" }, "old_string is empty: give text that is there"],
  [{ old_string: "One", new_string: "\ud83d" }, "new_string has half a character (a lone surrogate)"],
])("%j is refused with the remedy", async (args, said) => {
  expect(await refusal(PAGE, args)).toContain(said);
});

test("a change that changes nothing makes no artifact", async () => {
  const { result, ref, words } = await edited(PAGE, { old_string: "One", new_string: "One" });
  expect(result.isError).toBeUndefined();
  expect(ref).toBeUndefined();
  expect(words).toContain("Nothing was changed");
});

test("an edit that is undone gives the first artifact back, as it was", async () => {
  const first = await edited(
    "one two",
    { old_string: "one", new_string: "1" },
    { filename: "a.txt", source: { tool: "t" } },
  );
  const { store, origin, ref } = first;
  const { ArtifactEditor } = await import("../../../../web/src/mcp/artifact-editor/artifact-editor.js");
  const { ArtifactSource } = await import("../../../../web/src/mcp/artifact-reader/source.js");
  const editor = new ArtifactEditor(new ArtifactSource(store, {}, "ns"), { tool: "e", readTool: "r" });
  await editor.call({ uri: ref?.id, old_string: "1", new_string: "one" });
  expect(await store.stat(origin.id)).toMatchObject({ filename: "a.txt", source: { tool: "t" } });
  expect((await store.stat(origin.id))?.source).not.toHaveProperty("derived_from");
});

test("the bytes are those of an edit in memory, whatever the chunks", async () => {
  const word = fc.constantFrom("a", "b", "ab", "aab", "\n", "é", "😀", " ", "\r\n");
  const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(""));
  const needle = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(""));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(text, needle, text, sizes, fc.boolean(), async (content, old, next, pieces, isAll) => {
      const args = { old_string: old, new_string: next, replace_all: isAll };
      const { text: after, result } = await edited(content, args, { sizes: pieces, mime_type: "text/plain" });
      let places = 0;
      for (let at = content.indexOf(old); at >= 0; at = content.indexOf(old, at + 1)) places += 1;
      const isRefused = places === 0 || (places > 1 && !isAll);
      const expected = isRefused ? "refused" : content.replaceAll(old, () => next);
      expect(result.isError === true ? "refused" : (after ?? content)).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

test("texts longer than a chunk, and of a megabyte, are found and put in", async () => {
  const old = "0123456789".repeat(20_000);
  const next = "n".repeat(1024 * 1024);
  expect(
    await textAfter(`x${old.slice(0, -1)}x${old}y`, { old_string: old, new_string: next }, { sizes: [1000] }),
  ).toBe(`x${old.slice(0, -1)}x${next}y`);
  expect(await refusal("abc", { old_string: "b", new_string: `${next}n` })).toContain(
    "new_string is longer than 1 MiB",
  );
});

test("a result beyond the limit is refused before anything is written", async () => {
  const words = await refusal("a".repeat(2000), {
    old_string: "a",
    new_string: "n".repeat(1024 * 1024),
    replace_all: true,
  });
  expect(words).toContain("The result would be larger than 1.0 GB");
});
