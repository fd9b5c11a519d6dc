/** Documents of Word: what a reader sees of them, as text. */
import { describe, expect, test } from "vitest";
import { convertWord } from "../../../web/src/documents/word.js";
import { paragraph, readAll, rels, word, wordPart, type Parts, type Read } from "../../support/documents.js";

const STYLES = wordPart(
  "styles",
  `<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
  <w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Ebene"><w:name w:val="Ebene"/><w:pPr><w:outlineLvl w:val="3"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>
  <w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/></w:style>`,
);

const RELS: Parts = {
  "word/_rels/document.xml.rels": rels(
    ["rId1", "styles", "styles.xml"],
    ["rId2", "hyperlink", "https://example.com/a?b=1&amp;c=2"],
    ["rId3", "footnotes", "footnotes.xml"],
    ["rId4", "comments", "comments.xml"],
    ["rId5", "endnotes", "../../../word/endnotes.xml"],
  ),
  "word/styles.xml": STYLES,
};

async function textOf(body: string, more: Parts = RELS): Promise<Read> {
  return readAll(convertWord(await word(body, more), { form: "text" }));
}

describe("text", () => {
  test("headings are told by their style's English name, its level or what it is based on", async () => {
    const { text, facts } = await textOf(
      paragraph("One", "berschrift1") +
        paragraph("Two", "berschrift2") +
        paragraph("Cycle", "A") +
        paragraph("Four", "Ebene"),
    );
    expect(text).toBe("# One\n\n## Two\n\nCycle\n\n#### Four\n");
    expect(facts).toEqual({
      part: "section",
      parts: 1,
      headings: [
        { title: "One", level: 1, part: 1 },
        { title: "Two", level: 2, part: 1 },
        { title: "Four", level: 4, part: 1 },
      ],
    });
  });

  test("each heading of level 1 with text before it begins a part", async () => {
    const { text, facts } = await textOf(
      paragraph("The Title", "Titel") +
        paragraph("A", "berschrift1") +
        paragraph("a") +
        paragraph("B", "Kapitel") +
        paragraph("b"),
    );
    expect(text).toBe("The Title\n\f# A\n\na\n\f# B\n\nb\n");
    expect(facts.parts).toBe(3);
    expect(facts.title).toBe("The Title");
    expect(facts.headings.map(({ part }) => part)).toEqual([2, 3]);
  });

  test("headings without styles.xml go by the usual ids, as other programs write them", async () => {
    const { text } = await textOf(paragraph("One", "Heading1") + paragraph("Two", "heading 2"), {});
    expect(text).toBe("# One\n\n## Two\n");
  });

  test("lists are indented by level, of the paragraph or its style", async () => {
    const level = (n: number): string => `<w:numPr><w:ilvl w:val="${n}"/><w:numId w:val="1"/></w:numPr>`;
    const { text } = await textOf(
      paragraph("a", undefined, level(0)) +
        paragraph("b", undefined, level(2)) +
        paragraph("c", "Liste") +
        paragraph("no item", "Liste", '<w:numPr><w:numId w:val="0"/></w:numPr>'),
    );
    expect(text).toBe("- a\n    - b\n- c\n\nno item\n");
  });

  test("tables are rows, with empty cells for what is joined, and tables in them as text", async () => {
    const cell = (content: string, properties = ""): string => `<w:tc><w:tcPr>${properties}</w:tcPr>${content}</w:tc>`;
    const inner = `<w:tbl><w:tr>${cell(paragraph("x"))}${cell(paragraph("y"))}</w:tr></w:tbl><w:p/>`;
    const { text } = await textOf(
      `<w:tbl><w:tr>${cell(paragraph("a") + paragraph("b"))}${cell(paragraph("c"), '<w:gridSpan w:val="2"/>')}${cell(paragraph("d"))}</w:tr>` +
        `<w:tr>${cell(inner)}${cell("<w:p/>")}${cell(paragraph("1"))}</w:tr></w:tbl>${paragraph("after")}`,
    );
    expect(text).toBe("a b | c |  | d\nx y |  | 1\n\nafter\n");
  });

  test("what was deleted or moved away is left out, what was inserted is kept", async () => {
    const run = (text: string, tag = "t"): string => `<w:r><w:${tag}>${text}</w:${tag}></w:r>`;
    const { text } = await textOf(
      `<w:p>${run("kept ")}<w:ins w:id="1">${run("new ")}</w:ins><w:del w:id="2">${run("gone", "delText")}</w:del><w:moveFrom w:id="3">${run("moved")}</w:moveFrom><w:moveTo>${run("moved")}</w:moveTo></w:p>`,
    );
    expect(text).toBe("kept new moved\n");
  });

  test("tabs, breaks and hyphens are text, tab stops and field codes are not", async () => {
    const { text } = await textOf(
      `<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r>` +
        `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t> 7</w:t></w:r></w:p>`,
    );
    expect(text).toBe("a\tb\nc-d 7\n");
  });

  test("footnotes, endnotes and comments are marked, and stand behind the text", async () => {
    const note = (kind: string, id: number, text: string, more = ""): string =>
      `<w:${kind} w:id="${id}"${more}>${paragraph(text)}</w:${kind}>`;
    const { text } = await textOf(
      `<w:p><w:r><w:t>a</w:t><w:footnoteReference w:id="2"/></w:r><w:r><w:t>b</w:t><w:endnoteReference w:id="1"/><w:commentReference w:id="0"/></w:r></w:p>`,
      {
        ...RELS,
        "word/footnotes.xml": wordPart(
          "footnotes",
          note("footnote", -1, "", ' w:type="separator"') + note("footnote", 2, "the note"),
        ),
        "word/endnotes.xml": wordPart("endnotes", note("endnote", 1, "the end")),
        "word/comments.xml": wordPart("comments", note("comment", 0, "why?", ' w:author="Ann"')),
      },
    );
    expect(text).toBe("a[^2]b[^e1][comment 0]\n\n[^2]: the note\n[^e1]: the end\n[comment 0] Ann: why?\n");
  });

  test("a text box is told once, and a picture by what is said of it", async () => {
    const box = `<w:txbxContent>${paragraph("boxed")}</w:txbxContent>`;
    const { text } = await textOf(
      `<w:p><w:r><w:t>around</w:t><mc:AlternateContent><mc:Choice Requires="wps">${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:r>` +
        `<w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="A cat"/></w:drawing></w:r></w:p>`,
    );
    expect(text).toBe("boxed\n\naround[image: A cat]\n");
  });

  test("other prefixes than those of Word are the same", async () => {
    const { text } = await textOf("", {
      "word/document.xml": `<x:document xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:body><x:p><x:pPr><x:pStyle x:val="Heading1"/></x:pPr><x:r><x:t>T</x:t></x:r></x:p></x:body></x:document>`,
    });
    expect(text).toBe("# T\n");
  });

  test("a document in UTF-16 is read as such", async () => {
    const xml = `<?xml version="1.0" encoding="UTF-16"?><w:document><w:body>${paragraph("Ünï")}</w:body></w:document>`;
    const { text } = await textOf("", { "word/document.xml": Buffer.from(`\uFEFF${xml}`, "utf16le") });
    expect(text).toBe("Ünï\n");
  });
});

test("links are told with what they show, of elements and of fields", async () => {
  const field = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const body =
    `<w:p><w:hyperlink r:id="rId2"><w:r><w:t>the</w:t></w:r><w:r><w:t xml:space="preserve"> link</w:t></w:r></w:hyperlink>` +
    `<w:hyperlink w:anchor="here"><w:r><w:t>inside</w:t></w:r></w:hyperlink>` +
    `${field("begin")}<w:r><w:instrText xml:space="preserve"> HYPERLINK "https://example.com/f" \\o "x"</w:instrText></w:r>${field("separate")}<w:r><w:t>field</w:t></w:r>${field("end")}</w:p>`;
  const { text } = await readAll(convertWord(await word(body, RELS), { form: "links" }));
  expect(text).toBe("the link\thttps://example.com/a?b=1&c=2\nfield\thttps://example.com/f\n");
});

test("what is no document of Word is told, and a form that it has not", async () => {
  const other = await word("", { "word/document.xml": "<workbook/>" });
  await expect(readAll(convertWord(other, { form: "text" }))).rejects.toMatchObject({ code: "E_DOCUMENT" });
  await expect(convertWord(await word(""), { form: "rows" })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
});
