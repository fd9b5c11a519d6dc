/**
 * The `Range` header (RFC 9110 §14).
 * @module
 */
import type { Span } from "../artifacts/bytes.js";

const SINGLE = /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i;

/**
 * The bytes that are asked for.
 *
 * @returns null for the whole: no range, several ranges, or a header that says nothing; "unsatisfiable" where no byte of
 * the range is there.
 */
export function requestedSpan(header: string | null, size: number): Span | "unsatisfiable" | null {
  const [, first = "", last = ""] = (header === null ? null : SINGLE.exec(header)) ?? [];
  if (first === "" && last === "") return null;
  if (first === "") return satisfiable(Math.max(0, size - Number(last)), size);
  const start = Number(first);
  const end = last === "" ? Number.POSITIVE_INFINITY : Number(last) + 1;
  return last !== "" && end <= start ? null : satisfiable(start, Math.min(end, size));
}

function satisfiable(start: number, end: number): Span | "unsatisfiable" {
  return start < end ? { start, end } : "unsatisfiable";
}
