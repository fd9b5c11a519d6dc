/** OpenDocument files, as LibreOffice writes them. */
import { describe, expect, test } from "vitest";
import type { ConvertOptions } from "../../../web/src/documents/document.js";
import { convertOpenDocument } from "../../../web/src/documents/open-document.js";
import { openChart, openDocument, readAll, type Read } from "../../support/documents.js";

async function read(kind: string, body: string, styles = "", options: Partial<ConvertOptions> = {}): Promise<Read> {
  return readAll(convertOpenDocument(await openDocument(kind, body, styles), { form: "text", ...options }));
}

describe("a text", () => {
  test("has headings, lists, tables, and notes behind it", async () => {
    const { text, facts } = await read(
      "text",
      `<text:sequence-decls><text:sequence-decl text:name="x"/></text:sequence-decls>
      <text:h text:outline-level="1">One</text:h>
      <text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d  <text:span> e</text:span>
        f<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note></text:p>
      <text:list><text:list-item><text:p>x</text:p><text:list><text:list-item><text:p>y</text:p></text:list-item></text:list></text:list-item></text:list>
      <text:h text:outline-level="2">Two</text:h>
      <table:table><table:table-column/><table:table-row><table:table-cell><text:p>1</text:p><text:p>2</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>3</text:p></table:table-cell></table:table-row></table:table>
      <text:h text:outline-level="1">Next</text:h>
      <text:p>k<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date><text:p>why?</text:p></office:annotation><draw:frame><draw:image/><svg:desc>A cat</svg:desc></draw:frame></text:p>`,
    );
    expect(text).toBe(
      "# One\n\na   b\tc\nd e f[^1]\n\n- x\n  - y\n\n## Two\n\n1 2 |  |  | 3\n\n[^1]: the note\n\f# Next\n\nk[comment 1][image: A cat]\n\n[comment 1] Ann, 2024-01-01: why?\n",
    );
    expect(facts).toEqual({
      part: "section",
      parts: 2,
      headings: [
        { title: "One", level: 1, part: 1 },
        { title: "Two", level: 2, part: 1 },
        { title: "Next", level: 1, part: 2 },
      ],
    });
  });

  test("has its links", async () => {
    const body = `<text:p>kept <text:a xlink:href="https://example.com/">a link</text:a></text:p>`;
    expect((await read("text", body)).text).toBe("kept a link\n");
    expect((await read("text", body, "", { form: "links" })).text).toBe("a link\thttps://example.com/\n");
  });

  test("tells changes and hidden text where they are, and who made the changes", async () => {
    const region = (id: string, kind: string, author: string, more = ""): string =>
      `<text:changed-region text:id="${id}"><text:${kind}><office:change-info><dc:creator>${author}</dc:creator><dc:date>2026-01-01</dc:date></office:change-info>${more}</text:${kind}></text:changed-region>`;
    const { text, facts } = await read(
      "text",
      `<text:tracked-changes>${region("c1", "deletion", "Ann", "<text:p>gone</text:p><text:p>too</text:p>")}${region("c2", "insertion", "Bob")}${region("c3", "format-change", "Cy")}</text:tracked-changes>` +
        `<text:p>kept <text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>new<text:change-end text:change-id="c2"/><text:change-start text:change-id="c3"/> bold<text:change-end text:change-id="c3"/></text:p>` +
        `<text:p>seen <text:span text:style-name="H">secret</text:span> 10<text:span text:style-name="S">6</text:span><text:hidden-text text:string-value="more" text:is-hidden="true"/></text:p><text:section text:display="none"><text:p>closed</text:p></text:section>`,
      `<style:style style:name="H0"><style:text-properties text:display="none"/></style:style><style:style style:name="H" style:parent-style-name="H0"/><style:style style:name="S"><style:text-properties style:text-position="super 58%"/></style:style>`,
    );
    expect(text).toBe(
      "kept [deleted by Ann: gone too][inserted by Bob: new] bold\n\nseen [hidden: secret] 10⁶[hidden: more]\n\n[hidden: closed]\n",
    );
    expect(facts.notices).toHaveLength(2);
  });

  test("tells comments with the words that they are about, and in threads", async () => {
    const comment = (name: string, text: string, more = ""): string =>
      `<office:annotation office:name="${name}" ${more}><dc:creator>Ann</dc:creator><meta:creator-initials>A</meta:creator-initials><text:p>${text}</text:p></office:annotation>`;
    const { text } = await read(
      "text",
      `<text:p>pay ${comment("a", "why?", 'loext:resolved="true"')}in 30</text:p><text:p>days<office:annotation-end office:name="a"/>${comment("b", "because", 'loext:parent-name="a"')}</text:p>`,
    );
    expect(text).toBe(
      'pay [comment 1]in 30\n\ndays[comment 2]\n\n[comment 1] Ann, on "in 30 days" (resolved): why?\n[comment 2] Ann, answers comment 1: because\n',
    );
  });

  test("has numbers of lists and headings, joined cells, tables in cells, headers and footers", async () => {
    const level = (tag: string, at: number, format: string, more = ""): string =>
      `<text:${tag} text:level="${at}" style:num-format="${format}" ${more}/>`;
    const item = (text: string, more = ""): string =>
      `<text:list-item><text:p>${text}</text:p>${more}</text:list-item>`;
    const styles =
      `<text:list-style style:name="L">${level("list-level-style-number", 1, "1", 'style:num-suffix="."')}${level("list-level-style-number", 2, "a", 'text:display-levels="2" style:num-suffix=")"')}</text:list-style>` +
      `<text:outline-style>${level("outline-level-style", 1, "I")}${level("outline-level-style", 2, "1", 'text:display-levels="2"')}</text:outline-style>`;
    const bytes = await openDocument(
      "text",
      `<text:h text:outline-level="1">A</text:h><text:h text:outline-level="2">B</text:h><text:h text:outline-level="2">C</text:h>` +
        `<text:list xml:id="x" text:style-name="L">${item("one", `<text:list>${item("deep")}${item("deeper")}</text:list>`)}${item("two", "<text:p>still two</text:p>")}</text:list><text:p>between</text:p><text:list text:style-name="L" text:continue-numbering="true">${item("three")}</text:list>` +
        `<table:table><table:table-row><table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="2"><text:p>a</text:p></table:table-cell><table:covered-table-cell/><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell table:number-columns-repeated="2"/><table:table-cell><table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell><text:p>y</text:p></table:table-cell></table:table-row></table:table></table:table-cell></table:table-row></table:table>`,
      styles,
      {
        "styles.xml": `<office:document-styles><office:master-styles><style:master-page><style:header><text:p>Head<text:tab/>er</text:p></style:header><style:header-first><text:p>Head<text:tab/>er</text:p></style:header-first><style:footer style:display="false"><text:p>no</text:p></style:footer></style:master-page></office:master-styles></office:document-styles>`,
      },
    );
    const { text, facts } = await readAll(convertOpenDocument(bytes, { form: "text" }));
    expect(text).toBe(
      "# I A\n\n## I.1 B\n\n## I.2 C\n\n1. one\n  1.a) deep\n  1.b) deeper\n2. two\n  still two\n\nbetween\n\n3. three\n\n" +
        "a | ← | b\n↑ | ↑ | [table: x, y]\n\n[header] Head er\n",
    );
    expect(facts.headings.map(({ title }) => title)).toEqual(["I A", "I.1 B", "I.2 C"]);
  });

  test("has charts, equations, pictures and other objects", async () => {
    const frame = (of: string): string => `<text:p><draw:frame draw:name="Image1">${of}</draw:frame></text:p>`;
    const bytes = await openDocument(
      "text",
      frame('<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>') +
        frame('<draw:object xlink:href="./Object 2/"/>') +
        frame('<draw:object xlink:href="./Object 3"/>') +
        frame('<draw:image xlink:href="Pictures/1.png"/><svg:title>A</svg:title><svg:desc>cat</svg:desc>'),
      "",
      {
        "META-INF/manifest.xml": `<manifest:manifest><manifest:file-entry manifest:full-path="Object 1/" manifest:media-type="application/vnd.oasis.opendocument.chart"/><manifest:file-entry manifest:full-path="Object 2/" manifest:media-type="application/vnd.oasis.opendocument.formula"/></manifest:manifest>`,
        "Object 1/content.xml": openChart({
          title: "Sales",
          kind: "circle",
          categories: ["Q1"],
          series: [["North", "4"]],
        }),
        "Object 2/content.xml": `<math:math><math:semantics><math:mrow><math:mfrac><math:mi>a</math:mi><math:mrow><math:mi>b</math:mi><math:mo>+</math:mo><math:mn>1</math:mn></math:mrow></math:mfrac></math:mrow><math:annotation>no</math:annotation></math:semantics></math:math>`,
      },
    );
    expect((await readAll(convertOpenDocument(bytes, { form: "text" }))).text).toBe(
      "[chart: Sales; pie; series: North]\n\n | North\nQ1 | 4\n\na/(b+1)\n\n[embedded object (Object 3)]\n\n[image: A: cat (Pictures/1.png)]\n",
    );
  });

  test("has the pages that the program laid out as parts; else it ends one where its author does", async () => {
    const soft = "<text:soft-page-break/>";
    const bytes = await openDocument(
      "text",
      `<text:p>one ${soft}two</text:p>${soft}<text:h text:outline-level="1">H</text:h>`,
      "",
      {},
    );
    expect((await readAll(convertOpenDocument(bytes, { form: "text" }))).text).toBe("one two\n\f# H\n");
    const content = `<office:document-content><office:body><office:text text:use-soft-page-breaks="true"><text:p>one ${soft}two</text:p>${soft}<text:h text:outline-level="1">H</text:h></office:text></office:body></office:document-content>`;
    const laidOut = await readAll(
      convertOpenDocument(await openDocument("text", "", "", { "content.xml": content }), { form: "text" }),
    );
    expect(laidOut.text).toBe("one\n\ftwo\n\f# H\n");
    expect(laidOut.facts).toMatchObject({ part: "page", parts: 3 });
    const broken = await read(
      "text",
      '<text:p text:style-name="B">one</text:p><text:p text:style-name="B">two</text:p>',
      '<style:style style:name="B"><style:paragraph-properties fo:break-before="page"/></style:style>',
    );
    expect(broken.text).toBe("one\n\ftwo\n");
  });

  test("a million spaces are no million spaces", async () => {
    const { text } = await read("text", `<text:p>a${'<text:s text:c="1000000000"/>'.repeat(3)}b</text:p>`);
    expect(text.length).toBeLessThan(4000);
  });
});

