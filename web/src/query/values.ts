/**
 * Values of cells: compared, told apart, measured, and given out.
 * @module
 */

/**
 * Compares values for ORDER BY, MIN and MAX: NULL, then truth values and numbers, then text, then objects. The order is total,
 * as SQLite's is.
 */
export function compareValues(a: unknown, b: unknown): number {
  if (a === b) return 0;
  const first = comparable(a);
  const second = comparable(b);
  const rankOfA = rankOf(first);
  const rankOfB = rankOf(second);
  if (rankOfA !== rankOfB) return rankOfA - rankOfB;
  if (rankOfA === 0) return 0;
  const [left, right] =
    rankOfA === OBJECT ? [String(keyOf([a])), String(keyOf([b]))] : [first as number, second as number];
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

const TEXT = 2;
const OBJECT = 3;

function rankOf(value: unknown): number {
  if (value == null) return 0;
  if (typeof value === "object") return OBJECT;
  return typeof value === "string" ? TEXT : 1;
}

/** What two lists of values have in common when they are the same group: a key of a Map. */
export function keyOf(values: readonly unknown[]): unknown {
  if (values.length === 1 && typeof values[0] !== "object") return values[0] ?? null;
  return JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? `\u0000${value}` : value));
}

/**
 * A value without the text that it was cut out of: engines keep all of a text as long as a part of it is used, so that one cell of
 * each piece would keep the whole file.
 */
export function owned(value: unknown): unknown {
  return typeof value === "string" && value.length > 12 ? ` ${value}`.slice(1) : value;
}

/** About how many bytes a value takes in memory. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return 24 + 2 * value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 32;
  for (const [key, part] of Object.entries(value)) size += 16 + key.length + sizeOf(part);
  return size;
}

/** A value as JSON can say it: whole numbers that a number cannot hold are text, and what is no number is null. */
export function plain(value: unknown): unknown {
  if (value === undefined) return null;
  // Whoever keeps the rows of an answer would keep all that was read with them.
  if (typeof value === "string") return owned(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return fitting(value, String);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.some((part) => plain(part) !== part) ? value.map(plain) : value;
  return value;
}

/** A whole number as number if it fits. */
export function fitting<T>(value: bigint, otherwise: (value: bigint) => T): number | T {
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
  return isSafe ? Number(value) : otherwise(value);
}

const WHOLE = /^-?\d{1,1000}$/;

/** Longest text that is no number for its digits alone. */
const SHORT = 15;

const LONG_NUMBER = /^-?(?:0|[1-9]\d{0,999})(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/;

/**
 * What a value is compared and computed as. Tables give numbers of more digits than a number holds as text, so that they stay
 * what they are: whole ones are bigints here, others the number that is nearest. Any other value is itself.
 */
export function comparable(value: unknown): unknown {
  if (typeof value !== "string" || value.length <= SHORT || value.length > 2100) return value;
  const first = value.charCodeAt(0);
  if (((first < 0x30 || first > 0x39) && first !== 0x2d) || !LONG_NUMBER.test(value)) return value;
  if (WHOLE.test(value)) return BigInt(value);
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/** A value as text: JSON for an object or array. */
export function textOf(value: unknown): string {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return String(value);
}

/** The number in a value, or undefined. Text with whole numbers of more than 15 digits stays exact. */
export function numberIn(value: unknown): number | bigint | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "bigint") return value;
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "string" || value.trim() === "") return undefined;
  if (value.length > 15 && WHOLE.test(value)) return BigInt(value);
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Longest pattern of LIKE, and longest text that is looked for, in characters: it bounds the time that one text takes. */
export const MAX_PATTERN = 500;

/**
 * What tells whether a text is like a pattern: `%` stands for any characters, `_` for one, in upper or lower case. Takes time
 * in proportion to the text times the pattern at most, whatever they are, where a regular expression may take forever. `check` is called every now and then, and may throw.
 */
export function likeTest(pattern: string, check: () => void = () => undefined): (text: string) => boolean {
  const wanted = pattern.toLowerCase();
  const inner = wanted.replace(/^%+/, "").replace(/%+$/, "");
  if (/[%_]/.test(inner)) {
    const signs = Array.from(wanted);
    return (text) => matches(Array.from(text.toLowerCase()), signs, check);
  }
  const starts = wanted.startsWith("%");
  const ends = wanted.endsWith("%");
  if (starts && ends) return (text) => text.toLowerCase().includes(inner);
  if (starts) return (text) => text.toLowerCase().endsWith(inner);
  return ends ? (text) => text.toLowerCase().startsWith(inner) : (text) => text.toLowerCase() === inner;
}

/** Characters that are compared between two looks at the clock. */
const BETWEEN_CHECKS = 1024 * 1024;

function matches(text: readonly string[], wanted: readonly string[], check: () => void): boolean {
  let left = BETWEEN_CHECKS;
  let at = 0;
  let next = 0;
  // Where to go on if what follows the last % does not fit here: only that one matters.
  let star = -1;
  let from = 0;
  while (at < text.length) {
    if ((left -= 1) === 0) {
      check();
      left = BETWEEN_CHECKS;
    }
    const sign = wanted[next];
    if (sign === "%") {
      star = next;
      from = at;
      next += 1;
    } else if (sign === "_" || (sign !== undefined && sign === text[at])) {
      at += 1;
      next += 1;
    } else if (star >= 0) {
      next = star + 1;
      from += 1;
      at = from;
    } else return false;
  }
  while (wanted[next] === "%") next += 1;
  return next === wanted.length;
}
