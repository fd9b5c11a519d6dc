#!/usr/bin/env bash
# @jsquash/jpeg 1.6.0: `decode` rejects a CMYK JPEG with an object that is no `Error`.
#
# CMYK is a common form of JPEG in print, and sharp 0.34.5, which makes the picture here, reads it back. `decode`
# rejects with an `ExitStatus`, as if a program had ended: it is no `Error`, has no stack, and its string is `[object
# Object]`. Its message is `Program terminated with exit(1)`; the reason is only printed, as `Unsupported color
# conversion request`. A damaged file would look the same. The module is not ended, though: RGB and grey pictures
# before and after are decoded.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @jsquash/jpeg@1.6.0 sharp@0.34.5

cat >probe.js <<'END'
import { readFileSync } from "node:fs";
import decode, { init } from "@jsquash/jpeg/decode.js";
import sharp from "sharp";

const wasm = readFileSync(new URL(import.meta.resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm")));
await init(await WebAssembly.compile(wasm), { printErr: (line) => console.log(`printed: ${line}`) });

async function makeJpeg(space) {
  const picture = sharp({ create: { width: 32, height: 24, channels: 3, background: "#336699" } });
  return picture.toColourspace(space).jpeg().toBuffer();
}

for (const space of ["srgb", "cmyk", "b-w", "srgb"]) {
  const jpeg = await makeJpeg(space);
  const read = await sharp(jpeg).metadata();
  console.log(`${space}: sharp reads ${read.width} × ${read.height}, ${read.channels} channels`);
  try {
    const { width, height } = await decode(new Uint8Array(jpeg).buffer);
    console.log(`${space}: decoded ${width} × ${height}`);
  } catch (error) {
    console.log(`${space}: rejected with ${error.constructor.name}, an Error: ${error instanceof Error}`);
    console.log(`${space}: as a string ${String(error)}, stack ${error.stack}, message ${error.message}`);
  }
}
END

cat >expected <<'END'
srgb: sharp reads 32 × 24, 3 channels
srgb: decoded 32 × 24
cmyk: sharp reads 32 × 24, 4 channels
printed: Unsupported color conversion request
cmyk: rejected with ExitStatus, an Error: false
cmyk: as a string [object Object], stack undefined, message Program terminated with exit(1)
b-w: sharp reads 32 × 24, 1 channels
b-w: decoded 32 × 24
srgb: sharp reads 32 × 24, 3 channels
srgb: decoded 32 × 24
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
