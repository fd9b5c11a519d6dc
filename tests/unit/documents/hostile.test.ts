/** Documents that are made to do harm: each ends in a coded error that says what to do, or in text within its bounds. */
import { describe, expect, test } from "vitest";
import { convertBook } from "../../../web/src/documents/book.js";
import type { Converted, ConvertOptions } from "../../../web/src/documents/document.js";
import { convertHtml } from "../../../web/src/documents/html.js";
import { convertOpenDocument } from "../../../web/src/documents/open-document.js";
import { resolvePart } from "../../../web/src/documents/package.js";
import { convertPresentation } from "../../../web/src/documents/presentation.js";
import { convertWord } from "../../../web/src/documents/word.js";
import { convertWorkbook } from "../../../web/src/documents/workbook.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import {
  book,
  chartPart,
  openDocument,
  paragraph,
  rawZip,
  readAll,
  rels,
  word,
  wordParts,
  workbook,
  zipped,
  type Parts,
  type RawEntry,
} from "../../support/documents.js";

const encoder = new TextEncoder();

async function failure(document: Promise<Converted>): Promise<SluiceError> {
  const error = await readAll(document).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SluiceError);
  return error as SluiceError;
}

function raw(parts: Parts, change: Readonly<Record<string, Partial<RawEntry>>> = {}): RawEntry[] {
  return Object.entries(parts).map(([name, content]) => ({
    name,
    data: typeof content === "string" ? encoder.encode(content) : content,
    ...change[name],
  }));
}

const DAMAGED =
  "The Word document is damaged or incomplete: get it again, or save it again in the program that made it.";

const text = (bytes: Uint8Array, more: Partial<ConvertOptions> = {}): Promise<Converted> =>
  convertWord(bytes, { form: "text", ...more });