describe("a spreadsheet", () => {
  const cell = (type: string, value: string, shown: string): string =>
    `<table:table-cell office:value-type="${type}" office:${type === "float" ? "" : `${type}-`}value="${value}"><text:p>${shown}</text:p></table:table-cell>`;

  test("has its cells as they are shown, with dates as ISO 8601, and its values exact", async () => {
    const body = `<table:table table:name="Data" table:style-name="ta1"><table:table-row>${cell("float", "0.333333333333333", "0.33")}${cell("date", "2024-01-31", "31/01/24")}${cell("time", "PT12H30M05.50S", "12:30")}${cell("boolean", "true", "WAHR")}<table:table-cell office:value-type="string"><text:p>a</text:p><text:p>b, "c"</text:p><office:annotation><text:p>no</text:p></office:annotation></table:table-cell></table:table-row></table:table>`;
    const { text, facts } = await read("spreadsheet", body, "", { form: "cells" });
    expect(text).toBe('1,0.33,2024-01-31,12:30,TRUE,"a\nb, ""c"""\n');
    const sheet = { number: 1, lastRow: 1, lastColumn: 5, comments: ["E1"] };
    expect(facts).toEqual({
      part: "sheet",
      parts: 1,
      names: ["Data"],
      about: ["A1:E1; 1 comment"],
      sheet,
      headings: [],
    });
    const values = await read("spreadsheet", body, "", { form: "values" });
    expect(values.text).toBe('1,0.333333333333333,2024-01-31,12:30:05.5,TRUE,"a\nb, ""c"""\n');
  });

  test("tells what is hidden, merged, commented, drawn and named, and formulas without a value", async () => {
    const styles = `<number:date-style style:name="N1"><number:month number:textual="true"/><number:year/></number:date-style><number:time-style style:name="N2" number:truncate-on-overflow="false"><number:hours/></number:time-style><style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"/><style:style style:name="ce2" style:family="table-cell" style:data-style-name="N2"/><style:style style:name="ce3" style:family="table-cell" style:parent-style-name="ce2"/>`;
    const body =
      `<table:table table:name="S"><table:table-column table:default-cell-style-name="ce3"/><table:table-column table:number-columns-repeated="2" table:visibility="collapse"/>` +
      `<table:table-row><table:table-cell office:value-type="time" office:time-value="PT26H30M00S"><text:p>26:30</text:p></table:table-cell><table:table-cell table:style-name="ce1" office:value-type="date" office:date-value="2024-01-31"><text:p>Jan 24</text:p></table:table-cell><table:table-cell table:number-columns-spanned="2" office:value-type="string"><text:p>wide</text:p><office:annotation><dc:creator>Ada</dc:creator><dc:date>2024</dc:date><text:p>is <text:span>it</text:span> so?</text:p></office:annotation></table:table-cell><table:covered-table-cell/></table:table-row>` +
      `<table:table-row table:visibility="filter" table:number-rows-repeated="2"><table:table-cell table:formula="of:=SUM([.A1:.A1])+[$'b c'.A1]"/></table:table-row>` +
      `<table:table-row><table:table-cell><draw:frame draw:name="Chart"><draw:object xlink:href="./Object 1"/><draw:image xlink:href="x"/></draw:frame><draw:frame draw:name="Logo"><draw:image/><svg:desc>A tree</svg:desc></draw:frame></table:table-cell></table:table-row></table:table>` +
      `<table:named-expressions><table:named-range table:name="Times" table:cell-range-address="$S.$A$1:.$A$3"/></table:named-expressions>`;
    const chart = `<office:document-content><office:body><office:chart><chart:chart chart:class="chart:line"><chart:title><text:p>Trend</text:p></chart:title></chart:chart></office:chart></office:body></office:document-content>`;
    const bytes = await openDocument("spreadsheet", body, styles, { "Object 1/content.xml": chart });
    const { text } = await readAll(convertOpenDocument(bytes, { form: "text" }));
    expect(text.split("\n")).toEqual([
      "# S",
      "row,A,B,C",
      "1,26:30,Jan 24,wide",
      "2,=SUM(A1:A1)+'b c'!A1",
      "3,=SUM(A1:A1)+'b c'!A1",
      "",
      "Hidden: rows 2-3, columns B-C",
      "Filter: hides rows",
      "Merged: C1:D1",
      "Comments:",
      "- C1 (Ada): is it so?",
      "Charts:",
      "- A4: [chart: Trend; line]",
      "Images:",
      "- A4: Logo: A tree",
      "Tables and names: Times (A1:A3)",
      "",
    ]);
    const values = await readAll(convertOpenDocument(bytes, { form: "values", sheet: "times" }));
    expect(values.text.split("\n")[0]).toBe("1,1.10416666666667,2024-01-31,wide");
    expect(values.facts.sheet).toMatchObject({ range: "A1:A3", durations: 1, formulas: 1, isFiltered: true });
  });

  test("has repeated cells and rows as often, and not those of nothing at the end", async () => {
    const { text } = await read(
      "spreadsheet",
      `<table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated="2"/><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="1"/><table:table-cell table:number-columns-repeated="16380"/></table:table-row>
      <table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>
      <table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="2"/><table:covered-table-cell><text:p>hidden</text:p></table:covered-table-cell></table:table-row>
      <table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`,
      "",
      { form: "cells" },
    );
    expect(text).toBe("1,,,1,1\n4,2\n5,2\n");
  });

  test("that repeats a text billions of times ends at the bound of the text", async () => {
    const { text, facts } = await read(
      "spreadsheet",
      `<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>${"x".repeat(1000)}</text:p></table:table-cell></table:table-row></table:table>`,
      "",
      { form: "cells", maxTextBytes: 100_000 },
    );
    expect(text).toHaveLength(100_000);
    expect(facts.truncated).toBe(true);
  });

  test("has hidden sheets, each by its name or number", async () => {
    const styles = `<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>`;
    const sheet = (name: string, style: string, value: string): string =>
      `<table:table table:name="${name}" table:style-name="${style}"><table:shapes><draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame></table:shapes><table:table-row><table:table-cell><text:p>${value}</text:p></table:table-cell></table:table-row></table:table>`;
    const body = sheet("Old", "ta2", "1") + sheet("New", "ta1", "2");
    const all = await read("spreadsheet", body, styles);
    expect(all.text).toBe(
      "# Old (hidden)\nrow,A\n1,1\n\nText boxes:\n- box\n\f# New\nrow,A\n1,2\n\nText boxes:\n- box\n",
    );
    expect(all.facts).toMatchObject({ names: ["Old", "New"], about: ["hidden; A1; 1 text box", "A1; 1 text box"] });
    expect((await read("spreadsheet", body, styles, { form: "cells" })).text).toBe("1,2\n");
    expect((await read("spreadsheet", body, styles, { form: "cells", sheet: "Old" })).text).toBe("1,1\n");
  });
});

