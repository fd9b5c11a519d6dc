/**
 * Pictures that a model is shown: scaled down and encoded within limits. Runs apart from the main thread only.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { unreadable } from "./document.js";

/** Limits of a picture. */
export interface PictureLimits {
  /** Most pixels of the longer side. */
  readonly maxSide: number;
  /** Most bytes, encoded. */
  readonly maxBytes: number;
  /** Whether it is a photo, or as large as one: as PNG it would not be small enough. Defaults to whether it is a JPEG. */
  readonly isPhoto?: boolean;
  /** The part to show. Defaults to all of it. */
  readonly region?: Region;
}

/** A part of a picture, in pixels of the whole where that is at most `maxSide` pixels long. */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Pixels of the longer side of the whole; null for as many as it has. */
  readonly maxSide: number | null;
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
  /** An image, or a region of it, scaled down to a longer side of at most `maxSide` pixels. Throws E_DOCUMENT, E_INVALID_ARGUMENT. */
  load(bytes: Uint8Array, maxSide: number, region?: Region): Promise<Drawing>;
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
  // What lost details as JPEG gains nothing as PNG.
  const isPhoto = limits.isPhoto ?? (bytes[0] === 0xff && bytes[1] === 0xd8);
  return encodeWithin(await library.load(bytes, limits.maxSide, limits.region), { ...limits, isPhoto });
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

/** A region in pixels of another size of the same picture. Throws E_INVALID_ARGUMENT if nothing of it is there. */
export function scaleRegion(region: Region, width: number, height: number): Omit<Region, "maxSide"> {
  const [wholeWidth, wholeHeight] = fitWithin(width, height, region.maxSide ?? Infinity);
  const [across, down] = [width / wholeWidth, height / wholeHeight];
  const x = Math.min(width, Math.floor(region.x * across));
  const y = Math.min(height, Math.floor(region.y * down));
  const scaled = {
    x,
    y,
    width: Math.min(width - x, Math.ceil(region.width * across)),
    height: Math.min(height - y, Math.ceil(region.height * down)),
  };
  if (scaled.width > 0 && scaled.height > 0) return scaled;
  const sentence = `The region is outside of the picture, which has ${wholeWidth} × ${wholeHeight} pixels.`;
  throw new SluiceError("E_INVALID_ARGUMENT", sentence, { path: "region" });
}

/** As PNG if that is small enough, else as JPEG, worse and worse. Throws E_DOCUMENT. */
export async function encodeWithin(drawing: Drawing, { maxBytes, isPhoto }: PictureLimits): Promise<Picture> {
  const { width, height } = drawing;
  const png = isPhoto === true ? undefined : await drawing.encodePng();
  if (png !== undefined && png.length <= maxBytes) return { mime_type: "image/png", width, height, bytes: png };
  for (const quality of QUALITIES) {
    const jpeg = await drawing.encodeJpeg(quality);
    if (jpeg.length <= maxBytes) return { mime_type: "image/jpeg", width, height, bytes: jpeg };
  }
  throw unreadable("The picture cannot be made small enough to be shown.");
}
