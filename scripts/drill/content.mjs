/**
 * Contents that are made again from their number, so that whoever reads them knows every byte without having kept it.
 * @module
 */
import { createHash } from "node:crypto";

const NOISE = noise(8 * 1024 * 1024);
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

function noise(length) {
  const bytes = Buffer.allocUnsafe(length);
  let state = 2463534242;
  for (let at = 0; at < length; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  return bytes;
}

/** Bytes that begin as a picture, with the number behind that: no two numbers have the same. */
export function picture(number, size) {
  const head = Buffer.from(`${number} `.padEnd(16));
  const from = (number * 7919) % (NOISE.length - size);
  return Buffer.concat([PNG, head, NOISE.subarray(from, from + size - PNG.length - head.length)]);
}

/** A long text of some lines. */
export function prose(number, lines) {
  return Array.from(
    { length: lines },
    (_, at) => `Line ${at} of report ${number}: nothing was lost, and ${(number * at) % 997} was counted.`,
  ).join("\n");
}

/** Rows of a table, as JSON. */
export function table(number, rows) {
  const all = Array.from({ length: rows }, (_, id) => ({
    id,
    report: number,
    city: `city ${id % 50}`,
    amount: (number + id) % 1009,
  }));
  return JSON.stringify({ rows: all });
}

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Bytes of each of the pictures that one call returns. */
export const PICTURE_BYTES = 2500;

/** The pictures that a call with this number returns. */
export const pictures = (number, count) =>
  Array.from({ length: count }, (_, at) => picture(number * 100 + at, PICTURE_BYTES + 37 * at));
