/**
 * Bytes as callers give them and ask for them: checked, as chunks and streams, and in ranges. A store takes a range from the first
 * byte to the one behind the last; people and HTTP write the last one itself (RFC 9110 §14.1.2).
 * @module
 */
import { isBytes, noBytes, wrong } from "../errors/arguments.js";
import { SluiceError } from "../errors/error.js";
import type { ByteRange } from "./store.js";

/**
 * The bytes that were given.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything but a Uint8Array, with `name` as its path.
 */
export function checkBytes(data: unknown, name: "data" | "chunk"): Uint8Array {
  if (isBytes(data)) return data;
  throw noBytes(name);
}

/**
 * A text as UTF-8.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for anything but a string.
 */
export function encodeText(text: unknown): Uint8Array {
  if (typeof text === "string") return new TextEncoder().encode(text);
  throw wrong("text", "a string; use putBytes for bytes");
}

/** What may be uploaded; chunks of a stream may have any size, and are not held. */
export type Uploaded = Uint8Array | string | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** The chunks of an upload, of a text its UTF-8. Throws E_INVALID_ARGUMENT at once for what is none. */
export function toChunks(data: Uploaded): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  if (typeof data === "string") return [new TextEncoder().encode(data)];
  if (isBytes(data)) return [data];
  if (data instanceof ReadableStream) return iterateStream(data);
  if (isIterable(data)) return data;
  throw wrong("data", "a Uint8Array, a string, or a stream of Uint8Arrays");
}

function isIterable(data: unknown): boolean {
  return typeof data === "object" && data !== null && (Symbol.asyncIterator in data || Symbol.iterator in data);
}

/** Not every browser can iterate over a stream. */
async function* iterateStream(data: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = data.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const PIECE = 64 * 1024;

/** A stream of copies, in pieces, so that a reader can neither change the source nor hold it whole. */
export function toStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        if (at < bytes.byteLength) controller.enqueue(bytes.slice(at, (at += PIECE)));
        if (at >= bytes.byteLength) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A range within a size: `0 <= start <= end <= size`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts a range to what there is: past the end it is empty, never an error.
 *
 * @throws SluiceError E_INVALID_ARGUMENT when an end is negative, not an integer, or before the start.
 */
export function toSpan(range: ByteRange | undefined, size: number): Span {
  const start = range?.start ?? 0;
  const end = range?.end ?? Math.max(size, start);
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      "A byte range is two whole numbers, 0 <= start <= end; the byte at end is not included.",
      { path: "range" },
    );
  }
  return { start: Math.min(start, size), end: Math.min(end, size) };
}

/** A range as it was written: `last` counts and is left out for the end; `suffix` is the last so many bytes. */
export type WrittenRange = { readonly first: number; readonly last: number | undefined } | { readonly suffix: number };

/** Reads `0-99`, `100-` or `-50`. Gives "backwards" for what ends before it begins, undefined for any other text. */
export function readRange(text: string): WrittenRange | "backwards" | undefined {
  const [, first = "", last = ""] = /^(\d*)-(\d*)$/.exec(text) ?? [];
  if (first === "") return last === "" ? undefined : { suffix: Number(last) };
  if (last === "") return { first: Number(first), last: undefined };
  return Number(last) < Number(first) ? "backwards" : { first: Number(first), last: Number(last) };
}

/** What of a range is there in so many bytes; null where no byte is. */
export function resolveRange(range: WrittenRange, size: number): Span | null {
  const start = "suffix" in range ? Math.max(0, size - range.suffix) : range.first;
  const end = "suffix" in range || range.last === undefined ? size : Math.min(size, range.last + 1);
  return start < end ? { start, end } : null;
}

/** Concatenates pieces. A single piece is returned as it is. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, ...more] = pieces;
  if (first !== undefined && more.length === 0) return first;
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

// A multiple of three, so that only the last piece is padded, and few enough for one call's arguments.
const BASE64_PIECE = 24 * 1024;

/** Base64 with padding (RFC 4648 §4), in any runtime. */
export function encodeBase64(bytes: Uint8Array): string {
  let encoded = "";
  for (let at = 0; at < bytes.length; at += BASE64_PIECE) {
    encoded += btoa(String.fromCharCode(...bytes.subarray(at, at + BASE64_PIECE)));
  }
  return encoded;
}
