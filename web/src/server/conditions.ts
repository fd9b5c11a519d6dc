/**
 * Conditional requests (RFC 9110 §13). Artifacts have a strong entity tag and no date of change, so what compares dates
 * does not apply.
 * @module
 */

/** What the conditions of a request come to. */
export type Verdict = "proceed" | "not_modified" | "failed";

const TAG = /(W\/)?("[^"]*")/g;

/** Weighs `If-Match`, then `If-None-Match`, against a strong entity tag with its quotes. */
export function verdictOf(headers: Headers, tag: string): Verdict {
  const match = headers.get("if-match");
  if (match !== null && !names(match, tag, "strong")) return "failed";
  const noneMatch = headers.get("if-none-match");
  return noneMatch !== null && names(noneMatch, tag, "weak") ? "not_modified" : "proceed";
}

/** Whether a `Range` counts: without `If-Range` it does, with one only for these very bytes. */
export function rangeCounts(headers: Headers, tag: string): boolean {
  const condition = headers.get("if-range");
  return condition === null || condition.trim() === tag;
}

function names(list: string, tag: string, comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  for (const [, weak, named] of list.matchAll(TAG)) {
    if (named === tag && (weak === undefined || comparison === "weak")) return true;
  }
  return false;
}
