/**
 * Pictures that a model is shown: scaled down and encoded within limits. Runs apart from the main thread only.
 * @module
 */
import { unreadable } from "./document.js";

/** Limits of a picture. */
export interface PictureLimits {
  /** Most pixels of the longer side. */
  readonly maxSide: number;
  /** Most bytes, encoded. */
  readonly maxBytes: number;
}

/** A picture, encoded. */
export interface Picture {
  readonly mime_type: "image/png" | "image/jpeg";
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** Pixels row by row: red, green, blue and alpha, a byte each. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** A picture that can be encoded. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  encodePng(): Promise<Uint8Array>;
  /** @param quality in percent. */
  encodeJpeg(quality: number): Promise<Uint8Array>;
}

/** Decodes, scales and encodes: in browsers a canvas, elsewhere codecs in WebAssembly. */
export interface PictureLibrary {
  /** An image, scaled down to a longer side of at most `maxSide` pixels. Throws E_DOCUMENT. */
  load(bytes: Uint8Array, maxSide: number): Promise<Drawing>;
  /** Pixels as they are. */
  draw(pixels: Pixels): Promise<Drawing>;
}

/** Pixels of an image that is decoded: four bytes each. */
const MAX_PIXELS = 64 * 1024 ** 2;

/** In percent. */
const QUALITIES = [85, 70, 50, 30];

/** Scales an image down to its limits. Throws E_DOCUMENT. */
export async function scalePicture(
  library: PictureLibrary,
  bytes: Uint8Array,
  limits: PictureLimits,
): Promise<Picture> {
  return encodeWithin(await library.load(bytes, limits.maxSide), limits);
}

/** Throws E_DOCUMENT for an image with more pixels than are decoded. */
export function checkPixels(width: number, height: number): void {
  if (width * height <= MAX_PIXELS) return;
  throw unreadable(`The image is too large to be shown: ${width} × ${height} pixels. Ask for a smaller one.`);
}

/** E_DOCUMENT for an image that cannot be decoded. */
export function undecodable(): Error {
  return unreadable("The image cannot be decoded: it is damaged, or of a kind that is not shown.");
}

/** The size of an image of this size whose longer side is at most `maxSide` pixels. */
export function fitWithin(width: number, height: number, maxSide: number): readonly [number, number] {
  const scale = Math.min(1, maxSide / Math.max(width, height, 1));
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

/** As PNG if that is small enough, else as JPEG, worse and worse. Throws E_DOCUMENT. */
export async function encodeWithin(drawing: Drawing, { maxBytes }: PictureLimits): Promise<Picture> {
  const { width, height } = drawing;
  const png = await drawing.encodePng();
  if (png.length <= maxBytes) return { mime_type: "image/png", width, height, bytes: png };
  for (const quality of QUALITIES) {
    const jpeg = await drawing.encodeJpeg(quality);
    if (jpeg.length <= maxBytes) return { mime_type: "image/jpeg", width, height, bytes: jpeg };
  }
  throw unreadable("The picture cannot be made small enough to be shown.");
}
