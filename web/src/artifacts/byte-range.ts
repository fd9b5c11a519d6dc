/**
 * Ranges of bytes: as callers of a store give them, from the first byte to the one behind the last; and as people and HTTP write
 * them, where the last one counts (RFC 9110 §14.1.2).
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ByteRange } from "./store.js";

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
export function spanOf(range: ByteRange | undefined, size: number): Span {
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
