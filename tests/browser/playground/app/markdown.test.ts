import { describe, expect, test } from "vitest";
import { formatted } from "../../../../web/playground/app/chat/markdown.js";

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
  ])("is no page's HTML, and does no harm: %s", (text) => {
    const fragment = formatted(text);
    const elements = [...fragment.querySelectorAll("*")];
    expect(elements.filter((element) => !element.matches("p, a, br, strong, em"))).toEqual([]);
    const attributes = elements.flatMap((element) => [...element.attributes].map(({ name }) => name));
    expect(attributes.filter((name) => !["href", "target", "rel"].includes(name))).toEqual([]);
    const links = [...fragment.querySelectorAll("a")].map(({ href }) => href);
    expect(links.filter((href) => !/^https?:/.test(href))).toEqual([]);
  });

  test("of HTML it is shown as it is", () => {
    expect(formatted("<b>bold</b> & <i>").textContent.trim()).toBe("<b>bold</b> & <i>");
  });

  test.each([
    ["too long", "**a** ".repeat(2000)],
    ["nested too deep", "> ".repeat(4000)],
    ["a table of too many cells", `${"|a".repeat(1000)}|\n${"|-".repeat(1000)}|\n${"x\n".repeat(1000)}`],
  ])("is left as it is where it is %s", (_, text) => {
    const fragment = formatted(text);
    expect(fragment.querySelectorAll("*").length).toBeLessThan(5);
    expect(fragment.textContent.slice(0, 8)).toBe(text.slice(0, 8));
  });

  test("has few elements, whatever it is", () => {
    for (const piece of [
      "[",
      "*a ",
      "`",
      "- ",
      "|a",
      "<a ",
      "![](",
      "\\",
      "_a_*b*",
      "_a",
      "a     b",
      "1. ",
      "# ",
      "~~",
    ]) {
      const fragment = formatted(piece.repeat(Math.floor(10_000 / piece.length)));
      expect(fragment.querySelectorAll("*").length).toBeLessThan(10_000);
    }
  });
});
