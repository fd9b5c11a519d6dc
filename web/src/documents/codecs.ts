/**
 * Pictures by codecs in WebAssembly, for Node, which has no canvas.
 * @module
 */
import decodeJpeg, { init as initJpegDecoder } from "@jsquash/jpeg/decode.js";
import encodeJpeg, { init as initJpegEncoder } from "@jsquash/jpeg/encode.js";
import { decode as decodePng, init as initPngDecoder } from "@jsquash/png/decode.js";
import encodePng, { init as initPngEncoder } from "@jsquash/png/encode.js";
import decodeWebp, { init as initWebpDecoder } from "@jsquash/webp/decode.js";
import { imageSize } from "image-size";
import { decodeFrame } from "modern-gif";
import { Pica } from "pica";
import { joinBytes } from "../artifacts/bytes.js";
import type { DocumentModule } from "../core/engine.js";
import { SluiceError } from "../errors/error.js";
import { unreadable } from "./document.js";
import { readColourProfile } from "./colour-profile.js";
import { wrapImage } from "./image-pdf.js";
import { readJpegHeaders } from "./jpeg.js";
import { readOrientation, turnPixels } from "./orientation.js";
import { PdfDocument, type Pdfium } from "./pdfium.js";
import {
  checkPixels,
  type Drawing,
  fitWithin,
  type PictureLibrary,
  type Pixels,
  type Region,
  scaleRegion,
  undecodable,
} from "./picture.js";
import { decodeBitmap, decodeTiff } from "./raster.js";

/** The modules of WebAssembly that codecs need, by name. */
type CodecModule = Exclude<DocumentModule, "pdfium">;

/** What codecs are made of. */
export interface CodecsDeps {
  /** Compiles a module. */
  readonly compile: (name: CodecModule) => Promise<WebAssembly.Module>;
  /** PDFium, for colours that decoders do not know. */
  readonly pdfium: () => Promise<Pdfium>;
}

/** Baseline JPEG with one pass: what else the encoder can do saves a few percent and takes several times as long. */
const FAST = {
  progressive: false,
  trellis_multipass: false,
  trellis_opt_zero: false,
  trellis_opt_table: false,
  auto_subsample: false,
  chroma_subsample: 2,
};

/** What people call kinds that are not decoded, where `image-size` has another name. */
const NAMES: Readonly<Record<string, string>> = {
  jxl: "JPEG XL",
  "jxl-stream": "JPEG XL",
  jp2: "JPEG 2000",
  j2c: "JPEG 2000",
  bigtiff: "BigTIFF",
  psd: "Photoshop",
};

/** Pictures by codecs. */
export class Codecs implements PictureLibrary {
  readonly #deps: CodecsDeps;
  readonly #pica = new Pica({ features: ["wasm", "js"] });
  readonly #started = new Map<(module: WebAssembly.Module) => Promise<unknown>, Promise<unknown>>();

  constructor(deps: CodecsDeps) {
    this.#deps = deps;
    // The decoders make one of what they have decoded.
    (globalThis as { ImageData?: unknown }).ImageData ??= DecodedImage;
  }