test("a presentation has its slides, titles first and notes last", async () => {
  const frame = (kind: string, ...texts: readonly string[]): string =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${texts.map((text) => `<text:p>${text}</text:p>`).join("")}</draw:text-box></draw:frame>`;
  const { text, facts } = await read(
    "presentation",
    `<draw:page draw:name="page1">${frame("outline", "a", "b")}${frame("title", "First")}<presentation:notes>${frame("notes", "say this")}</presentation:notes></draw:page><draw:page draw:name="page2">${frame("title", "Second")}<draw:custom-shape><text:p>in a shape</text:p></draw:custom-shape></draw:page>`,
  );
  expect(text).toBe("# First\n\na\n\nb\n\nNotes:\n\nsay this\n\f# Second\n\nin a shape\n");
  expect(facts.parts).toBe(2);
  expect(facts.headings).toEqual([
    { title: "First", level: 1, part: 1 },
    { title: "Second", level: 1, part: 2 },
  ]);
});

test("a presentation says which slides are hidden, and tells comments, footers and pictures once", async () => {
  const { text } = await read(
    "presentation",
    `<presentation:footer-decl presentation:name="f">ACME</presentation:footer-decl>` +
      `<draw:page draw:style-name="dp" presentation:use-footer-name="f"><draw:frame presentation:class="title"><draw:text-box><text:p>T</text:p></draw:text-box></draw:frame><draw:g><draw:frame draw:name="Logo"><draw:image xlink:href="Pictures/1.png"/></draw:frame></draw:g><draw:frame presentation:class="page-number"><draw:text-box><text:p>1</text:p></draw:text-box></draw:frame><office:annotation><dc:creator>Ann</dc:creator><text:p>why?</text:p></office:annotation></draw:page>` +
      `<draw:page presentation:use-footer-name="f"><draw:frame><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table><draw:image xlink:href="Pictures/TablePreview1.svm"/></draw:frame></draw:page>`,
    `<style:style style:name="dp"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`,
  );
  expect(text).toBe("# T (hidden)\n\n[image: Logo (Pictures/1.png)]\n\n[footer] ACME\n[comment 1] Ann: why?\n\fa\n");
});

test("an encrypted file is told to need its password", async () => {
  const manifest = `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
  const bytes = await openDocument("text", "", "", {
    "META-INF/manifest.xml": manifest,
    "content.xml": "\u0001\u0002",
  });
  await expect(convertOpenDocument(bytes, { form: "text" })).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("password") as unknown,
  });
});

test("forms that a kind has not are refused, and other kinds", async () => {
  await expect(read("text", "", "", { form: "rows" })).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  await expect(read("chart", "")).rejects.toMatchObject({ code: "E_DOCUMENT" });
});