describe("packages", () => {
  test("the writer of these tests writes what is read", async () => {
    const { text: all } = await readAll(text(rawZip(raw(wordParts(paragraph("fine"))))));
    expect(all).toBe("fine\n");
  });

  test("a part that inflates beyond the bound is refused by its size, before a byte of it is read", async () => {
    const bytes = rawZip(raw(wordParts(paragraph("x".repeat(3 * 1024 * 1024)))));
    expect(bytes.length).toBeLessThan(10_000);
    expect(await failure(text(bytes, { maxBytes: 2 * 1024 * 1024 }))).toMatchObject({
      code: "E_TOO_LARGE",
      message:
        "The document has more than 2 MiB once it is unpacked: split it, or save a part of it as a document of its own.",
    });
  });

  test("parts count together", async () => {
    const styles = `<w:styles>${" ".repeat(900_000)}</w:styles>`;
    const more = { "word/_rels/document.xml.rels": rels(["r", "styles", "styles.xml"]), "word/styles.xml": styles };
    const bytes = await word(paragraph("x".repeat(900_000)), more);
    expect((await failure(text(bytes, { maxBytes: 1_000_000 }))).code).toBe("E_TOO_LARGE");
    expect((await readAll(text(bytes, { maxBytes: 2_000_000 }))).text).toHaveLength(900_001);
  });

  test("a size that is not so is damage, and is not waited for", async () => {
    const parts = wordParts(paragraph("x".repeat(3_000_000)));
    for (const saidSize of [10, 4_000_000]) {
      const error = await failure(text(rawZip(raw(parts, { "word/document.xml": { saidSize } }))));
      expect(error).toMatchObject({ code: "E_DOCUMENT", message: DAMAGED });
    }
  });

  test("entries that share their bytes are damage", async () => {
    const entries = raw(wordParts(paragraph("x")));
    const document = entries.findIndex(({ name }) => name === "word/document.xml");
    entries.push(
      { name: "word/styles.xml", data: entries[document]?.data as Uint8Array, over: document },
      { name: "word/_rels/document.xml.rels", data: encoder.encode(rels(["r", "styles", "styles.xml"])) },
    );
    expect(await failure(text(rawZip(entries)))).toMatchObject({ code: "E_DOCUMENT", message: DAMAGED });
  });

  test("a part that is there twice is damage", async () => {
    const entries = raw(wordParts(paragraph("x")));
    entries.push({ name: "WORD\\document.xml", data: encoder.encode("<w:document/>") });
    expect(await failure(text(rawZip(entries)))).toMatchObject({ code: "E_DOCUMENT", message: DAMAGED });
  });

  test("an encrypted entry needs its password", async () => {
    const bytes = rawZip(raw(wordParts("x"), { "word/document.xml": { isEncrypted: true } }));
    const { code, message } = await failure(text(bytes));
    expect(code).toBe("E_DOCUMENT");
    expect(message).toContain("protected with a password");
  });

  test("an encrypted document of Office, and one of before 2007, are told by their bytes", async () => {
    const compound = new Uint8Array(4096);
    compound.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    expect(await failure(convertWorkbook(compound, { form: "cells" }))).toMatchObject({
      code: "E_DOCUMENT",
      message:
        "The workbook is of the old binary format, or protected with a password: save it as .xlsx without a password, and read that.",
    });
    compound.set(Buffer.from("EncryptedPackage", "utf16le"), 1024 + 128);
    expect((await failure(convertWorkbook(compound, { form: "cells" }))).message).toBe(
      "The workbook is protected with a password, and is not decrypted here: open it with the password in the program that made it, and save a copy without one.",
    );
  });

  test.each([
    ["nothing", new Uint8Array(0)],
    ["text", encoder.encode("no package, and /home/user is no path to be told")],
    ["zeros", new Uint8Array(100_000)],
    ["the end of a ZIP alone", Uint8Array.from([0x50, 0x4b, 5, 6, ...Array<number>(18).fill(9)])],
  ])("%s is no document", async (_, bytes) => {
    for (const convert of [convertWord, convertWorkbook, convertPresentation, convertOpenDocument, convertBook]) {
      const { code, message, cause } = await failure(convert(bytes, { form: "text" }));
      expect([code, cause]).toEqual(["E_DOCUMENT", undefined]);
      expect(message).toMatch(/is damaged or incomplete: get it again/);
    }
  });

  test("targets neither leave the package nor are fetched", async () => {
    expect(resolvePart("word/document.xml", "../../../etc/passwd")).toBe("etc/passwd");
    expect(resolvePart("word/document.xml", "/word/./a/../b.xml")).toBe("word/b.xml");
    expect(resolvePart("a/b.opf", "c%20d.xhtml#e")).toBe("a/c d.xhtml");
    expect(resolvePart("a/b.opf", "%E0%A4%A.xhtml")).toBe("a/%E0%A4%A.xhtml");
    const main = await zipped({ "_rels/.rels": rels(["r", "officeDocument", "https://example.com/document.xml"]) });
    expect(await failure(text(main))).toMatchObject({ code: "E_DOCUMENT", message: DAMAGED });
  });

  test("more entries than any document has are refused", async () => {
    const bytes = rawZip(raw(wordParts("")));
    new DataView(bytes.buffer).setUint16(bytes.length - 12, 20_001, true);
    const { code, message } = await failure(text(bytes));
    expect([code, message]).toEqual([
      "E_TOO_LARGE",
      "The document has more than 20000 entries: split it, or read its entries as those of an archive.",
    ]);
  });
});

