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
f -i noise.wav sound.mp3; f -i noise.wav sound.flac; f -i noise.wav sound.ogg; f -i noise.wav sound.opus; f -i noise.wav sound.m4a; f -i noise.wav sound.aac; f -i noise.wav -c:a libvorbis sound.mka; f -i noise.wav -c:a libopus sound.weba; f -i noise.wav sound.aiff; f -i noise.wav -rf64 always rf64.wav; f -i noise.wav sound.wma
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
];
