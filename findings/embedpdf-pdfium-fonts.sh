#!/usr/bin/env bash
# @embedpdf/pdfium 2.15.1: Japanese text in a font that is not embedded is read, but nothing of it is drawn.
#
# A page has Japanese above and English below, both in fonts that are not embedded. Both are read, and PDFium names a
# substitute for both fonts. Drawing succeeds, the English is there, and where the Japanese should be every pixel is
# white: no box, no other glyph, no error. `FPDFFont_GetIsEmbedded` is 0 for both fonts, so it only tells where this
# can happen. That it did happen shows in the bounds of the text object, which have no height here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @embedpdf/pdfium@2.15.1

cat >probe.js <<'END'
import { readFileSync } from "node:fs";
import { init } from "@embedpdf/pdfium";

function makePdf(...objects) {
  let file = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  return Buffer.from(
    `${file}xref\n0 ${count}\n0000000000 65535 f \n${entries}` +
      `trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    "latin1",
  );
}

const makeStream = (entries, data) => `<< ${entries} /Length ${data.length} >>\nstream\n${data}\nendstream`;

/** Japanese above, in a font that is not embedded; English below, in Helvetica. */
function makeJapanesePdf(encoding, hex) {
  return makePdf(
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] /Contents 4 0 R
      /Resources << /Font << /Japanese 5 0 R /English 8 0 R >> >> >>`,
    makeStream(
      "",
      `BT /Japanese 24 Tf 40 200 Td <${hex}> Tj ET BT /English 24 Tf 40 20 Td (Hello) Tj ET`,
    ),
    `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3-${encoding} /Encoding /${encoding}
      /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /DW 1000 /FontDescriptor 7 0 R
      /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>`,
    `<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 6 /FontBBox [-123 -257 1001 910]
      /ItalicAngle 0 /Ascent 709 /Descent -241 /CapHeight 709 /StemV 69 >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  );
}

const wasmBinary = readFileSync(new URL(import.meta.resolve("@embedpdf/pdfium/pdfium.wasm")));
const pdfium = await init({ wasmBinary });
pdfium.PDFiumExt_Init();
const { UTF8ToString, UTF16ToString, wasmExports } = pdfium.pdfium;

function openPage(bytes) {
  const address = wasmExports.malloc(bytes.length);
  pdfium.pdfium.HEAPU8.set(bytes, address);
  const document = pdfium.FPDF_LoadMemDocument(address, bytes.length, "");
  return { document, page: pdfium.FPDF_LoadPage(document, 0) };
}

const { page } = openPage(makeJapanesePdf("UniJIS-UTF16-H", "30533093306B3061306F"));
const buffer = wasmExports.malloc(256);

const text = pdfium.FPDFText_LoadPage(page);
pdfium.FPDFText_GetText(text, 0, pdfium.FPDFText_CountChars(text), buffer);
console.log("read:", JSON.stringify(UTF16ToString(buffer).split("\r\n")));

const [width, height] = [200, 300];
const bitmap = pdfium.FPDFBitmap_Create(width, height, 0);
pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, 0);
const pixels = pdfium.pdfium.HEAPU8.slice(pdfium.FPDFBitmap_GetBuffer(bitmap)).subarray(0, 4 * width * height);
const middle = pixels.length / 2;
const isDrawn = (half) => half.some((value) => value !== 255);
console.log(`drawn: above ${isDrawn(pixels.subarray(0, middle))}, below ${isDrawn(pixels.subarray(middle))}`);

for (let index = 0; index < pdfium.FPDFPage_CountObjects(page); index++) {
  const object = pdfium.FPDFPage_GetObject(page, index);
  const font = pdfium.FPDFTextObj_GetFont(object);
  const readName = (read) => {
    read(font, buffer, 256);
    return UTF8ToString(buffer);
  };
  const names = `${readName(pdfium.FPDFFont_GetBaseFontName)}, drawn with ${readName(pdfium.FPDFFont_GetFamilyName)}`;
  pdfium.FPDFPageObj_GetBounds(object, buffer, buffer + 4, buffer + 8, buffer + 12);
  const [, bottom, , top] = new Float32Array(pdfium.pdfium.HEAPU8.buffer, buffer, 4);
  console.log(`${names}: embedded ${pdfium.FPDFFont_GetIsEmbedded(font)}, has height ${top > bottom}`);
}
END

cat >expected <<'END'
read: ["こんにちは","Hello"]
drawn: above false, below true
HeiseiMin-W3, drawn with Chrome Serif MM: embedded 0, has height false
Helvetica, drawn with Chrom Sans OTF: embedded 0, has height true
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
