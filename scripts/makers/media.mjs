/**
 * Pictures, sound and film.
 * @module
 */
import { MEDIA } from "./material.mjs";

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "FFmpeg",
    debian: ["ffmpeg"],
    shell: `${MEDIA}
both="-i moving.y4m -i noise.wav -shortest"
f() { ffmpeg -nostdin -v error -y "$@" || true; }
f $both -c:v libx264 -c:a aac x264.mp4; f $both -c:v libx264 -c:a aac -movflags +faststart fast.mp4; f $both -c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov frag.mp4
f $both -c:v libx265 -c:a aac x265.mp4; f $both -c:v libvpx -c:a libvorbis vp8.webm; f $both -c:v libvpx-vp9 -c:a libopus vp9.webm; f $both -c:v libx264 -c:a aac film.mkv
f $both -c:v mpeg4 -c:a libmp3lame film.avi; f $both -c:v libx264 -c:a aac film.mov; f $both -c:v libx264 -c:a aac film.ts; f $both -c:v flv -c:a libmp3lame -ar 44100 film.flv
f -i noise.wav sound.mp3; f -i noise.wav sound.flac; f -i noise.wav sound.ogg; f -i noise.wav sound.opus; f -i noise.wav sound.m4a; f -i noise.wav sound.aac; f -i noise.wav -c:a libvorbis sound.mka; f -i noise.wav -c:a libopus -f webm sound.weba; f -i noise.wav sound.aiff; f -i noise.wav -rf64 always rf64.wav; f -i noise.wav sound.wma
f -i moving.y4m moving.gif; f -i moving.y4m -f apng moving.png; f -i moving.y4m -frames:v 1 one.png; f -i moving.y4m -frames:v 1 one.jpg; f -i moving.y4m -frames:v 1 one.tiff; f -i moving.y4m -frames:v 1 one.bmp; f -i moving.y4m -c:v libwebp_anim moving.webp`,
    files: {
      "x264.mp4": ["MP4 video", "64 × 48", "0:02 long", "H.264", "10 fps"],
      "fast.mp4": ["MP4 video", "64 × 48", "0:02 long", "H.264"],
      "frag.mp4": ["MP4 video", "64 × 48", "H.264"],
      "x265.mp4": ["MP4 video", "64 × 48", "H.265"],
      "vp8.webm": ["WebM video", "64 × 48", "0:02 long", "VP8"],
      "vp9.webm": ["WebM video", "64 × 48", "0:02 long", "VP9"],
      "film.mkv": ["Matroska video", "64 × 48", "0:02 long", "H.264"],
      "film.avi": ["AVI video", "64 × 48", "0:02 long"],
      "film.mov": ["QuickTime", "64 × 48", "0:02 long"],
      "film.ts": [/MPEG/],
      "film.flv": [/Flash/, "64 × 48", "0:02 long"],
      "sound.mp3": ["MP3 audio", "0:03 long"],
      "sound.flac": ["FLAC audio", "0:03 long"],
      "sound.ogg": ["Ogg audio", "0:03 long"],
      "sound.opus": ["Opus audio", "0:03 long"],
      "sound.m4a": [/audio/, "0:03 long"],
      "sound.aac": ["AAC audio"],
      "sound.mka": ["Matroska audio", "0:03 long"],
      "sound.weba": ["WebM audio", "0:03 long"],
      "sound.aiff": ["AIFF audio", "0:03 long"],
      "rf64.wav": ["WAV audio", "0:03 long"],
      "noise.wav": ["WAV audio", "0:03 long"],
      "moving.gif": ["GIF image", "64 × 48"],
      "moving.png": [/PNG/, "64 × 48", "20 frames"],
      "one.png": ["PNG image", "64 × 48"],
      "one.jpg": ["JPEG image", "64 × 48"],
      "one.tiff": ["TIFF image", "64 × 48"],
      "one.bmp": ["BMP image", "64 × 48"],
      "moving.webp": ["WebP image", "64 × 48"],
    },
  },
  {
    maker: "SoX",
    debian: ["sox"],
    shell: `for e in wav aiff au flac ogg mp3 amr-nb; do sox -n -r 8000 sox.$e synth 4 sine 300 2>/dev/null || true; done`,
    files: {
      "sox.wav": ["WAV audio", "0:04 long"],
      "sox.aiff": ["AIFF audio", "0:04 long"],
      "sox.flac": ["FLAC audio", "0:04 long"],
      "sox.au": ["AU audio"],
    },
  },
  {
    maker: "libheif and libavif",
    debian: ["libheif-examples", "libavif-bin"],
    shell: `ffmpeg -nostdin -v error -y -f lavfi -i testsrc=s=320x200 -frames:v 1 h.png; heif-enc h.png -o libheif.heic; heif-enc -A h.png -o libheif.avif || true; avifenc h.png libavif.avif; avifenc --irot 1 h.png turned.avif`,
    files: {
      "libheif.heic": ["HEIC image", "320 × 200"],
      "libheif.avif": ["AVIF image", "320 × 200"],
      "libavif.avif": ["AVIF image", "320 × 200"],
      "turned.avif": ["AVIF image", "200 × 320"],
    },
  },
  {
    maker: "ImageMagick",
    debian: ["imagemagick"],
    shell: `convert -size 90x60 gradient:red-blue a.png
for e in jpg gif tiff bmp ico psd webp svg pcx pnm tga; do convert a.png magick.$e 2>/dev/null || true; done
convert a.png a.png a.png pages.tiff`,
    files: {
      "magick.jpg": ["JPEG image", "90 × 60"],
      "magick.gif": ["GIF image", "90 × 60"],
      "magick.tiff": ["TIFF image", "90 × 60"],
      "magick.psd": ["Photoshop image", "90 × 60"],
      "magick.ico": ["Windows icon", "90 × 60"],
      "pages.tiff": ["TIFF image", "90 × 60", "3 pages"],
    },
  },
  {
    maker: "mido",
    debian: ["python3-mido"],
    python: `
import mido
f = mido.MidiFile()
for n in range(3): t = mido.MidiTrack(); t.append(mido.Message("note_on", note=60, time=480)); f.tracks.append(t)
f.save("mido.mid")
`,
    files: { "mido.mid": ["MIDI music", "3 tracks"] },
  },
  {
    maker: "Cairo's SVG",
    debian: ["python3-cairo"],
    python: `
import cairo
s = cairo.SVGSurface("cairo.svg", 120, 80); s.set_document_unit(cairo.SVG_UNIT_MM); cairo.Context(s).paint(); s.finish()
s = cairo.SVGSurface("points.svg", 120, 80); s.set_document_unit(cairo.SVG_UNIT_PT); cairo.Context(s).paint(); s.finish()
`,
    files: { "cairo.svg": ["SVG image", "120 × 80 mm"], "points.svg": ["SVG image", "120 × 80 pt"] },
  },
  {
    maker: "GraphicsMagick",
    debian: ["graphicsmagick"],
    shell: `gm convert -size 70x50 gradient:red-blue g.ppm; for e in png jpg gif tif bmp; do gm convert g.ppm gm.$e; done; gm convert g.ppm g.ppm gm-two.gif`,
    files: {
      "gm.png": ["PNG image", "70 × 50"],
      "gm.jpg": ["JPEG image", "70 × 50"],
      "gm.gif": ["GIF image", "70 × 50"],
      "gm.tif": ["TIFF image", "70 × 50"],
      "gm.bmp": ["BMP image", "70 × 50"],
      "gm-two.gif": ["GIF image", "70 × 50", "2 frames"],
    },
  },
  {
    maker: "Netpbm",
    debian: ["netpbm"],
    shell: `ppmmake red 40 30 > n.ppm; pnmtopng n.ppm > netpbm.png 2>/dev/null; ppmtogif n.ppm > netpbm.gif 2>/dev/null; pnmtotiff n.ppm > netpbm.tiff 2>/dev/null; ppmtobmp n.ppm > netpbm.bmp 2>/dev/null; ppmtowinicon n.ppm > netpbm.ico 2>/dev/null; pnmtojpeg n.ppm > netpbm.jpg`,
    files: {
      "netpbm.png": ["PNG image", "40 × 30"],
      "netpbm.gif": ["GIF image", "40 × 30"],
      "netpbm.tiff": ["TIFF image", "40 × 30"],
      "netpbm.bmp": ["BMP image", "40 × 30"],
      "netpbm.ico": ["Windows icon", "40 × 30"],
      "netpbm.jpg": ["JPEG image", "40 × 30"],
      "n.ppm": [/image/, "40 × 30"],
    },
  },
  {
    maker: "libwebp",
    debian: ["webp", "imagemagick"],
    shell: `convert -size 66x44 gradient:red-blue w.png; convert w.png -flip w2.png; cwebp -quiet w.png -o lossy.webp; cwebp -quiet -lossless w.png -o lossless.webp; img2webp -loop 0 -d 100 w.png w2.png w.png -o img2webp.webp >/dev/null 2>&1`,
    files: {
      "lossy.webp": ["WebP image", "66 × 44"],
      "lossless.webp": ["WebP image", "66 × 44"],
      "img2webp.webp": ["WebP image", "66 × 44", "3 frames"],
    },
  },
  {
    maker: "libtiff",
    debian: ["libtiff-tools", "imagemagick"],
    shell: `convert -size 50x40 gradient:red-blue t.tif; tiffcp -c lzw t.tif t.tif t.tif t.tif four.tif; tiffcp -8 t.tif big.tif`,
    files: { "four.tif": ["TIFF image", "50 × 40", "4 pages"], "big.tif": ["TIFF image", "50 × 40"] },
  },
  {
    maker: "libjxl",
    debian: ["libjxl-tools", "imagemagick"],
    shell: `convert -size 88x66 gradient:red-blue x.png; convert x.png x.jpg; cjxl x.png cjxl.jxl --quiet 2>/dev/null || cjxl x.png cjxl.jxl 2>/dev/null; cjxl x.jpg from-jpeg.jxl 2>/dev/null`,
    files: { "cjxl.jxl": ["JPEG XL image", "88 × 66"], "from-jpeg.jxl": ["JPEG XL image", "88 × 66"] },
  },
  {
    maker: "OpenJPEG",
    debian: ["libopenjp2-tools", "imagemagick"],
    shell: `convert -size 96x72 gradient:red-blue o.png; opj_compress -i o.png -o openjpeg.jp2 >/dev/null; opj_compress -i o.png -o openjpeg.j2k > /dev/null`,
    files: { "openjpeg.jp2": ["JPEG 2000 image", "96 × 72"], "openjpeg.j2k": ["JPEG 2000 codestream", "96 × 72"] },
  },
  {
    maker: "DjVuLibre",
    debian: ["djvulibre-bin", "netpbm"],
    shell: `ppmmake blue 120 160 > d.ppm; c44 d.ppm one.djvu; djvm -c book.djvu one.djvu one.djvu one.djvu`,
    files: { "one.djvu": ["DjVu document", "120 × 160"], "book.djvu": ["DjVu document", "3 pages"] },
  },
  {
    maker: "librsvg and Gnuplot",
    debian: ["gnuplot-nox"],
    shell: `gnuplot -e 'set term svg size 320,240; set output "gnuplot.svg"; plot sin(x)'; gnuplot -e 'set term pngcairo size 320,240; set output "gnuplot.png"; plot sin(x)' || gnuplot -e 'set term png size 320,240; set output "gnuplot.png"; plot sin(x)'`,
    files: { "gnuplot.svg": ["SVG image", "320 × 240"], "gnuplot.png": ["PNG image", "320 × 240"] },
  },
  {
    maker: "Matplotlib",
    debian: ["python3-matplotlib"],
    python: `
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as p
f = p.figure(figsize=(4, 3), dpi=100); p.plot([1, 2, 3]); f.savefig("mpl.png"); f.savefig("mpl.svg"); f.savefig("mpl.pdf"); f.savefig("mpl.jpg"); f.savefig("mpl.ps")
`,
    files: {
      "mpl.png": ["PNG image", "400 × 300"],
      "mpl.svg": ["SVG image", "288 × 216 pt"],
      "mpl.pdf": ["PDF", "1 page"],
      "mpl.jpg": ["JPEG image", "400 × 300"],
    },
  },
  {
    maker: "Gifsicle",
    debian: ["gifsicle", "imagemagick"],
    shell: `convert -size 32x24 xc:red r.gif; convert -size 32x24 xc:blue b.gif; gifsicle --delay 50 --loop r.gif b.gif r.gif b.gif > gifsicle.gif`,
    files: { "gifsicle.gif": ["GIF image", "32 × 24", "4 frames"] },
  },
  {
    maker: "ExifTool",
    debian: ["libimage-exiftool-perl", "imagemagick"],
    shell: `convert -size 80x60 gradient:red-blue e.jpg; exiftool -q -overwrite_original -Orientation=6 -n -Make=Example -Model="Camera X" -DateTimeOriginal="2026:11:01 10:00:00" -GPSLatitude=48.1 -GPSLatitudeRef=N -GPSLongitude=11.5 -GPSLongitudeRef=E e.jpg; mv e.jpg exif.jpg`,
    files: { "exif.jpg": ["JPEG image", "80 × 60", "Camera X"] },
  },
  {
    maker: "LAME",
    debian: ["lame", "sox"],
    shell: `sox -n -r 44100 -c 2 -b 16 l.wav synth 5 sine 300; lame --quiet -b 128 l.wav cbr.mp3; lame --quiet -V 2 l.wav vbr.mp3; lame --quiet -t --abr 100 l.wav abr.mp3; convert -size 900x900 plasma:red-blue cover.jpg 2>/dev/null || true; lame --quiet --tt "A song" --ta Someone --ti cover.jpg l.wav cover.mp3 || true`,
    files: {
      "cbr.mp3": ["MP3 audio", "0:05 long"],
      "vbr.mp3": ["MP3 audio", "0:05 long"],
      "abr.mp3": ["MP3 audio", "0:05 long"],
      "cover.mp3": ["MP3 audio", "0:05 long"],
    },
  },
  {
    maker: "Xiph's encoders",
    debian: ["opus-tools", "vorbis-tools", "flac", "sox"],
    shell: `sox -n -r 48000 -c 1 -b 16 v.wav synth 6 sine 300; opusenc --quiet v.wav opusenc.opus; oggenc -Q v.wav -o oggenc.ogg; flac -s -f v.wav -o flac.flac; flac -s -f --ogg v.wav -o flac.oga`,
    files: {
      "opusenc.opus": ["Opus audio", "0:06 long"],
      "oggenc.ogg": ["Ogg audio", "0:06 long"],
      "flac.flac": ["FLAC audio", "0:06 long"],
      "flac.oga": ["Ogg audio", "0:06 long"],
    },
  },
  {
    maker: "MKVToolNix",
    debian: ["mkvtoolnix", "ffmpeg"],
    shell: `test -e x264.mp4 || ffmpeg -nostdin -v error -y -f lavfi -i testsrc=s=64x48:r=10:d=2 x264.mp4; mkvmerge -q -o mkvmerge.mkv x264.mp4; mkvmerge -q -w -o mkvmerge.webm vp8.webm`,
    files: {
      "mkvmerge.mkv": ["Matroska video", "64 × 48", "0:02 long", "H.264"],
      "mkvmerge.webm": ["WebM video", "64 × 48", "0:02 long", "VP8"],
    },
  },
  {
    maker: "TwoLAME and WavPack",
    debian: ["twolame", "wavpack", "sox"],
    shell: `sox -n -r 44100 -c 2 -b 16 p.wav synth 5 sine 300; twolame --quiet p.wav twolame.mp2; wavpack -q -y p.wav -o wavpack.wv`,
    files: { "twolame.mp2": [/MP2|MPEG audio|MP3/, "0:05 long"], "wavpack.wv": ["WavPack audio", "0:05 long"] },
  },
  {
    maker: "eSpeak NG",
    debian: ["espeak-ng"],
    shell: `espeak-ng -w espeak.wav "one two three"`,
    files: { "espeak.wav": ["WAV audio", /0:0[12] long/] },
  },
  {
    maker: "abcMIDI",
    debian: ["abcmidi"],
    shell: `printf 'X:1\\nT:Air\\nM:4/4\\nL:1/4\\nK:C\\nCDEF|GABc|\\n' > a.abc; abc2midi a.abc -o abc.mid >/dev/null`,
    files: { "abc.mid": ["MIDI music", /tracks?/] },
  },
  {
    maker: "sharp",
    npm: ["sharp@0.35.5"],
    node: `
import sharp from "sharp";
const red = () => sharp({ create: { width: 77, height: 55, channels: 3, background: "red" } });
for (const format of ["png", "jpeg", "webp", "avif", "tiff", "gif"]) await red().toFormat(format).toFile("sharp." + format);
`,
    files: {
      "sharp.png": ["PNG image", "77 × 55"],
      "sharp.jpeg": ["JPEG image", "77 × 55"],
      "sharp.webp": ["WebP image", "77 × 55"],
      "sharp.avif": ["AVIF image", "77 × 55"],
      "sharp.tiff": ["TIFF image", "77 × 55"],
      "sharp.gif": ["GIF image", "77 × 55"],
    },
  },
  {
    maker: "jimp",
    npm: ["jimp@1.6.1"],
    node: `
import { Jimp } from "jimp";
const image = new Jimp({ width: 33, height: 22, color: 0xff0000ff });
for (const end of ["png", "jpg", "bmp", "gif", "tiff"]) await image.write("jimp." + end);
`,
    files: {
      "jimp.png": ["PNG image", "33 × 22"],
      "jimp.jpg": ["JPEG image", "33 × 22"],
      "jimp.bmp": ["BMP image", "33 × 22"],
      "jimp.tiff": ["TIFF image", "33 × 22"],
    },
  },
  {
    maker: "small encoders of npm",
    npm: [
      "upng-js@2.1.0",
      "gifenc@1.0.3",
      "utif2@4.1.0",
      "ag-psd@31.0.2",
      "png-to-ico@3.0.2",
      "pngjs@7.0.0",
      "jpeg-js@0.4.4",
    ],
    node: `
import { writeFileSync } from "node:fs";
import upng from "upng-js";
import gifenc from "gifenc";
import utif from "utif2";
import { writePsdBuffer } from "ag-psd";
import { PNG } from "pngjs";
import jpeg from "jpeg-js";
import toIco from "png-to-ico";
const frame = (value) => new Uint8Array(32 * 32 * 4).fill(value);
writeFileSync("upng.png", Buffer.from(upng.encode([frame(255).buffer, frame(90).buffer, frame(30).buffer], 32, 32, 0, [100, 100, 100])));
const { GIFEncoder, quantize, applyPalette } = gifenc;
const gif = GIFEncoder();
for (const value of [255, 90]) { const palette = quantize(frame(value), 16); gif.writeFrame(applyPalette(frame(value), palette), 32, 32, { palette, delay: 500 }); }
gif.finish(); writeFileSync("gifenc.gif", gif.bytes());
writeFileSync("utif.tiff", Buffer.from(utif.encodeImage(frame(255), 32, 32)));
writeFileSync("ag.psd", writePsdBuffer({ width: 300, height: 200, children: [{ name: "Layer" }] }));
const png = new PNG({ width: 32, height: 32 }); png.data.fill(200); writeFileSync("pngjs.png", PNG.sync.write(png));
writeFileSync("jpeg-js.jpg", jpeg.encode({ data: frame(90), width: 32, height: 32 }, 80).data);
writeFileSync("to.ico", await (toIco.default ?? toIco)(["pngjs.png"]));
`,
    files: {
      "upng.png": [/PNG/, "32 × 32", "3 frames"],
      "gifenc.gif": ["GIF image", "32 × 32", "2 frames"],
      "utif.tiff": ["TIFF image", "32 × 32"],
      "ag.psd": ["Photoshop image", "300 × 200"],
      "pngjs.png": ["PNG image", "32 × 32"],
      "jpeg-js.jpg": ["JPEG image", "32 × 32"],
      "to.ico": ["Windows icon", /× /],
    },
  },
  {
    maker: "midi-writer-js and wavefile",
    npm: ["midi-writer-js@3.2.1", "wavefile@11.0.0"],
    node: `
import { writeFileSync } from "node:fs";
import midi from "midi-writer-js";
import wavefile from "wavefile";
const track = new midi.Track(); track.addEvent(new midi.NoteEvent({ pitch: ["E4"], duration: "4" }));
writeFileSync("writer.mid", Buffer.from(new midi.Writer(track).buildFile()));
const wave = new wavefile.WaveFile(); wave.fromScratch(1, 8000, "16", new Array(8000 * 7).fill(0)); writeFileSync("wavefile.wav", wave.toBuffer());
`,
    files: { "writer.mid": ["MIDI music", /tracks?/], "wavefile.wav": ["WAV audio", "0:07 long"] },
  },
];
