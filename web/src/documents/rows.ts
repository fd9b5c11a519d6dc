/**
 * Rows of a sheet as CSV (RFC 4180, with `\n` for line ends), with bounds for what is empty.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { csvCellPieces } from "../query/csv-cells.js";
import type { TextSink } from "./document.js";

/** Most columns of a sheet, in Excel. */
export const MAX_COLUMNS = 16_384;

/** Most rows of a sheet, in Excel and LibreOffice. */
export const MAX_ROWS = 1_048_576;

/** Most empty rows that follow each other in the text. */
const MAX_GAP = 10_000;

/** Most empty rows of a sheet in the text. */
const MAX_GAPS = 100_000;

/** Characters of a row that are written at once. */
const MAX_HELD = 64 * 1024;

/** Writes the rows of a sheet, so that the lines of its CSV have the numbers of the rows. */
export class RowWriter {
  /** Number of the row that was written last. */
  #row = 0;
  #gaps = 0;
  #shift = 0;
  readonly #sink: TextSink;
  readonly #sheet: string;

  constructor(sink: TextSink, sheet: string) {
    this.#sink = sink;
    this.#sheet = sheet;
  }

  /**
   * Writes a row. One without text is written once another one follows it.
   *
   * @param number from 1; one that is not above the last row's is taken for the next.
   * @param cells the texts of the cells that have one, by column from 0, in any order.
   */
  row(number: number, cells: ReadonlyMap<number, string>): void {
    let columns = 0;
    for (const [column, text] of cells)
      if (text !== "" && column < MAX_COLUMNS) columns = Math.max(columns, column + 1);
    if (columns === 0) return;
    this.#skipTo(Math.max(number, this.#row + 1));
    // Most rows are written at once: a sheet may have a thousand million cells, nearly all of them empty.
    let line = "";
    for (let column = 0; column < columns; column++) {
      if (column > 0) line += ",";
      const text = cells.get(column);
      if (text === undefined) continue;
      for (const piece of csvCellPieces(text)) line += piece;
      if (line.length < MAX_HELD) continue;
      this.#sink.add(line);
      line = "";
    }
    this.#sink.add(`${line}\n`);
  }

  /** Number of the row after the last that was written. */
  get next(): number {
    return this.#row + 1;
  }

  #skipTo(number: number): void {
    const gap = number - this.#row - 1;
    const isWritten = gap <= MAX_GAP && this.#gaps + gap <= MAX_GAPS;
    if (isWritten) {
      this.#gaps += gap;
      this.#sink.add("\n".repeat(gap));
    } else {
      this.#shift += gap;
      this.#sink.facts.notice(
        `Rows ${this.#row + 1} to ${number - 1} of the sheet ${JSON.stringify(this.#sheet.slice(0, 120))} are empty and left out: ` +
          `row ${number} is ${this.#shift} lines further up than its number.`,
      );
    }
    this.#row = number;
  }
}

/**
 * The sheet that is wanted, by its name, or else by its number from 1. Defaults to the first that is not hidden.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if there is none.
 */
export function sheetIndex(
  sheets: readonly { readonly name: string; readonly isHidden: boolean }[],
  wanted: string | undefined,
): number {
  if (wanted === undefined)
    return Math.max(
      0,
      sheets.findIndex(({ isHidden }) => !isHidden),
    );
  const exact = sheets.findIndex(({ name }) => name === wanted);
  if (exact !== -1) return exact;
  const alike = sheets.findIndex(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (alike !== -1) return alike;
  const number = /^[0-9]{1,6}$/.test(wanted) ? Number(wanted) : 0;
  if (number >= 1 && number <= sheets.length) return number - 1;
  throw new SluiceError(
    "E_INVALID_ARGUMENT",
    `There is no such sheet: use the name of one, or its number from 1 to ${sheets.length}. ${named(sheets)}`,
    { path: "sheet" },
  );
}

/** Most sheets that an error names. */
const MAX_NAMED = 20;

function named(sheets: readonly { readonly name: string }[]): string {
  const names = sheets.slice(0, MAX_NAMED).map(({ name }) => JSON.stringify(name.slice(0, MAX_NAME)));
  return `The sheets are ${names.join(", ")}${sheets.length > MAX_NAMED ? " and more" : ""}.`;
}

const MAX_NAME = 60;
