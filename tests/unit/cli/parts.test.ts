import { describe, expect, test } from "vitest";
import { withoutMark } from "../../../web/src/cli/terminal/input.js";
import { isBlank, linePieces } from "../../../web/src/jsonrpc/lines.js";
import { indent, oneLine } from "../../../web/src/cli/terminal/json.js";
import { parseRange, toSpan } from "../../../web/src/cli/artifacts.js";
import { defaultFolder } from "../../../web/src/cli/store/folders.js";
import { alignTable } from "../../../web/src/cli/terminal/table.js";
import { countNoun, humanSize } from "../../../web/src/core/amounts.js";
import { humanAge, printable } from "../../../web/src/cli/terminal/terminal.js";

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function lines(text: string, size: number): Promise<string[]> {
  const found: string[] = [];
  let line = "";
  for await (const { bytes, last } of linePieces(chunksOf(Buffer.from(text), size))) {
    line += Buffer.from(bytes).toString("latin1");
    if (!last) continue;
    found.push(line);
    line = "";
  }
  expect(line).toBe("");
  return found;
}

describe("linePieces", () => {
  test.each([
    ["", []],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\nbc\n\nd", ["a", "bc", "", "d"]],
    ["\n\n", ["", ""]],
  ])("%j is %j in chunks of any size", async (text, expected) => {
    for (let size = 1; size <= text.length + 1; size++) expect(await lines(text, size)).toEqual(expected);
  });

  test("blank is JSON's white space and nothing else", () => {
    expect(isBlank(Buffer.from(" \t\r\n"))).toBe(true);
    expect(isBlank(Buffer.from("\u00a0"))).toBe(false);
  });
});

describe("withoutMark", () => {
  test.each([
    ["", ""],
    ["{}", "{}"],
    ["\u00ef\u00bb\u00bf{}", "{}"],
    ["\u00ef\u00bb\u00bf", ""],
    ["\u00ef\u00bb{}", "\u00ef\u00bb{}"],
    ["\u00ef", "\u00ef"],
    ["\u00ef\u00bb\u00bf\u00ef\u00bb\u00bf1", "\u00ef\u00bb\u00bf1"],
  ])("%j is %j in chunks of any size", async (bytes, expected) => {
    for (let size = 1; size <= bytes.length + 1; size++) {
      const found: Uint8Array[] = [];
      for await (const chunk of withoutMark(chunksOf(Buffer.from(bytes, "latin1"), size))) found.push(chunk);
      expect(Buffer.concat(found).toString("latin1")).toBe(expected);
    }
  });
});

describe("ranges", () => {
  test.each([
    ["0-0", 10, { start: 0, end: 1 }],
    ["2-", 10, { start: 2, end: 10 }],
    ["-3", 10, { start: 7, end: 10 }],
    ["-30", 10, { start: 0, end: 10 }],
    ["5-500", 10, { start: 5, end: 10 }],
  ])("%s of %d bytes", (text, size, range) => {
    expect(toSpan(parseRange(text, ""), size)).toEqual(range);
  });

  test.each(["", "-", "a-b", "1", "1-2-3", "0x1-2", "1.5-2", " 1-2", "1-99999999999999999999"])(
    "%j is none",
    (text) => {
      expect(() => parseRange(text, "")).toThrow(/--range/);
    },
  );

  test.each([
    ["10-", 10],
    ["-0", 10],
    ["0-", 0],
  ] as const)("%s of %d bytes holds none", (text, size) => {
    expect(() => toSpan(parseRange(text, ""), size)).toThrow(/outside the artifact/);
  });
});

describe("indent", () => {
  test.each(['{"a":[1,{"b":null}],"c":"x, {y}: [z] \\" \\\\"}', "[]", '[[],{},[{}],""]', "-1500", '"\\\\"'])(
    "%s is JSON.stringify's form",
    (json) => {
      expect(indent(json)).toBe(JSON.stringify(JSON.parse(json), null, 2));
      expect(oneLine(indent(json))).toBe(json);
    },
  );

  test("is linear in long strings full of escapes", () => {
    const json = `{"s":"${'\\"\\\\'.repeat(500_000)}"}`;
    const from = performance.now();
    expect(oneLine(indent(json))).toBe(json);
    expect(performance.now() - from).toBeLessThan(2000);
  });
});

test("sizes, ages and counts as a person says them", () => {
  expect([0, 312, 1024, 2_201_231, 1.5 * 1024 ** 3, 5000 * 1024 ** 4].map(humanSize)).toEqual([
    "0 B",
    "312 B",
    "1.0 KB",
    "2.1 MB",
    "1.5 GB",
    "5000.0 TB",
  ]);
  expect([-5, 999, 59_000, 60_000, 7_200_000, 864e5 * 3].map(humanAge)).toEqual([
    "0 s",
    "0 s",
    "59 s",
    "1 min",
    "2 h",
    "3 d",
  ]);
  expect([countNoun(1, "artifact"), countNoun(12_000, "row")]).toEqual(["1 artifact", "12,000 rows"]);
});

test("foreign text cannot speak to the terminal", () => {
  expect(printable("a\u001b]0;x\u0007\u202e\u200b\u{e0041}é\n")).toBe(
    "a\\u{1b}]0;x\\u{7}\\u{202e}\\u{200b}\\u{e0041}é\\u{a}",
  );
});

test("a table is aligned by what a terminal shows", () => {
  const columns = [{ title: "A" }, { title: "N", right: true }, { title: "B" }];
  expect(
    alignTable(columns, [
      ["漢字", "1", "x"],
      ["e\u0301", "100", ""],
    ]),
  ).toEqual(["A       N  B", "漢字    1  x", "e\u0301     100"]);
});

test("the default store is in the folder where each system keeps caches", () => {
  expect(defaultFolder({}, "linux", "/home/u")).toBe("/home/u/.cache/sluice");
  expect(defaultFolder({ XDG_CACHE_HOME: "/c" }, "linux", "/home/u")).toBe("/c/sluice");
  expect(defaultFolder({ XDG_CACHE_HOME: "relative" }, "linux", "/home/u")).toBe("/home/u/.cache/sluice");
  expect(defaultFolder({ XDG_CACHE_HOME: "/c" }, "darwin", "/Users/u")).toBe("/Users/u/Library/Caches/sluice");
  expect(defaultFolder({ LOCALAPPDATA: "/L" }, "win32", "/U")).toContain("sluice");
});
