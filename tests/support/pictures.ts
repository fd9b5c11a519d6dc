/**
 * Pictures that are whole, of any size.
 * @module
 */
import { crc32, deflateSync } from "node:zlib";

/** A chunk of a PNG: length, type, content, checksum. */
function chunk(type: string, content: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body) >>> 0, 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A grey PNG of some pixels; each byte of `grey` is one, row by row. */
export function encodePng(width: number, height: number, grey: (at: number) => number, level = 9): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width + 1));
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) rows[row * (width + 1) + 1 + column] = grey(row * width + column);
  }
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

/** A grey PNG of about so many bytes, and other ones for another size. */
export function greyPng(size: number): Uint8Array {
  const width = Math.min(1000, Math.max(1, size));
  return encodePng(width, Math.max(1, Math.round(size / width)), (at) => (at * 31 + size) % 251, 0);
}
