/** Documents that are cut or changed anywhere: text, or a coded error; never anything else, and never without end. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { convertBook } from "../../../web/src/documents/book.js";
import type { Converted, ConvertOptions, DocumentForm } from "../../../web/src/documents/document.js";
import { convertHtml } from "../../../web/src/documents/html.js";
import { convertOpenDocument } from "../../../web/src/documents/open-document.js";
import { convertPresentation } from "../../../web/src/documents/presentation.js";
import { convertWord } from "../../../web/src/documents/word.js";
import { convertWorkbook } from "../../../web/src/documents/workbook.js";
import { MarkupReader } from "../../../web/src/documents/xml.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { amount } from "../../support/full.js";
import {
  book,
  chartPart,
  openDocument,
  paragraph,
  presentation,
  readAll,
  rels,
  shape,
  word,
  wordPart,
  workbook,
} from "../../support/documents.js";

type Convert = (bytes: Uint8Array, options: ConvertOptions) => Promise<Converted>;

const HTML = `<!doctype html><title>T</title><h1>A &amp; B</h1><p hidden>x</p><table><tr><td>1<td>é</table><a href="b">c</a><pre> d\n</pre><img alt=e><ul><li>f`;

const FIXTURES: readonly (readonly [name: string, convert: Convert, bytes: () => Promise<Uint8Array>])[] = [
  [
    "reviewed word",
    convertWord,
    () =>
      word(
        `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:commentRangeStart w:id="1"/><w:ins w:id="1" w:author="A"><w:r><w:t>in</w:t></w:r></w:ins><w:del w:author="B"><w:r><w:delText>out</w:delText></w:r></w:del><w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/><w:footnoteReference w:id="1"/></w:r><w:r><w:drawing><c:chart r:id="rId4"/></w:drawing></w:r><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den/></m:f></m:oMath></w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>`,
        {
          "word/_rels/document.xml.rels": rels(
            ["rId1", "comments", "comments.xml"],
            ["rId2", "footnotes", "footnotes.xml"],
            ["rId3", "numbering", "numbering.xml"],
            ["rId4", "chart", "chart.xml"],
            ["rId5", "commentsExtended", "extended.xml"],
          ),
          "word/comments.xml": wordPart("comments", `<w:comment w:id="1" w:author="A">${paragraph("c")}</w:comment>`),
          "word/extended.xml": '<w15:commentEx w15:paraId="1" w15:done="1"/>',
          "word/footnotes.xml": wordPart("footnotes", `<w:footnote w:id="1">${paragraph("f")}</w:footnote>`),
          "word/numbering.xml": wordPart(
            "numbering",
            '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
          ),
          "word/chart.xml": chartPart({ title: "T", kind: "barChart", categories: ["a"], series: [["S", "1"]] }),
        },
      ),
  ],
  [
    "reviewed text",
    convertOpenDocument,
    () =>
      openDocument(
        "text",
        '<text:tracked-changes><text:changed-region text:id="1"><text:deletion><office:change-info><dc:creator>A</dc:creator></office:change-info><text:p>out</text:p></text:deletion></text:changed-region></text:tracked-changes><text:p>a<text:change text:change-id="1"/><office:annotation office:name="n"><dc:creator>B</dc:creator><text:p>c</text:p></office:annotation>b<office:annotation-end office:name="n"/><text:note><text:note-body><text:p>f</text:p></text:note-body></text:note></text:p><table:table><table:table-row><table:table-cell table:number-columns-spanned="2"/><table:covered-table-cell/></table:table-row></table:table><text:list text:style-name="L"><text:list-item><text:p>i</text:p></text:list-item></text:list>',
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="a" style:num-suffix=")"/></text:list-style>',
      ),
  ],
  [
    "word",
    convertWord,
    () => word(paragraph("One", "Heading1") + `<w:tbl><w:tr><w:tc>${paragraph("é &amp; 1")}</w:tc></w:tr></w:tbl>`),
  ],
  [
    "workbook",
    convertWorkbook,
    () =>
      workbook(
        [
          [
            "S",
            '<cols><col min="2" max="2" hidden="1"/></cols><row r="3" hidden="1"><c r="B3" t="s"><v>0</v></c><c s="1"><v>45322</v></c><c s="2"><v>-1.5</v></c><c><f t="shared" si="0">B3*2</f></c><c><f t="shared" si="0"/></c></row><autoFilter ref="A1:B3"><filterColumn colId="0"/></autoFilter><mergeCell ref="A1:B2"/>',
          ],
        ],
        {
          shared: ["<t>ü</t>"],
          styles:
            '<numFmt numFmtId="164" formatCode="#,##0.0;[Red](0)"/><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs>',
          more: {
            "xl/worksheets/_rels/sheet1.xml.rels": rels(
              ["a", "comments", "../comments1.xml"],
              ["b", "drawing", "../drawing1.xml"],
            ),
            "xl/comments1.xml":
              '<authors><author>A</author></authors><comment ref="B2" authorId="0"><text><t>c</t></text></comment>',
            "xl/drawing1.xml":
              '<oneCellAnchor><from><col>1</col><row>1</row></from><pic><cNvPr name="P"/></pic></oneCellAnchor>',
          },
        },
      ),
  ],
  [
    "presentation",
    convertPresentation,
    () => presentation([[shape("title", "T") + shape("body", "b"), "n"], [shape(undefined, "x")]]),
  ],
  [
    "text",
    convertOpenDocument,
    () =>
      openDocument(
        "text",
        '<text:h text:outline-level="2">H</text:h><text:list><text:list-item><text:p>i<text:s text:c="2"/></text:p></text:list-item></text:list>',
      ),
  ],
  [
    "spreadsheet",
    convertOpenDocument,
    () =>
      openDocument(
        "spreadsheet",
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="3" office:value-type="float" office:value="1"><office:annotation><dc:creator>A</dc:creator><text:p>c</text:p></office:annotation></table:table-cell></table:table-row><table:table-row table:visibility="collapse"><table:table-cell table:formula="of:=SUM([.A1:.B2])" table:number-columns-spanned="2"/></table:table-row></table:table><table:named-range table:name="N" table:cell-range-address="$S.$A$1:.$B$2"/>',
      ),
  ],
  ["book", convertBook, () => book(["<h1>One</h1>", "<p>two</p>"])],
  ["html", convertHtml, () => Promise.resolve(new TextEncoder().encode(HTML))],
];

const MAX_TEXT = 10_000;

/** Reads a document that may be anything. Gives what is wrong with how that ended, or "". */
async function fault(convert: Convert, bytes: Uint8Array, form: DocumentForm = "text"): Promise<string> {
  try {
    const { text, facts } = await readAll(convert(bytes, { form, maxTextBytes: MAX_TEXT, maxBytes: 1_000_000 }));
    if (Buffer.byteLength(text) > MAX_TEXT) return "the text is longer than it may be";
    return text.split("\f").length > facts.parts ? "there are more parts than are told" : "";
  } catch (error) {
    if (!(error instanceof SluiceError)) return `it threw ${String(error)}`;
    if (!["E_DOCUMENT", "E_TOO_LARGE", "E_INVALID_ARGUMENT"].includes(error.code)) return error.code;
    return /^(?:The|A|There) [^\n]{20,300}\.$/.test(error.message) ? "" : error.message;
  }
}

