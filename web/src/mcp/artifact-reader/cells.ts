/**
 * Reads cells of a sheet: a range of them as CSV with the letters of the columns and the numbers of the rows, and the rows of a query.
 * @module
 */
import { countNoun, groupDigits } from "../../core/amounts.js";
import {
  ALL_CELLS,
  type CellRange,
  columnName,
  intersectRanges,
  MAX_ROWS,
  parseRange,
  writeRange,
} from "../../documents/cell-range.js";
import type { SheetFacts } from "../../documents/document.js";
import { writeLetters } from "../../documents/rows.js";
import { nameHidden, nameRuns } from "../../documents/sheet-notes.js";
import { SluiceError } from "../../errors/error.js";
import { findHeader } from "../../query/csv.js";
import { csvCell, csvRecord, CsvRows } from "../../query/csv-cells.js";
import { findTotal, type TotalRow } from "../../query/total-row.js";
import type { QueryTable } from "../../query/types.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { readChunks } from "./forms.js";
import { type RecordSpec, resolveRecords } from "./request.js";
import { findSheet, MAX_RESOURCE_PART, type Readable, nameSubject } from "./source.js";

/** Most characters of one row among several. */
const MAX_ROW_CHARS = 2000;

/** Characters of a line break, and of the letters of a column with its comma, at most. */
const NEWLINE_CHARS = 2;
const LETTER_CHARS = 4;

/** Most places of one kind that an answer names. */
const MAX_PLACES = 10;

/** A part of a sheet that was asked for. */
export interface CellRequest {
  /** Rows as the sheet counts them. */
  readonly rows: RecordSpec;
  /** Left out where only rows were asked for: the first row is repeated above them then. */
  readonly cells: CellRange | undefined;
}

/** Answers with cells in at most `most` characters. Throws E_INVALID_ARGUMENT if the sheet has none there. */
export async function tellCells(from: Readable, request: CellRequest, most: number): Promise<AnswerParts> {
  const sheet = requireSheet(from);
  const range = findRange(sheet, request);
  const page = new CellPage(range, most);
  await readInto(page, from, range, request.cells === undefined && sheet.range === undefined);
  const { lines, cut } = page;
  const last = page.last < range.firstRow ? 0 : page.last;
  const isCells = request.cells !== undefined || sheet.range !== undefined;
  const shown = { ...range, lastRow: page.isFull ? last : range.lastRow };
  const which = isCells ? `cells ${writeRange(clip(shown, sheet))}` : nameRows(clip(shown, sheet), sheet);
  return {
    head: `${nameSubject(from)}, sheet ${sheet.number}, ${which}${last === 0 ? ": all are empty" : ""}`,
    ...(lines.length > 0 && { data: [page.letters, ...lines].join("\n") }),
    notes: [
      ...(page.isFull ? [readOn(range, last, isCells)] : []),
      ...(cut === 0
        ? []
        : [`Row ${cut} is cut at "…": read it cell by cell, or a part of one with SUBSTR in a query.`]),
      ...notesOn(sheet, shown),
    ],
  };
}

/** The same cells whole, without our own words, for a resource. Throws the same, and E_TOO_LARGE. */
export async function textOfCells(from: Readable, request: CellRequest): Promise<string> {
  const sheet = requireSheet(from);
  const range = findRange(sheet, request);
  const page = new CellPage(range, MAX_RESOURCE_PART);
  await readInto(page, from, range, false);
  if (page.isFull || page.cut > 0)
    throw new SluiceError("E_TOO_LARGE", "The answer would be larger than 4 MiB: ask for fewer rows.", {
      path: "rows",
    });
  return [page.letters, ...page.lines].join("\n");
}

/**
 * The values of a sheet, or of a range of it, as a table. The row `header` names the columns; left out, the first one below titles, and
 * the first of a range that was asked for.
 */