describe("markup", () => {
  const entities =
    '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY x SYSTEM "file:///etc/passwd">]>';

  test("entities that a document declares stay as they are, whether they are bombs or files", async () => {
    const bytes = await word("", {
      "word/document.xml": `${entities}<w:document><w:body>${paragraph("&c;&x;&amp;&#65;")}</w:body></w:document>`,
    });
    expect((await readAll(text(bytes))).text).toBe("&c;&x;&A\n");
    const sheet = await workbook([["S", ""]], {
      more: { "xl/worksheets/sheet1.xml": `${entities}<worksheet><row><c t="str"><v>&c;&x;</v></c></row></worksheet>` },
    });
    expect((await readAll(convertWorkbook(sheet, { form: "cells" }))).text).toBe("1,&c;&x;\n");
    const opened = await openDocument("text", "<text:p>&c;&x;</text:p>");
    expect((await readAll(convertOpenDocument(opened, { form: "text" }))).text).toBe("&c;&x;\n");
    expect((await readAll(convertHtml(encoder.encode(`${entities}<p>&c;&x;`), { form: "text" }))).text).toContain(
      "&c;&x;",
    );
  });

  test("what nests too deep is refused", async () => {
    const deep = "<w:p>".repeat(200_000);
    const { code, message } = await failure(text(await word(deep)));
    expect(code).toBe("E_DOCUMENT");
    expect(message).toMatch(/^The document nests elements more than 1000 deep: /);
    expect((await failure(convertHtml(encoder.encode("<b>".repeat(200_000)), { form: "text" }))).code).toBe(
      "E_DOCUMENT",
    );
    const list = "<text:list><text:list-item>".repeat(200_000);
    expect((await failure(convertOpenDocument(await openDocument("text", list), { form: "text" }))).code).toBe(
      "E_DOCUMENT",
    );
  });

  test("names of properties of objects are names like others", async () => {
    const bytes = await workbook([
      ["__proto__", '<row r="1"><c r="A1" t="__proto__" __proto__="x" constructor="y"><v>1</v></c></row>'],
    ]);
    const { text: all, facts } = await readAll(convertWorkbook(bytes, { form: "cells", sheet: "__proto__" }));
    expect([all, facts.names]).toEqual(["1,1\n", ["__proto__"]]);
  });
});

