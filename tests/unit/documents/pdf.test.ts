/** PDF: text by pages, outline, pictures of pages; what is locked or broken says so. */
import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import type { DocumentModule } from "../../../web/src/core/engine.js";
import { Codecs } from "../../../web/src/documents/codecs.js";
import { convertPdf, drawPage } from "../../../web/src/documents/pdf.js";
import { Pdfium } from "../../../web/src/documents/pdfium.js";
import { pdfOf } from "../../support/pdf.js";

const compile = async (name: DocumentModule): Promise<WebAssembly.Module> =>
  WebAssembly.compile(await readFile(new URL(`../../../web/src/documents/wasm/${name}.wasm`, import.meta.url)));
let pdfium: Pdfium;
beforeAll(async () => {
  pdfium = await Pdfium.load(await compile("pdfium"));
});
const pictures = new Codecs({ compile, pdfium: async () => pdfium });

async function read(bytes: Uint8Array): Promise<{ text: string; facts: ReturnType<typeof convertPdf>["facts"] }> {
  const { text, facts } = convertPdf(pdfium, bytes);
  let all = "";
  for await (const piece of text) all += piece;
  return { text: all, facts };
}

test("the text stands page by page, with the outline and the title", async () => {
  const pages = Array.from({ length: 14 }, (_, at) => ({
    lines: [`Chapter ${at + 1}`, `The answer on this page is ${(at + 1) * 6}.`],
    ...(at % 7 === 0 && { title: `Part ${at / 7 + 1}` }),
  }));
  const { text, facts } = await read(pdfOf(pages, "Quarterly report"));
  const parts = text.split("\f");
  expect(parts).toHaveLength(14);
  expect(parts[6]).toBe("Chapter 7\nThe answer on this page is 42.\n");
  expect(facts()).toEqual({
    part: "page",
    parts: 14,
    title: "Quarterly report",
    headings: [
      { title: "Part 1", level: 1, part: 1 },
      { title: "Part 2", level: 1, part: 8 },
    ],
  });
});

test("pages without text are told, as runs of them", async () => {
  const { text, facts } = await read(pdfOf([{ lines: [] }, { lines: ["typed"] }, { lines: [] }, { lines: [] }]));
  expect(text).toBe("\n\ftyped\n\f\n\f\n");
  expect(facts().withoutText).toEqual([
    [1, 1],
    [3, 4],
  ]);
});

test("a page becomes a picture within its limits", async () => {
  const bytes = pdfOf([{ lines: ["Hello"] }]);
  const {
    mime_type,
    width,
    height,
    bytes: png,
  } = await drawPage(pdfium, pictures, bytes, 1, { maxSide: 800, maxBytes: 1e6 });
  expect({ mime_type, width, height }).toEqual({ mime_type: "image/png", width: 618, height: 800 });
  expect(Buffer.from(png.subarray(1, 4)).toString()).toBe("PNG");
  const missing = drawPage(pdfium, pictures, pdfOf([{ lines: [] }]), 2, { maxSide: 800, maxBytes: 1e6 });
  await expect(missing).rejects.toMatchObject({
    code: "E_INVALID_ARGUMENT",
    message: expect.stringContaining("one page"),
  });
});

test("a region of a page is drawn larger", async () => {
  const bytes = pdfOf([{ lines: ["Hello"] }]);
  const region = { x: 0, y: 0, width: 200, height: 100, maxSide: 1568 };
  const picture = await drawPage(pdfium, pictures, bytes, 1, { maxSide: 1568, maxBytes: 1e6, region });
  expect([picture.width, picture.height]).toEqual([1568, 784]);
});

test("a page that needs more memory than there is says so, and the next is drawn", async () => {
  const small = await Pdfium.load(await compile("pdfium"), 18 * 1024 ** 2);
  const bytes = pdfOf([{ lines: ["Hello"] }]);
  const draw = (maxSide: number): Promise<{ readonly height: number }> =>
    drawPage(small, pictures, bytes, 1, { maxSide, maxBytes: 1e6 });
  await expect(draw(2376)).rejects.toMatchObject({ code: "E_DOCUMENT", message: expect.stringContaining("memory") });
  expect(await draw(200)).toMatchObject({ height: 200 });
});

test("a PDF that is cut anywhere ends in text or a coded error", async () => {
  const bytes = pdfOf([{ lines: ["one"] }, { lines: ["two"] }]);
  for (let end = 10; end < bytes.length; end += 151) {
    const outcome = await read(bytes.slice(0, end)).then(
      ({ text }) => typeof text,
      (error: { code?: string }) => error.code,
    );
    expect(["string", "E_DOCUMENT"]).toContain(outcome);
  }
});

/** A PDF of objects, each with its number, without a table of them: readers find them all the same. */
function writePdf(...objects: readonly string[]): Uint8Array {
  const text = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("");
  return new TextEncoder().encode(`%PDF-1.7\n${text}trailer << /Root 1 0 R >>\n%%EOF\n`);
}

const stream = (content: string): string => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
const FONT = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >>";