describe.each(FIXTURES)("%s", (_, convert, make) => {
  test("cut anywhere", async () => {
    const bytes = await make();
    for (let end = 0; end < bytes.length; end += 50) expect(await fault(convert, bytes.subarray(0, end))).toBe("");
  });

  test("changed anywhere", async () => {
    const bytes = await make();
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.constantFrom("text", "cells", "values", "links"),
        async (changes, form) => {
          const changed = bytes.slice();
          for (const [at, byte] of changes) changed[at] = byte;
          expect(await fault(convert, changed, form)).toBe("");
        },
      ),
      { numRuns: amount(60, 1000) },
    );
  });
});

test("any markup is text or a coded error", async () => {
  const piece = fc.constantFrom(
    ..."<p>|</p>|<h1>|</h1>|<table>|</table>|<tr>|<td>|</td>|<ul>|<li>|</ul>|<pre>|</pre>|<a href='x'>|</a>|<title>|</title>|<script>|</script>|<br>|<svg>|</svg>|<form>|<select>|<math><mi>|<!--|-->|&amp;|&#x|<![CDATA[|]]>|text| |\n|\u0000|😀".split(
      "|",
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const bytes = new TextEncoder().encode(pieces.join(""));
      expect(await fault(convertHtml, bytes)).toBe("");
      expect(await fault(convertHtml, bytes, "links")).toBe("");
    }),
    { numRuns: amount(200, 3000) },
  );
});

type Event = readonly [kind: string, ...of: unknown[]];

/** What is read of bytes that come in pieces of these lengths; texts that follow each other are one. */
function eventsOf(bytes: Uint8Array, lengths: readonly number[], language: "xml" | "html" | "xhtml"): readonly Event[] {
  const events: Event[] = [];
  const reader = new MarkupReader(
    {
      open: (tag, attributes) => void events.push(["open", tag, { ...attributes }]),
      close: (tag) => void events.push(["close", tag]),
      text: (text) => {
        const last = events.at(-1);
        if (last?.[0] === "text") events.splice(-1, 1, ["text", `${String(last[1])}${text}`]);
        else events.push(["text", text]);
      },
    },
    language,
  );
  let at = 0;
  for (const length of lengths) {
    reader.write(bytes.subarray(at, at + length));
    at += length;
  }
  reader.write(bytes.subarray(at));
  reader.end();
  return events;
}

test("how the bytes come in pieces changes nothing", () => {
  const markup = fc.constantFrom(
    `<?xml version="1.0"?><a:b c='d &amp; &#233;' e="&lt;"><![CDATA[<x>&amp;]]>é&amp;😀&nbsp;&unknown;<!-- c --><f/></a:b>`,
    HTML,
    `<?xml version="1.0" encoding="ISO-8859-1"?><p>ae&eacute;&eacuteb&notit;</p><title/><script/><p>${"x".repeat(1100)}é</p>`,
  );
  fc.assert(
    fc.property(
      markup,
      fc.constantFrom("xml", "html", "xhtml"),
      fc.array(fc.integer({ min: 0, max: 40 })),
      (text, language, lengths) => {
        const bytes = new TextEncoder().encode(text);
        expect(eventsOf(bytes, lengths, language as "xml")).toEqual(eventsOf(bytes, [], language as "xml"));
      },
    ),
    { numRuns: amount(200, 2000) },
  );
});
