/**
 * Encoded bytes in what a client was sent.
 * @module
 */

/** As long as this, and it is nobody's name, hash or path. */
const RUN = 200;

const SHAPES: readonly RegExp[] = [
  // Hex is written with letters of base64 too.
  new RegExp(`[A-Za-z0-9+/_-]{${RUN},}`),
  // Wrapped, at whatever nesting.
  /(?:[A-Za-z0-9+/]{48,}(?:\\*[rn]|\s)+){4,}/,
  new RegExp(`(?:\\\\+x[0-9A-Fa-f]{2}){${RUN / 4},}`),
  // A list of byte values as text.
  new RegExp(`(?:\\b(?:1?\\d?\\d|2[0-4]\\d|25[0-5])\\b\\s*,\\s*){${RUN / 2},}`),
];

/** The places (JSON Pointer) of strings and lists that hold encoded bytes. */
export function leaksIn(value: unknown, at = ""): readonly string[] {
  if (typeof value === "string") return SHAPES.some((shape) => shape.test(value)) ? [at] : [];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value) && value.length >= RUN / 2 && value.every(isByte)) return [at];
  return Object.entries(value).flatMap(([name, each]) => leaksIn(each, `${at}/${name}`));
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
