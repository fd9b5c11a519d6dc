/**
 * What is made of a document: its text, rows, links, or a picture. Runs apart from the main thread, in a sandbox.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { Converted, ConvertOptions, DocumentFacts, DocumentForm } from "./document.js";
import type { DocumentKind } from "./kind.js";
import type { PdfLibrary } from "./pdf.js";
import type { CanvasLibrary, Picture, PictureLimits } from "./picture.js";

/** What to make of a document. */
export type ConversionRequest =
  | { readonly kind: DocumentKind; readonly form: DocumentForm; readonly sheet?: string }
  | { readonly kind: "pdf" | "image"; readonly form: "picture"; readonly page: number; readonly limits: PictureLimits };

/** What is told of a picture. */
export type PictureFacts = Omit<Picture, "bytes">;

/** What is told once everything is written. */
export type ConversionFacts = DocumentFacts | PictureFacts;

/** Libraries that users install beside this package. Each throws E_DOCUMENT with the remedy if it is missing. */
export interface OptionalLibraries {
  pdf(): Promise<PdfLibrary>;
  canvas(): Promise<CanvasLibrary>;
}

/** Converts a document and writes what it becomes. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, and what `write` throws. */
export async function convert(
  bytes: Uint8Array,
  request: ConversionRequest,
  libraries: OptionalLibraries,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<ConversionFacts> {
  if (request.form === "picture") {
    const { bytes: encoded, ...facts } = await pictureOf(bytes, request, libraries);
    await write(encoded);
    return facts;
  }
  const { kind, ...options } = request;
  const { text, facts } = await convertedBy(kind, bytes, options, libraries);
  const encoder = new TextEncoder();
  for await (const piece of text) await write(encoder.encode(piece));
  return facts();
}

async function pictureOf(
  bytes: Uint8Array,
  { kind, page, limits }: Extract<ConversionRequest, { form: "picture" }>,
  libraries: OptionalLibraries,
): Promise<Picture> {
  if (kind === "image") {
    const { scaledPicture } = await import("./picture.js");
    return scaledPicture(await libraries.canvas(), bytes, limits);
  }
  const { pictureOfPage } = await import("./pdf.js");
  // PDF.js draws with it.
  await libraries.canvas();
  return pictureOfPage(await libraries.pdf(), bytes, page, limits);
}

async function convertedBy(
  kind: DocumentKind,
  bytes: Uint8Array,
  options: ConvertOptions,
  libraries: OptionalLibraries,
): Promise<Converted> {
  switch (kind) {
    case "pdf":
      return (await import("./pdf.js")).convertPdf(await libraries.pdf(), bytes);
    case "word":
      return (await import("./word.js")).convertWord(bytes, options);
    case "workbook":
      return (await import("./workbook.js")).convertWorkbook(bytes, options);
    case "presentation":
      return (await import("./presentation.js")).convertPresentation(bytes, options);
    case "opendocument-text":
    case "opendocument-sheet":
    case "opendocument-slides":
      return (await import("./open-document.js")).convertOpenDocument(bytes, options);
    case "book":
      return (await import("./book.js")).convertBook(bytes, options);
    case "html":
      return (await import("./html.js")).convertHtml(bytes, options);
    default:
      throw new SluiceError("E_INVALID_ARGUMENT", `The ${kind} has no text.`, { path: "as" });
  }
}