export async function sheetTable(
  from: Readable,
  cells: CellRange | undefined,
  notes: readonly string[],
  header?: number,
): Promise<QueryTable> {
  const sheet = requireSheet(from);
  const named = sheet.range === undefined ? undefined : parseRange(sheet.range);
  const asked = cells ?? named ?? ALL_CELLS;
  const found = header ?? (asked === ALL_CELLS ? await findHeaderRow(from) : undefined);
  const range = found === undefined ? asked : { ...asked, firstRow: Math.max(asked.firstRow, found) };
  const isGuessed = header === undefined && found !== undefined;
  const { formulas = 0, durations = 0, hiddenRows = [] } = sheet;
  const hidden = nameHidden("row", hiddenRows, range.firstRow, Math.min(range.lastRow, sheet.lastRow));
  return {
    total: await findLastTotal(from, range, sheet),
    form: { kind: "csv", start: 0, delimiter: ",", newline: "\n" },
    bytes: { open: (start) => skipBytes(writeRows(from, range, sheet), start) },
    notes: [
      ...notes,
      ...(isGuessed ? [`Guessed: header ${found}, since titles stand above it; give header to say otherwise.`] : []),
      ...(formulas === 0 ? [] : [tellFormulas(formulas)]),
      ...(durations === 0 ? [] : ["Durations are numbers of days here."]),
      ...(hidden.length === 0 ? [] : [`Hidden rows are among these: ${hidden.join("")}.`]),
    ],
  };
}

/** Bytes of a sheet whose last rows are looked at, and how many of them. */
const LOOKED_AT = 8 * 1024 * 1024;
const LAST_ROWS = 5;

async function findLastTotal(from: Readable, range: CellRange, sheet: SheetFacts): Promise<TotalRow | undefined> {
  if (from.ref.size_bytes > LOOKED_AT) return undefined;
  const rows: SheetRow[] = [];
  const last = Math.min(range.lastRow, sheet.lastRow);
  for await (const some of readRows(from, { ...range, lastRow: last })) {
    rows.push(...some);
    // The first one names the columns.
    if (rows.length > LAST_ROWS + 1) rows.splice(1, rows.length - LAST_ROWS - 1);
  }
  const [names, ...others] = rows.map(({ cells }) => cells);
  return names === undefined ? undefined : findTotal(names, others);
}

/** Rows by which is told whether titles stand above a table. */
const FIRST_ROWS = 30;

/** The row that names the columns, where titles stand above it. */
async function findHeaderRow(from: Readable): Promise<number | undefined> {
  const rows: SheetRow[] = [];
  for await (const some of readRows(from, { ...ALL_CELLS, lastRow: FIRST_ROWS })) rows.push(...some);
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const lines = new Map<number, string>();
  for (const { number, cells } of rows) {
    // One line each, as long as the others, which is what tells a table.
    const flat = Array.from({ length: width }, (_, at) => (cells[at] ?? "").replace(/\s+/g, " "));
    lines.set(number, csvRecord(flat));
  }
  const last = rows.at(-1)?.number ?? 0;
  const text = Array.from({ length: last }, (_, at) => `${lines.get(at + 1) ?? ""}\n`).join("");
  const start = findHeader(text);
  return start === 0 ? undefined : text.slice(0, start).split("\n").length;
}

/** The rows of a range as CSV, without their numbers. The first one has a name for each column under a merged one. */
async function* writeRows(from: Readable, range: CellRange, sheet: SheetFacts): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let isHeader = true;
  for await (const rows of readRows(from, range)) {
    const records: string[] = [];
    for (const row of rows) {
      records.push(`${csvRecord(isHeader ? repeatMerged(row, range, sheet) : row.cells)}\n`);
      isHeader = false;
    }
    yield encoder.encode(records.join(""));
  }
}

/** The cells of a row, with the value of a merged range in each cell of it. */
function repeatMerged(
  { number, cells }: SheetRow,
  { firstColumn, lastColumn }: CellRange,
  sheet: SheetFacts,
): readonly string[] {
  const repeated = [...cells];
  for (const name of sheet.merged ?? []) {
    const merged = parseRange(name);
    const start = (merged?.firstColumn ?? 0) - firstColumn;
    const value = cells[start];
    if (merged?.firstRow !== number || value === undefined || value === "") continue;
    const end = Math.min(merged.lastColumn, sheet.lastColumn, lastColumn) - firstColumn;
    while (repeated.length <= end) repeated.push("");
    repeated.fill(value, start, end + 1);
  }
  return repeated;
}

