/**
 * How PDFs are drawn on this page: by the files of PDF.js beside it. Imported by whatever shows artifacts.
 * @module
 */
import { configurePdf } from "../../ui/viewer/pdf-settings.js";
import { pdfFiles } from "../pdf-files.js";

const { librarySrc, ...pdf } = pdfFiles(document.baseURI);
configurePdf({ library: () => import(/* @vite-ignore */ librarySrc), ...pdf });
