/**
 * How PDFs are drawn on this page: by the files of PDF.js, which the build copies to `pdf/`. Imported by whatever shows artifacts.
 * @module
 */
import { configurePdf } from "../../ui/viewer/pdf-settings.js";

let allow: () => void;

/** Lets PDF.js be loaded. It is half a megabyte, which the first result must not wait for. */
export function allowPdf(): void {
  allow();
}

// They are called `.js` there: some hosts serve `.mjs` as bytes.
const locate = (path: string): string => new URL(`pdf/${path}`, document.baseURI).href;
const isAllowed = new Promise<void>((resolve) => {
  allow = resolve;
});
configurePdf({
  library: async () => {
    await isAllowed;
    return import(/* @vite-ignore */ locate("pdf.min.js"));
  },
  workerSrc: locate("pdf.worker.min.js"),
  cMapUrl: locate("cmaps/"),
  standardFontDataUrl: locate("standard_fonts/"),
  wasmUrl: locate("wasm/"),
  iccUrl: locate("iccs/"),
});
