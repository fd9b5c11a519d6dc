/** PDF: text by pages, outline, pictures of pages; what is locked or broken says so. */
import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { type CodecModule, Codecs } from "../../../web/src/documents/codecs.js";
import { convertPdf, drawPage } from "../../../web/src/documents/pdf.js";
import { Pdfium } from "../../../web/src/documents/pdfium.js";
import { pdfOf } from "../../support/pdf.js";

const compile = async (name: CodecModule | "pdfium"): Promise<WebAssembly.Module> =>
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

test("pages without text are told, since their text is in pictures", async () => {
  const { text, facts } = await read(pdfOf([{ lines: [] }, { lines: ["typed"] }]));
  expect(text).toBe("\n\ftyped\n");
  expect(facts().notices).toEqual(["1 of 2 pages have no text: look at them as images. Page 1."]);
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
