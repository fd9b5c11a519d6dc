/**
 * TIFF and BMP as pixels: what programs and scanners write of them. What is stored in another way says so, rather than being shown wrong.
 * @module
 */
import { decode as decodeBmp } from "fast-bmp";
import UTIF from "utif2";
import { unreadable } from "./document.js";
import { checkPixels, type Pixels, undecodable } from "./picture.js";

/** Compressions of TIFF that UTIF does not know, and passes on as if they were pixels: WebP, Zstandard, LZMA, JPEG XL. */
const UNKNOWN_PACKINGS = [34925, 50000, 50001, 50002];

const JPEG_PACKING = 7;

/** What TIFF calls colours (TIFF 6.0, tag 262). */
const [GREY, RGB, CMYK] = [1, 2, 5] as const;

/** The first page of a TIFF. Throws E_DOCUMENT. */
export function decodeTiff(bytes: Uint8Array): Pixels {
  const buffer = Uint8Array.from(bytes).buffer;
  const [page] = UTIF.decode(buffer);
  if (page === undefined) throw undecodable();
  const read = (tag: number, otherwise: number): number => {
    const [value] = (page[`t${tag}`] as readonly number[] | undefined) ?? [];
    return value ?? otherwise;
  };
  const [bits, packing, colours, samples] = [read(258, 1), read(259, 1), read(262, RGB), read(277, 1)];
  const isPlanar = read(284, 1) === 2 && samples > 1;
  const isOddJpeg = packing === JPEG_PACKING && samples > 3;
  if (bits > 16 || isPlanar || isOddJpeg || UNKNOWN_PACKINGS.includes(packing)) {
    throw unreadable(
      "The TIFF is stored in a form that is not decoded here, such as floating point, separate planes, WebP, or CMYK as JPEG: pass its URI to a tool that converts it, or ask for PNG or JPEG.",
    );
  }
  UTIF.decodeImage(buffer, page);
  const { width, height, data } = page;
  checkPixels(width, height);
  const isOwn = colours === CMYK || ((colours === GREY || colours === RGB) && bits >= 8);
  if (!isOwn) return { width, height, data: UTIF.toRGBA8(page) };
  const alpha = [1, 2].includes(read(338, 0)) ? colourCount(colours) : undefined;
  return { width, height, data: readSamples(data, width * height, { samples, bytes: bits / 8, colours, alpha }) };
}

function colourCount(colours: number): number {
  return colours === GREY ? 1 : colours === RGB ? 3 : 4;
}

/** How samples of eight or sixteen bits stand behind each other. Of sixteen UTIF puts the lower byte first. */
interface SampleLayout {
  readonly samples: number;
  readonly bytes: number;
  readonly colours: number;
  /** Which sample is alpha, if one is. */
  readonly alpha: number | undefined;
}

function readSamples(data: Uint8Array, count: number, { samples, bytes, colours, alpha }: SampleLayout): Uint8Array {
  const rgba = new Uint8Array(count * 4);
  const step = samples * bytes;
  const high = bytes - 1;
  for (let from = high, to = 0; to < rgba.length; from += step, to += 4) {
    const read = (sample: number): number => data[from + sample * bytes] ?? 0;
    // Ink takes light away.
    const light = colours === CMYK ? 255 - read(3) : 255;
    for (let channel = 0; channel < 3; channel += 1) {
      const value = read(colours === GREY ? 0 : channel);
      rgba[to + channel] = colours === CMYK ? Math.round(((255 - value) * light) / 255) : value;
    }
    rgba[to + 3] = alpha === undefined ? 255 : read(alpha);
  }
  return rgba;
}

/** A BMP. Throws E_DOCUMENT. */
export function decodeBitmap(bytes: Uint8Array): Pixels {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = view.getUint16(28, true);
  if (bits <= 8) return decodePalette(bytes, view, bits);
  const { width, height, data, channels } = decodeBmp(bytes);
  if (!(data instanceof Uint8Array)) throw undecodable();
  return { width, height, data: toRgba(data, channels) };
}

/** One of 2, 16 or 256 colours, which stand in a table behind the header, four bytes each: blue, green, red, nothing. */
function decodePalette(bytes: Uint8Array, view: DataView, bits: number): Pixels {
  const [start, header] = [view.getUint32(10, true), view.getUint32(14, true)];
  const [width, signed, packing] = [view.getInt32(18, true), view.getInt32(22, true), view.getUint32(30, true)];
  const height = Math.abs(signed);
  if (![1, 4, 8].includes(bits) || packing !== 0 || width <= 0) {
    throw unreadable(
      "The BMP is compressed, which is not decoded here: pass its URI to a tool that converts it, or ask for PNG or JPEG.",
    );
  }
  checkPixels(width, height);
  const stride = Math.ceil((width * bits) / 32) * 4;
  if (start + stride * height > bytes.length) throw undecodable();
  const data = new Uint8Array(width * height * 4);
  for (let row = 0; row < height; row += 1) {
    // Rows stand from the bottom up, unless the height is negative.
    const line = start + stride * (signed > 0 ? height - 1 - row : row);
    for (let column = 0; column < width; column += 1) {
      const at = column * bits;
      const byte = bytes[line + (at >> 3)] as number;
      const index = (byte >> (8 - bits - (at & 7))) & ((1 << bits) - 1);
      const colour = 14 + header + index * 4;
      const to = (row * width + column) * 4;
      for (let channel = 0; channel < 3; channel += 1) data[to + channel] = bytes[colour + 2 - channel] ?? 0;
      data[to + 3] = 255;
    }
  }
  return { width, height, data };
}

/** Pixels of one, three or four bytes as four. */
function toRgba(data: Uint8Array, channels: number): Uint8Array {
  if (channels === 4) return data;
  const colours = channels === 1 ? GREY : RGB;
  return readSamples(data, data.length / channels, { samples: channels, bytes: 1, colours, alpha: undefined });
}
