/**
 * The first page of a PDF, drawn by PDF.js in a worker from the ranges of it that the page needs.
 * @module
 */
import type * as PdfJs from "pdfjs-dist";
import { pagePolicy } from "../page-policy.js";
import { pdfSettings } from "../viewer/pdf-settings.js";
import type { PreviewInput } from "../viewer/preview.js";

/** Bytes of a range, and of an image in the document, in pixels. */
const RANGE = 64 * 1024;
const MOST_PIXELS = 16 * 1024 ** 2;

/**
 * Draws it so that its longer side has so many pixels; undefined where PDF.js is not set up or the size is unknown. Throws what
 * PDF.js throws.
 */
export async function firstPage(
  input: PreviewInput,
  edge: number,
  signal: AbortSignal,
): Promise<ImageBitmap | undefined> {
  const settings = pdfSettings();
  const length = input.artifact.size_bytes;
  if (settings === undefined || pagePolicy().renderPdf !== undefined || length === undefined) return undefined;
  const { library, workerSrc, ...addresses } = settings;
  const pdfjs = (await library()) as typeof PdfJs;
  signal.throwIfAborted();
  pdfjs.GlobalWorkerOptions.workerSrc = workerSrc;
  const range = new pdfjs.PDFDataRangeTransport(length, null);
  const give = async (begin: number, end: number): Promise<void> => {
    const bytes = await readBytes(input, begin, end).catch(() => undefined);
    // PDF.js refuses what it does not wait for any more.
    if (signal.aborted) return;
    if (bytes === undefined) range.abort();
    else range.onDataRange(begin, bytes);
  };
  range.requestDataRange = (begin: number, end: number) => {
    void give(begin, end);
  };
  const task = pdfjs.getDocument({
    range,
    ...addresses,
    cMapPacked: true,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    isEvalSupported: false,
    maxImageSize: MOST_PIXELS,
    rangeChunkSize: RANGE,
    useSystemFonts: settings.standardFontDataUrl === undefined,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  signal.addEventListener("abort", () => void task.destroy().catch(() => {}), { once: true });
  const page = await (await task.promise).getPage(1);
  const { width, height } = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: edge / Math.max(1, width, height) });
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  await page.render({ canvas, viewport, background: "#ffffff" }).promise;
  return createImageBitmap(canvas);
}

async function readBytes({ bytes }: PreviewInput, start: number, end: number): Promise<Uint8Array> {
  const stream = await bytes.open({ start, end });
  return stream === null ? new Uint8Array() : new Uint8Array(await new Response(stream).arrayBuffer());
}
