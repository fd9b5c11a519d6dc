/**
 * `--range A-B`: bytes from A to B, both included, as in HTTP (RFC 9110 §14.1.2).
 * @module
 */
import type { ByteRange } from "../artifacts/store.js";
import { CommandError, Exit, UsageError } from "./exit.js";

/** A range as written: `first-last`, `first-`, or `-suffix` (the last so many bytes). */
export type RangeSpec = { readonly first: number; readonly last: number | undefined } | { readonly suffix: number };

/** Reads `0-99`, `100-` or `-50`. Throws UsageError. */
export function parseRange(text: string, command: string): RangeSpec {
  const parts = /^(\d{0,15})-(\d{0,15})$/.exec(text);
  const [, a = "", b = ""] = parts ?? [];
  if (parts === null || (a === "" && b === "")) {
    throw new UsageError(
      `--range takes bytes as in HTTP: 0-99 is the first hundred, 100- the rest, -50 the last fifty; got ${JSON.stringify(text)}`,
      command,
    );
  }
  if (a === "") return { suffix: Number(b) };
  if (b !== "" && Number(b) < Number(a)) {
    throw new UsageError(`--range ${text} ends before it begins; write ${b}-${a}`, command);
  }
  return { first: Number(a), last: b === "" ? undefined : Number(b) };
}

/** The half-open range of an artifact of `size` bytes. Throws CommandError when it holds no byte. */
export function resolveRange(spec: RangeSpec, size: number): Required<ByteRange> {
  const start = "suffix" in spec ? Math.max(0, size - spec.suffix) : spec.first;
  const end = "suffix" in spec || spec.last === undefined ? size : Math.min(size, spec.last + 1);
  if (start >= end) {
    throw new CommandError(
      Exit.failure,
      `the range holds no byte: the artifact has ${size} bytes, 0-${Math.max(0, size - 1)}`,
    );
  }
  return { start, end };
}
