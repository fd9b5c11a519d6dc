#!/usr/bin/env bash
# @jsquash/webp 1.5.0: `decode` rejects an animated WebP, and does not even return its first frame.
#
# Three frames, each of one colour, are made into an animated WebP with sharp 0.34.5, which reads them back. Decoders
# of still pictures mostly return the first frame of an animation, as those of GIF and APNG do. `decode` rejects with
# `Decoding error`, the message that it has for damaged files too. A still WebP of the first frame is decoded.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock @jsquash/webp@1.5.0 sharp@0.34.5

cat >probe.js <<'END'
import { readFileSync } from "node:fs";
import decode, { init } from "@jsquash/webp/decode.js";
import sharp from "sharp";

const wasm = readFileSync(new URL(import.meta.resolve("@jsquash/webp/codec/dec/webp_dec.wasm")));
await init(await WebAssembly.compile(wasm));

const [width, height] = [32, 24];
const frames = ["red", "lime", "blue"].map((background) => ({
  create: { width, height, channels: 4, background },
}));
const pixels = await Promise.all(frames.map((frame) => sharp(frame).raw().toBuffer()));
const raw = { width, height: height * frames.length, channels: 4, pageHeight: height };
const animated = await sharp(Buffer.concat(pixels), { raw })
  .webp({ lossless: true, delay: [100, 100, 100] })
  .toBuffer();
const still = await sharp(frames[0]).webp({ lossless: true }).toBuffer();

for (const [name, webp] of Object.entries({ still, animated })) {
  const { pages = 1 } = await sharp(webp, { animated: true }).metadata();
  const [red, green, blue] = await sharp(webp).raw().toBuffer();
  console.log(`${name}: sharp reads ${pages} frames, the first of colour ${red}, ${green}, ${blue}`);
  try {
    const image = await decode(new Uint8Array(webp).buffer);
    console.log(`${name}: decoded ${image.width} × ${image.height}, colour ${image.data.slice(0, 3).join(", ")}`);
  } catch (error) {
    console.log(`${name}: rejected with ${error}`);
  }
}
END

cat >expected <<'END'
still: sharp reads 1 frames, the first of colour 255, 0, 0
still: decoded 32 × 24, colour 255, 0, 0
animated: sharp reads 3 frames, the first of colour 255, 0, 0
animated: rejected with Error: Decoding error
END

node probe.js | tee seen
diff expected seen || {
  echo "The behaviour has changed: < expected, > seen." >&2
  exit 1
}
