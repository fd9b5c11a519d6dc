#!/usr/bin/env bash
# @embedpdf/pdfium 2.15.1: a hyphen at the end of a line is U+0002 or U+FFFE, depending on which function reads it.
#
# The page shows `a-b well-` and, in the next line, `known`. The hyphen within the first line is read as U+002D. The
# one at its end is U+0002 by `FPDFText_GetUnicode` and `FPDFText_GetBoundedText`, and U+FFFE by `FPDFText_GetText`;
# the line break after it is left out. U+0002 is a control character and U+FFFE no character at all, so code that
# cleans text removes either, and `well-known` becomes `wellknown`. Code that handles one of the two does not handle
# the other. `FPDFText_IsHyphen` is 1 for the second hyphen alone.
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

const bytes = makePdf(
  "<< /Type /Catalog /Pages 2 0 R >>",
  "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R
    /Resources << /Font << /English 5 0 R >> >> >>`,
  makeStream("", "BT /English 12 Tf 14 TL 20 80 Td (a-b well-) Tj T* (known) Tj ET"),
  "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
);

const escape = (text) =>
  text.replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

const text = pdfium.FPDFText_LoadPage(openPage(bytes).page);
const count = pdfium.FPDFText_CountChars(text);
const buffer = wasmExports.malloc(2 * (count + 1));

const indices = Array.from({ length: count }, (_, index) => index);
const codes = indices.map((index) => pdfium.FPDFText_GetUnicode(text, index));
console.log("FPDFText_GetUnicode:", escape(String.fromCharCode(...codes)));
pdfium.FPDFText_GetBoundedText(text, 0, 100, 200, 0, buffer, count + 1);
console.log("FPDFText_GetBoundedText:", escape(UTF16ToString(buffer)));
pdfium.FPDFText_GetText(text, 0, count, buffer);
console.log("FPDFText_GetText:", escape(UTF16ToString(buffer)));
const hyphens = indices.filter((index) => pdfium.FPDFText_IsHyphen(text, index) === 1);
console.log("FPDFText_IsHyphen: 1 at", hyphens.join(", "));
END

cat >expected <<'END'
FPDFText_GetUnicode: a-b well\u0002known
FPDFText_GetBoundedText: a-b well\u0002known
FPDFText_GetText: a-b well\ufffeknown
FPDFText_IsHyphen: 1 at 8
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
