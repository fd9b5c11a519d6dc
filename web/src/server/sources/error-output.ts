/**
 * What programs write to their standard error, for the host's log.
 * @module
 */
import { ToolNodeError } from "../../tools/errors.js";

/** Bytes of one piece that are told. */
const MAX_BYTES = 2000;

/** Pieces told in a while: a program may write for ever. */
const MAX_PIECES = 20;

/** The while, in milliseconds. */
const WHILE = 10_000;

/** What moves the cursor of whoever reads a log, or hides what stands there. */
const HIDDEN = /(?!\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Reports what a source writes, shortened, and no more of it than anybody reads. */
export function reportedOutput(source: string, report: (error: unknown) => void): (chunk: Uint8Array) => void {
  let [since, told] = [0, 0];
  return (chunk) => {
    const now = performance.now();
    if (now - since > WHILE || since === 0) [since, told] = [now, 0];
    told += 1;
    if (told > MAX_PIECES) return;
    const text = new TextDecoder().decode(chunk.subarray(0, MAX_BYTES)).replaceAll(HIDDEN, "").trim();
    if (text !== "") report(new ToolNodeError(`The source ${source} writes to its standard error: ${text}`));
  };
}
