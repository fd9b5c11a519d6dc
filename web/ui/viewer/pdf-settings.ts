/**
 * The URLs of what PDF.js loads by itself.
 * @module
 */

/** URLs on the page's origin. Only the worker is required; without the others some content looks plainer or is missing. */
export interface PdfSettings {
  /** `pdfjs-dist/build/pdf.worker.min.mjs`. */
  readonly workerSrc: string;
  /** The folder `pdfjs-dist/cmaps/`, with its slash: characters of Chinese, Japanese and Korean texts. */
  readonly cMapUrl?: string;
  /** The folder `pdfjs-dist/standard_fonts/`, with its slash: the fonts that PDFs need not bring along. */
  readonly standardFontDataUrl?: string;
  /** The folder `pdfjs-dist/wasm/`, with its slash: JPEG 2000, JBIG2 and colour profiles. */
  readonly wasmUrl?: string;
  /** The folder `pdfjs-dist/iccs/`, with its slash: colour profiles. */
  readonly iccUrl?: string;
}

let settings: PdfSettings | undefined;

/** Sets where PDF.js finds its parts. Call it once, before the first PDF is shown. */
export function configurePdf(addresses: PdfSettings): void {
  settings = addresses;
}

/** The settings; undefined before `configurePdf`. */
export function pdfSettings(): PdfSettings | undefined {
  return settings;
}