  async load(bytes: Uint8Array, maxSide: number, region?: Region): Promise<Drawing> {
    const { type } = readSize(bytes);
    const decoded = await this.#decode(bytes, region === undefined ? maxSide : Infinity);
    // JPEGs are turned while they are decoded.
    const whole = type === "jpg" ? decoded : turnPixels(decoded, readOrientation(bytes, type));
    const pixels = region === undefined ? whole : crop(whole, region);
    const profile = await readColourProfile(bytes, type);
    const scaled = await this.#scale(pixels, maxSide);
    return this.draw(profile === undefined ? scaled : await this.#toScreen(scaled, profile));
  }

  async #scale(pixels: Pixels, maxSide: number): Promise<Pixels> {
    const [width, height] = fitWithin(pixels.width, pixels.height, maxSide);
    if (width === pixels.width && height === pixels.height) return pixels;
    const data = await this.#pica.resizeBuffer({
      src: pixels.data,
      width: pixels.width,
      height: pixels.height,
      toWidth: width,
      toHeight: height,
      filter: "hamming",
    });
    return { width, height, data };
  }

  /** The same pixels in the colours of sRGB. A profile that PDFium cannot use changes nothing. */
  async #toScreen({ width, height, data }: Pixels, profile: Uint8Array): Promise<Pixels> {
    const colours = new Uint8Array(width * height * 3);
    for (let from = 0, to = 0; to < colours.length; from += 4, to += 3) colours.set(data.subarray(from, from + 3), to);
    const pdf = wrapImage(colours, { width, height, components: 3, profile, isJpeg: false });
    using document = PdfDocument.open(await this.#deps.pdfium(), pdf);
    const part = { whole: { width, height }, part: { x: 0, y: 0, width, height } };
    const drawn = document.draw(1, () => part);
    if (drawn === null) return { width, height, data };
    // A page has no alpha.
    for (let at = 3; at < data.length; at += 4) drawn.data[at] = data[at] as number;
    return drawn;
  }

  async draw({ width, height, data }: Pixels): Promise<Drawing> {
    const toImage = (pixels: Uint8Array | Uint8ClampedArray): ImageData =>
      ({ width, height, data: toClamped(pixels) }) as unknown as ImageData;
    return {
      width,
      height,
      encodePng: async () => {
        await this.#start(initPngEncoder, "png");
        return new Uint8Array(await encodePng(toImage(data)));
      },
      encodeJpeg: async (quality) => {
        await this.#start(initJpegEncoder, "jpeg-encoder");
        return new Uint8Array(await encodeJpeg(toImage(flatten(data)), { ...FAST, quality }));
      },
    };
  }

  /** Starts a codec, once. */
  async #start(init: (module: WebAssembly.Module) => Promise<unknown>, name: CodecModule): Promise<void> {
    let started = this.#started.get(init);
    if (started === undefined) {
      started = this.#deps.compile(name).then(init);
      this.#started.set(init, started);
    }
    await started;
  }

  /** Throws E_DOCUMENT. JPEGs by way of PDFium are at most `maxSide` pixels long. */
  async #decode(bytes: Uint8Array, maxSide: number): Promise<Pixels> {
    const { type, orientation } = readSize(bytes);
    try {
      switch (type) {
        case "jpg":
          return await this.#decodeJpeg(bytes, orientation, maxSide);
        case "png":
          await this.#start(initPngDecoder, "png");
          return await decodePng(toBuffer(bytes));
        case "webp":
          await this.#start(initWebpDecoder, "webp-decoder");
          return await decodeWebp(toBuffer(takeFirstFrame(bytes)));
        case "gif":
          return decodeFrame(toBuffer(bytes), 0);
        case "bmp":
          return decodeBitmap(bytes);
        case "tiff":
          return decodeTiff(bytes);
      }
    } catch (error) {
      // What decoders throw quotes what they read, or says nothing.
      throw error instanceof SluiceError ? error : undecodable();
    }
    throw unreadable(
      `The image is ${NAMES[type] ?? type.toUpperCase()}, which is not decoded here: pass its URI to a tool that converts it, or ask for PNG or JPEG.`,
    );
  }

  async #decodeJpeg(bytes: Uint8Array, orientation: number, maxSide: number): Promise<Pixels> {
    const headers = readJpegHeaders(bytes);
    if (headers === undefined) throw undecodable();
    // A second header may say another size than the one that was read first.
    checkPixels(headers.width, headers.height);
    // Where it is scaled down, PDFium does both in half the time.
    const isScaled = headers.isPlain && Math.max(headers.width, headers.height) > maxSide;
    if (headers.components === 4 || headers.profile !== undefined || isScaled) {
      const isInverted = headers.components === 4 && headers.isAdobe;
      const wrapped = wrapImage(bytes, { ...headers, isInverted, orientation, isJpeg: true });
      using pdf = PdfDocument.open(await this.#deps.pdfium(), wrapped);
      // A point of the page is a pixel of the image.
      const pixels = pdf.draw(1, (pageWidth, pageHeight) => {
        const [width, height] = fitWithin(pageWidth, pageHeight, maxSide);
        return { whole: { width, height }, part: { x: 0, y: 0, width, height } };
      });
      // A damaged JPEG leaves the page white: the decoder for JPEG says so.
      if (pixels !== null && pixels.data.some((value) => value !== 255)) return pixels;
    }
    await this.#start(initJpegDecoder, "jpeg-decoder");
    return decodeJpeg(toBuffer(bytes), { preserveOrientation: true });
  }
}

