/**
 * PDF, drawn by PDF.js in a worker. Nothing in a document acts: no scripts, no links, no forms.
 * @module
 */
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from "pdfjs-dist";
import { PdfPages } from "./pdf-pages.js";
import { pdfSettings } from "./pdf-settings.js";
import { loaded, notLoaded, PreviewProblem, WHOLE_LIMIT, type Drawn, type PreviewInput } from "./preview.js";
import { wholeBlob } from "./reading.js";

/** Pixels of a picture in a document at most, and bytes of what they are drawn on. */
const MOST_PIXELS = 64 * 1024 ** 2;
const MOST_BYTES = 128 * 1024 ** 2;
/** Pages that are offered at most: a document may claim any number. */
const MOST_PAGES = 10_000;

/** Draws the pages in view. */
export async function renderPdf(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const settings = pdfSettings();
  if (settings === undefined) throw new PreviewProblem("PDF previews are not set up on this page.", "source");
  const pdfjs = await loaded("PDF", import("pdfjs-dist"));
  const blob = await wholeBlob(input, WHOLE_LIMIT, "", signal);
  const data = new Uint8Array(await blob.arrayBuffer());
  signal.throwIfAborted();
  const { workerSrc, ...addresses } = settings;
  pdfjs.GlobalWorkerOptions.workerSrc = workerSrc;
  const task = pdfjs.getDocument({
    data,
    ...addresses,
    cMapPacked: true,
    // Fonts of the system have other widths than the standard ones, so letters would not sit where they should.
    useSystemFonts: settings.standardFontDataUrl === undefined,
    isEvalSupported: false,
    enableXfa: false,
    stopAtErrors: false,
    maxImageSize: MOST_PIXELS,
    canvasMaxAreaInBytes: MOST_BYTES,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  signal.addEventListener("abort", () => void task.destroy().catch(() => {}), { once: true });
  const pdf = await opened(task);
  signal.throwIfAborted();
  const count = Math.min(pdf.numPages, MOST_PAGES);
  const first = await pdf.getPage(1).catch((cause: unknown) => {
    throw broken(cause);
  });
  signal.throwIfAborted();
  const pages = new PdfPages(host, pdf, { count, first, name: input.name }, signal);
  await pages.shown;
  return count < pdf.numPages ? { note: `The first ${MOST_PAGES} of ${pdf.numPages} pages are shown.` } : {};
}

async function opened(task: PDFDocumentLoadingTask): Promise<PDFDocumentProxy> {
  try {
    return await task.promise;
  } catch (cause) {
    throw broken(cause);
  }
}

function broken(cause: unknown): PreviewProblem {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "PasswordException") {
    return new PreviewProblem("It is protected by a password, so only a PDF reader can show it.", "none", { cause });
  }
  if (name === "InvalidPDFException" || name === "FormatError" || name === "MissingPDFException") {
    return new PreviewProblem("It is not a PDF that can be read.", "source", { cause });
  }
  if (cause instanceof Error && cause.message.includes("worker failed")) return notLoaded("PDF", cause);
  return new PreviewProblem("It could not be drawn.", "source", { cause });
}
