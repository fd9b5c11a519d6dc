/**
 * Values of typed columns as cells of CSV, and what is told of such a table: of Parquet, Arrow and Avro.
 * @module
 */
import { countNoun } from "../core/amounts.js";
import { csvCell } from "../query/csv-cells.js";
import { type FactsBuilder, MAX_NAMES } from "./document.js";

/** A column of a table. */
export interface Column {
  readonly name: string;
  /** What its format calls its type. */
  readonly type: string;
}

/** Rows that are written between pauses. */
export const ROWS_PER_STEP = 20_000;

/** Notes the columns of a table with their types, and how many rows it has. */
export function describeTable(facts: FactsBuilder, rows: number | bigint, columns: readonly Column[]): void {
  facts.total = columns.length;
  columns.slice(0, MAX_NAMES).forEach(({ name, type }, at) => {
    facts.name(name);
    facts.about(at + 1, type);
  });
  facts.notice(`It has ${countNoun(Number(rows), "row")}.`);
}

/** One line of CSV. */
export function writeRow(values: readonly unknown[]): string {
  return `${values.map((value) => csvCell(writeCell(value))).join(",")}\n`;
}

/** The text of a value: whole numbers exact, bytes as `0x…`, what has parts as JSON. */
export function writeCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (value instanceof Uint8Array) return writeHex(value);
  return JSON.stringify(value, replaceInner).replace(/^"(-?\d+)"$/, "$1");
}

/** JSON has neither whole numbers of 64 bits, nor bytes. */
function replaceInner(_: string, inner: unknown): unknown {
  if (typeof inner === "bigint") return String(inner);
  return inner instanceof Uint8Array ? writeHex(inner) : inner;
}

function writeHex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** A number of 32 bits with the fewest digits that tell it from others: 0.1, not 0.10000000149011612. */
export function shortenFloat(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

const DAY_SECONDS = 86_400n;

/** A day as `2026-01-31`, from days since 1970-01-01. Days that no calendar has are their number. */
export function writeDay(days: number | bigint): string {
  const date = new Date(Number(days) * 86_400_000);
  return Number.isNaN(date.getTime()) ? String(days) : date.toISOString().replace(/T.*$/, "");
}

/** A time of day as `12:30:00`, with a fraction if there is one, from units since midnight. */
export function writeTime(count: bigint, perSecond: bigint): string {
  const [seconds, rest] = divideDown(count, perSecond);
  const [hours, minutes] = [seconds / 3600n, (seconds / 60n) % 60n];
  return `${[hours, minutes, seconds % 60n].map((part) => String(part).padStart(2, "0")).join(":")}${writeFraction(rest, perSecond)}`;
}

/** A moment as `2026-01-31T12:30:00.000Z`, from units since 1970-01-01: without `Z` if it has no time zone. */
export function writeInstant(count: bigint, perSecond: bigint, hasZone: boolean): string {
  const [seconds, rest] = divideDown(count, perSecond);
  const [days, second] = divideDown(seconds, DAY_SECONDS);
  const fraction = writeFraction(rest, perSecond) || ".000";
  return `${writeDay(days)}T${writeTime(second, 1n)}${fraction}${hasZone ? "Z" : ""}`;
}

/** `.500`, `.000001`: three, six or nine digits, and nothing for none. */
function writeFraction(rest: bigint, perSecond: bigint): string {
  if (rest === 0n) return "";
  const digits = String(rest).padStart(String(perSecond).length - 1, "0");
  return `.${digits.replace(/(?:000)+$/, "")}`;
}

function divideDown(count: bigint, unit: bigint): readonly [whole: bigint, rest: bigint] {
  const rest = ((count % unit) + unit) % unit;
  return [(count - rest) / unit, rest];
}

/** Most digits behind the point. */
const MAX_SCALE = 100;

/** A decimal number, exact. */
export function writeDecimal(unscaled: bigint, scale: number): string {
  if (scale <= 0 || scale > MAX_SCALE) return scale === 0 ? String(unscaled) : `${unscaled}e${-scale}`;
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
