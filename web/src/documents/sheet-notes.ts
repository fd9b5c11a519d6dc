/**
 * What a sheet has besides its cells: what is hidden, merged or filtered, comments, charts, pictures, tables and names. It is told behind
 * the cells, and its places with the facts.
 * @module
 */
import { countNoun } from "../core/amounts.js";
import { oneLine } from "./blocks.js";
import { columnName, columnNumber, writeRange, writeRuns, type CellRange } from "./cell-range.js";
import type { SheetFacts, TextSink } from "./document.js";

/** Most places of one kind among the facts, and most lines of one kind in the text. */
const MAX_PLACES = 200;
const MAX_LINES = 1000;

/** Most runs of hidden rows and of hidden columns that are kept. */
const MAX_RUNS = 10_000;

/** Longest text of a comment, a title or a name. */
const MAX_CHARS = 2000;

type Run = [first: number, last: number];

/** What is shown over cells. */
type DrawingKind = "chart" | "image" | "text box";

/** Collects what a sheet has besides its cells. */
export class SheetNotes {
  readonly #rows: Run[] = [];
  readonly #columns: Run[] = [];
  readonly #merged: CellRange[] = [];
  readonly #comments: { readonly cell: string; readonly line: string }[] = [];
  readonly #drawings = new Map<DrawingKind, string[]>();
  readonly #ranges: string[] = [];
  #more = 0;
  #filter: { readonly range: string; readonly columns: string[]; isUsed: boolean } | undefined;
  /** Formulas without a value, durations, and cells whose format shows nothing. */
  formulas = 0;
  durations = 0;
  blanks = 0;

