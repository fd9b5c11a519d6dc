/**
 * Bytes as hex, with where they stand and what can be read in them.
 * @module
 */
import { jsonChars } from "./json-chars.js";

const PER_LINE = 16;
const NEWLINE_CHARS = 2;

/**
 * Lines of 16 bytes, as `hexdump -C` writes them, in at most `most` characters but at least one line; `at` is the place
 * of the first byte. Gives how many bytes are in it.
 */
export function hexListing(
  bytes: Uint8Array,
  at: number,
  most: number,
): { readonly text: string; readonly length: number } {
  const lines: string[] = [];
  let left = most;
  let length = 0;
  for (; length < bytes.length; length += PER_LINE) {
    const line = lineOf(bytes.subarray(length, length + PER_LINE), at + length);
    left -= jsonChars(line) + (lines.length > 0 ? NEWLINE_CHARS : 0);
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  return { text: lines.join("\n"), length: Math.min(length, bytes.length) };
}

/** What can be seen of bytes: ASCII, and a dot for everything else. */
export function asciiOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
}

function lineOf(bytes: Uint8Array, at: number): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * PER_LINE - 1)}  |${asciiOf(bytes)}|`;
}
