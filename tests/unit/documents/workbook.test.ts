/** Workbooks: their cells as a person sees them, and rows that keep their numbers. */
import * as fc from "fast-check";
import papaparse from "papaparse";
import { describe, expect, test } from "vitest";
import { formatKind, shownDate } from "../../../web/src/documents/cell-dates.js";
import type { ConvertOptions } from "../../../web/src/documents/document.js";
import { convertWorkbook } from "../../../web/src/documents/workbook.js";
import {
  escaped,
  readAll,
  rels,
  workbook,
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
  return readAll(convertWorkbook(await workbook(sheets, book), { form: "rows", ...options }));
}

const data = (rows: string): string => `<dimension ref="A1:Z9"/><sheetData>${rows}</sheetData>`;

/** Date, time, both, a span, text in a format, and the dates of a workbook by number. */
const STYLES = `<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="0.00&quot; days&quot;"/></numFmts>
<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="21"/><xf numFmtId="46"/><xf numFmtId="165"/></cellXfs>`;

describe("rows", () => {
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
      '" a, b",runs,inline',
      "0.1,0.333333333333333315,1E+20",
      'TRUE,FALSE,#DIV/0!,"a""b"',
      "2024-01-31,2024-01-31T12:00:00,18:00:00,36:00:00,3,2024-01-31",
      "",
    ]);
    expect(facts).toEqual({ part: "sheet", parts: 1, names: ["Data"], headings: [] });
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
    expect(text).toBe(`\n,2,,4\n1,,3\n\n\n${",".repeat(26)}27,28\n`);
  });

  test("a long run of empty rows is left out and told, and no cell writes a million lines", async () => {
    const rows = `<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>`;
    const { text, facts } = await read([["Far", data(rows)]]);
    expect(text).toBe(`1\n${",".repeat(16_383)}2\n`);
    expect(facts.notices).toEqual([
      'Rows 2 to 1048575 of the sheet "Far" are empty and left out: row 1048576 is 1048574 lines further up than its number.',
    ]);
  });

  test("many shorter runs of empty rows are bounded too", async () => {
    const rows = Array.from({ length: 100 }, (_, n) => `<row r="${(n + 1) * 9000}"><c><v>${n}</v></c></row>`);
    const { text, facts } = await read([["S", data(rows.join(""))]]);
    expect(text.split("\n").length).toBeLessThan(100_200);
    expect(facts.notices).toHaveLength(20);
  });

  test("a sheet is named, numbered, or the first that is not hidden", async () => {
    const sheets: Sheet[] = [
      ["Old", data('<row r="1"><c><v>1</v></c></row>'), "veryHidden"],
      ["New", data('<row r="1"><c><v>2</v></c></row>')],
      ["1", data('<row r="1"><c><v>3</v></c></row>')],
    ];
    const first = await read(sheets);
    expect(first).toEqual({
      text: "2\n",
      facts: { part: "sheet", parts: 3, names: ["Old (hidden)", "New", "1"], headings: [] },
    });
    expect((await read(sheets, {}, { sheet: "old" })).text).toBe("1\n");
    expect((await read(sheets, {}, { sheet: "1" })).text).toBe("3\n");
    expect((await read(sheets, {}, { sheet: "2" })).text).toBe("2\n");
    await expect(read(sheets, {}, { sheet: "4" })).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringMatching(/^There is no such sheet: .* from 1 to 3\. The sheets are "\w+", "\w+", "\w+"\.$/),
    });
  });

  test("days are counted from 1904 where the workbook says so", async () => {
    const rows = data('<row r="1"><c s="1"><v>0</v></c><c s="1"><v>43860</v></c></row>');
    expect((await read([["S", rows]], { styles: STYLES, is1904: true })).text).toBe("1904-01-01,2024-01-31\n");
  });

  test("escapes of what XML cannot have are undone", async () => {
    const rows = data('<row r="1"><c t="s"><v>0</v></c><c t="s"><v>9</v></c></row>');
    expect((await read([["S", rows]], { shared: ["<t>a_x000A_b_x005F_</t>"] })).text).toBe('"a\nb_"\n');
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
        const { text } = await read([["S", data(written.join(""))]], { shared });
        const parsed = papaparse.parse<string[]>(text, { delimiter: ",", newline: "\n" }).data;
        const trimmed = (all: readonly (readonly string[])[]): string[][] => {
          const short = all.map((row) => row.slice(0, row.findLastIndex((each) => each !== "") + 1));
          return short.slice(0, short.findLastIndex((row) => row.length > 0) + 1);
        };
        expect(trimmed(parsed)).toEqual(trimmed(rows));
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
  expect(text).toBe("# A & B\n1,2\n\f# Second\n\f# Third (hidden)\nx\n");
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
  await expect(convertWorkbook(binary, { form: "rows" })).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: "The workbook is of the binary format .xlsb: save it as .xlsx, and read that.",
  });
  const more = { "xl/_rels/workbook.xml.rels": rels(["rId1", "worksheet", "../../../etc/passwd"]) };
  await expect(read([["S", ""]], { more })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});

test.each([
  ["General", undefined],
  ["#,##0.00", undefined],
  ["0.00E+00", undefined],
  ['0" days and hours"', undefined],
  ["[Red]0;[Blue]-0", undefined],
  ["\\d0", undefined],
  ["d/m/yyyy", "date"],
  ["[$-409]mmmm\\ d\\,\\ yyyy", "date"],
  ["mmm", "date"],
  ['yyyy"年"m"月"d"日"', "date"],
  ["h:mm AM/PM", "time"],
  ["mm:ss.0", "time"],
  ["yyyy-mm-dd hh:mm:ss", "datetime"],
  ["[h]:mm:ss", "span"],
])("the format %s shows a %s", (code, kind) => {
  expect(formatKind(code)).toBe(kind);
});

test.each([
  ["1", "date", false, "1900-01-01"],
  ["59", "date", false, "1900-02-28"],
  ["60", "date", false, "1900-02-29"],
  ["61", "date", false, "1900-03-01"],
  ["45322.25", "date", false, "2024-01-31T06:00:00"],
  ["45322.000011574", "datetime", false, "2024-01-31T00:00:01"],
  ["2958465", "date", false, "9999-12-31"],
  ["2958466", "date", false, "2958466"],
  ["-1", "date", false, "-1"],
  ["0.5", "time", false, "12:00:00"],
  ["0.0000115856", "time", false, "00:00:01.001"],
  ["0.9999999999", "time", false, "1900-01-01T00:00:00"],
  ["100.5", "span", false, "2412:00:00"],
  ["x", "date", false, "x"],
] as const)("%s as a %s is shown (1904: %s) as %s", (number, kind, is1904, shown) => {
  expect(shownDate(number, kind, is1904)).toBe(shown);
});