/** What stands for `ImageData` in Node. */
class DecodedImage {
  constructor(
    readonly data: Uint8ClampedArray,
    readonly width: number,
    readonly height: number,
  ) {}
}

/** The kind and orientation of an image, before it takes any memory. Throws E_DOCUMENT if it is none, or has too many pixels. */
function readSize(bytes: Uint8Array): { readonly type: string; readonly orientation: number } {
  let size: ReturnType<typeof imageSize>;
  try {
    size = imageSize(bytes);
  } catch {
    throw undecodable();
  }
  checkPixels(size.width, size.height);
  return { type: size.type ?? "", orientation: size.orientation ?? 1 };
}

function crop({ width, height, data }: Pixels, region: Region): Pixels {
  const part = scaleRegion(region, width, height);
  const cropped = new Uint8Array(part.width * part.height * 4);
  for (let row = 0; row < part.height; row += 1) {
    const start = ((part.y + row) * width + part.x) * 4;
    cropped.set(data.subarray(start, start + part.width * 4), row * part.width * 4);
  }
  return { width: part.width, height: part.height, data: cropped };
}

/** The same pixels on white, since JPEG has no alpha. */
function flatten(data: Uint8Array | Uint8ClampedArray): Uint8Array {
  const flat = Uint8Array.from(data);
  for (let at = 0; at < flat.length; at += 4) {
    const alpha = flat[at + 3] as number;
    if (alpha === 255) continue;
    for (let channel = at; channel < at + 3; channel += 1) {
      flat[channel] = Math.round(((flat[channel] as number) * alpha + 255 * (255 - alpha)) / 255);
    }
    flat[at + 3] = 255;
  }
  return flat;
}

/** The first frame of an animated WebP as a WebP of its own, or the file as it is (RFC 9649, 2.7). */
function takeFirstFrame(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const readName = (at: number): string => new TextDecoder("latin1").decode(bytes.subarray(at, at + 4));
  // RIFF, size, WEBP; then chunks: name, size, content, padded to an even length.
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true);
    if (readName(at) === "ANMF" && size > 16 && at + 8 + size <= bytes.length) {
      // Place, size and duration take 16 bytes, width and height three each, less one. The frame's own chunks follow.
      const sides = bytes.subarray(at + 14, at + 20);
      const frame = bytes.subarray(at + 24, at + 8 + size);
      const head = new Uint8Array(30);
      head.set(bytes.subarray(0, 12));
      head.set(new TextEncoder().encode("VP8X"), 12);
      head.set([10, 0, 0, 0, 0x10], 16);
      head.set(sides, 24);
      new DataView(head.buffer).setUint32(4, head.length - 8 + frame.length, true);
      return joinBytes([head, frame]);
    }
    at += 8 + size + (size % 2);
  }
  return bytes;
}

/** The bytes in a buffer of their own, as the decoders take them. */
function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function toClamped(data: Uint8Array | Uint8ClampedArray): Uint8ClampedArray {
  return data instanceof Uint8ClampedArray
    ? data
    : new Uint8ClampedArray(data.buffer, data.byteOffset, data.byteLength);
}
