/** Presentations: slide by slide, in the order in which they are shown. */
import { expect, test } from "vitest";
import { convertPresentation } from "../../../web/src/documents/presentation.js";
import { presentation, readAll, shape, zipped } from "../../support/documents.js";

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
