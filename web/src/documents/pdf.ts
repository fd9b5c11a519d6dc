/**
 * Text and pictures of PDF, by PDF.js, which a user installs beside this package. Runs apart from the main thread only.
 * @module
 */
import type * as PdfJs from "pdfjs-dist";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist";
import type { DocumentInitParameters } from "pdfjs-dist/types/src/display/api.js";
import { SluiceError } from "../errors/error.js";
import { type Converted, damaged, type DocumentFacts, FactsBuilder, unreadable } from "./document.js";
import { encodedWithin, type Picture, type PictureLimits } from "./picture.js";

/** Pages that are read. A document may claim any number. */
const MAX_PAGES = 10_000;

/** Most entries of an outline that are looked at, and how deep. */
const MAX_OUTLINE = 200;
const MAX_OUTLINE_DEPTH = 6;

/** Pixels of one image within a page. */
const MAX_IMAGE_PIXELS = 64 * 1024 ** 2;

/** PDF.js, and what it is told where it runs: the folders that it needs beside its code, and how it draws. */
export interface PdfLibrary {
  readonly pdfjs: typeof PdfJs;
  readonly options: DocumentInitParameters;
}

/** The text of all pages, with outline and title. Throws E_DOCUMENT. */
export async function convertPdf(library: PdfLibrary, bytes: Uint8Array): Promise<Converted> {
  const pdf = await opened(library, bytes);
  const facts = new FactsBuilder("page");
  const title: unknown = await pdf.getMetadata().then(({ info }) => (info as { Title?: unknown }).Title, ignored);
  if (typeof title === "string") facts.title(title);
  const headings = await outlineOf(pdf);
  const told = (): DocumentFacts => ({ ...facts.facts(), parts: pdf.numPages, headings });
  return { facts: told, text: pagesOf(pdf, facts) };
}

async function* pagesOf(pdf: PDFDocumentProxy, facts: FactsBuilder): AsyncGenerator<string> {
  const last = Math.min(pdf.numPages, MAX_PAGES);
  let empty = 0;
  for (let number = 1; number <= last; number += 1) {
    const text = await pdf.getPage(number).then(textOfPage, () => undefined);
    if (text === undefined) facts.notice(`Page ${number} is damaged.`);
    else if (text === "") empty += 1;
    yield `${number > 1 ? "\f" : ""}${text ?? ""}\n`;
  }
  if (last < pdf.numPages) facts.notice(`Only the first ${MAX_PAGES} pages were read.`);
  if (empty === last) facts.notice("No page has text: they are pictures, perhaps scanned. Look at one as an image.");
  else if (empty > 0) facts.notice(`${empty} of ${last} pages have no text: look at them as images.`);
  await pdf.destroy();
}

async function textOfPage(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  const lines = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : ""));
  page.cleanup();
  return lines
    .join("")
    .replaceAll("\f", " ")
    .replaceAll(/(?<![ \t])[ \t]+\n/g, "\n")
    .trim();
}

type Outline = Awaited<ReturnType<PDFDocumentProxy["getOutline"]>>;

/** The outline with its pages. What leads nowhere stands on page 1. */
async function outlineOf(pdf: PDFDocumentProxy): Promise<DocumentFacts["headings"]> {
  const facts = new FactsBuilder("page");
  const open: { readonly items: Outline; readonly level: number; at: number }[] = [];
  const first = await pdf.getOutline().catch(ignored);
  if (first) open.push({ items: first, level: 1, at: 0 });
  for (let seen = 0; seen < MAX_OUTLINE && open.length > 0;) {
    const list = open.at(-1) as (typeof open)[number];
    const item = list.items[list.at];
    list.at += 1;
    if (item === undefined) {
      open.pop();
      continue;
    }
    seen += 1;
    facts.at = await pageOf(pdf, item.dest);
    facts.heading(item.title, list.level);
    if (item.items.length > 0 && open.length < MAX_OUTLINE_DEPTH) {
      open.push({ items: item.items as Outline, level: list.level + 1, at: 0 });
    }
  }
  return facts.facts().headings;
}

async function pageOf(pdf: PDFDocumentProxy, dest: string | unknown[] | null): Promise<number> {
  try {
    const explicit = typeof dest === "string" ? await pdf.getDestination(dest) : dest;
    const target: unknown = explicit?.[0];
    if (typeof target === "number") return target + 1;
    return (await pdf.getPageIndex(target as Parameters<PDFDocumentProxy["getPageIndex"]>[0])) + 1;
  } catch {
    return 1;
  }
}

/** One page as a picture. Throws E_DOCUMENT, E_INVALID_ARGUMENT for a page that is not there. */
export async function pictureOfPage(
  library: PdfLibrary,
  bytes: Uint8Array,
  number: number,
  limits: PictureLimits,
): Promise<Picture> {
  const pdf = await opened(library, bytes);
  if (number > pdf.numPages) {
    const last = pdf.numPages;
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `There is no page ${number}: the PDF has ${last === 1 ? "one page" : `${last} pages`}.`,
      { path: "pages" },
    );
  }
  try {
    const page = await pdf.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    const scale = Math.min(limits.maxSide / Math.max(width, height, 1), MAX_SCALE);
    const viewport = page.getViewport({ scale });
    const { canvas, context } = (pdf.canvasFactory as CanvasFactory).create(
      Math.max(1, Math.round(viewport.width)),
      Math.max(1, Math.round(viewport.height)),
    );
    await page.render({ canvas: canvas as never, canvasContext: context, viewport }).promise;
    return await encodedWithin(canvas, limits);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw unreadable(`Page ${number} of the PDF cannot be drawn: read its text instead.`);
  } finally {
    await pdf.destroy();
  }
}

/** Points are 1/72 inch: three times that is sharp enough for small print. */
const MAX_SCALE = 3;

interface CanvasFactory {
  create(
    width: number,
    height: number,
  ): { readonly canvas: Parameters<typeof encodedWithin>[0]; readonly context: CanvasRenderingContext2D };
}

async function opened({ pdfjs, options }: PdfLibrary, data: Uint8Array): Promise<PDFDocumentProxy> {
  try {
    return await pdfjs.getDocument({
      data,
      ...options,
      cMapPacked: true,
      isEvalSupported: false,
      enableXfa: false,
      stopAtErrors: false,
      maxImageSize: MAX_IMAGE_PIXELS,
      verbosity: pdfjs.VerbosityLevel.ERRORS,
    }).promise;
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw unreadable("The PDF is protected by a password: ask for a copy without one.");
    }
    throw damaged("PDF");
  }
}

function ignored(): undefined {
  return undefined;
}
