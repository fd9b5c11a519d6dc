/**
 * Half-open ranges of bytes.
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
