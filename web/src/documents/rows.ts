/**
 * The cells of a sheet as CSV (RFC 4180, with `\n` for line ends): one record a row, that begins with the number of the row. Rows without
 * a cell are left out.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { csvCellPieces } from "../query/csv-cells.js";
import { columnName, MAX_COLUMNS, MAX_ROWS, parseRange, type CellRange } from "./cell-range.js";
import type { TextSink } from "./document.js";

/** Characters of a row that are written at once. */
const MAX_HELD = 64 * 1024;

/** How many first rows are known. */
const MAX_FIRST = 50;

/** Writes the rows of a sheet. */
export class RowWriter {
  /** Number of the row that was written last. */
  #row = 0;
  #columns = 0;
  /** Rows that wait for the line above them, which names as many columns as they have. */
  #waiting: string | undefined;
  /** The cells of the first rows, which charts have their names from. */
  readonly #first = new Map<number, ReadonlyMap<number, string>>();
  readonly #sink: TextSink;

  /** @param hasLetters whether the first line names the columns: `row,A,B`. Rows far down may be wider than it. */
  constructor(sink: TextSink, hasLetters: boolean) {
    this.#sink = sink;
    this.#waiting = hasLetters ? "" : undefined;
  }

  /** Number of the last row that was written, and of the last column of all rows. 0 without any. */
  get size(): readonly [rows: number, columns: number] {
    return [this.#row, this.#columns];
  }

  /**
   * Writes a row, if a cell of it has text.
   *
   * @param number from 1; one that is not above the last row's is taken for the next.
   * @param cells the texts of the cells that have one, by column from 0, in any order.
   */
  row(number: number, cells: ReadonlyMap<number, string>): void {
    let columns = 0;
    for (const [column, text] of cells)
      if (text !== "" && column < MAX_COLUMNS) columns = Math.max(columns, column + 1);
    if (columns === 0 || this.#row >= MAX_ROWS) return;
    this.#row = Math.max(number, this.#row + 1);
    this.#columns = Math.max(this.#columns, columns);
    if (this.#first.size < MAX_FIRST) this.#first.set(this.#row, cells);
    // Most rows are written at once: a sheet may have a thousand million cells, nearly all of them empty.
    let line = String(this.#row);
    for (let column = 0; column < columns; column++) {
      line += ",";
      const text = cells.get(column);
      if (text === undefined) continue;
      for (const piece of csvCellPieces(text)) line += piece;
      if (line.length < MAX_HELD) continue;
      this.#add(line);
      line = "";
    }
    this.#add(`${line}\n`);
  }

  /** The text of a cell of the first rows; undefined for others, and without text. Both count from 1. */
  find(row: number, column: number): string | undefined {
    return this.#first.get(row)?.get(column - 1);
  }

  /** Writes what waits. */
  end(): void {
    const rows = this.#waiting;
    this.#waiting = undefined;
    if (rows !== undefined && rows !== "") this.#sink.add(`${writeLetters(1, this.#columns)}\n${rows}`);
  }

  #add(text: string): void {
    if (this.#waiting === undefined) this.#sink.add(text);
    else {
      this.#waiting += text;
      if (this.#waiting.length > MAX_HELD) this.end();
    }
  }
}

/** The line above rows: `row,A,B`. */
export function writeLetters(first: number, last: number): string {
  let line = "row";
  for (let column = first; column <= last; column++) line += `,${columnName(column)}`;
  return line;
}

/** A sheet that can be chosen. */
export interface SheetName {
  readonly name: string;
  readonly isHidden: boolean;
}

/** A sheet that was asked for, and the part of it. */
export interface ChosenSheet {
  readonly index: number;
  /** Undefined for all of it. */
  readonly range?: CellRange;
}

/**
 * The sheet that is wanted: by its name; by its number from 1; by the name of a range or a table, which is a part of it; or as a single
 * cell of the first sheet that is not hidden, which is also what is taken by default.
 *
 * @param names ranges that have names, by these in lower case.
 * @throws SluiceError E_INVALID_ARGUMENT if there is none.
 */
export function chooseSheet(
  sheets: readonly SheetName[],
  wanted: string | undefined,
  names: ReadonlyMap<string, ChosenSheet>,
): ChosenSheet {
  const first = Math.max(
    0,
    sheets.findIndex(({ isHidden }) => !isHidden),
  );
  if (wanted === undefined) return { index: first };
  const folded = wanted.toLowerCase();
  const exact = sheets.findIndex(({ name }) => name === wanted);
  const index = exact === -1 ? sheets.findIndex(({ name }) => name.toLowerCase() === folded) : exact;
  if (index !== -1) return { index };
  const number = /^[0-9]{1,6}$/.test(wanted) ? Number(wanted) : 0;
  if (number >= 1 && number <= sheets.length) return { index: number - 1 };
  const named = names.get(folded);
  if (named !== undefined) return named;
  const range = parseRange(wanted);
  if (range !== undefined) return { index: first, range };
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    `There is no such sheet: use the name of one, or its number from 1 to ${sheets.length}, alone or with a range of cells as in "Sheet1!B2:D40". ` +
      listNames(sheets),
    { path: "sheet" },
  );
}

/** Most sheets that an error names. */
const MAX_NAMED = 20;

const MAX_NAME = 60;

function listNames(sheets: readonly SheetName[]): string {
  const names = sheets.slice(0, MAX_NAMED).map(({ name }) => JSON.stringify(name.slice(0, MAX_NAME)));
  return `The sheets are ${names.join(", ")}${sheets.length > MAX_NAMED ? " and more" : ""}.`;
}
