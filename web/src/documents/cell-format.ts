/**
 * What a cell with a number shows, by its format; and the value that is computed with.
 *
 * numfmt renders formats, with the separators of English whatever language they name, so that all numbers of a workbook are written alike.
 * Dates with day, month and year are ISO 8601: what the usual formats show depends on where a person sits, and `3/4/2024` may be two
 * days. What shows less than a date (`July 2023`, `Sunday`), times and durations are as the format shows them.
 * @module
 */
import { format, formatColor, getFormatFromId, isValidFormat, tokenize } from "numfmt";

/** What a format shows: a number, a day, both day and time, a time, a part of a date, or hours that may be more than a day. */
export type NumberKind = "general" | "number" | "date" | "datetime" | "time" | "part" | "span";

/** Longest code of a format: Excel's is 255. */
const MAX_CODE = 255;

/** Longest text that a format is asked about. */
const MAX_FORMATTED_TEXT = 1000;

const OPTIONS = { throws: false, invalid: "", dateErrorNumber: true } as const;

/** A format of cells. */
export class CellFormat {
  readonly kind: NumberKind;
  readonly #code: string;
  readonly #changesText: boolean;

  /** A code that cannot be read, or is too long, is General. */
  constructor(code: string) {
    const known = code.length <= MAX_CODE && code !== "" && isValidFormat(code) ? code : "General";
    this.kind = detectKind(known);
    this.#code = this.kind === "number" ? withoutLanguage(known) : known;
    this.#changesText = /@./.test(known) || known.split(";").length > 3;
  }

  /** What a number shows. Numbers that are no dates, in a format of dates, are as they are. */
  showNumber(number: string, is1904: boolean): string {
    const value = Number(number);
    if (number === "" || !Number.isFinite(value)) return number;
    const { kind } = this;
    if (kind === "general") return showGeneral(value);
    if (kind === "number") return this.#showSigned(value);
    if (kind !== "span" && !isDate(value, is1904)) return showGeneral(value);
    if (kind === "date" || kind === "datetime") return writeDate(value, kind, is1904);
    return this.#render(is1904 && kind === "part" ? value + DAYS_TO_1904 : value);
  }

  /** What a text shows: most formats change none. */
  showText(text: string): string {
    if (!this.#changesText || text.length > MAX_FORMATTED_TEXT) return text;
    const shown = this.#render(text);
    // Formats of accounts put spaces around texts, too.
    return shown === joinSpaces(text) ? text : shown;
  }

  /** The value of a number: ISO 8601 for dates and times, a number for all else. Durations are numbers of days. */
  exactNumber(number: string, is1904: boolean): string {
    const value = Number(number);
    if (number === "" || !Number.isFinite(value)) return number;
    const { kind } = this;
    if (kind === "general" || kind === "number" || kind === "span" || !isDate(value, is1904)) return writeExact(value);
    if (kind === "time" && value < 1) return writeDate(value, kind, is1904);
    return writeDate(value, kind !== "datetime" && isWhole(value) ? "date" : "datetime", is1904);
  }

  /** Where only a colour tells that a number is negative, it gets a sign. */
  #showSigned(value: number): string {
    // A fraction that is rounded to one is in the whole number already, and numfmt writes it, too.
    const shown = this.#render(value).replace(/(?<=[0-9]) ([1-9][0-9]*)\/\1$/, "");
    if (value >= 0 || !/[1-9]/.test(shown) || /[-−(]/.test(shown)) return shown;
    return formatColor(this.#code, value, { throws: false }) === undefined ? shown : `-${shown}`;
  }

  /** Without the spaces by which numbers stand one below the other. */
  #render(value: number | string): string {
    return joinSpaces(format(this.#code, value, OPTIONS));
  }
}

function joinSpaces(text: string): string {
  return text.trim().replaceAll(/ {2,}/g, " ");
}

/** The format of cells that have none. */
export const GENERAL: CellFormat = new CellFormat("General");

/** The formats of a workbook by their codes. Each is read once, when a cell has it. */
export class CellFormats {
  readonly #formats = new Map<string, CellFormat>();

  /** Of more codes than any workbook has, those that come late are General. */
  get(code: string | undefined): CellFormat {
    if (code === undefined) return GENERAL;
    const known = this.#formats.get(code);
    if (known !== undefined) return known;
    const read = this.#formats.size < MAX_CODES ? new CellFormat(code) : GENERAL;
    this.#formats.set(code, read);
    return read;
  }
}

/** Most codes that are read of a workbook: Excel has 250. */
const MAX_CODES = 10_000;

/** The kind that the first section of a code has: that of positive numbers. */
function detectKind(code: string): NumberKind {
  const tokens = tokenize(code);
  const end = tokens.findIndex(({ type }) => type === "BREAK");
  const section = end === -1 ? tokens : tokens.slice(0, end);
  if (section.some(({ type }) => type === "DURATION")) return "span";
  const parts = section.filter(({ type }) => type === "DATETIME").map(({ value }) => value.toLowerCase());
  if (parts.length === 0)
    return /^(?:general|@)$/i.test(section.map(({ value }) => value).join("")) ? "general" : "number";
  const isMonth = (part: string, at: number): boolean =>
    part.startsWith("m") && parts[at - 1]?.startsWith("h") !== true && parts[at + 1]?.startsWith("s") !== true;
  const hasTime = parts.some((part) => /^[hs]/.test(part));
  const hasMonth = parts.some(isMonth);
  const hasYear = parts.some((part) => /^[yeb]/.test(part));
  const hasDay = parts.some((part) => /^d{1,2}$/.test(part));
  if (hasYear && hasMonth && hasDay) return hasTime ? "datetime" : "date";
  return hasYear || hasMonth || hasDay || parts.some((part) => part.startsWith("d")) ? "part" : "time";
}

/** Without the language of `[$€-407]`: it would change the separators. */
function withoutLanguage(code: string): string {
  return code.replaceAll(/"[^"]*"|\\.|\[\$([^\]-]*)-[^\]]*\]/gs, (whole, symbol: string | undefined) => {
    if (symbol === undefined) return whole;
    return symbol === "" ? "" : `[$${symbol}]`;
  });
}

/** Digits that Excel calculates with. */
const DIGITS = 15;

/** From here on, whole numbers have more digits than that. */
const MANY = 1e15;

/** A number in the format General, in a column that is wide enough. */
function showGeneral(value: number): string {
  const rounded = Number(value.toPrecision(DIGITS));
  const size = Math.abs(rounded);
  if (size < MANY && (size >= 1e-6 || size === 0)) return String(rounded);
  return rounded
    .toExponential()
    .replace(/e([+-])(\d+)$/, (_, sign: string, digits: string) => `E${sign}${digits.padStart(2, "0")}`);
}

/** A number as JSON writes it, so that it is one for a query, too. */
function writeExact(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) >= MANY) return Number(value.toPrecision(DIGITS)).toExponential();
  return String(value);
}

