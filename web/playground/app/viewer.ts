/**
 * The viewer, and where this site keeps what PDFs need.
 * @module
 */
import { configurePdf } from "mcp-sluice/ui/viewer";

const assets = (path: string): string => new URL(path, document.baseURI).href;

configurePdf({
  workerSrc: assets("pdf/pdf.worker.min.mjs"),
  cMapUrl: assets("pdf/cmaps/"),
  standardFontDataUrl: assets("pdf/standard_fonts/"),
  wasmUrl: assets("pdf/wasm/"),
  iccUrl: assets("pdf/iccs/"),
});
