import { describe, expect, test } from "vitest";
import { formatted } from "../../../../../web/playground/app/chat/markdown.js";

function html(text: string): string {
  const element = document.createElement("div");
  element.append(formatted(text));
  return element.innerHTML.trim();
}

describe("what a model writes", () => {
  test("has structure: lists, tables, code, and links that open elsewhere", () => {
    expect(html("Two **things**:\n- `a`\n- b")).toBe(
      "<p>Two <strong>things</strong>:</p>\n<ul>\n<li><code>a</code></li>\n<li>b</li>\n</ul>",
    );
    expect(html("|a|b|\n|-|-|\n|1|2|")).toMatch(/^<table tabindex="0">\s*<thead>\s*<tr>\s*<th>a<\/th>/);
    expect(html("[here](https://shop.test/a)")).toBe(
      '<p><a href="https://shop.test/a" target="_blank" rel="noopener noreferrer">here</a></p>',
    );
    expect(html("one\ntwo")).toBe("<p>one<br>two</p>");
  });

  test.each([
    "<script>alert(1)</script>",
    '<img src="https://elsewhere.test/?secret">',
    "![](https://elsewhere.test/?secret)",
    '<b onclick="alert(1)" style="position:fixed">x</b>',
    "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    '<iframe src="https://elsewhere.test"></iframe>',
    '<form action="https://elsewhere.test"><input name="key"></form>',
    "<svg><a href='javascript:alert(1)'>x</a></svg>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<link rel=stylesheet href=https://elsewhere.test>",
  ])("does no harm: %s", (text) => {
    expect(html(text)).not.toMatch(/<(?!\/?(?:p|a|br)\b)|on\w+=|style|src=|href="(?!https?:)|javascript:/);
  });

  test("is left as it is where it is too long", () => {
    const long = "**a** ".repeat(20_000);
    expect(html(long)).toBe(long.trim());
  });

  test("takes little time, whatever it is", () => {
    expect(html("> ".repeat(20_000))).toBe("&gt; ".repeat(20_000).trim());
    for (const piece of ["[", "> ", "*a ", "`", "- ", "|a", "<a ", "![](", "\\", "_a_*b*"]) {
      expect(typeof html(piece.repeat(Math.floor(20_000 / piece.length)))).toBe("string");
    }
  });
});
