/**
 * What is made of a document: its text, rows, links, or a picture. Runs apart from the main thread, in a sandbox. Nothing is loaded
 * later here: bundlers make one file of a worker.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { convertArrow } from "./arrow.js";
import { convertAvro } from "./avro.js";
import { convertBook } from "./book.js";
import {
  type Converted,
  type ConvertOptions,
  type DocumentFacts,
  type DocumentForm,
  FactsBuilder,
} from "./document.js";
import { convertFits } from "./fits.js";
import { convertHtml } from "./html.js";
import { convertHtmlTable } from "./html-table.js";
import type { DocumentKind } from "./kind.js";
import { convertMail, takeAttachment } from "./mail.js";
import { convertNetcdf } from "./netcdf.js";
import { convertNumpy } from "./npy.js";
import { convertOpenDocument } from "./open-document.js";
import { convertParquet } from "./parquet.js";
import { convertPdf, drawPage } from "./pdf.js";
import type { Pdfium } from "./pdfium.js";
import { type Picture, type PictureLibrary, type PictureLimits, scalePicture } from "./picture.js";
import { convertPresentation } from "./presentation.js";
import { convertWord } from "./word.js";
import { convertWorkbook } from "./workbook.js";

/** What to make of a document. */
export type ConversionRequest =
  | { readonly kind: DocumentKind; readonly form: DocumentForm; readonly sheet?: string }
  | { readonly kind: "mail"; readonly form: "entry"; readonly entry: string }
  | { readonly kind: "pdf" | "image"; readonly form: "picture"; readonly page: number; readonly limits: PictureLimits };

/** What is told of a picture. */
export type PictureFacts = Omit<Picture, "bytes">;

/** What is told once everything is written. */
export type ConversionFacts = DocumentFacts | PictureFacts;

/** What is loaded where it is needed, as the runtime has it. Each throws E_DOCUMENT with the remedy if it cannot be loaded. */
export interface Libraries {
  pdfium(): Promise<Pdfium>;
  pictures(): Promise<PictureLibrary>;
}

/** Converts a document and writes what it becomes. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, and what `write` throws. */
export async function convert(
  bytes: Uint8Array,
  request: ConversionRequest,
  libraries: Libraries,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<ConversionFacts> {
  if (request.form === "picture") {
    const { bytes: encoded, ...facts } = await drawPicture(bytes, request, libraries);
    await write(encoded);
    return facts;
  }
  if (request.form === "entry") {
    await write(await takeAttachment(bytes, request.entry));
    return new FactsBuilder("section").facts();
  }
  const { kind, ...options } = request;
  const { text, facts } = await convertKind(kind, bytes, options, libraries);
  const encoder = new TextEncoder();
  for await (const piece of text) await write(encoder.encode(piece));
  return facts();
}

async function drawPicture(
  bytes: Uint8Array,
  { kind, page, limits }: Extract<ConversionRequest, { form: "picture" }>,
  libraries: Libraries,
): Promise<Picture> {
  const pictures = await libraries.pictures();
  if (kind === "image") return scalePicture(pictures, bytes, limits);
  return drawPage(await libraries.pdfium(), pictures, bytes, page, limits);
}

async function convertKind(
  kind: DocumentKind,
  bytes: Uint8Array,
  options: ConvertOptions,
  libraries: Libraries,
): Promise<Converted> {
  switch (kind) {
    case "pdf":
      return convertPdf(await libraries.pdfium(), bytes);
    case "word":
      return convertWord(bytes, options);
    case "workbook":
      return convertWorkbook(bytes, options);
    case "presentation":
      return convertPresentation(bytes, options);
    case "opendocument-text":
    case "opendocument-sheet":
    case "opendocument-slides":
      return convertOpenDocument(bytes, options);
    case "book":
      return convertBook(bytes, options);
    case "parquet":
      return convertParquet(bytes, options);
    case "arrow":
      return convertArrow(bytes, options);
    case "avro":
      return convertAvro(bytes, options);
    case "npy":
      return convertNumpy(bytes, options);
    case "netcdf":
      return convertNetcdf(bytes, options);
    case "fits":
      return convertFits(bytes, options);
    case "mail":
      return convertMail(bytes, options);
    case "html":
      return options.form === "rows" ? convertHtmlTable(bytes, options) : convertHtml(bytes, options);
    default:
      throw new SluiceError("E_INVALID_ARGUMENT", `The ${kind} has no text.`, { path: "as" });
  }
}
