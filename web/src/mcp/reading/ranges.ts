/**
 * Ranges as they are asked for: the last one is included, as in HTTP (RFC 9110 §14.1.2).
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { quoted } from "./untrusted.js";

/** A half-open range of bytes. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Bytes as asked for: from 0; `last` undefined means to the end. Or the last so many. */
export type ByteSpec = { readonly first: number; readonly last: number | undefined } | { readonly suffix: number };

/** Lines or rows as asked for: from 1; `last` may be Infinity. */
export interface RecordSpec {
  readonly first: number;
  readonly last: number;
}

/** Reads `0-1023`, `100-` or `-50`. Throws E_INVALID_ARGUMENT. */
export function parseBytes(text: string): ByteSpec {
  const [, a = "", b = ""] = /^\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/.exec(text) ?? [];
  if (a === "" && b === "")
    throw noRange("bytes", text, '"0-1023" is the first 1,024, "100-" the rest, "-50" the last 50');
  if (a === "") return { suffix: Number(b) };
  if (b !== "" && Number(b) < Number(a)) throw backwards("bytes", text);
  return { first: Number(a), last: b === "" ? undefined : Number(b) };
}

/** Reads `1-50`, `51-` or `7`, counted from 1. Throws E_INVALID_ARGUMENT. */
export function parseRecords(name: "lines" | "rows", text: string): RecordSpec {
  const [, a = "", dash = "", b = ""] = /^\s*(\d{1,15})\s*(-?)\s*(\d{0,15})\s*$/.exec(text) ?? [];
  const first = Number(a);
  if (a === "" || first === 0 || (dash === "" && b !== "")) {
    throw noRange(
      name,
      text,
      `"1-50" is the first 50, counted from 1, "51-" what follows; the end is in bytes "-4096"`,
    );
  }
  const last = dash === "" ? first : b === "" ? Infinity : Number(b);
  if (last < first) throw backwards(name, text);
  return { first, last };
}

/** The bytes that are meant of so many. Throws E_INVALID_ARGUMENT when there are none. */
export function spanIn(spec: ByteSpec, size: number): Span {
  const start = "suffix" in spec ? Math.max(0, size - spec.suffix) : spec.first;
  const end = "suffix" in spec || spec.last === undefined ? size : Math.min(size, spec.last + 1);
  if (start < end) return { start, end };
  const there = size === 0 ? "is empty" : `has ${size} bytes: ask for bytes within "0-${size - 1}"`;
  throw new SluiceError("E_INVALID_ARGUMENT", `The range holds no byte. The artifact ${there}.`, { path: "bytes" });
}

function noRange(name: string, text: string, examples: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} ${quoted(text)} is no range: ${examples}.`, { path: name });
}

function backwards(name: string, text: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} ${quoted(text)} ends before it begins: turn it round.`, {
    path: name,
  });
}
