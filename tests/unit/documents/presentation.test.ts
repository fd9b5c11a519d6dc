/** Presentations: slide by slide, in the order in which they are shown. */
import { expect, test } from "vitest";
import { convertPresentation } from "../../../web/src/documents/presentation.js";
import { chartPart, DIAGRAM, presentation, readAll, rels, shape, zipped, type Parts } from "../../support/documents.js";

const TABLE =
  "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>b</a:t></a:r></a:p><a:p><a:r><a:t>c</a:t></a:r></a:p></a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody><a:p/></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>";

const PICTURE = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="A chart of sales"/></p:nvPicPr></p:pic>';

test("slides come in the order of the presentation, each with its title first and its notes last", async () => {
  const bytes = await presentation([
    [shape("ctrTitle", "Welcome") + shape("subTitle", "All of you")],
    [
      shape(
        "body",
        "point",
        "<a:p><a:pPr lvl='1'/><a:r><a:t>sub</a:t></a:r><a:br/><a:fld type='x'><a:t>more</a:t></a:fld></a:p>",
      ) +
        shape("title", "Second") +
        TABLE +
        PICTURE +
        shape("sldNum", "2"),
      "say this",
    ],
    [shape(undefined, "only text")],
  ]);
  const { text, facts } = await readAll(convertPresentation(bytes, { form: "text" }));
  expect(text).toBe(
    "# Welcome\n\nAll of you\n" +
      "\f# Second\n\npoint\n\n  - sub\n    more\n\na | b c\n | 2\n\n[image: A chart of sales]\n\nNotes:\n\nsay this\n" +
      "\fonly text\n",
  );
  expect(facts).toEqual({
    part: "slide",
    parts: 3,
    headings: [
      { title: "Welcome", level: 1, part: 1 },
      { title: "Second", level: 1, part: 2 },
    ],
  });
});

test("a hidden slide is told as such, and what old programs see in place of a shape is not told twice", async () => {
  const twice = `<mc:AlternateContent><mc:Choice Requires="p14">${shape(undefined, "new")}</mc:Choice><mc:Fallback>${shape(undefined, "old")}</mc:Fallback></mc:AlternateContent>`;
  const bytes = await presentation([[shape("title", "T")]], {
    "ppt/slides/slide1.xml": `<p:sld show="0"><p:cSld><p:spTree>${shape("title", "T")}<p:grpSp>${twice}</p:grpSp></p:spTree></p:cSld></p:sld>`,
  });
  const { text } = await readAll(convertPresentation(bytes, { form: "text" }));
  expect(text).toBe("# T (hidden)\n\nnew\n");
});

test("links are told of runs and of shapes", async () => {
  const run =
    "<a:p><a:r><a:rPr><a:hlinkClick r:id='rId2'/></a:rPr><a:t>here</a:t></a:r><a:r><a:t> not here</a:t></a:r></a:p>";
  const picture = PICTURE.replace("/></p:nvPicPr>", "><a:hlinkClick r:id='rId2'/></p:cNvPr></p:nvPicPr>");
  const bytes = await presentation([[shape("body", run) + picture]]);
  const { text } = await readAll(convertPresentation(bytes, { form: "links" }));
  expect(text).toBe("here\thttps://example.com/slide\nA chart of sales\thttps://example.com/slide\n");
});

