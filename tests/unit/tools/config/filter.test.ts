/** Filters: Python's `re.match`, without what would keep a name busy for ever. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePattern, matchesFilter } from "../../../../web/src/tools/config/filter.js";

const filterOf = (...patterns: string[]): readonly RegExp[] =>
  patterns.map((pattern) => {
    const compiled = compilePattern(pattern);
    if (compiled === undefined) throw new Error(`${pattern} was to be compiled.`);
    return compiled;
  });

test.each([
  ["get", "get_issue", true],
  ["get", "forget", false],
  ["issue", "get_issue", false],
  [".*issue", "get_issue", true],
  ["get_issue$", "get_issues", false],
  ["^get", "get_issue", true],
  ["get|list", "list_issues", true],
  ["get|list", "unlist", false],
  ["a|(b)", "xb", false],
  ["", "anything", true],
  ["GET", "get", false],
  ["get\\-file", "get-file", true],
  ["[)(]x", "(x", true],
  ["\\(x", "(x", true],
  ["(?:get|list)_(?=issue)", "list_issue", true],
])("%s on %s is %s", (pattern, name, isMatch) => {
  expect(matchesFilter(filterOf(pattern), name)).toBe(isMatch);
});

test("one of several is enough, and none at all lets every tool pass", () => {
  expect(matchesFilter(filterOf("a", "b"), "bee")).toBe(true);
  expect(matchesFilter(filterOf("a", "b"), "cee")).toBe(false);
  expect(matchesFilter([], "cee")).toBe(true);
  expect(matchesFilter(null, "cee")).toBe(true);
});

test("asking twice gives the same answer", () => {
  const filter = filterOf("get");
  expect([1, 2, 3].map(() => matchesFilter(filter, "get_issue"))).toEqual([true, true, true]);
});

test("a name longer than a tool's name may be is none", () => {
  expect(matchesFilter(filterOf("a"), "a".repeat(128))).toBe(true);
  expect(matchesFilter(filterOf("a"), "a".repeat(129))).toBe(false);
});

describe("is not compiled", () => {
  test.each(["(", "a)|(b", "[", "*", "(?P<name>a)", "(?i)get", "\\"])("what is none: %s", (pattern) => {
    expect(compilePattern(pattern)).toBeUndefined();
  });

  test.each([
    "(a+)+$",
    "(a*)*$",
    "(a|a)*$",
    "(a|ab)+$",
    "((a)+)+$",
    "(aa?)+$",
    "(a{1,})+$",
    "(a{1,5}){20}$",
    "(?:a+){2,}$",
    "(?=(a+)+$)",
    "x(y(a+)z)*",
    "([)]+)+$",
    "(\\)+)+$",
    ".*.*.*.*$",
    "a?".repeat(25),
    "(a|a)".repeat(25),
    "(?:a|a|a|a)".repeat(13),
    "a{0,9}".repeat(4),
    "(a?){30}",
  ])("what may never end: %s", (pattern) => {
    expect(compilePattern(pattern)).toBeUndefined();
  });
});

test.each([
  "([a-z]{2})+",
  "(get|list)_.*",
  "(foo)+",
  "(a+)?",
  "([*+?|])+",
  "(\\+)+",
  ".*foo.*bar.*",
  "(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|0|1)$",
  "a?".repeat(20),
  "[)(]+",
  "a{2}?",
  "x{,2}{3}",
])("%s is harmless", (pattern) => {
  expect(compilePattern(pattern)).toBeInstanceOf(RegExp);
});

test.each(["a*a*a*b", `${"a?".repeat(15)}a*b`, `${"(?:a|a)".repeat(15)}a*b`, "(.*)(.*)\\1\\2b"])(
  "%s comes to an end on the name that it likes least",
  (pattern) => {
    expect(matchesFilter(filterOf(pattern), "a".repeat(128))).toBe(false);
  },
);

test("whatever is compiled is anchored at the start and nowhere else", () => {
  const word = fc.stringMatching(/^[a-z_]{1,12}$/);
  fc.assert(
    fc.property(word, word, word, (pattern, before, after) => {
      expect(matchesFilter(filterOf(pattern), pattern + after)).toBe(true);
      expect(matchesFilter(filterOf(pattern), before + pattern)).toBe((before + pattern).startsWith(pattern));
    }),
  );
});

test("no text makes the compiler throw, and what it gives comes to an end", () => {
  const piece = fc.constantFrom("a", "(", ")", "[", "]", "\\", "*", "+", "?", "|", "{2,}", "{3}", "(?:", ".", "$");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const pattern = compilePattern(pieces.join(""));
      expect([undefined, true, false]).toContain(pattern?.test("a".repeat(30)));
    }),
    { numRuns: 500 },
  );
});
