/**
 * CSV and its relatives, as rows of text while the text arrives.
 * @module
 */
import Papa from "papaparse";
import { SluiceError } from "../errors/error.js";

/** Longest row, in characters: a quote that is never closed would make one row of all that follows. */
const MAX_ROW_CHARS = 1024 * 1024;

/** Characters by which delimiter and line breaks are told: the same whatever the pieces are that the text arrives in. */
const SAMPLE_CHARS = 64 * 1024;

/** Splits text in pieces into rows of cells. Empty lines are left out. */
export class CsvRows {
  readonly #delimiter: string | undefined;
  #config: { delimiter: string; newline: "\r\n" | "\n" | "\r" } | undefined;
  #rest = "";
  #count = 0;

  /** Without a delimiter it is told by the beginning of the text: comma, tab, semicolon or bar. */
  constructor(delimiter: string | undefined) {
    this.#delimiter = delimiter;
  }

  /** The rows that a piece ends. Throws E_TOO_LARGE for a row that is too long. */
  push(piece: string): readonly (readonly string[])[] {
    const text = this.#rest + piece;
    if (this.#config === undefined && text.length < SAMPLE_CHARS) {
      this.#rest = text;
      return [];
    }
    const rows = this.#parse(text, true);
    if (this.#rest.length <= MAX_ROW_CHARS) return rows;
    throw new SluiceError(
      "E_TOO_LARGE",
      `Row ${this.#count + 1} is longer than 1 MiB: a quote in it may never be closed. Read it with lines.`,
      { path: "query" },
    );
  }

  /** The last row. */
  end(): readonly (readonly string[])[] {
    return this.#parse(this.#rest, false);
  }

  #parse(text: string, mayGoOn: boolean): readonly (readonly string[])[] {
    this.#config ??= this.#judge(text.slice(0, SAMPLE_CHARS));
    const parser = new Papa.Parser(this.#config);
    const { data, meta } = parser.parse(text, 0, mayGoOn) as { data: string[][]; meta: { cursor: number } };
    this.#rest = mayGoOn ? text.slice(meta.cursor) : "";
    const rows = data.filter((cells) => cells.length > 1 || cells[0] !== "");
    this.#count += rows.length;
    return rows;
  }

  #judge(sample: string): { delimiter: string; newline: "\r\n" | "\n" | "\r" } {
    const { meta } = Papa.parse(sample, { preview: 20, skipEmptyLines: true });
    return { delimiter: this.#delimiter ?? meta.delimiter, newline: meta.linebreak as "\r\n" | "\n" | "\r" };
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]\d+)?$/;

/** Most digits that a number holds whatever they are. */
const MAX_DIGITS = 15;

/**
 * The value of a cell: NULL if it is empty, a number if it is written as JSON writes numbers and fits one, else its text.
 * A fraction of 16 or 17 digits fits if it is written as programs write it. So `007`,
 * `+49`, `12E4` and card numbers stay what they are.
 */
export function valueOf(cell: string | undefined): string | number | null {
  if (cell === undefined || cell === "") return null;
  const first = cell.charCodeAt(0);
  if ((first < 0x30 || first > 0x39) && first !== 0x2d) return cell;
  if (cell.length > 40 || !NUMBER.test(cell)) return cell;
  const number = Number(cell);
  if (!Number.isFinite(number)) return cell;
  if (cell.length <= MAX_DIGITS || (/^[^eE]*/.exec(cell)?.[0].replaceAll(/\D/g, "").length ?? 0) <= MAX_DIGITS) {
    return number;
  }
  return !Number.isInteger(number) && String(number) === cell ? number : cell;
}

/** Names of columns of a header: trimmed, `column_3` where there is none, `name_2` for the second of a name. */
export function columnNames(header: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return header.map((cell, index) => {
    const name = cell.trim() === "" ? `column_${index + 1}` : cell.trim();
    let unique = name;
    for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`;
    taken.add(unique);
    return unique;
  });
}
