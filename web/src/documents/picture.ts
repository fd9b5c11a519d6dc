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

/** The part of a canvas that is needed here: that of `@napi-rs/canvas`. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  encode(format: "png"): Promise<Uint8Array>;
  encode(format: "jpeg", quality: number): Promise<Uint8Array>;
  getContext(kind: "2d"): { drawImage(image: unknown, x: number, y: number, width: number, height: number): void };
}

/** The part of `@napi-rs/canvas` that is needed here. */
export interface CanvasLibrary {
  createCanvas(width: number, height: number): Canvas;
  loadImage(bytes: Uint8Array): Promise<{ readonly width: number; readonly height: number }>;
}

/** Pixels of an image that is decoded: four bytes each. */
const MAX_PIXELS = 64 * 1024 ** 2;

/** Scales an image down to its limits. Throws E_DOCUMENT. */
export async function scaledPicture(
  library: CanvasLibrary,
  bytes: Uint8Array,
  limits: PictureLimits,
): Promise<Picture> {
  const image = await library.loadImage(bytes).catch(() => {
    throw unreadable("The image cannot be decoded: it is damaged, or of a kind that is not shown.");
  });
  const { width, height } = image;
  if (width * height > MAX_PIXELS) {
    throw unreadable(`The image is too large to be shown: ${width} × ${height} pixels. Ask for a smaller one.`);
  }
  const scale = Math.min(1, limits.maxSide / Math.max(width, height, 1));
  const canvas = library.createCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return encodedWithin(canvas, limits);
}

/** A canvas as PNG if that is small enough, else as JPEG, worse and worse. Throws E_DOCUMENT. */
export async function encodedWithin(canvas: Canvas, { maxBytes }: PictureLimits): Promise<Picture> {
  const { width, height } = canvas;
  const png = await canvas.encode("png");
  if (png.length <= maxBytes) return { mime_type: "image/png", width, height, bytes: png };
  for (const quality of QUALITIES) {
    const jpeg = await canvas.encode("jpeg", quality);
    if (jpeg.length <= maxBytes) return { mime_type: "image/jpeg", width, height, bytes: jpeg };
  }
  throw unreadable("The picture cannot be made small enough to be shown.");
}

/** In percent. */
const QUALITIES = [85, 70, 50, 30];
