#!/usr/bin/env bash
# unpdf 1.7.0: with pdfjs-dist installed, CJK text that needs a predefined CMap is still lost in Node.
#
# The README of unpdf says that in Node it takes CMaps for CJK text from the `pdfjs-dist` that is installed. It finds
# the folder, but hands it to PDF.js as a `file:` address, which PDF.js in Node reads as the name of a file.
# `extractText` resolves without the text; apart from a warning on the console the result looks complete. With
# `cMapUrl` set to the path of the same folder the text is there. pdfjs-dist 5.6.205 is the version that unpdf 1.7.0 is
# built from.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock --omit=optional unpdf@1.7.0 pdfjs-dist@5.6.205

cat >probe.js <<'END'
import { fileURLToPath } from "node:url";
import { extractText, getDocumentProxy } from "unpdf";

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

const folder = fileURLToPath(new URL("./cmaps/", import.meta.resolve("pdfjs-dist/package.json")));

const print = console.log;
// PDF.js warns on the console; the folder in it differs from run to run.
console.log = console.warn = (line) => print(line.replace(/file:\S*\/node_modules/, "file:…/node_modules"));

for (const [encoding, hex] of [
  ["UniJIS-UTF16-H", "30533093306B3061306F"],
  ["90ms-RKSJ-H", "82B182F182C982BF82CD"],
]) {
  const bytes = makeJapanesePdf(encoding, hex);
  const { text } = await extractText(new Uint8Array(bytes));
  print(`${encoding}: ${JSON.stringify(text)}`);
  const proxy = await getDocumentProxy(new Uint8Array(bytes), { cMapUrl: folder });
  const { text: complete } = await extractText(proxy);
  print(`${encoding}, cMapUrl a path: ${JSON.stringify(complete)}`);
}
END

cat >expected <<'END'
Warning: loadFont - translateFont failed: "UnknownErrorException: Unable to load CMap data at: file:…/node_modules/pdfjs-dist/cmaps/UniJIS-UTF16-H.bcmap".
UniJIS-UTF16-H: ["Hello"]
UniJIS-UTF16-H, cMapUrl a path: ["こんにちは\nHello"]
Warning: loadFont - translateFont failed: "UnknownErrorException: Unable to load CMap data at: file:…/node_modules/pdfjs-dist/cmaps/90ms-RKSJ-H.bcmap".
90ms-RKSJ-H: ["Hello"]
90ms-RKSJ-H, cMapUrl a path: ["こんにちは\nHello"]
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