describe("what stands beside the text", () => {
  test("words of elements are no properties of objects", async () => {
    const bytes = await word(paragraph("x", undefined, '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'), {
      "word/_rels/document.xml.rels": rels(["r", "numbering", "numbering.xml"], ["c", "chart", "chart.xml"]),
      "word/numbering.xml":
        '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="constructor"/><w:lvlText w:val="%1)"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
      "word/chart.xml": "<c:plotArea><c:constructorChart/></c:plotArea>",
    });
    expect((await readAll(text(bytes))).text).toBe("1) x\n");
    const list = new TextEncoder().encode("<ol type=constructor><li>x</ol><math><constructor>y</constructor></math>");
    expect((await readAll(convertHtml(list, { form: "text" }))).text).toBe("1. x\n\ny\n");
  });

  test("many comments about the same words, and many who are not there, end within their bounds", async () => {
    const many = Array.from({ length: 30_000 }, (_, id) => id);
    const bytes = await word(
      `<w:p>${many.map((id) => `<w:commentRangeStart w:id="${id}"/>`).join("")}<w:r><w:t>${"x".repeat(100_000)}</w:t></w:r>${many.map((id) => `<w:commentRangeEnd w:id="${id}"/><w:r><w:commentReference w:id="${id}"/></w:r>`).join("")}</w:p>`,
      {
        "word/_rels/document.xml.rels": rels(["r", "comments", "comments.xml"]),
        "word/comments.xml": `<w:comments>${many.map((id) => `<w:comment w:id="${id}" w:author="${"A".repeat(id === 0 ? 100_000 : 1)}"><w:p><w:r><w:t>c</w:t></w:r></w:p></w:comment>`).join("")}</w:comments>`,
      },
    );
    const { text: all } = await readAll(text(bytes));
    expect(all.split("\n").filter((line) => line.endsWith(": c"))).toHaveLength(20_000);
    expect(all).toContain(`[comment 1] ${"A".repeat(100)}, on "${"x".repeat(199)}…": c\n`);
    expect(all.length).toBeLessThan(1_500_000);
  });

  test("a chart and a diagram that are referred to again and again are written once in full", async () => {
    const chart = '<w:r><w:drawing><c:chart r:id="c"/></w:drawing></w:r>';
    const bytes = await word(`<w:p>${chart.repeat(20_000)}</w:p>`, {
      "word/_rels/document.xml.rels": rels(["c", "chart", "chart.xml"]),
      "word/chart.xml": chartPart({ title: "T", kind: "pieChart", categories: ["Q"], series: [["S", "1"]] }),
    });
    const { text: all } = await readAll(text(bytes));
    expect(all.match(/\[chart/g)).toHaveLength(10_000);
    expect(all.match(/Q \| 1/g)).toHaveLength(1);
  });

  test("cells that say that they are wide and high take the room of few", async () => {
    const cell = "<td rowspan=99999 colspan=99999>x";
    const rows = `<table><tr>${cell.repeat(50)}${"<tr><td>y".repeat(2000)}</table>`;
    const { text: all } = await readAll(convertHtml(new TextEncoder().encode(rows), { form: "text" }));
    expect(all.length).toBeLessThan(1_000_000);
    const wide = '<w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr><w:p/></w:tc>';
    const table = await word(`<w:tbl><w:tr>${wide.repeat(50_000)}</w:tr></w:tbl>`);
    expect((await readAll(text(table))).text.length).toBeLessThan(10_000);
  });
});

describe("text", () => {
  test("a shared text that is referred to again and again ends at the bound", async () => {
    const cells = '<c t="s"><v>0</v></c>'.repeat(16_000);
    const bytes = await workbook([["S", `<row>${cells}</row>`.repeat(3)]], {
      shared: [`<t>${'é"'.repeat(500_000)}</t>`],
    });
    const { text: all, facts } = await readAll(convertWorkbook(bytes, { form: "cells", maxTextBytes: 1_000_001 }));
    expect(Buffer.byteLength(all)).toBeGreaterThan(999_990);
    expect(Buffer.byteLength(all)).toBeLessThanOrEqual(1_000_001);
    expect(facts.truncated).toBe(true);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
    "is never longer than %i bytes, and never ends within a character",
    async (most) => {
      const { text: all, facts } = await readAll(text(await word(paragraph("a😀é")), { maxTextBytes: most }));
      expect(Buffer.byteLength(all)).toBeLessThanOrEqual(most);
      expect("a😀é\n".startsWith(all)).toBe(true);
      expect(Buffer.from(all).toString()).toBe(all);
      expect(facts.truncated).toBe(most < 8 ? true : undefined);
    },
  );

  test("ends with the signal, for its reason", async () => {
    const reason = new SluiceError("E_CANCELLED", "Enough.");
    const controller = new AbortController();
    const bytes = await word(paragraph("hello").repeat(50_000));
    const { text: pieces } = await text(bytes, { signal: controller.signal });
    const reading = (async () => {
      for await (const piece of pieces) if (piece !== "") controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    await expect(text(bytes, { signal: controller.signal })).rejects.toBe(reason);
  });

  test("that nobody reads to its end leaves nothing behind", async () => {
    const { text: pieces } = await text(await word(paragraph("hello").repeat(50_000)));
    for await (const piece of pieces) if (piece !== "") break;
    expect((await readAll(text(await word(paragraph("next"))))).text).toBe("next\n");
  });

  test("documents of a book that are named again and again are read once", async () => {
    const itemrefs = '<itemref idref="z"/>'.repeat(10_000);
    const bytes = await book(["<p>x"], {
      "OEBPS/content.opf": `<package><manifest><item id="z" href="text/z%20x.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${itemrefs}</spine></package>`,
    });
    const { text: all, facts } = await readAll(convertBook(bytes, { form: "text" }));
    expect([all, facts.parts]).toEqual(["x\n", 1]);
  });
});

describe("what is long and empty takes time in proportion to it", () => {
  test("a million spaces within a paragraph", async () => {
    const spaces = `<w:p><w:r><w:t>a${" ".repeat(1_000_000)}b</w:t></w:r></w:p>`;
    const started = performance.now();
    expect((await readAll(text(await word(spaces)))).text).toHaveLength(1_000_003);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("rows with nothing but their last cell", async () => {
    const rows = Array.from(
      { length: 4000 },
      (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>1</v></c></row>`,
    );
    const bytes = await workbook([["A", rows.join("")]]);
    const started = performance.now();
    const read = await readAll(convertWorkbook(bytes, { form: "cells" }));
    expect(read.text.replaceAll(/^[0-9]+,/gm, "")).toHaveLength(4000 * 16_385);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