async function* skipBytes(pieces: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  for await (const piece of pieces) {
    if (left < piece.length) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}

interface SheetRow {
  readonly number: number;
  /** From the first column that is asked for; those at the end may be missing. */
  readonly cells: readonly string[];
}

/** The rows of a range that have a cell there, in order. */
async function* readRows(from: Readable, range: CellRange): AsyncGenerator<readonly SheetRow[]> {
  const splitter = new CsvRows({ delimiter: ",", newline: "\n" });
  const decoder = new TextDecoder();
  const { firstRow, lastRow, firstColumn, lastColumn } = range;
  const state = { isOver: false };
  const pick = (records: readonly (readonly string[])[]): readonly SheetRow[] => {
    const rows: SheetRow[] = [];
    for (const record of records) {
      const number = Number(record[0]);
      if (number > lastRow) state.isOver = true;
      if (state.isOver) break;
      if (number < firstRow) continue;
      const cells = record.slice(firstColumn, lastColumn + 1);
      if (cells.some((cell) => cell !== "")) rows.push({ number, cells });
    }
    return rows;
  };
  for await (const chunk of readChunks(from)) {
    yield pick(splitter.push(decoder.decode(chunk, { stream: true })));
    if (state.isOver) return;
  }
  yield pick(splitter.push(decoder.decode()));
  yield pick(splitter.end());
}

/** Collects rows up to a number of characters. */
class CellPage {
  readonly lines: string[] = [];
  /** Number of the last row that was taken; of one that was cut, 0 without any. */
  last = 0;
  cut = 0;
  isFull = false;
  readonly #range: CellRange;
  #columns = 0;
  #left: number;

  constructor(range: CellRange, most: number) {
    this.#range = range;
    this.#left = most;
  }

  /** The line above the rows. */
  get letters(): string {
    const { firstColumn } = this.#range;
    return writeLetters(firstColumn, firstColumn + this.#columns - 1);
  }

  add({ number, cells }: SheetRow): void {
    if (this.isFull) return;
    let columns = cells.length;
    while (columns > 1 && cells[columns - 1] === "") columns -= 1;
    const line = [String(number), ...cells.slice(0, columns).map((cell) => csvCell(cell))].join(",");
    const { firstRow, lastRow } = this.#range;
    // The letters of columns take room too.
    const room = this.#left - NEWLINE_CHARS - LETTER_CHARS * Math.max(0, columns - this.#columns);
    const fit = prefixWithin(line, firstRow === lastRow ? room : Math.min(room, MAX_ROW_CHARS));
    const isCut = fit.text.length < line.length;
    if (isCut && room < MAX_ROW_CHARS && this.last >= firstRow) {
      this.isFull = true;
      return;
    }
    if (isCut) this.cut ||= number;
    this.lines.push(isCut ? `${fit.text}…` : line);
    this.#left = Math.max(0, room - fit.chars);
    this.#columns = Math.max(this.#columns, columns);
    this.last = number;
  }
}

async function readInto(page: CellPage, from: Readable, range: CellRange, hasHeader: boolean): Promise<void> {
  const wanted = hasHeader ? { ...range, firstRow: 1 } : range;
  let isFirst = hasHeader;
  for await (const rows of readRows(from, wanted)) {
    for (const row of rows) {
      // Far down the first row still says what the columns are.
      if (isFirst || row.number >= range.firstRow) page.add(row);
      isFirst = false;
    }
    if (page.isFull) return;
  }
}

function requireSheet(from: Readable): SheetFacts {
  const sheet = findSheet(from);
  if (sheet !== undefined) return sheet;
  throw new SluiceError("E_INVALID_ARGUMENT", 'The artifact has no cells: a range such as "B2:D40" is for workbooks.', {
    path: "rows",
  });
}

function findRange(sheet: SheetFacts, { rows, cells }: CellRequest): CellRange {
  const asked = cells ?? (sheet.range === undefined ? undefined : parseRange(sheet.range)) ?? ALL_CELLS;
  const { first, last } = resolveRecords(rows, sheet.lastRow);
  const range = intersectRanges(asked, {
    ...ALL_CELLS,
    firstRow: first,
    lastRow: Math.min(last, Math.max(first, MAX_ROWS)),
  });
  const { number, lastRow, lastColumn } = sheet;
  const used = { firstRow: 1, lastRow: Math.max(1, lastRow), firstColumn: 1, lastColumn: Math.max(1, lastColumn) };
  if (range !== undefined && lastRow > 0 && intersectRanges(range, used) !== undefined) return range;
  const there = lastRow === 0 ? "is empty" : `has the cells ${writeRange(used)}`;
  throw new SluiceError("E_INVALID_ARGUMENT", `Sheet ${number} ${there}, and none there: ask for others.`, {
    path: "rows",
  });
}

/** A range as far as the sheet goes. */
function clip(range: CellRange, { lastRow, lastColumn }: SheetFacts): CellRange {
  return {
    ...range,
    lastRow: Math.max(range.firstRow, Math.min(range.lastRow, lastRow)),
    lastColumn: Math.max(range.firstColumn, Math.min(range.lastColumn, lastColumn)),
  };
}

function nameRows({ firstRow, lastRow }: CellRange, sheet: SheetFacts): string {
  return `${nameRuns("row", [[firstRow, lastRow]])} of ${groupDigits(sheet.lastRow)}, as the sheet counts them`;
}

function readOn(range: CellRange, last: number, isCells: boolean): string {
  const rest = { ...range, firstRow: last + 1 };
  if (isCells) return `The answer is full: read on with rows "${writeRange(rest)}".`;
  return `The answer is full: read on with rows "${last + 1}-${range.lastRow === MAX_ROWS ? "" : range.lastRow}".`;
}

/** What a person would see of this part besides the cells: only places. */
function notesOn(sheet: SheetFacts, range: CellRange): readonly string[] {
  const { hiddenRows = [], hiddenColumns = [], merged = [], comments = [], formulas = 0, blanks = 0 } = sheet;
  const hidden = [
    ...nameHidden("row", hiddenRows, range.firstRow, Math.min(range.lastRow, sheet.lastRow)),
    ...nameHidden("column", hiddenColumns, range.firstColumn, Math.min(range.lastColumn, sheet.lastColumn), columnName),
  ];
  const isIn = (place: string): boolean => {
    const cells = parseRange(place);
    return cells !== undefined && intersectRanges(cells, range) !== undefined;
  };
  const joined = merged.filter(isIn);
  const remarks = comments.filter(isIn);
  const others = [
    ...(remarks.length === 0 ? [] : [`comments at ${list(remarks)}`]),
    ...(sheet.drawings === undefined ? [] : [countNoun(sheet.drawings, "drawing")]),
  ];
  return [
    ...(hidden.length === 0
      ? []
      : [`Hidden${sheet.isFiltered === true ? ", by a filter" : ""}: ${hidden.join(", ")}.`]),
    ...(joined.length === 0 ? [] : [`Merged, with the value in the first cell: ${list(joined)}.`]),
    ...(formulas === 0 ? [] : [tellFormulas(formulas)]),
    ...(blanks === 0
      ? []
      : [`The sheet has ${countNoun(blanks, "cell")} whose format shows nothing: a query has the values.`]),
    ...(others.length === 0 ? [] : [`Also there: ${others.join(", ")}; pages "${sheet.number}" tells what they say.`]),
  ];
}

function tellFormulas(count: number): string {
  if (count === 1) return "A formula of the sheet has no value in the file, and is shown as the formula.";
  return `${countNoun(count, "formula")} of the sheet have no value in the file, and are shown as formulas.`;
}

function list(places: readonly string[]): string {
  const more = places.length - MAX_PLACES;
  return `${places.slice(0, MAX_PLACES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