  hideRows(first: number, last: number): void {
    addRun(this.#rows, first, last);
  }

  hideColumns(first: number, last: number): void {
    addRun(this.#columns, first, last);
  }

  merge(range: CellRange | undefined): void {
    if (range === undefined || (range.firstRow === range.lastRow && range.firstColumn === range.lastColumn)) return;
    if (this.#merged.length < MAX_LINES) this.#merged.push(range);
    else this.#more++;
  }

  /** @param isUsed whether rows are hidden by it, which is so with a column that it goes by. */
  filter(range: string, isUsed = false): void {
    this.#filter = { range: range.slice(0, 40), columns: [], isUsed };
  }

  filterColumn(column: string): void {
    if (this.#filter === undefined) return;
    this.#filter.isUsed = true;
    if (this.#filter.columns.length < MAX_PLACES) this.#filter.columns.push(column);
  }

  /** @param state what stands behind the author: `resolved`. */
  comment(cell: string, author: string, text: string, state = ""): void {
    const said = short(text.startsWith(`${author}:`) ? text.slice(author.length + 1) : text);
    if (said === "" || this.#comments.length >= MAX_LINES) return;
    const who = [short(author), state].filter(Boolean).join(", ");
    this.#comments.push({ cell: place(cell), line: `${place(cell)}${who === "" ? "" : ` (${who})`}: ${said}` });
  }

  /** @param text what it is: a title in quotes, a name. */
  drawing(kind: DrawingKind, cell: string, text: string): void {
    const lines = this.#drawings.get(kind) ?? [];
    this.#drawings.set(kind, lines);
    if (lines.length < MAX_LINES) lines.push([place(cell), short(text)].filter(Boolean).join(": "));
  }

  /** A table or a range with a name. */
  range(name: string, range: string): void {
    if (this.#ranges.length < MAX_LINES) this.#ranges.push(`${short(name)} (${short(range)})`);
  }

  /** Writes it all behind the cells. */
  writeTo(sink: TextSink, [rows, columns]: readonly [number, number]): void {
    const lines = [
      this.#writeHidden(rows, columns),
      this.#writeFilter(),
      list("Merged", this.#merged.map(writeRange)),
      ...items(
        "Comments",
        this.#comments.map(({ line }) => line),
      ),
      ...[...this.#drawings].flatMap(([kind, each]) => items(TITLES[kind], each)),
      list("Tables and names", this.#ranges),
    ].filter(Boolean);
    if (lines.length > 0) sink.add(`\n${lines.join("\n")}\n`);
  }

  /** Behind the name of the sheet: `A1:D20; rows 5-9 hidden; 3 comments`. */
  describe([rows, columns]: readonly [number, number]): string {
    return [
      rows === 0 ? "" : writeRange({ firstRow: 1, lastRow: rows, firstColumn: 1, lastColumn: columns }),
      ...this.#runs(rows, columns).map((each) => `${each} hidden`),
      this.#filter?.isUsed === true ? "filtered" : "",
      ...[
        [this.#merged.length + this.#more, "merged range"] as const,
        [this.#comments.length, "comment"] as const,
        ...[...this.#drawings].map(([kind, { length }]) => [length, kind] as const),
      ].map(([number, noun]) => (number === 0 ? "" : countNoun(number, noun).replace(/boxs$/, "boxes"))),
      this.formulas === 0 ? "" : `${countNoun(this.formulas, "formula")} without a value`,
    ]
      .filter(Boolean)
      .join("; ");
  }

  facts(number: number, [lastRow, lastColumn]: readonly [number, number], range: CellRange | undefined): SheetFacts {
    const comments = [...new Set(this.#comments.map(({ cell }) => cell))];
    const drawings = [...this.#drawings.values()].reduce((sum, each) => sum + each.length, 0);
    return {
      number,
      lastRow,
      lastColumn,
      ...(range !== undefined && { range: writeRange(range) }),
      ...(this.#rows.length > 0 && { hiddenRows: this.#rows.slice(0, MAX_PLACES) }),
      ...(this.#columns.length > 0 && { hiddenColumns: this.#columns.slice(0, MAX_PLACES) }),
      ...(this.#filter?.isUsed === true && { isFiltered: true }),
      ...(this.#merged.length > 0 && { merged: this.#merged.slice(0, MAX_PLACES).map(writeRange) }),
      ...(comments.length > 0 && { comments: comments.slice(0, MAX_PLACES) }),
      ...(drawings > 0 && { drawings }),
      ...(this.formulas > 0 && { formulas: this.formulas }),
      ...(this.durations > 0 && { durations: this.durations }),
      ...(this.blanks > 0 && { blanks: this.blanks }),
    };
  }

  /** `rows 5-9`, `columns C-D`: only as far as there are cells. */
  #runs(rows: number, columns: number): readonly string[] {
    return [...nameHidden("row", this.#rows, 1, rows), ...nameHidden("column", this.#columns, 1, columns, columnName)];
  }

  #writeHidden(rows: number, columns: number): string {
    const runs = this.#runs(rows, columns);
    return runs.length === 0 ? "" : `Hidden: ${runs.join(", ")}`;
  }

  #writeFilter(): string {
    if (this.#filter === undefined) return "";
    const { range, columns, isUsed } = this.#filter;
    const by = columns.length === 0 ? "" : `by column ${columns.join(", ")}`;
    return `Filter: ${[range, isUsed ? by : "hides nothing"].filter(Boolean).join(", ") || "hides rows"}`;
  }
}

const TITLES: Readonly<Record<DrawingKind, string>> = { chart: "Charts", image: "Images", "text box": "Text boxes" };

/** Most runs that are named. */
const MAX_NAMED = 20;

/** What is hidden of rows or columns between two of them: `rows 5-9, 12`, or nothing. */
export function nameHidden(
  noun: string,
  runs: readonly (readonly [number, number])[],
  from: number,
  to: number,
  name?: (number: number) => string,
): readonly string[] {
  const within = runs
    .filter(([first, last]) => last >= from && first <= to)
    .map(([first, last]) => [Math.max(first, from), Math.min(last, to)] as const);
  return within.length === 0 ? [] : [nameRuns(noun, within, name)];
}

/** `rows 5-9, 12` or `column C`. */
export function nameRuns(
  noun: string,
  runs: readonly (readonly [number, number])[],
  name: (number: number) => string = (number) => String(number),
): string {
  const isOne = runs.length === 1 && runs[0]?.[0] === runs[0]?.[1];
  return `${noun}${isOne ? "" : "s"} ${writeRuns(runs, MAX_NAMED, name)}`;
}

function addRun(runs: Run[], first: number, last: number): void {
  const run = runs.at(-1);
  if (run !== undefined && run[1] === first - 1) run[1] = last;
  else if (runs.length < MAX_RUNS) runs.push([first, last]);
}

function list(title: string, all: readonly string[]): string {
  if (all.length === 0) return "";
  return `${title}: ${all.slice(0, MAX_PLACES).join(", ")}${all.length > MAX_PLACES ? ` and ${all.length - MAX_PLACES} more` : ""}`;
}

function items(title: string, all: readonly string[]): readonly string[] {
  return all.length === 0 ? [] : [`${title}:`, ...all.map((each) => `- ${each}`)];
}

function short(text: string): string {
  return oneLine(text.slice(0, MAX_CHARS));
}

/** A cell as it is named; anything else is no place. */
function place(cell: string): string {
  const [, letters = "", row = ""] = /^\$?([A-Za-z]{1,3})\$?([0-9]{1,7})\b/.exec(cell) ?? [];
  return letters === "" ? "" : `${columnName(columnNumber(letters))}${row}`;
}
