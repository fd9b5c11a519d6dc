/** Workbooks: their cells as a person sees them, and rows that keep their numbers. */
import * as fc from "fast-check";
import papaparse from "papaparse";
import { describe, expect, test } from "vitest";
import { CellFormat, CellFormats, findUsualCode } from "../../../web/src/documents/cell-format.js";
import {
  columnName,
  columnNumber,
  moveFormula,
  parseRange,
  writeRange,
} from "../../../web/src/documents/cell-range.js";
import type { ConvertOptions } from "../../../web/src/documents/document.js";
import { convertWorkbook } from "../../../web/src/documents/workbook.js";
import {
  escaped,
  readAll,
  rels,
  workbook,
  workbookParts,
  zipped,
  type BookParts,
  type Read,
  type Sheet,
} from "../../support/documents.js";

async function read(
  sheets: readonly Sheet[],
  book: BookParts = {},
  options: Partial<ConvertOptions> = {},
): Promise<Read> {
  return readAll(convertWorkbook(await workbook(sheets, book), { form: "cells", ...options }));
}

const data = (rows: string): string => `<dimension ref="A1:Z9"/><sheetData>${rows}</sheetData>`;

/** Date, time, both, a span, text in a format, and the dates of a workbook by number. */
const STYLES = `<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="0.00&quot; days&quot;"/></numFmts>
<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="21"/><xf numFmtId="46"/><xf numFmtId="165"/></cellXfs>`;

