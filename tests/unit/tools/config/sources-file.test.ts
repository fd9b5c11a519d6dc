/** Files of sources: each source with the place it stands at. */
import { describe, expect, test } from "vitest";
import { readSourcesFile } from "../../../../web/src/tools/config/sources-file.js";
import { ToolConfigError } from "../../../../web/src/tools/config/problem.js";
import { thrown } from "../thrown.js";

const A = { name: "a", transport: "mcp", connection: "server" };
const B = { name: "b", transport: "http", connection: "https://example.com" };

const refused = (text: string): ToolConfigError => {
  const error = thrown(() => readSourcesFile(text));
  expect(error).toBeInstanceOf(ToolConfigError);
  return error as ToolConfigError;
};

test("sources are read in their order, with their defaults", () => {
  expect(readSourcesFile(JSON.stringify({ sources: [A, B] }))).toEqual([A, B]);
  expect(readSourcesFile('{"sources": []}')).toEqual([]);
});

describe("what is wrong is told with its path", () => {
  test.each([
    [{ sources: [A, B, { ...A, name: "c", retry_policy: { max_attemps: 2 } }] }, "sources[2].retry_policy.max_attemps"],
    [{ sources: [A, { ...B, timeout_s: 0 }] }, "sources[1].timeout_s"],
    [{ sources: [A, B, A] }, "sources[2].name"],
    [{ sources: [A, null] }, "sources[1]"],
    [{ sources: {} }, "sources"],
    [{ sources: Array.from({ length: 257 }, () => A) }, "sources"],
    [{}, "sources"],
    [{ source: [] }, "source"],
    [{ sources: [], version: 1 }, "version"],
    [[], ""],
    [null, ""],
  ])("%j", (value, path) => {
    expect(refused(JSON.stringify(value))).toMatchObject({ code: "E_TOOL_CONFIG", path });
  });

  test("two sources with one name: both are named", () => {
    expect(refused(JSON.stringify({ sources: [A, B, A] })).message).toContain("sources[0].name");
  });

  test("a key that is not known: the one that was meant", () => {
    expect(refused('{"source": []}').message).toContain("sources");
  });
});

describe("what is not JSON is told with its line, and never quoted", () => {
  test.each([
    ['{"sources": [\n  {"name": "a" s3cr3t\n', "line 2, column"],
    ["", "line 1"],
    ["[".repeat(100_000) + "s3cr3t", "not JSON"],
    [`{"sources": [], "x": s3cr3t}`, "line 1, column 22"],
  ])("case %#", (text, place) => {
    const error = refused(text);
    expect(error.message).toContain(place);
    expect(error.message).not.toContain("s3cr3t");
  });

  test("a file of any length is none", () => {
    expect(refused(" ".repeat(4 * 1024 * 1024 + 1)).message).toContain("at most");
  });
});
