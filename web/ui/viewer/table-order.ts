/**
 * Which rows of a table are shown, and in which order. It is worked out in parts, so that the page stays responsive at a million rows.
 * @module
 */
import { Pace } from "../pace.js";
import type { Table } from "./table.js";

/** How a table is sorted. */
export interface Sorting {
  /** The column, from 0. */
  readonly column: number;
  /** Whether its values are numbers. Those that are not follow the others as texts. */
  readonly isNumeric: boolean;
  /** Whether the greatest value comes first. Empty cells are the last either way. */
  readonly isDescending: boolean;
}

/** What is wanted of a table. */
export interface RowQuery {
  /** Undefined keeps the order of the file. */
  readonly sorting: Sorting | undefined;
  /** Rows with this text in a cell, in whatever case. Empty takes all. */
  readonly filter: string;
}

/** Rows between two looks at the clock. */
const STEP = 1024;
/** Rows that are sorted at once. */
const RUN = 2048;

/** The rows that are shown, in order; undefined for all as they are. Throws the signal's reason. */
export async function orderRows(
  table: Table,
  { sorting, filter }: RowQuery,
  signal: AbortSignal,
): Promise<Uint32Array | undefined> {
  if (sorting === undefined && filter === "") return undefined;
  const turns = new Turns(signal);
  const rows = await matching(table, filter, turns);
  return sorting === undefined ? rows : sortRows(table, rows, sorting, turns);
}

/** Gives the page its turn during long work, and ends the work with the signal. */
class Turns {
  readonly #pace = new Pace();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async next(): Promise<void> {
    await this.#pace.rest();
    this.#signal.throwIfAborted();
  }
}

async function matching(table: Table, filter: string, turns: Turns): Promise<Uint32Array> {
  // Without the case of letters, and without a copy of each cell.
  const pattern = new RegExp(filter.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), "i");
  const found = new Uint32Array(table.count);
  let count = 0;
  for (let index = 0; index < found.length; index += 1) {
    if (filter === "" || table.row(index).some((cell) => pattern.test(cell))) {
      found[count] = index;
      count += 1;
    }
    if (index % STEP === 0) await turns.next();
  }
  return found.slice(0, count);
}

async function sortRows(table: Table, rows: Uint32Array, sorting: Sorting, turns: Turns): Promise<Uint32Array> {
  const { column, isNumeric, isDescending } = sorting;
  const sign = isDescending ? -1 : 1;
  const textAt = (at: number): string => table.row(rows[at] as number)[column] ?? "";
  const numbers = new Float64Array(isNumeric ? rows.length : 0);
  const texts: string[] = [];
  // Numbers, or all texts; texts among numbers; empty cells.
  const groups = [new Group(rows.length), new Group(rows.length), new Group(rows.length)] as const;
  const [valued, other, empty] = groups;
  for (let at = 0; at < rows.length; at += 1) {
    const text = textAt(at);
    if (isNumeric) numbers[at] = parseNumber(text);
    else texts.push(text.toLowerCase());
    if (text === "") empty.add(at);
    else if (isNumeric && Number.isNaN(numbers[at])) other.add(at);
    else valued.add(at);
    if (at % STEP === 0) await turns.next();
  }
  const compareCells = (left: string, right: string): number => (left === right ? 0 : left < right ? -sign : sign);
  const byText = (a: number, b: number): number => compareCells(texts[a] as string, texts[b] as string) || a - b;
  const byNumber = (a: number, b: number): number => {
    const difference = (numbers[a] as number) - (numbers[b] as number);
    if (difference !== 0) return difference * sign;
    return Math.abs(numbers[a] as number) < EXACT ? a - b : exactly(textAt(a), textAt(b)) * sign || a - b;
  };
  const byOtherText = (a: number, b: number): number => compareCells(textAt(a), textAt(b)) || a - b;
  const order = new Uint32Array(rows.length);
  order.set(await mergeSorted(valued.all, isNumeric ? byNumber : byText, turns));
  order.set(await mergeSorted(other.all, byOtherText, turns), valued.count);
  order.set(empty.all, valued.count + other.count);
  for (let at = 0; at < order.length; at += 1) {
    order[at] = rows[order[at] as number] as number;
    if (at % STEP === 0) await turns.next();
  }
  return order;
}

/** Positions, in a buffer that does not have to grow. */
class Group {
  count = 0;
  readonly #buffer: Uint32Array;

  constructor(most: number) {
    this.#buffer = new Uint32Array(most);
  }

  get all(): Uint32Array {
    return this.#buffer.subarray(0, this.count);
  }

  add(position: number): void {
    this.#buffer[this.count] = position;
    this.count += 1;
  }
}

/** Numbers below it are exact as doubles. */
const EXACT = 1e15;

/** Compares numbers that are the same as doubles by their digits: identifiers are often longer than a double is exact. */
function exactly(left: string, right: string): number {
  if (left.length !== right.length || left === right) return 0;
  return left < right === left.startsWith("-") ? 1 : -1;
}

/** Sorts by merging short runs: `sort` itself would not give the page its turn. `compare` tells any two apart. */
async function mergeSorted(
  items: Uint32Array,
  compare: (a: number, b: number) => number,
  turns: Turns,
): Promise<Uint32Array> {
  for (let at = 0; at < items.length; at += RUN) {
    items.subarray(at, at + RUN).sort(compare);
    await turns.next();
  }
  let from: Uint32Array = items;
  let to: Uint32Array = new Uint32Array(items.length);
  for (let width = RUN; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width) {
      const middle = Math.min(start + width, items.length);
      const end = Math.min(start + 2 * width, items.length);
      let left = start;
      let right = middle;
      for (let out = start; out < end; out += 1) {
        const takesLeft = left < middle && (right >= end || compare(from[left] as number, from[right] as number) < 0);
        to[out] = from[takesLeft ? left++ : right++] as number;
        if (out % STEP === 0) await turns.next();
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Digits, in groups or not, with a sign, a currency or a per cent sign. Codes such as `007` are none. */
const NUMBER = /^[-+]?[$€£¥]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d+)?(?:e[-+]?\d{1,3})?%?$/i;

/** The number that a cell is; NaN if it is none. */
export function parseNumber(cell: string): number {
  const text = cell.trim();
  return NUMBER.test(text) && /\d/.test(text) ? Number(text.replaceAll(/[$€£¥,%]/g, "")) : Number.NaN;
}