test("a presentation without slides has no text, and one whose slide is missing is damaged", async () => {
  expect((await readAll(convertPresentation(await presentation([]), { form: "text" }))).text).toBe("");
  const bytes = await presentation([[""]], { "ppt/_rels/presentation.xml.rels": "<Relationships/>" });
  await expect(convertPresentation(bytes, { form: "text" })).rejects.toMatchObject({ code: "E_DOCUMENT" });
  const none = await zipped({ "a.txt": "a" });
  await expect(convertPresentation(none, { form: "text" })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

const relations = (...more: readonly (readonly [id: string, type: string, target: string])[]): Parts => ({
  "ppt/slides/_rels/slide1.xml.rels": rels(...more),
});

test("pictures, charts, diagrams, films and embedded files are told, in groups, too", async () => {
  const frame = (of: string, name = "x"): string =>
    `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="${name}"/></p:nvGraphicFramePr><a:graphic><a:graphicData>${of}</a:graphicData></a:graphic></p:graphicFrame>`;
  const picture = (name: string, more = "", alt = ""): string =>
    `<p:pic><p:nvPicPr><p:cNvPr id="4" name="${name}" descr="${alt}"/><p:nvPr>${more}</p:nvPr></p:nvPicPr><p:blipFill><a:blip r:embed="rId1"/></p:blipFill></p:pic>`;
  const slide =
    shape("title", "T") +
    `<p:grpSp><p:grpSp>${picture("Picture 3")}${shape(undefined, "grouped")}</p:grpSp></p:grpSp>${picture("Logo", "", "The logo")}${picture("Film", '<a:videoFile r:link="rId4"/>')}` +
    frame('<c:chart r:id="rId2"/>') +
    frame('<dgm:relIds r:dm="rId3"/>') +
    frame('<p:oleObj progId="Excel.Sheet.12" r:id="rId5"/>');
  const bytes = await presentation([[slide]], {
    ...relations(
      ["rId1", "image", "../media/image1.png"],
      ["rId2", "chart", "../charts/chart1.xml"],
      ["rId3", "diagramData", "../diagrams/data1.xml"],
      ["rId4", "video", "../media/film.mp4"],
      ["rId5", "package", "../embeddings/sums.xlsx"],
    ),
    "ppt/charts/chart1.xml": chartPart({
      title: "Sales",
      kind: "barChart",
      categories: ["Q1"],
      series: [["North", "4"]],
    }),
    "ppt/diagrams/data1.xml": DIAGRAM,
  });
  const { text } = await readAll(convertPresentation(bytes, { form: "text" }));
  expect(text).toBe(
    "# T\n\n[image: Picture 3 (ppt/media/image1.png)]\n\ngrouped\n\n[image: The logo (ppt/media/image1.png)]\n\n[video: ppt/media/film.mp4]\n\n" +
      "[chart: Sales; column; series: North]\n\n | North\nQ1 | 4\n\n- Plan\n  - Build\n  - Test\n\n[embedded object: Excel.Sheet.12 (ppt/embeddings/sums.xlsx)]\n",
  );
});

test("comments of both kinds stand behind their slide, with authors and threads", async () => {
  const old = `<p:cmLst><p:cm authorId="3" idx="1" dt="2026-01-31T10:00:00"><p:pos x="1"/><p:text>first</p:text></p:cm><p:cm authorId="4" idx="1"><p:text>second</p:text><p:extLst><p:ext><p15:threadingInfo><p15:parentCm authorId="3" idx="1"/></p15:threadingInfo></p:ext></p:extLst></p:cm></p:cmLst>`;
  const text = (words: string): string =>
    `<p188:txBody><a:bodyPr/><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p188:txBody>`;
  const threads = `<p188:cmLst><p188:cm id="{A}" authorId="{X}" status="resolved" created="2026-02-01T09:00:00.000"><pc:sldMkLst/><p188:replyLst><p188:reply id="{B}" authorId="{X}">${text("done")}</p188:reply><p188:reply id="{C}" authorId="{X}">${text("thanks")}</p188:reply></p188:replyLst>${text("wrong colour")}</p188:cm></p188:cmLst>`;
  const bytes = await presentation([[shape("title", "T"), "say"]], {
    ...relations(
      ["rId1", "notesSlide", "../notesSlides/notesSlide1.xml"],
      ["rId2", "comments", "../comments/comment1.xml"],
      ["rId3", "comments", "../comments/modernComment.xml"],
    ),
    "ppt/_rels/presentation.xml.rels": rels(
      ["rId1", "slide", "slides/slide1.xml"],
      ["rId2", "commentAuthors", "commentAuthors.xml"],
      ["rId3", "authors", "authors.xml"],
    ),
    "ppt/comments/comment1.xml": old,
    "ppt/comments/modernComment.xml": threads,
    "ppt/commentAuthors.xml": `<p:cmAuthorLst><p:cmAuthor id="3" name="Ann"/><p:cmAuthor id="4" name="Bob"/></p:cmAuthorLst>`,
    "ppt/authors.xml": `<p188:authorLst><p188:author id="{X}" name="Cy"/></p188:authorLst>`,
  });
  expect((await readAll(convertPresentation(bytes, { form: "text" }))).text).toBe(
    "# T\n\nNotes:\n\nsay\n\n[comment 1] Ann, 2026-01-31: first\n[comment 2] Bob, answers comment 1: second\n" +
      "[comment 3] Cy, 2026-02-01 (resolved): wrong colour\n[comment 4] Cy, answers comment 3: done\n[comment 5] Cy, answers comment 3: thanks\n",
  );
});

test("joined cells, numbered lists, powers, equations, footers and hidden shapes are told", async () => {
  const cell = (text: string, attributes = ""): string =>
    `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const table = `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>${cell("a", 'gridSpan="2" rowSpan="2"')}${cell("", 'hMerge="1"')}${cell("b")}</a:tr><a:tr>${cell("", 'gridSpan="2" vMerge="1"')}${cell("", 'hMerge="1" vMerge="1"')}${cell("c")}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  const item = (text: string, type: string, level = 0): string =>
    `<a:p><a:pPr lvl="${level}"><a:buAutoNum type="${type}"/></a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const list = shape(
    "body",
    item("x", "arabicPeriod"),
    item("deep", "alphaLcParenR", 1),
    item("deeper", "alphaLcParenR", 1),
    item("y", "arabicPeriod"),
    "<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>6</a:t></a:r><a14:m><m:oMath><m:sSub><m:e><m:r><m:t>a</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t></m:r></m:sub></m:sSub></m:oMath></a14:m></a:p>",
  );
  const hidden = shape(undefined, "unseen").replace('name="x"', 'name="x" hidden="1"');
  const bytes = await presentation([
    [table + list + hidden + shape("ftr", "ACME")],
    [shape("ftr", "ACME") + shape("sldNum", "2")],
  ]);
  const { text, facts } = await readAll(convertPresentation(bytes, { form: "text" }));
  expect(text).toBe(
    "a | ← | b\n↑ | ← | c\n\n1. x\n  a) deep\n  b) deeper\n2. y\n\n10⁶a_i\n\n[hidden shape]\n\nunseen\n\n[footer] ACME\n\f",
  );
  expect(facts.notices).toEqual([
    "In tables ← marks a cell that is joined with the one at its left, ↑ with the one above.",
  ]);
});
