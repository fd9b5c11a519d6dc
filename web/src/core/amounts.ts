/**
 * Numbers and sizes as a person reads them.
 * @module
 */

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** `312 B`, `1.0 KB`, `2.1 MB`: powers of 1,024, one decimal from KB on, as in the core's descriptions. */
export function humanSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** `12,000`. */
export function groupDigits(number: number): string {
  return number.toLocaleString("en");
}

/** `1 line`, `12,000 lines`. */
export function countNoun(number: number, noun: string): string {
  return `${groupDigits(number)} ${noun}${number === 1 ? "" : "s"}`;
}
