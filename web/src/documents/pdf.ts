/**
 * Text and pictures of PDF, by PDFium. Runs apart from the main thread only.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { type Converted, type DocumentFacts, FactsBuilder, replaceControls, unreadable } from "./document.js";
import { writeLines } from "./pdf-text.js";
import { type FormField, type PagePart, PdfDocument, type Pdfium } from "./pdfium.js";
import { encodeWithin, type Picture, type PictureLibrary, type PictureLimits, scaleRegion } from "./picture.js";

/** Pages that are read. A document may claim any number. */
const MAX_PAGES = 10_000;

/** Pages whose labels are read. */
const MAX_LABELS = 200;

/** Damaged pages that are named. */
const MAX_NAMED = 20;

/** Points are 1/72 inch: three times that is sharp enough for small print. */
const MAX_SCALE = 3;

/** How much larger than in the whole a region may be drawn. */
const MAX_ZOOM = 8;

/** The text of all pages, with outline and title. Throws E_DOCUMENT. */
export function convertPdf(pdfium: Pdfium, bytes: Uint8Array): Converted {
  const pdf = PdfDocument.open(pdfium, bytes);
  const facts = new FactsBuilder("page");
  facts.title(pdf.readTitle());
  for (const { title, level, page } of pdf.readOutline()) {
    // What leads nowhere stands on page 1.
    facts.at = page ?? 1;
    facts.heading(title, level);
  }
  facts.at = 0;
  const toFacts = (): DocumentFacts => ({ ...facts.facts(), parts: pdf.pageCount });
  return { facts: toFacts, text: readPages(pdf, facts) };
}

async function* readPages(pdf: PdfDocument, facts: FactsBuilder): AsyncGenerator<string> {
  using open = pdf;
  noticeLabels(open, facts);
  for (const name of open.readAttachments()) facts.attachment(name);
  const last = Math.min(open.pageCount, MAX_PAGES);
  const lost: number[] = [];
  for (let page = 1; page <= last; page += 1) {
    const pieces = open.readPieces(page);
    const fields = pieces === null ? [] : open.readFields(page);
    if (pieces === null) lost.push(page);
    else if (pieces.length === 0 && fields.length === 0) facts.partWithoutText(page);
    const text = [writeLines(pieces ?? []), writeFields(fields)].filter((part) => part !== "").join("\n\n");
    yield `${page > 1 ? "\f" : ""}${replaceControls(text)}\n`;
  }
  if (lost.length > 0) facts.notice(`${listPages(lost)} cannot be read: the PDF is damaged or incomplete.`);
  if (last < open.pageCount) facts.notice(`Only the first ${MAX_PAGES} pages were read.`);
}

/** Fields that were filled in, a line each. */
function writeFields(fields: readonly FormField[]): string {
  if (fields.length === 0) return "";
  return ["Fields of the form:", ...fields.map(({ name, value }) => `- ${name}: ${value}`)].join("\n");
}

/** Says which page has the label 1, if the first has not. */
function noticeLabels(pdf: PdfDocument, facts: FactsBuilder): void {
  const most = Math.min(pdf.pageCount, MAX_LABELS);
  let first = 1;
  while (first <= most && pdf.readLabel(first) !== "1") first += 1;
  if (first > 1 && first <= most) facts.notice(`The page that is labelled 1 is page ${first} here.`);
}

/** "Page 4" or "Pages 1, 3, 4". */
function listPages(pages: readonly number[]): string {
  const named = pages.slice(0, MAX_NAMED).join(", ");
  return `${pages.length === 1 ? "Page" : "Pages"} ${named}${pages.length > MAX_NAMED ? ", …" : ""}`;
}

/** The size in pixels that a page of some points is drawn in, and the part of it. Throws E_INVALID_ARGUMENT. */
function choosePart(width: number, height: number, { maxSide, region }: PictureLimits): PagePart {
  const scale = Math.min(maxSide / Math.max(width, height, 1), MAX_SCALE);
  const toPixels = (points: number): number => Math.max(1, Math.round(points * scale));
  const whole = { width: toPixels(width), height: toPixels(height) };
  if (region === undefined) return { whole, part: { x: 0, y: 0, ...whole } };
  const part = scaleRegion(region, whole.width, whole.height);
  // As large as pictures may be.
  const zoom = Math.max(1, Math.min(maxSide / Math.max(part.width, part.height), MAX_ZOOM));
  const enlarge = (pixels: number): number => Math.round(pixels * zoom);
  return {
    whole: { width: enlarge(whole.width), height: enlarge(whole.height) },
    part: { x: enlarge(part.x), y: enlarge(part.y), width: enlarge(part.width), height: enlarge(part.height) },
  };
}

/** One page as a picture. Throws E_DOCUMENT, E_INVALID_ARGUMENT for a page that is not there. */
export async function drawPage(
  pdfium: Pdfium,
  pictures: PictureLibrary,
  bytes: Uint8Array,
  page: number,
  limits: PictureLimits,
): Promise<Picture> {
  using pdf = PdfDocument.open(pdfium, bytes);
  const { pageCount } = pdf;
  if (page > pageCount) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `There is no page ${page}: the PDF has ${pageCount === 1 ? "one page" : `${pageCount} pages`}.`,
      { path: "pages" },
    );
  }
  const refused = pdfium.refused;
  const pixels = pdf.draw(page, (width, height) => choosePart(width, height, limits));
  if (pixels === null) throw unreadable(`Page ${page} of the PDF is damaged: get the PDF again.`);
  // PDFium draws what it has no memory for as if it were not there.
  if (pdfium.refused > refused)
    throw unreadable(`Page ${page} needs more memory than documents may have: read its text instead.`);
  return await encodeWithin(await pictures.draw(pixels), limits);
}
