/** HTML: what a reader sees of a page, as text. */
import { describe, expect, test } from "vitest";
import type { ConvertOptions } from "../../../web/src/documents/document.js";
import { convertHtml } from "../../../web/src/documents/html.js";
import { readAll, type Read } from "../../support/documents.js";

async function read(html: string | Uint8Array, form: ConvertOptions["form"] = "text"): Promise<Read> {
  return readAll(convertHtml(typeof html === "string" ? new TextEncoder().encode(html) : html, { form }));
}

describe("text", () => {
  test.each([
    ["white space collapses, across elements too", "<p> a \n <b> b</b> c</p>  <p>d</p>", "a b c\n\nd\n"],
    ["entities are decoded", "<p>&lt;a&gt; &amp;amp; &eacute;&#8364;&#x1F600; &nope;", "<a> &amp; é€😀 &nope;\n"],
    ["breaks are lines", "<p>a<br>b<br/>c", "a\nb\nc\n"],
    ["preformatted text stays", "<pre>\n a\n   b &lt;</pre><p>c", " a\n   b <\n\nc\n"],
    [
      "lists have marks, and levels",
      "<ul><li>a<ul><li>b</ul><li><p>c</ul><ol start=3><li>x<li>y</ol>",
      "- a\n  - b\n- c\n\n3. x\n4. y\n",
    ],
    [
      "tables of data are rows",
      "<table><tr><th>a<th>b<tr><td><p>1<p>2<td><br>3</table>after",
      "a | b\n1 2 | 3\n\nafter\n",
    ],
    [
      "tables that place text are no rows",
      "<table><tr><td>side<td><h3>Head</h3><p>text<table><tr><td>1<td>2</table></table>",
      "side\n\n### Head\n\ntext\n\n1 | 2\n",
    ],
    [
      "cells that are joined are marked, and one alone in its row is not",
      "<table><tr><td rowspan=2>a<td colspan=2>b<tr><td>c<td>d<tr><td colspan=3>e</table>",
      "a | b | ←\n↑ | c | d\ne\n",
    ],
    [
      "what was deleted, powers, equations and letters of lists are told",
      "<p>was <del>$100</del> <s>or</s> $80, 10<sup>6</sup>, <input type=checkbox checked>yes <input type=text>, <math><mfrac><mi>a</mi><mi>b</mi></mfrac></math></p><ol type=a start=27><li>x<li value=3>y</ol>",
      "was [deleted: $100] [deleted: or] $80, 10⁶, ☒ yes , a/b\n\naa. x\nc. y\n",
    ],
    [
      "notes have their marks",
      "<p>a<a role='doc-noteref' href='#n'>1</a><p id=n>1. the note <a role='doc-backlink' href='#r'>back</a>",
      "a[^1]\n\n[^1]: 1. the note\n",
    ],
    [
      "images are told by their alt",
      "<p>see <img src=x alt=' A  cat '> <img src=y alt> <img src=z>",
      "see [image: A cat]\n",
    ],
    [
      "what is not seen is left out",
      "<style>p{}</style><p>a<script>if (1<2) '<p>b'</script><template><p>c</template><noscript>d</noscript><span hidden>e</span><i style='color:red; display: none'>f</i><svg><title>g</title></svg></p>",
      "a\n",
    ],
    ["headings are in one line", "<h2>a<br>b <em>c</em></h2>", "## a b c\n"],
    ["a form feed in the text is no part", "<p>a&#12;b\f c\u0001d", "a b c d\n"],
    ["what is not closed is closed", "<div><p>a<b>b<ul><li>c", "ab\n\n- c\n"],
  ])("%s", async (_, html, text) => {
    expect((await read(html)).text).toBe(text);
  });

  test("the title comes first, unless the first heading is the same", async () => {
    const titled = await read("<title>A &amp; B</title><p>x");
    expect(titled.text).toBe("A & B\n\nx\n");
    expect(titled.facts.title).toBe("A & B");
    expect((await read("<title>Same</title><h1>Same</h1>x")).text).toBe("# Same\n\nx\n");
  });

  test("headings of the levels 1 and 2 begin parts", async () => {
    const { text, facts } = await read("<p>before<h1>A</h1><h2>B</h2><p>b<h3>C</h3><h2>D</h2>");
    expect(text).toBe("before\n\f# A\n\f## B\n\nb\n\n### C\n\f## D\n");
    expect(facts.parts).toBe(4);
    expect(facts.headings.map(({ title, part }) => `${part}${title}`)).toEqual(["2A", "3B", "3C", "4D"]);
  });

  test("facts are bounded", async () => {
    const { facts } = await read(`<h3>${"long ".repeat(100)}</h3>`.repeat(300));
    expect(facts.headings).toHaveLength(200);
    expect(facts.headings[0]?.title).toHaveLength(120);
  });

  test.each([
    ["windows-1252", '<meta charset="windows-1252"><p>', [0xe9, 0x80], "é€\n"],
    ["shift_jis", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>', [0x93, 0xfa], "日\n"],
    ["utf-8", "<p>", [0xc3, 0xa9], "é\n"],
    ["an encoding that nobody knows", '<meta charset="x-nope"><p>', [0xc3, 0xa9], "é\n"],
  ])("is decoded as %s", async (_, html, bytes, text) => {
    expect((await read(Buffer.concat([Buffer.from(html), Buffer.from(bytes)]))).text).toBe(text);
  });
});

describe("links", () => {
  test("are told with what they show, against the base of the page", async () => {
    const { text } = await read(
      "<base href='https://example.com/a/'><a href='b?c=1&amp;d=2'> the \n <b>link</b></a> <a href='//other.example/'><img alt=logo></a><a href='mailto:a@b.example'>mail</a><a name=x>no</a><a href='javascript:alert(1)'>no</a><a href=data:x>no</a>",
      "links",
    );
    expect(text).toBe(
      "the link\thttps://example.com/a/b?c=1&d=2\nlogo\thttps://other.example/\nmail\tmailto:a@b.example\n",
    );
  });

  test("stay as they are without a base", async () => {
    expect((await read("<a href='/x y'>t</a>", "links")).text).toBe("t\t/x%20y\n");
  });

  test("end after ten thousand, and say so", async () => {
    const { text, facts } = await read("<a href=x>t</a>".repeat(10_001), "links");
    expect(text.split("\n")).toHaveLength(10_001);
    expect(facts.notices).toEqual(["Only the first 10000 links are told."]);
  });
});
