/**
 * PDF.js, and the URLs of what it loads by itself.
 * @module
 */

/**
 * PDF.js, and URLs on the page's origin. Of these only the worker is required; without the others some content looks plainer or is
 * missing.
 */
export interface PdfSettings {
  /** Imports PDF.js, when the first PDF is shown: `() => import("pdfjs-dist")`. */
  readonly library: () => Promise<PdfLibrary>;
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

/** The part of `pdfjs-dist` that tells it from other modules. */
interface PdfLibrary {
  readonly getDocument: (...args: never[]) => object;
  readonly GlobalWorkerOptions: object;
}

let settings: PdfSettings | undefined;

/** Sets how PDFs are drawn. Call it once, before the first PDF is shown. */
export function configurePdf(pdf: PdfSettings): void {
  settings = pdf;
}

/** The settings; undefined before `configurePdf`. */
export function pdfSettings(): PdfSettings | undefined {
  return settings;
}
