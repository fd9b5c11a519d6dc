/**
 * A PNG written by hand (W3C PNG, third edition).
 * @module
 */
import { crc32, deflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * @param {{ width?: number, height?: number, seed?: number }} [options]
 * @returns {Buffer} a valid RGB picture; a little under two bytes a pixel
 */
export function makePng({ width = 640, height = 480, seed = 1 } = {}) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits a channel, RGB, deflate, no filter method but 0, not interlaced
  const image = deflateSync(rowsWithFilter(grainyPixels(width, height, seed), width, height));
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", image), chunk("IEND", Buffer.alloc(0))]);
}

// Every row begins with its filter type, here 0 (none).
function rowsWithFilter(pixels, width, height) {
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  return rows;
}

// length, type, data, CRC over type and data
function chunk(type, data) {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(typed.length + 8);
  out.writeUInt32BE(data.length, 0);
  out.set(typed, 4);
  out.writeUInt32BE(crc32(typed), typed.length + 4);
  return out;
}

/** Rows of 8-bit RGB, top to bottom. The grain is a linear congruential generator. */
export function grainyPixels(width, height, seed) {
  const pixels = new Uint8Array(width * height * 3);
  let state = seed >>> 0;
  for (let at = 0, y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const grain = state >>> 30;
      pixels[at++] = ((x * 200) / width + grain) | 0;
      pixels[at++] = ((y * 200) / height + grain) | 0;
      pixels[at++] = 90 + grain;
    }
  }
  return pixels;
}