const DAY_MILLISECONDS = 86_400_000;

/** 9999-12-31, the last day of a workbook. */
const LAST_DAY = 2_958_465;

/** Days from the one beginning to the other. */
const DAYS_TO_1904 = 1462;

/** Milliseconds are what the fraction of a double still tells. */
function toMilliseconds(value: number): number {
  return Math.round(value * DAY_MILLISECONDS);
}

function isWhole(value: number): boolean {
  return toMilliseconds(value) % DAY_MILLISECONDS === 0;
}

/** Whether a number is a date that there can be: not negative, and not beyond the year 9999. */
function isDate(value: number, is1904: boolean): boolean {
  const last = is1904 ? LAST_DAY - DAYS_TO_1904 : LAST_DAY;
  return value >= 0 && toMilliseconds(value) < (last + 1) * DAY_MILLISECONDS;
}

/**
 * A date in ISO 8601.
 *
 * @param is1904 whether day 0 is 1904-01-01. Otherwise day 1 is 1900-01-01, day 60 is 1900-02-29, which never was, and day 0 is none.
 */
function writeDate(value: number, kind: "date" | "datetime" | "time", is1904: boolean): string {
  const milliseconds = toMilliseconds(value);
  const day = Math.floor(milliseconds / DAY_MILLISECONDS);
  const clock = writeClock(milliseconds - day * DAY_MILLISECONDS);
  if (kind === "time") return clock;
  if (day === 0 && !is1904) return kind === "datetime" && milliseconds > 0 ? clock : writeExact(value);
  const date = writeDay(day, is1904);
  return kind === "date" ? date : `${date}T${clock}`;
}

function writeDay(day: number, is1904: boolean): string {
  if (!is1904 && day === 60) return "1900-02-29";
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  return new Date(first + day * DAY_MILLISECONDS).toISOString().slice(0, 10);
}

/** `12:30:00`, with milliseconds only where there are some. */
function writeClock(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, "");
}

/** The code of a format that comes with every program, by its number. Undefined for General, and for a number that none has. */
export function findUsualCode(id: number): string | undefined {
  return id > 0 && id <= MAX_USUAL ? getFormatFromId(id) : undefined;
}

/** The last of them. */
const MAX_USUAL = 81;
