/**
 * Cells of CSV: read of a record, with their places; read of text in pieces, row by row; and written.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { CsvRecords, findDialect, type CsvDialect } from "./csv.js";

const QUOTE = 0x22;
const RETURN = 0x0d;

/** A field, and where it stands in the record's text. */
export interface CsvField {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** The fields of a record. */
export function splitFields(record: string, delimiter: string): readonly CsvField[] {
  const fields: CsvField[] = [];
  for (let start = 0; ;) {
    const isQuoted = record.charCodeAt(start) === QUOTE;
    const closing = isQuoted ? closingQuote(record, start) : start;
    const next = record.indexOf(delimiter, closing);
    const end = next < 0 ? record.length : next;
    const value = isQuoted
      ? record.slice(start + 1, closing).replaceAll('""', '"') + record.slice(closing + 1, end)
      : record.slice(start, end);
    fields.push({ value, start, end, isQuoted });
    if (next < 0) return fields;
    start = end + delimiter.length;
  }
}

/** The offset of the quote that ends a field, or the record's length. */
function closingQuote(record: string, start: number): number {
  let quote = record.indexOf('"', start + 1);
  while (quote >= 0 && record.charCodeAt(quote + 1) === QUOTE) quote = record.indexOf('"', quote + 2);
  return quote < 0 ? record.length : quote;
}

/** How a cell is written. */
export interface CsvCellOptions {
  /** @defaultValue a comma */
  readonly delimiter?: string;
  /**
   * Whether it is in quotes even where it does not need them.
   * @defaultValue false
   */
  readonly isQuoted?: boolean;
}

/** A cell, in quotes if it needs them: for the delimiter, quotes, line breaks, and space at either end. */
export function csvCell(text: string, { delimiter = ",", isQuoted = false }: CsvCellOptions = {}): string {
  const needsQuotes = isQuoted || text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text);
  return needsQuotes ? `"${doubleQuotes(text)}"` : text;
}

/** A record, without its line break. One that would be an empty line, which is none, gets quotes. */
export function csvRecord(cells: readonly string[], options: CsvCellOptions = {}): string {
  const record = cells.map((cell) => csvCell(cell, options)).join(options.delimiter ?? ",");
  return record === "" ? '""' : record;
}

/** Characters of a cell that are written together. */
const CELL_PIECE = 64 * 1024;

/** A cell in pieces, for one that may be of any length. */
export function* csvCellPieces(text: string): Generator<string> {
  if (text.length <= CELL_PIECE) {
    yield csvCell(text);
    return;
  }
  yield '"';
  for (let from = 0; from < text.length; from += CELL_PIECE) yield doubleQuotes(text.slice(from, from + CELL_PIECE));
  yield '"';
}

function doubleQuotes(text: string): string {
  return text.replaceAll('"', '""');
}

/** Longest row, in characters: a quote that is never closed would make one row of all that follows. */
const MAX_ROW_CHARS = 1024 * 1024;

/** Characters by which the dialect is told: the same whatever the pieces are that the text arrives in. */
const SAMPLE_CHARS = 64 * 1024;

/** Splits text in pieces into rows of cells. */
export class CsvRows {
  readonly #known: Partial<CsvDialect>;
  #delimiter = ",";
  #records: CsvRecords | undefined;
  /** What is read of the row that did not end yet; before the dialect is told, of all. */
  #open: string[] = [];
  #size = 0;
  #count = 0;

  /** What is left out of the dialect is told by the beginning of the text. */
  constructor(known: Partial<CsvDialect> = {}) {
    this.#known = known;
  }

  /** The rows that a piece ends. Throws E_TOO_LARGE for a row that is too long. */
  push(piece: string): readonly (readonly string[])[] {
    if (this.#records !== undefined) return this.#split(this.#records, piece);
    this.#add(piece);
    return this.#size < SAMPLE_CHARS ? [] : this.#begin();
  }

  /** The last row. */
  end(): readonly (readonly string[])[] {
    const rows = this.#records === undefined ? this.#begin() : [];
    const last = this.#row("");
    return last === undefined ? rows : [...rows, last];
  }

  #begin(): readonly (readonly string[])[] {
    const text = this.#taken();
    const dialect = { ...findDialect(text.slice(0, SAMPLE_CHARS)), ...this.#known };
    this.#delimiter = dialect.delimiter;
    this.#records = new CsvRecords(dialect);
    return this.#split(this.#records, text);
  }

  #split(records: CsvRecords, text: string): readonly (readonly string[])[] {
    const rows: (readonly string[])[] = [];
    const parts = records.split(text);
    const last = parts.length - 1;
    for (let at = 0; at < last; at += 1) {
      const row = this.#row(parts[at] as string);
      if (row !== undefined) rows.push(row);
    }
    this.#add(parts[last] as string);
    if (this.#size <= MAX_ROW_CHARS) return rows;
    throw new SluiceError(
      "E_TOO_LARGE",
      `Row ${this.#count + 1} is longer than 1 MiB: a quote in it may never be closed. Read it with lines.`,
      { path: "query" },
    );
  }

  /** The cells of a record, by its last part. Undefined for an empty line. */
  #row(last: string): readonly string[] | undefined {
    const text = this.#size === 0 ? last : this.#taken() + last;
    const record = text.charCodeAt(text.length - 1) === RETURN ? text.slice(0, -1) : text;
    if (record === "") return undefined;
    this.#count += 1;
    if (!record.includes('"')) return record.split(this.#delimiter);
    return splitFields(record, this.#delimiter).map(({ value }) => value);
  }

  #add(piece: string): void {
    if (piece === "") return;
    this.#open.push(piece);
    this.#size += piece.length;
  }

  #taken(): string {
    const text = this.#open.join("");
    this.#open = [];
    this.#size = 0;
    return text;
  }
}
