/** Documents of Word: what a reader sees of them, as text. */
import { describe, expect, test } from "vitest";
import { convertWord } from "../../../web/src/documents/word.js";
import {
  chartPart,
  DIAGRAM,
  paragraph,
  readAll,
  rels,
  word,
  wordPart,
  type Parts,
  type Read,
} from "../../support/documents.js";

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

  test("tables are rows, with marks for cells that are joined, and tables in them as text", async () => {
    const cell = (content: string, properties = ""): string => `<w:tc><w:tcPr>${properties}</w:tcPr>${content}</w:tc>`;
    const inner = `<w:tbl><w:tr>${cell(paragraph("x"))}${cell(paragraph("y"))}</w:tr><w:tr>${cell(paragraph("z"))}</w:tr></w:tbl><w:p/>`;
    const { text, facts } = await textOf(
      `<w:tbl><w:tr>${cell(paragraph("a") + paragraph("b"), '<w:vMerge w:val="restart"/>')}${cell(paragraph("c"), '<w:gridSpan w:val="2"/>')}${cell(paragraph("d"))}</w:tr>` +
        `<w:tr>${cell(paragraph("unseen"), "<w:vMerge/>")}${cell(inner)}${cell("<w:p/>")}${cell(paragraph("1"))}</w:tr>` +
        `<w:tr><w:trPr><w:gridBefore w:val="1"/><w:ins w:id="1" w:author="Ann"/></w:trPr>${cell(paragraph("2"))}</w:tr></w:tbl>${paragraph("after")}`,
    );
    expect(text).toBe("a b | c | ← | d\n↑ | [table: x, y; z] |  | 1\n[row inserted by Ann] | 2\n\nafter\n");
    expect(facts.notices).toEqual([
      "In tables ← marks a cell that is joined with the one at its left, ↑ with the one above.",
      "The document has tracked changes. They are marked where they stand; what is marked as deleted or moved away is not part of the text once they are accepted.",
    ]);
  });

  test("a frame of one cell stays the paragraphs that it has", async () => {
    const { text } = await textOf(
      `<w:tbl><w:tr><w:tc>${paragraph("T", "berschrift2")}${paragraph("a")}${paragraph("b", "Liste")}</w:tc></w:tr></w:tbl>${paragraph("c")}`,
    );
    expect(text).toBe("## T\n\na\n\n- b\n\nc\n");
  });

  const run = (text: string, tag = "t"): string => `<w:r><w:${tag} xml:space="preserve">${text}</w:${tag}></w:r>`;

  test("changes are told where they are and by whom, and deleted headings are none", async () => {
    const by = (id: number): string => `w:id="${id}" w:author="Ann [x]"`;
    const { text, facts } = await textOf(
      `<w:p>${run("kept ")}<w:ins ${by(1)}>${run("new")}${run(" words")}</w:ins><w:del ${by(2)}>${run("gone", "delText")}</w:del><w:moveFrom w:id="3">${run("moved")}</w:moveFrom><w:moveTo w:id="3">${run("moved")}</w:moveTo><w:ins ${by(1)}><w:del w:id="5" w:author="Bob">${run("both", "delText")}</w:del></w:ins></w:p>` +
        `<w:p><w:pPr><w:pStyle w:val="berschrift1"/><w:rPr><w:del ${by(4)}/></w:rPr><w:pPrChange><w:pPr><w:pStyle w:val="Liste"/></w:pPr></w:pPrChange></w:pPr><w:del ${by(4)}>${run("Old", "delText")}</w:del></w:p>` +
        `<w:p><w:pPr><w:rPr><w:ins ${by(6)}/></w:rPr></w:pPr>${run("split")}</w:p>`,
    );
    expect(text).toBe(
      "kept [inserted by Ann x: new words][deleted by Ann x: gone][moved away: moved][moved here: moved]" +
        "[inserted by Ann x, deleted by Bob: both]\n\n[deleted by Ann x: Old]\n\nsplit [paragraph end inserted by Ann x]\n",
    );
    expect(facts.headings).toEqual([]);
    expect(facts.notices?.[0]).toMatch(/^The document has tracked changes/);
  });

  test("hidden text is told as hidden, powers stay powers, and signs of other fonts are signs", async () => {
    const { text, facts } = await textOf(
      `<w:p>${run("seen ")}<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t xml:space="preserve"> 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>-6</w:t></w:r><w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Symbol" w:char="F061"/></w:r></w:p>`,
    );
    expect(text).toBe("seen [hidden: secret] 10⁻⁶☑α\n");
    expect(facts.notices).toEqual(["Text that people see only when they show hidden text is marked as hidden."]);
  });

  test("fields of forms show what was chosen, and content controls what is in them", async () => {
    const field = (data: string): string =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`;
    const { text } = await textOf(
      `<w:p>${field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>')}${field("<w:checkBox><w:default w:val='0'/></w:checkBox>")}${field('<w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList>')}<w:sdt><w:sdtPr><w:alias w:val="no"/><w:checkBox/></w:sdtPr><w:sdtContent>${run(" yes")}</w:sdtContent></w:sdt></w:p>`,
    );
    expect(text).toBe("☒☐blue yes\n");
  });

  test("equations are lines of text", async () => {
    const m = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
    const { text } = await textOf(
      `<w:p>${run("x=")}<m:oMath><m:f><m:fPr><m:ctrlPr><w:rPr/></m:ctrlPr></m:fPr><m:num>${m("-b±")}<m:rad><m:radPr><m:degHide/></m:radPr><m:deg/><m:e><m:sSup><m:e>${m("b")}</m:e><m:sup>${m("2")}</m:sup></m:sSup>${m("-4ac")}</m:e></m:rad></m:num><m:den>${m("2a")}</m:den></m:f></m:oMath>` +
        `<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${m("i=1")}</m:sub><m:sup>${m("n")}</m:sup><m:e><m:d><m:e>${m("i")}</m:e></m:d></m:e></m:nary></m:oMath></w:p>`,
    );
    expect(text).toBe("x=(-b±√(b^2-4ac))/2a∑_(i=1)^n (i)\n");
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
    expect(text).toBe("a[^1]b[^e1][comment 1]\n\n[^1]: the note\n[^e1]: the end\n[comment 1] Ann: why?\n");
  });

  test("comments are told with the words that they are about, in threads, and notes with the part that refers to them", async () => {
    const comment = (id: number, text: string, para: string): string =>
      `<w:comment w:id="${id}" w:author="Ann" w:date="2026-01-31T10:00:00Z"><w:p w14:paraId="${para}">${run(text)}</w:p></w:comment>`;
    const mark = (id: number): string => `<w:r><w:commentReference w:id="${id}"/></w:r>`;
    const { text, facts } = await textOf(
      `<w:p>${run("pay ")}<w:commentRangeStart w:id="7"/>${run("in ")}<w:del w:id="1">${run("14", "delText")}</w:del>${run("30")}</w:p><w:p>${run("days")}<w:commentRangeEnd w:id="7"/>${mark(7)}${mark(9)}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
        paragraph("Next", "berschrift1") +
        paragraph("end"),
      {
        ...RELS,
        "word/_rels/document.xml.rels": rels(
          ["rId1", "styles", "styles.xml"],
          ["rId2", "comments", "comments.xml"],
          ["rId3", "commentsExtended", "commentsExtended.xml"],
          ["rId4", "footnotes", "footnotes.xml"],
        ),
        "word/comments.xml": wordPart(
          "comments",
          comment(7, "why?", "A") + comment(9, "because", "B") + comment(11, "lost", "C"),
        ),
        "word/commentsExtended.xml": `<w15:commentsEx><w15:commentEx w15:paraId="A" w15:done="1"/><w15:commentEx w15:paraId="B" w15:paraIdParent="A" w15:done="0"/></w15:commentsEx>`,
        "word/footnotes.xml": wordPart("footnotes", `<w:footnote w:id="2">${paragraph("the note")}</w:footnote>`),
      },
    );
    expect(text).toBe(
      "pay in [deleted: 14]30\n\ndays[comment 1][comment 2][^1]\n\n[^1]: the note\n" +
        '[comment 1] Ann, 2026-01-31, on "in 30 days" (resolved): why?\n[comment 2] Ann, 2026-01-31, answers comment 1: because\n' +
        "\f# Next\n\nend\n\n[comment 3] Ann, 2026-01-31: lost\n",
    );
    expect(facts.parts).toBe(2);
  });

  test("lists have the numbers that are shown, and headings, too", async () => {
    const level = (at: number, format: string, text: string, more = ""): string =>
      `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
    const numbering = wordPart(
      "numbering",
      `<w:abstractNum w:abstractNumId="0">${level(0, "decimal", "%1.", '<w:pStyle w:val="berschrift1"/>')}${level(1, "lowerLetter", "%1%2)")}${level(2, "upperRoman", "(%3)")}</w:abstractNum>` +
        `<w:abstractNum w:abstractNumId="1">${level(0, "bullet", "•")}${level(1, "bullet", "☒")}</w:abstractNum>` +
        `<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>` +
        `<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>`,
    );
    const of = (list: number, at: number): string =>
      `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr>`;
    const { text, facts } = await textOf(
      paragraph("Scope", "berschrift1", of(1, 0)) +
        paragraph("x", undefined, of(1, 1)) +
        paragraph("y", undefined, of(1, 1)) +
        paragraph("z", undefined, of(1, 2)) +
        paragraph("Terms", "berschrift1", of(1, 0)) +
        paragraph("x", undefined, of(1, 1)) +
        paragraph("b", undefined, of(2, 0)) +
        paragraph("done", undefined, of(2, 1)) +
        paragraph("Seven", undefined, of(4, 0)),
      {
        ...RELS,
        "word/_rels/document.xml.rels": rels(["rId1", "styles", "styles.xml"], ["rId2", "numbering", "numbering.xml"]),
        "word/numbering.xml": numbering,
      },
    );
    expect(text).toBe("# 1. Scope\n\n  1a) x\n  1b) y\n    (I) z\n\f# 2. Terms\n\n  2a) x\n- b\n  ☒ done\n7. Seven\n");
    expect(facts.headings.map(({ title }) => title)).toEqual(["1. Scope", "2. Terms"]);
  });

  test("headers and footers are told once, behind all else", async () => {
    const section = (id: string): string =>
      `<w:sectPr><w:headerReference w:type="default" r:id="${id}"/><w:footerReference w:type="default" r:id="rId3"/></w:sectPr>`;
    const { text } = await textOf(
      `<w:p><w:pPr>${section("rId1")}</w:pPr>${run("a")}</w:p>${paragraph("b")}${section("rId2")}`,
      {
        "word/_rels/document.xml.rels": rels(
          ["rId1", "header", "header1.xml"],
          ["rId2", "header", "header2.xml"],
          ["rId3", "footer", "footer1.xml"],
          ["rId4", "header", "unused.xml"],
        ),
        "word/header1.xml": wordPart("hdr", paragraph("Secret, page 1")),
        "word/header2.xml": wordPart("hdr", paragraph("Secret, page 2")),
        "word/footer1.xml": wordPart("ftr", paragraph("ACME") + paragraph("Bern")),
        "word/unused.xml": wordPart("hdr", paragraph("no")),
      },
    );
    expect(text).toBe("a\n\fb\n\n[header] Secret, page 1\n[footer] ACME Bern\n");
  });

  test("parts are the pages that Word has laid out; else they end where the author ends a page", async () => {
    const ends = '<w:r><w:br w:type="page"/></w:r>';
    const rendered = `<w:r><w:lastRenderedPageBreak/></w:r>`;
    const laidOut = await textOf(
      `<w:p>${run("one")}${rendered}${run("two")}</w:p><w:p>${ends}</w:p><w:p>${rendered}${run("three")}</w:p>${paragraph("Four", "berschrift1")}`,
    );
    expect(laidOut.text).toBe("one\n\ftwo\n\fthree\n\n# Four\n");
    expect(laidOut.facts).toMatchObject({ part: "page", parts: 3, headings: [{ title: "Four", part: 3 }] });
    const other = await textOf(
      `<w:p>${run("one")}</w:p><w:p>${ends}</w:p><w:p><w:pPr><w:pageBreakBefore/></w:pPr>${run("two")}</w:p>${paragraph("Three", "berschrift1")}<w:p>${ends}</w:p>`,
    );
    expect(other.text).toBe("one\n\ftwo\n\f# Three\n");
    expect(other.facts).toMatchObject({ part: "section", parts: 3 });
  });

  test("charts, pictures, diagrams and embedded files are told", async () => {
    const drawing = (of: string, alt = ""): string =>
      `<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="${alt}"/><a:graphic><a:graphicData>${of}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
    const picture =
      '<pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="cat.jpg"/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId1"/></pic:blipFill></pic:pic>';
    const { text } = await textOf(
      `<w:p>${drawing(picture, "A cat")}${drawing(picture)}</w:p><w:p>${drawing('<c:chart r:id="rId2"/>')}</w:p><w:p>${drawing('<dgm:relIds r:dm="rId3" r:lo="rId9"/>')}</w:p>` +
        `<w:p><w:r><w:object><v:shape alt="Sums"><v:imagedata r:id="rId1"/></v:shape><o:OLEObject ProgID="Excel.Sheet.12" r:id="rId4"/></w:object></w:r></w:p>`,
      {
        "word/_rels/document.xml.rels": rels(
          ["rId1", "image", "media/image1.png"],
          ["rId2", "chart", "charts/chart1.xml"],
          ["rId3", "diagramData", "diagrams/data1.xml"],
          ["rId4", "package", "embeddings/sums.xlsx"],
        ),
        "word/charts/chart1.xml": chartPart({
          title: "Sales",
          kind: "pieChart",
          categories: ["Q1"],
          series: [["North", "4"]],
        }),
        "word/diagrams/data1.xml": DIAGRAM,
      },
    );
    expect(text).toBe(
      "[image: A cat (word/media/image1.png)][image: cat.jpg (word/media/image1.png)]\n\n" +
        "[chart: Sales; pie; series: North]\n\n | North\nQ1 | 4\n\n[diagram: Plan; Build; Test]\n\n" +
        "[image: Sums (word/media/image1.png)][embedded object: Excel.Sheet.12 (word/embeddings/sums.xlsx)]\n",
    );
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
