/**
 * Pictures of the playground that its build makes: the first page of the report that the demo sends, and what other pages show of a link
 * to it.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { viteRoot } from "./module-paths.mjs";

/** Pixels, at least, of the picture in a link's preview, as the Open Graph protocol is read by most. */
const PREVIEW = { width: 1200, height: 630 };

/** Points of the width of a page; a preview is cut out of the top of one. */
const WIDTH = 595;

/** Compiled modules of the built library, by name. */
const compile = (name) => WebAssembly.compile(readFileSync(join(viteRoot, "dist/documents/wasm", `${name}.wasm`)));

/**
 * Both pictures.
 * @returns {Promise<{ page: Uint8Array, preview: { bytes: Uint8Array, width: number, height: number } }>} a JPEG, and a PNG in the shape of `PREVIEW`
 */
export async function makePictures() {
  const [{ Pdfium, PdfDocument }, { drawPage }, { Codecs }, { runnerImport }] = await Promise.all([
    import("../dist/documents/pdfium.js"),
    import("../dist/documents/pdf.js"),
    import("../dist/documents/codecs.js"),
    import("vite"),
  ]);
  const { module: report } = await runnerImport(join(viteRoot, "web/playground/demo/report.ts"), {
    configFile: false,
    root: viteRoot,
    logLevel: "error",
  });
  const pdfium = await Pdfium.load(await compile("pdfium"));
  const codecs = new Codecs({ compile, pdfium: async () => pdfium });
  const bytes = report.salesReport("Q3");
  const { bytes: page } = await drawPage(pdfium, codecs, bytes, 1, { maxSide: 360, maxBytes: 9_000, isPhoto: true });
  const sheet = report.pdf("Sluice", [{ drawing: drawPreview(), picture: readPixels(PdfDocument, pdfium, bytes) }]);
  const preview = await drawPage(pdfium, codecs, sheet, 1, {
    maxSide: Math.round((PREVIEW.width * report.PAGE.height) / report.PAGE.width),
    maxBytes: 1_000_000,
    region: { x: 0, y: 0, ...PREVIEW, maxSide: null },
  });
  return { page, preview };
}

/** The first page as red, green and blue. */
function readPixels(PdfDocument, pdfium, bytes) {
  const document = PdfDocument.open(pdfium, bytes);
  const size = { width: 595, height: 842 };
  const pixels = document.draw(1, () => ({ whole: size, part: { x: 0, y: 0, ...size } }));
  document[Symbol.dispose]();
  const rgb = new Uint8Array(size.width * size.height * 3);
  for (let at = 0; at < rgb.length / 3; at += 1) rgb.set(pixels.data.subarray(at * 4, at * 4 + 3), at * 3);
  return { ...size, rgb };
}

/** Operators of PDF for the sentence, beside the page. */
function drawPreview() {
  const [top, left] = [842, 36];
  const ink = { dark: "0.08 0.09 0.11", soft: "0.36 0.39 0.44", seen: "0.12 0.37 1", paper: "0.98 0.98 0.99" };
  const text = (y, size, font, colour, words) =>
    `${colour} rg BT /${font} ${size} Tf ${left} ${top - y} Td (${words}) Tj ET`;
  return [
    `${ink.paper} rg 0 0 ${WIDTH} ${top} re f`,
    text(64, 15, "F2", ink.soft, "Sluice"),
    text(116, 29, "F2", ink.dark, "The demo server sent"),
    text(150, 29, "F2", ink.dark, "5.3 MB."),
    text(190, 29, "F2", ink.seen, "Your model reads"),
    text(224, 29, "F2", ink.seen, "263 B."),
    text(266, 12.5, "F1", ink.soft, "MCP tool results, without the files in"),
    text(282, 12.5, "F1", ink.soft, "your model's context. Nothing is lost."),
    `0.85 0.87 0.9 rg 367 ${top - 292} 194 272 re f`,
    `q 192 0 0 271 368 ${top - 291.5} cm /Im1 Do Q`,
  ].join("\n");
}