describe("cells", () => {
  test("every type of a cell is as it is seen", async () => {
    const { text, facts } = await read(
      [
        [
          "Data",
          data(
            `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>in</t><r><t>line</t></r></is></c></row>` +
              `<row r="2"><c r="A2"><v>0.1</v></c><c r="B2"><f>1/3</f><v>0.333333333333333315</v></c><c r="C2"><v>1E+20</v></c></row>` +
              `<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="b"><v>0</v></c><c r="C3" t="e"><v>#DIV/0!</v></c><c r="D3" t="str"><f>A1</f><v>a"b</v></c></row>` +
              `<row r="4"><c r="A4" s="1"><v>45322</v></c><c r="B4" s="3"><v>45322.5</v></c><c r="C4" s="4"><v>0.75</v></c><c r="D4" s="5"><v>1.5</v></c><c r="E4" s="6"><v>3</v></c><c r="F4" t="d"><v>2024-01-31</v></c></row>`,
          ),
        ],
      ],
      {
        shared: [`<t xml:space="preserve"> a, b</t>`, `<r><t>ru</t></r><r><rPr/><t>ns</t></r><rPh><t>no</t></rPh>`],
        styles: STYLES,
      },
    );
    expect(text.split("\n")).toEqual([
      '1," a, b",runs,inline',
      "2,0.1,0.333333333333333,1E+20",
      '3,TRUE,FALSE,#DIV/0!,"a""b"',
      "4,2024-01-31,2024-01-31T12:00:00,18:00:00,36:00:00,3.00 days,2024-01-31",
      "",
    ]);
    const sheet = { number: 1, lastRow: 4, lastColumn: 6, durations: 1 };
    expect(facts).toEqual({ part: "sheet", parts: 1, names: ["Data"], about: ["A1:F4"], sheet, headings: [] });
  });

  test("columns and rows stand where they stand in the sheet, in any order and without references", async () => {
    const { text } = await read([
      [
        "S",
        data(
          `<row r="2"><c r="D2"><v>4</v></c><c r="B2"><v>2</v></c></row><row><c><v>1</v></c><c/><c><v>3</v></c></row>` +
            `<row r="6"><c r="AA6"><v>27</v></c><c><v>28</v></c></row>`,
        ),
      ],
    ]);
    expect(text).toBe(`2,,2,,4\n3,1,,3\n6,${",".repeat(26)}27,28\n`);
  });

  test("rows without a cell are left out, however many they are", async () => {
    const rows = `<row r="1"><c r="A1"><v>1</v></c></row><row r="7"><c r="A7"/></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>`;
    const { text, facts } = await read([["Far", data(rows)]]);
    expect(text).toBe(`1,1\n1048576,${",".repeat(16_383)}2\n`);
    expect(facts.about).toEqual(["A1:XFD1048576"]);
  });

  test("a sheet is named, numbered, or the first that is not hidden", async () => {
    const sheets: Sheet[] = [
      ["Old", data('<row r="1"><c><v>1</v></c></row>'), "veryHidden"],
      ["New", data('<row r="1"><c><v>2</v></c></row>')],
      ["1", data('<row r="1"><c><v>3</v></c></row>')],
    ];
    const first = await read(sheets);
    expect(first.text).toBe("1,2\n");
    expect(first.facts).toMatchObject({ names: ["Old", "New", "1"], about: ["very hidden", "A1"] });
    expect((await read(sheets, {}, { sheet: "old" })).text).toBe("1,1\n");
    expect((await read(sheets, {}, { sheet: "1" })).text).toBe("1,3\n");
    expect((await read(sheets, {}, { sheet: "2" })).text).toBe("1,2\n");
    await expect(read(sheets, {}, { sheet: "4" })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringMatching(
        /^There is no such sheet: .* from 1 to 3, .*\. The sheets are "\w+", "\w+", "\w+"\.$/,
      ),
    });
  });

  test("days are counted from 1904 where the workbook says so", async () => {
    const rows = data('<row r="1"><c s="1"><v>0</v></c><c s="1"><v>43860</v></c></row>');
    expect((await read([["S", rows]], { styles: STYLES, is1904: true })).text).toBe("1,1904-01-01,2024-01-31\n");
  });

  test("escapes of what XML cannot have are undone", async () => {
    const rows = data('<row r="1"><c t="s"><v>0</v></c><c t="s"><v>9</v></c></row>');
    expect((await read([["S", rows]], { shared: ["<t>a_x000A_b_x005F_</t>"] })).text).toBe('1,"a\nb_"\n');
  });

  test("any grid of text comes back from the CSV as it was", async () => {
    const cell = fc.string({
      unit: fc.constantFrom("a", "Ü", "😀", ",", '"', " ", "\n", "&", "<", ";", "\t", "_"),
      maxLength: 6,
    });
    const grid = fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(grid, fc.boolean(), async (rows, isShared) => {
        const shared: string[] = [];
        const written = rows.map((cells, r) => {
          const each = cells.map((text, c) => {
            if (text === "") return "";
            const name = `${String.fromCharCode(65 + c)}${r + 1}`;
            const t = `<t xml:space="preserve">${escaped(text)}</t>`;
            if (!isShared) return `<c r="${name}" t="inlineStr"><is>${t}</is></c>`;
            return `<c r="${name}" t="s"><v>${shared.push(t) - 1}</v></c>`;
          });
          return `<row r="${r + 1}">${each.join("")}</row>`;
        });
        const { text } = await read(
          [["S", data(written.join(""))]],
          { shared },
          { form: isShared ? "cells" : "values" },
        );
        const parsed = papaparse.parse<string[]>(text, { delimiter: ",", newline: "\n" }).data;
        const trimmed = (all: readonly (readonly string[])[]): string[][] => {
          const short = all.map((row) => row.slice(0, row.findLastIndex((each) => each !== "") + 1));
          return short.slice(0, short.findLastIndex((row) => row.length > 0) + 1);
        };
        const there = rows
          .map((row, at) => [String(at + 1), ...row])
          .filter(([, ...row]) => row.some((each) => each !== ""));
        expect(trimmed(parsed)).toEqual(trimmed(there));
      }),
    );
  });
});

test("the text has all sheets, each behind its name", async () => {
  const sheets: Sheet[] = [
    ["A &amp; B", data('<row r="1"><c><v>1</v></c><c><v>2</v></c></row>')],
    ["Second", data("")],
    ["Third", data('<row r="1"><c t="str"><v>x</v></c></row>'), "hidden"],
  ];
  const { text, facts } = await read(sheets, {}, { form: "text" });
  expect(text).toBe("# A & B\nrow,A,B\n1,1,2\n\f# Second\n\f# Third (hidden)\nrow,A\n1,x\n");
  expect(facts.headings.map(({ title, part }) => `${part} ${title}`)).toEqual(["1 A & B", "2 Second", "3 Third"]);
});

test("links are told with the cell, or what is shown", async () => {
  const links = `${data("")}<hyperlinks><hyperlink ref="A1" r:id="rId1"/><hyperlink ref="A2" r:id="rId2" display="Shown"/><hyperlink ref="A3" location="S!A1"/></hyperlinks>`;
  const more = {
    "xl/worksheets/_rels/sheet1.xml.rels": rels(
      ["rId1", "hyperlink", "https://example.com/1"],
      ["rId2", "hyperlink", "mailto:a@example.com"],
    ),
  };
  const { text } = await read([["S", links]], { more }, { form: "links" });
  expect(text).toBe("A1\thttps://example.com/1\nShown\tmailto:a@example.com\n");
});

