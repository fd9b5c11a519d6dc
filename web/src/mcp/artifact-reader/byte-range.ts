/**
 * Reads a range of bytes: as text if it is text, else as a hex dump.
 * @module
 */
import type { Span, WrittenRange } from "../../artifacts/bytes.js";
import { countNoun, groupDigits } from "../../core/amounts.js";
import { prefixWithin, jsonChars, type AnswerParts } from "./answer.js";
import { artifactUri } from "./definition.js";
import { spanIn } from "./request.js";
import { readSpan, type Readable } from "./source.js";

/** Most bytes in a hex dump. */
const MAX_HEX_BYTES = 4096;

/** Most bytes of one character. */
const CHARACTER = 4;

/** Answers with a range in at most `most` characters. Throws E_INVALID_ARGUMENT if the range is empty. */
export async function tellBytes(from: Readable, spec: WrittenRange, most: number): Promise<AnswerParts> {
  const { size_bytes: size } = from.ref;
  const span = spanIn(spec, size);
  const read = { start: span.start, end: Math.min(span.end, span.start + CHARACTER * most + CHARACTER) };
  const bytes = await readSpan(from, read);
  return answerAsText(from, span, bytes, most) ?? answerAsHex(from, span, bytes, most);
}

/** Undefined if the bytes are not text. */
function answerAsText(from: Readable, span: Span, bytes: Uint8Array, most: number): AnswerParts | undefined {
  const { size_bytes: size } = from.ref;
  const skipped = span.start === 0 ? 0 : continuationsAt(bytes);
  const isOpen = span.start + bytes.length < size;
  const text = decodeUtf8(bytes.subarray(skipped, bytes.length - (isOpen ? countUnfinished(bytes) : 0)));
  const shown = text === undefined ? "" : prefixWithin(text, most).text;
  if (shown === "") return undefined;
  const start = span.start + skipped;
  const end = start + new TextEncoder().encode(shown).length;
  return {
    head: writeHead(from, { start, end }, "as text"),
    data: shown,
    notes: [
      ...(skipped > 0 ? [`Left out before it: ${countNoun(skipped, "byte")} of a character that starts earlier.`] : []),
      ...moreNotes(end, span),
    ],
  };
}

function answerAsHex(from: Readable, span: Span, bytes: Uint8Array, most: number): AnswerParts {
  const { text, length } = hexDump(bytes.subarray(0, MAX_HEX_BYTES), span.start, most);
  const end = span.start + length;
  return { head: writeHead(from, { start: span.start, end }, "as hex"), data: text, notes: moreNotes(end, span) };
}

function writeHead(from: Readable, { start, end }: Span, form: string): string {
  const { id, size_bytes: size } = from.ref;
  return `${artifactUri(id)}, bytes ${start}-${end - 1} of ${groupDigits(size)}, ${form}`;
}

function moreNotes(end: number, span: Span): readonly string[] {
  return end < span.end ? [`More follows: read on with bytes "${end}-${span.end - 1}".`] : [];
}

/** Decodes bytes as UTF-8. Undefined if they are not UTF-8 or contain a zero byte. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Leading bytes that continue a character (RFC 3629 §3), at most three. */
function continuationsAt(bytes: Uint8Array): number {
  let count = 0;
  while (count < CHARACTER - 1 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}

/** Trailing bytes of an incomplete character. */
function countUnfinished(bytes: Uint8Array): number {
  for (let back = 1; back < CHARACTER && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

const PER_LINE = 16;
const NEWLINE_CHARS = 2;

/**
 * A hex dump in lines of 16 bytes like `hexdump -C`, in at most `most` characters but at least one line. `at` is the
 * offset of the first byte. Returns how many bytes it shows.
 */
function hexDump(bytes: Uint8Array, at: number, most: number): { readonly text: string; readonly length: number } {
  const lines: string[] = [];
  let left = most;
  let length = 0;
  for (; length < bytes.length; length += PER_LINE) {
    const line = writeLine(bytes.subarray(length, length + PER_LINE), at + length);
    left -= jsonChars(line) + (lines.length > 0 ? NEWLINE_CHARS : 0);
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  return { text: lines.join("\n"), length: Math.min(length, bytes.length) };
}

/** Printable ASCII of bytes, with a dot for every other byte. */
export function toAscii(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
}

function writeLine(bytes: Uint8Array, at: number): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${at.toString(16).padStart(8, "0")}  ${hex.padEnd(3 * PER_LINE - 1)}  |${toAscii(bytes)}|`;
}