/** One page with some content, each letter of it six points wide. */
function writePage(content: string, more = ""): Uint8Array {
  return writePdf(
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R ${FONT} ${more} >>`,
    stream(content),
  );
}

/** Draws texts at places, with a font of ten points. */
const at = (...texts: readonly (readonly [x: number, y: number, text: string])[]): string =>
  `BT /F 10 Tf ${texts.map(([x, y, text]) => `1 0 0 1 ${x} ${y} Tm (${text}) Tj`).join(" ")} ET`;

test("what stands on one line is one line, whatever its order in the file, with columns apart", async () => {
  const page = at([20, 200, "Item"], [20, 180, "Widget"], [200, 180, "3.50"], [200, 200, "Price"], [140, 180, "12"]);
  expect((await read(writePage(page))).text).toBe("Item   Price\nWidget   12   3.50\n");
});

test("paragraphs are apart by an empty line", async () => {
  const page = at([20, 200, "One"], [20, 188, "two."], [20, 150, "Three."]);
  expect((await read(writePage(page))).text).toBe("One\ntwo.\n\nThree.\n");
});

test("text of a page that is turned is read as it is displayed", async () => {
  const upwards = "BT /F 10 Tf 0 1 -1 0 100 20 Tm (Turned) Tj 0 1 -1 0 120 20 Tm (twice) Tj ET";
  expect((await read(writePage(upwards, "/Rotate 90"))).text).toBe("Turned\ntwice\n");
});

test("text that stands on its side follows the rest", async () => {
  const page = `BT /F 10 Tf 0 1 -1 0 20 20 Tm (Margin) Tj ET ${at([100, 200, "Body"], [100, 188, "text"])}`;
  expect((await read(writePage(page))).text).toBe("Body\ntext\n\nMargin\n");
});

test("Hebrew is read from right to left", async () => {
  const map = "1 beginbfrange <41> <43> <05D0> endbfrange 1 begincodespacerange <00> <ff> endcodespacerange";
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 5 0 R >>";
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R /Resources << /Font << /F ${font} >> >> >>`;
  const { text } = await read(
    writePdf(
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      page,
      // As it is drawn: the first word on the right.
      stream(at([100, 200, "BA"], [60, 200, "CB"])),
      stream(`/CIDInit /ProcSet findresource begin begincmap ${map} endcmap end`),
    ),
  );
  expect(text.trim().split(/\s+/)).toHaveLength(2);
  expect(text).toMatch(/^[\u05D0-\u05D2]+ +[\u05D0-\u05D2]+\n$/);
  // The word on the right comes first.
  expect(text.indexOf("\u05D0")).toBeLessThan(text.indexOf("\u05D2"));
});

test("labels of pages and attached files are told", async () => {
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>";
  const { facts } = await read(
    writePdf(
      "<< /Type /Catalog /Pages 2 0 R /PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >> /Names << /EmbeddedFiles << /Names [(a) 6 0 R] >> >> >>",
      "<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>",
      page,
      page,
      page,
      "<< /Type /Filespec /F (invoice.xml) /UF (invoice.xml) /EF << /F 7 0 R >> >>",
      stream("<a/>"),
    ),
  );
  expect(facts().notices).toEqual(["The page that is labelled 1 is page 3 here."]);
  // Not in a notice: that is told in our own words, and the name is the document's.
  expect(facts().attachments).toEqual(["invoice.xml"]);
});

test("fields that were filled in follow the text", async () => {
  const widget = "/Type /Annot /Subtype /Widget /Rect [0 0 90 20] /P 3 0 R";
  const { text } = await read(
    writePdf(
      "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R 6 0 R 7 0 R 8 0 R] >> >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R ${FONT} /Annots [5 0 R 6 0 R 7 0 R 8 0 R] >>`,
      stream(at([20, 200, "Application"])),
      `<< ${widget} /FT /Tx /T (name) /TU (Your name) /V (Ada) >>`,
      `<< ${widget} /FT /Tx /T (street) >>`,
      `<< ${widget} /FT /Btn /T (agreed) /V /Yes /AS /Yes /AP << /N << /Yes 4 0 R >> >> >>`,
      `<< ${widget} /FT /Btn /T (refused) /V /Off /AS /Off /AP << /N << /Yes 4 0 R >> >> >>`,
    ),
  );
  expect(text).toBe("Application\n\nFields of the form:\n- Your name: Ada\n- agreed: Yes\n");
});

test("a page that is not there, and pages that are claimed, are told", async () => {
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>";
  const { text, facts } = await read(
    writePdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 >>", page),
  );
  expect(text).toBe("\n\f\n");
  expect(facts().notices).toEqual(["Page 2 cannot be read: the PDF is damaged or incomplete."]);
});

test("what is no PDF says so", async () => {
  await expect(read(new TextEncoder().encode("<html>Not found</html>"))).rejects.toMatchObject({ code: "E_DOCUMENT" });
  await expect(read(new Uint8Array(0))).rejects.toMatchObject({ code: "E_DOCUMENT" });
});