test("a binary workbook, and one whose sheet is missing, are told", async () => {
  const binary = await zipped({
    "_rels/.rels": rels(["r", "officeDocument", "xl/workbook.bin"]),
    "xl/workbook.bin": "x",
  });
  await expect(convertWorkbook(binary, { form: "cells" })).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: "The workbook is of the binary format .xlsb: save it as .xlsx, and read that.",
  });
  const more = { "xl/_rels/workbook.xml.rels": rels(["rId1", "worksheet", "../../../etc/passwd"]) };
  await expect(read([["S", ""]], { more })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

describe("formulas", () => {
  const cells = async (rows: string, book: BookParts = {}): Promise<string> =>
    (await read([["S", data(rows)]], book)).text;

  test("without a value are shown, those that are shared as they are in their cells", async () => {
    const text = await cells(
      '<row r="1"><c r="A1"><f>SUM(B1:B9)</f></c><c r="B1"><f>_xlfn.XLOOKUP(1,A1,A2)</f><v/></c><c r="C1" t="str"><f>LOWER("A")</f><v></v></c><c r="D1"><f>1/3</f><v>0</v></c></row>' +
        '<row r="2"><c r="A2"><f t="shared" si="0" ref="A2:B3">B2*$C$1+LOG10(2)&amp;"B2"</f></c></row><row r="3"><c r="B3"><f t="shared" si="0"/></c></row>' +
        '<row r="4"><c r="A4"><f t="array" ref="A4:A5">B1:B2*2</f></c></row><row r="5"><c r="A5"/><c r="B5"/></row>',
    );
    expect(text.split("\n")).toEqual([
      '1,=SUM(B1:B9),"=XLOOKUP(1,A1,A2)",,0',
      '2,"=B2*$C$1+LOG10(2)&""B2"""',
      '3,,"=C3*$C$1+LOG10(2)&""B2"""',
      "4,{=B1:B2*2}",
      "5,{=B1:B2*2}",
      "",
    ]);
  });

  test("with a zero that a program is to calculate first are shown, and other values stay", async () => {
    const main = String(workbookParts([["S", ""]])["xl/workbook.xml"]).replace(
      "</workbook>",
      '<calcPr fullCalcOnLoad="1"/></workbook>',
    );
    const rows = '<row r="1"><c><f>B1</f><v>0</v></c><c><f>2+2</f><v>4</v></c><c><v>0</v></c></row>';
    expect(await cells(rows, { more: { "xl/workbook.xml": main } })).toBe("1,=B1,4,0\n");
    expect(await cells(rows)).toBe("1,0,4,0\n");
  });
});

test.each([
  ["A1+$A1+A$1+$A$1", 1, 2, "C2+$A2+C$1+$A$1"],
  ["SUM(A1:B2,Sheet2!A1,'A1 b'!A1)", 2, 0, "SUM(A3:B4,Sheet2!A3,'A1 b'!A3)"],
  ['"A1"&LOG10(A1)&Rate1&_A1', 1, 0, '"A1"&LOG10(A2)&Rate1&_A1'],
  ["A1", -1, 0, "#REF!"],
])("%s moved by %i rows and %i columns is %s", (formula, rows, columns, moved) => {
  expect(moveFormula(formula, rows, columns)).toBe(moved);
});

test.each([
  ["B2:D40", "B2:D40"],
  ["$d$40:b2", "B2:D40"],
  ["A:C", "A:C"],
  ["9:5", "5:9"],
  ["XFD1048576", "XFD1048576"],
  ["A1:XFD1048576", "A1:XFD1048576"],
  ["A", undefined],
  ["5", undefined],
  ["A:5", undefined],
  ["A0", undefined],
  ["XFE1", undefined],
  ["A1048577", undefined],
  ["A1:B2:C3", undefined],
  ["", undefined],
])("the range %s is %s", (text, range) => {
  const parsed = parseRange(text);
  expect(parsed && writeRange(parsed)).toBe(range);
});

test("columns are named as Excel names them", () => {
  expect([1, 26, 27, 702, 703, 16_384].map(columnName)).toEqual(["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
  for (let column = 1; column <= 16_384; column += 1) expect(columnNumber(columnName(column))).toBe(column);
});

describe("what a sheet has besides cells", () => {
  const CHART = `<c:chartSpace xmlns:c="c"><c:chart><c:title><c:tx><c:rich><a:p xmlns:a="a"><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:barDir val="bar"/><c:ser><c:tx><c:strRef><c:f>S!$B$1</c:f></c:strRef></c:tx></c:ser><c:ser><c:tx><c:strRef><c:f>S!$C$1</c:f><c:strCache><c:pt idx="0"><c:v>kept</c:v></c:pt></c:strCache></c:strRef></c:tx></c:ser><c:ser><c:tx><c:strRef><c:f>Other!$C$1</c:f></c:strRef></c:tx></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;
  const anchor = (content: string): string =>
    `<xdr:twoCellAnchor><xdr:from><xdr:col>4</xdr:col><xdr:colOff>99</xdr:colOff><xdr:row>1</xdr:row></xdr:from><xdr:to><xdr:col>9</xdr:col><xdr:row>9</xdr:row></xdr:to>${content}</xdr:twoCellAnchor>`;
  const MORE = {
    "xl/worksheets/_rels/sheet1.xml.rels": rels(
      ["rId1", "comments", "../comments1.xml"],
      ["rId2", "threadedComment", "../threadedComments/threadedComment1.xml"],
      ["rId3", "drawing", "../drawings/drawing1.xml"],
      ["rId4", "table", "../tables/table1.xml"],
      ["rId5", "comments", "../none.xml"],
    ),
    "xl/comments1.xml": `<comments><authors><author>Ada</author><author>tc={1}</author></authors><commentList><comment ref="B2" authorId="0"><text><r><t>Ada:</t></r><r><t xml:space="preserve">\nis it\nso?</t></r></text></comment><comment ref="C3" authorId="1"><text><t>[Threaded comment] Your version …</t></text></comment></commentList></comments>`,
    "xl/threadedComments/threadedComment1.xml": `<ThreadedComments><threadedComment ref="C3" personId="{p}" id="{1}" done="1"><text>Why 5?</text></threadedComment><threadedComment ref="C3" personId="{q}" id="{2}" parentId="{1}"><text>It is 5.</text></threadedComment></ThreadedComments>`,
    "xl/persons/person.xml": `<personList><person displayName="Bob" id="{p}"/><person displayName="Cy" id="{q}"/></personList>`,
    "xl/drawings/drawing1.xml": `<xdr:wsDr xmlns:xdr="d">${anchor(`<xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="Chart 1"/></xdr:nvGraphicFramePr><a:graphic><a:graphicData><c:chart r:id="rId1"/></a:graphicData></a:graphic></xdr:graphicFrame>`)}${anchor(`<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="Picture 1" descr="A red square"/></xdr:nvPicPr></xdr:pic>`)}${anchor(`<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="4" name="Box"/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>Read</a:t></a:r></a:p><a:p><a:r><a:t>me</a:t></a:r></a:p></xdr:txBody></xdr:sp>`)}</xdr:wsDr>`,
    "xl/drawings/_rels/drawing1.xml.rels": rels(["rId1", "chart", "../charts/chart1.xml"]),
    "xl/charts/chart1.xml": CHART,
    "xl/tables/table1.xml": `<table displayName="Costs" name="x" ref="A1:C3"/>`,
    "xl/_rels/workbook.xml.rels": rels(
      ["rId1", "worksheet", "worksheets/sheet1.xml"],
      ["rId9", "person", "persons/person.xml"],
    ),
  };
  const CONTENT = `<cols><col min="2" max="3" hidden="1"/><col min="9" max="16384" hidden="1"/></cols>${data('<row r="1"><c t="str"><v>a</v></c><c t="str"><v>north</v></c></row><row r="2" hidden="1"/><row r="3" hidden="1"><c><v>1</v></c></row><row r="5"><c><v>1</v></c></row>')}<mergeCells><mergeCell ref="A5:B6"/><mergeCell ref="A1"/></mergeCells>`;

  test("is told behind them", async () => {
    const { text, facts } = await read([["S", CONTENT]], { more: MORE }, { form: "text" });
    expect(text.slice(text.indexOf("\n\n") + 2).split("\n")).toEqual([
      "Hidden: rows 2-3, column B",
      "Merged: A5:B6",
      "Comments:",
      "- C3 (Bob, resolved): Why 5?",
      "- C3 (Cy, reply): It is 5.",
      "- B2 (Ada): is it so?",
      "Images:",
      "- E2: Picture 1: A red square",
      "Text boxes:",
      "- E2: Read me",
      "Charts:",
      "- E2: [chart: Sales; bar; series: north, kept, Other!C1]",
      "Tables and names: Costs (A1:C3)",
      "",
    ]);
    expect(facts.about).toEqual([
      "A1:B5; rows 2-3 hidden; column B hidden; 1 merged range; 3 comments; 1 image; 1 text box; 1 chart",
    ]);
  });

  test("is among the facts of the cells by its places alone", async () => {
    const { facts } = await read([["S", CONTENT]], { more: MORE });
    expect(facts.sheet).toEqual({
      number: 1,
      lastRow: 5,
      lastColumn: 2,
      hiddenRows: [[2, 3]],
      hiddenColumns: [
        [2, 3],
        [9, 16_384],
      ],
      merged: ["A5:B6"],
      comments: ["C3", "B2"],
      drawings: 3,
    });
  });

  test("is bounded", async () => {
    const many = (count: number, of: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => of(at + 1)).join("");
    const more = {
      "xl/worksheets/_rels/sheet1.xml.rels": rels(["rId1", "comments", "../comments1.xml"]),
      "xl/comments1.xml": `<comments><commentList>${many(20_000, (at) => `<comment ref="A${at}"><text><t>${"x".repeat(at === 1 ? 100_000 : 10)}</t></text></comment>`)}</commentList></comments>`,
    };
    const content = `${data(many(30_000, (at) => `<row r="${at}"${at % 2 === 0 ? ' hidden="1"' : ""}><c><v>1</v></c></row>`))}<mergeCells>${many(20_000, (at) => `<mergeCell ref="A${at}:B${at}"/>`)}</mergeCells>`;
    const { text, facts } = await read([["S", content]], { more }, { form: "text" });
    expect(text.length - text.indexOf("\n\n")).toBeLessThan(40_000);
    expect(facts.about?.[0]?.length).toBeLessThanOrEqual(240);
    const { sheet } = (await read([["S", content]], { more })).facts;
    expect([sheet?.hiddenRows?.length, sheet?.merged?.length, sheet?.comments?.length]).toEqual([200, 200, 200]);
  });
});

/** Code, number, and what it shows. */
test.each([
  ["General", "0.1", "0.1"],
  ["General", "0.30000000000000004", "0.3"],
  ["General", "0.333333333333333315", "0.333333333333333"],
  ["General", "123456789012", "123456789012"],
  ["General", "12345678901234567890", "1.23456789012346E+19"],
  ["General", "0.00000012", "1.2E-07"],
  ["00000", "123", "00123"],
  ["0.00%", "0.256", "25.60%"],
  ["#,##0.00", "1234567.891", "1,234,567.89"],
  ['#,##0.00 "€"', "1234.5", "1,234.50 €"],
  ["[$€-407] #,##0.00", "1234.5", "€ 1,234.50"],
  ["#,##0.00[$ kr-41D]", "1234.5", "1,234.50 kr"],
  ['_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "-5", "$(5.00)"],
  ['_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-', "0", "-"],
  ["# ?/?", "1.5", "1 1/2"],
  ["# ??/??", "2.5", "2 1/2"],
  ["# ?/?", "99.995", "100"],
  ["0.00E+00", "12345.678", "1.23E+04"],
  ["0.00", "1.005", "1.01"],
  ["0", "2.5", "3"],
  ['0.0,"K"', "12345", "12.3K"],
  ["000-00-0000", "123456789", "123-45-6789"],
  ["[<=9999999]###-####;(###) ###-####", "5551234567", "(555) 123-4567"],
  ['[>=100]"big";[<0]"neg";"small"', "50", "small"],
  [";;;", "5", ""],
  ["@", "0.5", "0.5"],
  ['not "a format', "5", "5"],
  ["0".repeat(300), "5", "5"],
  // Where a colour alone says that a number is negative, there is a sign.
  ["#,##0;[Red]#,##0", "-1234", "-1,234"],
  ["#,##0;[Red]-#,##0", "-1234", "-1,234"],
  ["#,##0;[Red](#,##0)", "-1234", "(1,234)"],
  ["0;0", "-5", "5"],
  // Dates are ISO 8601.
  ["d/m/yyyy", "45322", "2024-01-31"],
  ["m/d/yy h:mm", "45322.5", "2024-01-31T12:00:00"],
  ["[$-409]mmmm\\ d\\,\\ yyyy", "45322.25", "2024-01-31"],
  ['yyyy"年"m"月"d"日"', "45322", "2024-01-31"],
  ["yyyy-mm-dd", "-1", "-1"],
  ["yyyy-mm-dd", "2958466", "2958466"],
  // What is less than a date is as it is shown.
  ["mmmm yyyy", "45322", "January 2024"],
  ["[$-407]mmmm yyyy", "45322", "Januar 2024"],
  ["mmm-yy", "45322", "Jan-24"],
  ["dddd", "45322", "Wednesday"],
  ["yyyy", "45322", "2024"],
  ["h:mm AM/PM", "0.75", "6:00 PM"],
  ["mm:ss.0", "0.0012345", "01:46.7"],
  ["[h]:mm", "1.0833333333333333", "26:00"],
])("%s shows %s as %s", (code, number, shown) => {
  expect(new CellFormat(code).showNumber(number, false)).toBe(shown);
});

/** Code, number, from 1904 or not, and the value. */
test.each([
  ["General", "0.333333333333333315", false, "0.3333333333333333"],
  ["0.00%", "0.256", false, "0.256"],
  ["00000", "123", false, "123"],
  ["General", "12345678901234567890", false, "1.23456789012346e+19"],
  ["[h]:mm", "1.5", false, "1.5"],
  ["yyyy-mm-dd", "1", false, "1900-01-01"],
  ["yyyy-mm-dd", "59", false, "1900-02-28"],
  ["yyyy-mm-dd", "60", false, "1900-02-29"],
  ["yyyy-mm-dd", "61", false, "1900-03-01"],
  ["yyyy-mm-dd", "0", true, "1904-01-01"],
  ["yyyy-mm-dd", "45322.25", false, "2024-01-31T06:00:00"],
  ["yyyy-mm-dd hh:mm", "45322", false, "2024-01-31T00:00:00"],
  ["yyyy-mm-dd hh:mm", "45322.000011574", false, "2024-01-31T00:00:01"],
  ["mmmm yyyy", "45322", false, "2024-01-31"],
  ["yyyy-mm-dd", "2958465", false, "9999-12-31"],
  ["h:mm", "0.5", false, "12:00:00"],
  ["h:mm", "0.0000115856", false, "00:00:01.001"],
  ["yyyy-mm-dd", "x", false, "x"],
] as const)("%s has for %s (1904: %s) the value %s", (code, number, is1904, value) => {
  expect(new CellFormat(code).exactNumber(number, is1904)).toBe(value);
});

test("formats of texts show them", () => {
  const show = (code: string, text: string): string => new CellFormat(code).showText(text);
  expect(show('@" pieces"', "ten")).toBe("ten pieces");
  expect(show("_(* #,##0_);_(* (#,##0);_(@_)", " ten ")).toBe(" ten ");
  expect(show(";;;", "ten")).toBe("");
  expect(show("0.00", "ten")).toBe("ten");
});

test("formats that come with every program are known by their numbers", () => {
  expect([0, 2, 10, 14, 44, 49, 82, 1e6].map(findUsualCode)).toEqual([
    undefined,
    "0.00",
    "0.00%",
    "m/d/yyyy",
    '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
    "@",
    undefined,
    undefined,
  ]);
});

test("any code and any number give a text, and dates are valid", () => {
  const piece = fc.constantFrom(
    ...'0|#|?|.|,|%|;|@|[Red]|[>1]|[h]|[$€-407]|[DBNum1]|"x"|\\-|_(|* |E+|/|General|yyyy|m|d|h|ss|AM/PM|.0|(|)|-'.split(
      "|",
    ),
  );
  const formats = new CellFormats();
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.double({ noNaN: true }),
      fc.boolean(),
      (pieces, number, is1904) => {
        const format = formats.get(pieces.join(""));
        const shown = format.showNumber(String(number), is1904);
        expect(shown.length).toBeLessThan(1000);
        const isDate = format.kind === "date" && number >= 61 && number < 2e6;
        expect(isDate ? new Date(shown).toISOString() : shown).toContain(shown);
        expect(typeof format.exactNumber(String(number), is1904)).toBe("string");
        expect(typeof format.showText(String(number))).toBe("string");
      },
    ),
  );
});
