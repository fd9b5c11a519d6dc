#!/usr/bin/env bash
# @hyzyla/pdfium 2.1.13: vertical text in a font that is not embedded is missing from the text of the page.
#
# Two documents show the same five Japanese characters in the same font, which is not embedded. They differ only in the
# writing mode of the encoding: `UniJIS-UTF16-H` is horizontal, `UniJIS-UTF16-V` vertical. `getText()` has the
# horizontal text but not the vertical text, and there is no error. It is the same with the encodings `90ms-RKSJ-H` and
# `-V`. @embedpdf/pdfium 2.15.1, another build of the same engine, reads all four.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @hyzyla/pdfium@2.1.13 @embedpdf/pdfium@2.15.1

cat >probe.js <<'END'
import { readFileSync } from "node:fs";
import { init } from "@embedpdf/pdfium";
import { PDFiumLibrary } from "@hyzyla/pdfium";

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
const { UTF16ToString, wasmExports } = pdfium.pdfium;

function openPage(bytes) {
  const address = wasmExports.malloc(bytes.length);
  pdfium.pdfium.HEAPU8.set(bytes, address);
  const document = pdfium.FPDF_LoadMemDocument(address, bytes.length, "");
  return { document, page: pdfium.FPDF_LoadPage(document, 0) };
}

function readWithEmbedpdf(bytes) {
  const text = pdfium.FPDFText_LoadPage(openPage(bytes).page);
  const count = pdfium.FPDFText_CountChars(text);
  const buffer = wasmExports.malloc(2 * (count + 1));
  pdfium.FPDFText_GetText(text, 0, count, buffer);
  return UTF16ToString(buffer);
}

const library = await PDFiumLibrary.init();

async function readWithHyzyla(bytes) {
  const document = await library.loadDocument(bytes);
  const text = document.getPage(0).getText();
  document.destroy();
  return text;
}

// Vertical text has a line for each character, which is not the point here.
const joinLines = (text) => JSON.stringify(text.replace(/\s+/g, ""));

for (const [encoding, hex] of [
  ["UniJIS-UTF16", "30533093306B3061306F"],
  ["90ms-RKSJ", "82B182F182C982BF82CD"],
]) {
  for (const mode of ["H", "V"]) {
    const bytes = makeJapanesePdf(`${encoding}-${mode}`, hex);
    const hyzyla = joinLines(await readWithHyzyla(bytes));
    console.log(`${encoding}-${mode}: @embedpdf/pdfium ${joinLines(readWithEmbedpdf(bytes))}, @hyzyla/pdfium ${hyzyla}`);
  }
}
library.destroy();
END

cat >expected <<'END'
UniJIS-UTF16-H: @embedpdf/pdfium "こんにちはHello", @hyzyla/pdfium "こんにちはHello"
UniJIS-UTF16-V: @embedpdf/pdfium "こんにちはHello", @hyzyla/pdfium "Hello"
90ms-RKSJ-H: @embedpdf/pdfium "こんにちはHello", @hyzyla/pdfium "こんにちはHello"
90ms-RKSJ-V: @embedpdf/pdfium "こんにちはHello", @hyzyla/pdfium "Hello"
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
