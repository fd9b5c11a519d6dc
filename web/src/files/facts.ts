/**
 * What is worth knowing of a file beside its size, out of what the core says of its bytes (user storage §4.2).
 * @module
 */

/** Behind these words stands what somebody wrote, and no fact. */
const QUOTED = "untrusted file text:";

/** In the core's words, the most telling first. */
const TELLING = [
  /([\d,]+) rows?\b/,
  /\d+(?:,\d{3})* × \d+(?:,\d{3})*/,
  /[\d,]+ pages?\b/,
  /[\d,]+ (?:files?|entries|entry)\b/,
];

/** `5M rows`, `640 × 480`, `14 pages`; null for what says nothing of the kind. */
export function factsIn(description: unknown): string | null {
  if (typeof description !== "string") return null;
  const [computed = ""] = description.split(QUOTED, 1);
  for (const pattern of TELLING) {
    const found = pattern.exec(computed);
    if (found !== null) return found[1] === undefined ? found[0] : found[0].replace(found[1], rounded(found[1]));
  }
  return null;
}

/** `5M` for millions, with a decimal where it says something; fewer are told exactly. */
function rounded(digits: string): string {
  const number = Number(digits.replaceAll(",", ""));
  return number < 1_000_000 ? digits : `${Number((number / 1_000_000).toFixed(1))}M`;
}
