/**
 * Numbers of cells that are shown as dates and times: which formats do that, and what they show, as ISO 8601.
 * @module
 */

/** What a format shows: a day, a time of day, both, or a span of hours that may be more than a day. */
export type DateKind = "date" | "time" | "datetime" | "span";

/** The formats that come with every workbook, by number. From 27 to 36 and from 50 to 58 are dates of East Asia. */
export const USUAL_KINDS: ReadonlyMap<number, DateKind> = new Map<number, DateKind>([
  ...range(14, 17, "date"),
  ...range(18, 21, "time"),
  [22, "datetime"],
  ...range(27, 31, "date"),
  ...range(32, 33, "time"),
  ...range(34, 36, "date"),
  [45, "time"],
  [46, "span"],
  [47, "time"],
  ...range(50, 58, "date"),
]);

function range(first: number, last: number, kind: DateKind): [number, DateKind][] {
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, kind]);
}

/** What a format code shows; undefined for a number. Only the part for positive numbers counts. */
export function formatKind(code: string): DateKind | undefined {
  // Text in quotes, escaped characters, colours and languages show no date, whatever letters they have.
  const bare = code
    .slice(0, 1000)
    .replaceAll(/"[^"]*"?|[\\_*]./gs, "")
    .split(";", 1)[0]
    ?.toLowerCase();
  if (bare === undefined || bare.includes("general")) return undefined;
  if (/\[(?:h+|m+|s+)\]/.test(bare)) return "span";
  const letters = bare.replaceAll(/\[[^\]]*\]?|am\/pm|a\/p/g, "");
  const isTime = /[hs]/.test(letters);
  if (/[yd]/.test(letters)) return isTime ? "datetime" : "date";
  if (isTime) return "time";
  return letters.includes("m") ? "date" : undefined;
}

const DAY_SECONDS = 86_400;

/** 9999-12-31, the last day of a workbook. */
const LAST_DAY = 2_958_465;

/**
 * A number as the date or time that it is. The number itself where it is none: negative, or beyond the year 9999.
 *
 * @param is1904 whether day 0 is 1904-01-01. Otherwise day 1 is 1900-01-01, and day 60 is 1900-02-29, which never was.
 */
export function shownDate(number: string, kind: DateKind, is1904: boolean): string {
  const serial = Number(number);
  if (number === "" || !Number.isFinite(serial) || serial < 0) return number;
  // Milliseconds are what the fraction of a double still tells.
  const milliseconds = Math.round(serial * DAY_SECONDS * 1000);
  const day = Math.floor(milliseconds / (DAY_SECONDS * 1000));
  const rest = milliseconds - day * DAY_SECONDS * 1000;
  if (kind === "span") return clock(milliseconds, 1);
  const last = is1904 ? LAST_DAY - 1462 : LAST_DAY;
  if (day > last) return number;
  if (day === 0 && !is1904 && (kind === "time" || (kind === "datetime" && rest > 0))) return clock(rest, 2);
  if (day === 0 && kind === "time") return clock(rest, 2);
  if (day === 0 && !is1904) return number;
  const date = dayOf(day, is1904);
  return kind === "date" && rest === 0 ? date : `${date}T${clock(rest, 2)}`;
}

function dayOf(day: number, is1904: boolean): string {
  if (!is1904 && day === 60) return "1900-02-29";
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  return new Date(first + day * DAY_SECONDS * 1000).toISOString().slice(0, 10);
}

/** `12:30:00`, with milliseconds only where there are some. */
function clock(milliseconds: number, digits: number): string {
  const fraction = milliseconds % 1000;
  const seconds = Math.floor(milliseconds / 1000);
  const text = `${padded(Math.floor(seconds / 3600), digits)}:${padded(Math.floor(seconds / 60) % 60)}:${padded(seconds % 60)}`;
  return fraction === 0 ? text : `${text}.${padded(fraction, 3)}`;
}

function padded(value: number, length = 2): string {
  return String(value).padStart(length, "0");
}
