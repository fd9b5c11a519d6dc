/**
 * Where the files of PDF.js are, which the build copies to `pdf/`. They are called `.js` there: some hosts serve `.mjs` as bytes.
 * @module
 */
import type { PdfAddresses } from "mcp-sluice";

/** Their URLs, below that of the page. */
export function pdfFiles(page: string): Required<PdfAddresses> {
  const at = (path: string): string => new URL(`pdf/${path}`, page).href;
  return {
    librarySrc: at("pdf.min.js"),
    workerSrc: at("pdf.worker.min.js"),
    cMapUrl: at("cmaps/"),
    standardFontDataUrl: at("standard_fonts/"),
    wasmUrl: at("wasm/"),
    iccUrl: at("iccs/"),
  };
}
