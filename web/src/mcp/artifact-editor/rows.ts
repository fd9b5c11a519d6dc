/**
 * Sets cells, adds and deletes rows: of CSV and NDJSON while they stream, of a JSON array as a document.
 * @module
 */
import { countNoun, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { joinBytes } from "../../artifacts/bytes.js";
import { csvCell, csvRecord, splitFields, type CsvField } from "../../query/csv-cells.js";
import type { CsvDialect } from "../../query/csv.js";
import { quote } from "../artifact-reader/definition.js";
import { findEnd, type Inspection } from "../artifact-reader/inspection.js";
import { CsvSplitter, LineSplitter, type FinishOptions, type RecordSink } from "../artifact-reader/record-splitter.js";
import { pour, type Readable } from "../artifact-reader/source.js";
import { JsonDocument } from "./json-document.js";
import { writeJson } from "./json-layout.js";
import { planDocument } from "./patch.js";
import type { EditPlan } from "./plan.js";
import type { CellEdit, RowEdits } from "./request.js";
import { SpliceRewriter, type Splice } from "./rewriter.js";

/** Largest row whose cells can be set, in bytes. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;

/** Most bytes of all rows whose cells are set in one call. */
const MAX_ROWS_BYTES = 64 * 1024 * 1024;

const RETURN = 0x0d;

/** Plans edits of rows. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…. */
export async function planRows(from: Readable, inspection: Inspection, edits: RowEdits): Promise<EditPlan> {
  const { layout } = inspection;
  if (layout.kind === "array") {
    return planDocument(from, inspection, describeEdits(edits), (document) => editElements(document, edits));
  }
  if (layout.kind === "none") {
    const instead = inspection.isJson ? "patch" : "old_string and new_string";
    throw wrong(
      "arguments",
      `The artifact has no rows: it is neither CSV, TSV, NDJSON nor a JSON array. Use ${instead}.`,
    );
  }
  const format = layout.kind === "csv" ? new CsvFormat(layout) : new NdjsonFormat(from.tool);
  const index = new RowIndex(edits, layout.kind === "csv" ? layout : undefined);
  const splitter =
    layout.kind === "csv"
      ? new CsvSplitter(index.header, index, layout, layout.start)
      : new LineSplitter(index, layout.start, true);
  // Lines of words above and below stay where they are.
  await pour(from, { start: layout.start, end: await findEnd(from, inspection) }, (chunk) => {
    splitter.push(chunk);
    return true;
  });
  if (splitter instanceof CsvSplitter && splitter.isOpen) {
    throw wrong(
      "uri",
      "A quote of the artifact is never closed, so its rows cannot be told: use old_string and new_string.",
    );
  }
  index.beginEnd();
  splitter.end();
  return planSplices(from, splices(index, edits, format, from.ref.size_bytes), edits);
}

function planSplices(from: Readable, made: readonly Splice[], edits: RowEdits): EditPlan {
  if (made.length === 0) return { kind: "unchanged", said: "the cells have these values already" };
  const size = made.reduce((sum, { start, end, insert }) => sum - (end - start) + insert.length, from.ref.size_bytes);
  return { kind: "rewrite", said: describeEdits(edits), size, rewriter: new SpliceRewriter(made) };
}

function describeEdits({ cells, added, deleted, before }: RowEdits): string {
  const rows = deleted.map(({ first, last }) =>
    first === last ? `${first}` : `${first}-${last === Infinity ? "" : last}`,
  );
  return [
    ...(cells.length > 0 ? [`${countNoun(cells.length, "cell")} set`] : []),
    ...(added.length > 0
      ? [`${countNoun(added.length, "row")} added ${before === undefined ? "at the end" : `before row ${before}`}`]
      : []),
    ...(rows.length > 0 ? [`rows ${rows.slice(0, 5).join(", ")}${rows.length > 5 ? ", …" : ""} deleted`] : []),
  ].join(", ");
}

/** Where a row stands. */
interface RowPlace {
  readonly start: number;
  /** Offset after its last byte, without its line end. */
  readonly end: number;
  /** Offset after its line end. */
  readonly next: number;
  /** Its text, if it is wanted. */
  readonly text: string | undefined;
}

/** Finds the rows that edits name. It holds those alone, the header, and the first row as a sample. */
class RowIndex implements RecordSink {
  readonly isFull = false;
  /** Takes the header. */
  readonly header: RecordSink;
  /** The rows that are named, and their neighbours. */
  readonly places = new Map<number, RowPlace>();
  first: RowPlace | undefined;
  last: RowPlace | undefined;
  headerPlace: RowPlace | undefined;
  count = 0;
  size = 0;
  lineEnd: string;
  /** Rows whose places are wanted, and those whose text is. */
  readonly #wanted = new Set<number>();
  readonly #read: ReadonlySet<number>;
  readonly #hasHeader: boolean;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #endsWithReturn = false;
  #isAtEnd = false;

  /** `csv` is left out for lines of JSON. */
  constructor({ cells, before, deleted }: RowEdits, csv?: CsvDialect & { readonly hasHeader: boolean }) {
    this.#read = new Set(cells.map(({ row }) => row));
    for (const row of this.#read) this.#wanted.add(row);
    for (const { first, last } of deleted) for (const row of [first - 1, first, last, last + 1]) this.#wanted.add(row);
    if (before !== undefined) this.#wanted.add(before);
    this.#hasHeader = csv?.hasHeader ?? false;
    this.lineEnd = csv?.newline ?? "\n";
    this.header = this.#hasHeader ? new HeaderSink(this) : this;
  }

  /** The unterminated last row ends now, if there is one. */
  beginEnd(): void {
    this.#isAtEnd = true;
  }

  piece(chunk: Uint8Array, from: number, to: number): void {
    if (to <= from) return;
    this.size += to - from;
    this.#endsWithReturn = chunk[to - 1] === RETURN;
    const reading = this.#reading();
    if (reading === "no") return;
    const isTooLong = this.size > MAX_ROW_BYTES || this.#kept + this.size > MAX_ROWS_BYTES;
    if (isTooLong && reading === "whole") throw tooLong();
    if (isTooLong) this.#pieces = [];
    else this.#pieces.push(chunk.slice(from, to));
  }

  finish(start: number, { trimReturn = false }: FinishOptions = {}): void {
    const place = this.endRecord(start, trimReturn);
    if (place === undefined) return;
    this.count += 1;
    this.first ??= place;
    this.last = place;
    if (this.#wanted.has(this.count)) this.places.set(this.count, place);
  }

  /** Ends a record. Undefined for an empty line. */
  endRecord(start: number, trimReturn: boolean): RowPlace | undefined {
    const hasReturn = trimReturn && this.#endsWithReturn;
    const end = start + this.size - (hasReturn ? 1 : 0);
    const next = start + this.size + (this.#isAtEnd ? 0 : 1);
    const reading = this.#reading();
    const bytes = joinBytes(this.#pieces);
    this.#pieces = [];
    this.size = 0;
    this.#endsWithReturn = false;
    if (end === start) return undefined;
    if (this.first === undefined && this.headerPlace === undefined && hasReturn) this.lineEnd = "\r\n";
    this.#kept += bytes.length;
    const text = reading === "no" ? undefined : decodeBytes(bytes.subarray(0, end - start), reading === "whole");
    return { start, end, next, text };
  }

  /** Whether the current record's text is needed whole, helps as a sample, or is not read. */
  #reading(): "whole" | "sample" | "no" {
    const isHeader = this.#hasHeader && this.headerPlace === undefined;
    if (isHeader || this.#read.has(this.count + 1)) return "whole";
    return this.count === 0 ? "sample" : "no";
  }
}

/** Takes the header of CSV for an index. */
class HeaderSink implements RecordSink {
  readonly isFull = false;
  readonly #index: RowIndex;

  constructor(index: RowIndex) {
    this.#index = index;
  }

  get count(): number {
    return this.#index.headerPlace === undefined ? 0 : 1;
  }

  get size(): number {
    return this.#index.size;
  }

  piece(chunk: Uint8Array, from: number, to: number): void {
    this.#index.piece(chunk, from, to);
  }

  finish(start: number, { trimReturn = false }: FinishOptions = {}): void {
    const place = this.#index.endRecord(start, trimReturn);
    if (place !== undefined) this.#index.headerPlace = place;
  }
}

function decodeBytes(bytes: Uint8Array, isExact: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: isExact, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrong("uri", "A row to change is not UTF-8: use old_string and new_string for a part that is.");
  }
}

function tooLong(): SluiceError {
  const most = `${humanSize(MAX_ROW_BYTES)} each and ${humanSize(MAX_ROWS_BYTES)} in all`;
  return new SluiceError("E_TOO_LARGE", `The rows to change are larger than ${most}: use old_string and new_string.`);
}

/** How rows are written. */
interface RowFormat {
  /** A row with cells set. Undefined if nothing changes. */
  changed(row: string, cells: readonly CellEdit[], index: RowIndex): string | undefined;
  /** A new row. `place` names it in errors. */
  written(row: unknown, place: string, index: RowIndex): string;
}

/** The splices that make all edits, in order. */
function splices(index: RowIndex, edits: RowEdits, format: RowFormat, size: number): readonly Splice[] {
  const encoder = new TextEncoder();
  const made: Splice[] = [];
  for (const [row, cells] of byRow(edits.cells)) {
    const { start, end, text = "" } = placeAt(index, row, "cells");
    const changed = format.changed(text, cells, index);
    if (changed !== undefined) made.push({ start, end, insert: encoder.encode(changed) });
  }
  for (const { first, last } of edits.deleted) {
    const { start } = placeAt(index, first, "delete_rows");
    const isToEnd = last >= index.count;
    if (last !== Infinity) placeAt(index, last, "delete_rows");
    const end = isToEnd ? (index.last?.next ?? size) : (index.places.get(last + 1)?.start ?? size);
    const isUnterminated = isToEnd && index.last?.next === index.last?.end;
    const before = index.places.get(first - 1) ?? index.headerPlace;
    // A file without a line end at its end stays one.
    made.push({ start: isUnterminated && before !== undefined ? before.end : start, end, insert: new Uint8Array(0) });
  }
  if (edits.added.length > 0) {
    const rows = edits.added.map((row, at) => format.written(row, `add_rows[${at}]`, index));
    made.push(addition(index, edits, rows, size));
  }
  return made.sort((one, other) => one.start - other.start || one.end - other.end);
}

function addition(index: RowIndex, { before, deleted }: RowEdits, rows: readonly string[], size: number): Splice {
  const encoder = new TextEncoder();
  const { lineEnd } = index;
  const gone = deleted.find(({ first, last }) => before !== undefined && first <= before && before <= last);
  // Where that row goes too, before the next one that stays.
  const target = gone === undefined ? before : gone.last >= index.count ? undefined : gone.last + 1;
  if (before !== undefined) placeAt(index, before, "before_row");
  if (target !== undefined) {
    const { start } = placeAt(index, target, "before_row");
    return { start, end: start, insert: encoder.encode(rows.map((row) => row + lineEnd).join("")) };
  }
  const last = index.last ?? index.headerPlace;
  if (last === undefined)
    return { start: size, end: size, insert: encoder.encode(rows.map((row) => row + lineEnd).join("")) };
  const isUnterminated = last.next === last.end;
  // Behind the deleted rows, if the last one goes.
  const isLastDeleted = deleted.some((range) => range.last >= index.count && range.first <= index.count);
  const hasRowsLeft = !isLastDeleted || (deleted.at(-1)?.first ?? 1) > 1 || index.headerPlace !== undefined;
  const text = isUnterminated
    ? (hasRowsLeft ? lineEnd : "") + rows.join(lineEnd)
    : rows.map((row) => row + lineEnd).join("");
  return { start: last.next, end: last.next, insert: encoder.encode(text) };
}

function placeAt(index: RowIndex, row: number, argument: string): RowPlace {
  const place = index.places.get(row);
  if (place !== undefined) return place;
  const below = index.headerPlace === undefined ? "" : " below the header";
  throw noRow(row, argument, index.count, below);
}

function noRow(row: number, argument: string, count: number, below: string): SluiceError {
  const there = count === 0 ? `has no rows${below}` : `has ${countNoun(count, "row")}${below}, 1 to ${count}`;
  return wrong(
    argument,
    `There is no row ${row}: the artifact ${there}. To add at the end, give add_rows without before_row.`,
  );
}

function byRow(cells: readonly CellEdit[]): ReadonlyMap<number, readonly CellEdit[]> {
  const rows = new Map<number, CellEdit[]>();
  for (const cell of cells) {
    const known = rows.get(cell.row);
    if (known === undefined) rows.set(cell.row, [cell]);
    else known.push(cell);
  }
  return rows;
}

/** CSV, with the file's own delimiter. */
class CsvFormat implements RowFormat {
  readonly #delimiter: string;
  #header: readonly CsvField[] | undefined;
  #isQuoted: boolean | undefined;

  constructor({ delimiter }: CsvDialect) {
    this.#delimiter = delimiter;
  }

  changed(row: string, cells: readonly CellEdit[], index: RowIndex): string | undefined {
    const fields = splitFields(row, this.#delimiter);
    const set = new Map<number, string>();
    for (const { column, value, row: number } of cells) {
      const at = this.#findColumn(column, index, `cells, row ${number}`);
      set.set(at, textOfCell(value, `the cell of row ${number}, column ${quote(String(column))}`));
    }
    const width = Math.max(fields.length, ...[...set.keys()].map((at) => at + 1));
    const written = Array.from({ length: width }, (_, at) => {
      const field = fields[at];
      const value = set.get(at);
      if (value === undefined || value === field?.value)
        return field === undefined ? "" : row.slice(field.start, field.end);
      return csvCell(value, { delimiter: this.#delimiter, isQuoted: field?.isQuoted ?? false });
    });
    const changed = written.join(this.#delimiter);
    if (changed === row) return undefined;
    return changed === "" ? '""' : changed;
  }

  written(row: unknown, place: string, index: RowIndex): string {
    const width = this.#columns(index).length;
    const values = Array.isArray(row)
      ? this.#ofArray(row, width, place)
      : typeof row === "object" && row !== null
        ? this.#ofObject(row, width, place, index)
        : undefined;
    if (values === undefined)
      throw wrong(place, `${place} must be an array of cells, or an object of cells by column.`);
    return csvRecord(values, { delimiter: this.#delimiter, isQuoted: this.#quotesAll(index) });
  }

  #ofArray(row: readonly unknown[], width: number, place: string): readonly string[] {
    if (width > 0 && row.length > width) {
      const remedy = "leave some out, or give an object by column";
      throw wrong(
        place,
        `${place} has ${countNoun(row.length, "cell")}, the header ${countNoun(width, "column")}: ${remedy}.`,
      );
    }
    const cells = row.map((value, at) => textOfCell(value, `${place}[${at}]`));
    return [...cells, ...Array.from({ length: Math.max(0, width - row.length) }, () => "")];
  }

  #ofObject(row: object, width: number, place: string, index: RowIndex): readonly string[] {
    const values = Array.from({ length: width }, () => "");
    for (const [column, value] of Object.entries(row)) {
      values[this.#findColumn(column, index, place)] = textOfCell(value, `${place}, column ${quote(column)}`);
    }
    return values;
  }

  #columns(index: RowIndex): readonly CsvField[] {
    return (this.#header ??= this.#readColumns(index));
  }

  /** Without a header, the columns of the first row are `c1`, `c2` and so on, as in a query. */
  #readColumns({ headerPlace, first }: RowIndex): readonly CsvField[] {
    if (headerPlace !== undefined) return splitFields(headerPlace.text ?? "", this.#delimiter);
    if (first === undefined) return [];
    return splitFields(first.text ?? "", this.#delimiter).map((field, at) => ({ ...field, value: `c${at + 1}` }));
  }

  /** Position of a column from 0. */
  #findColumn(column: string | number, index: RowIndex, place: string): number {
    const columns = this.#columns(index);
    const found = columns.flatMap(({ value }, at) => (value === column ? [at] : []));
    if (found.length > 1) {
      const numbers = found.map((at) => at + 1).join(" and ");
      throw wrong(place, `${place}: columns ${numbers} are both named ${quote(String(column))}: give the number.`);
    }
    const number = typeof column === "number" || /^[1-9]\d{0,5}$/.test(column) ? Number(column) : Number.NaN;
    const at = found[0] ?? number - 1;
    if (at < columns.length) return at;
    const there = `the header has ${countNoun(columns.length, "column")}`;
    throw wrong(
      place,
      `${place}: there is no column ${quote(String(column))}, ${there}: read rows "1" for their names.`,
    );
  }

  /** Whether all fields of the first row are in quotes, as some programs write them. */
  #quotesAll(index: RowIndex): boolean {
    const sample = index.first?.text ?? index.headerPlace?.text;
    return (this.#isQuoted ??=
      sample !== undefined && splitFields(sample, this.#delimiter).every(({ isQuoted }) => isQuoted));
  }
}

/** A cell's text: null is empty. Throws E_INVALID_ARGUMENT for lists and objects. */
function textOfCell(value: unknown, place: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw wrong("cells", `${place} must be a string, a number, a boolean or null: a CSV cell holds a text.`);
}

/** NDJSON: a JSON value in each line. */
class NdjsonFormat implements RowFormat {
  readonly #tool: string;

  constructor(tool: string) {
    this.#tool = tool;
  }

  changed(row: string, cells: readonly CellEdit[]): string | undefined {
    const number = cells[0]?.row ?? 1;
    let document: JsonDocument;
    try {
      document = new JsonDocument(row, this.#tool);
    } catch {
      throw wrong("cells", `Row ${number} is not JSON: use old_string and new_string.`);
    }
    for (const cell of cells) setCell(document, [], cell);
    const changed = document.text();
    return changed === row ? undefined : changed;
  }

  written(row: unknown, place: string, index: RowIndex): string {
    if (typeof row !== "object" || row === null) throw wrong(place, `${place} must be an object or an array.`);
    const isSpaced = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s|^\s*\[[^,]*, /.test((index.first?.text ?? "").slice(0, 4096));
    try {
      return writeJson(row, { lineStart: "", unit: "", isSpaced });
    } catch {
      throw wrong(place, `${place} is nested too deep: flatten it.`);
    }
  }
}

function editElements(document: JsonDocument, { cells, added, before, deleted }: RowEdits): void {
  const count = document.length ?? 0;
  const check = (row: number, argument: string): void => {
    if (row > count) throw noRow(row, argument, count, "");
  };
  for (const cell of cells) {
    check(cell.row, "cells");
    setCell(document, [String(cell.row - 1)], cell);
  }
  if (before !== undefined) check(before, "before_row");
  for (const { first, last } of deleted) check(last === Infinity ? first : last, "delete_rows");
  // From the end, so that the numbers before it stay.
  const place = before === undefined ? count : before - 1;
  const goes = deleted.flatMap(({ first, last }) => rowsBetween(first, Math.min(last, count)));
  remove(
    document,
    goes.filter((at) => at >= place),
  );
  for (const [at, row] of added.entries()) document.add([String(place + at)], row);
  remove(
    document,
    goes.filter((at) => at < place),
  );
}

/** Positions of rows, from 0. */
function rowsBetween(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first - 1 + at);
}

/** Removes elements, the last one first. */
function remove(document: JsonDocument, positions: readonly number[]): void {
  for (const at of positions.toReversed()) document.remove([String(at)]);
}

/** Sets a member by its name, or an element by its number from 1. */
function setCell(document: JsonDocument, path: readonly string[], { column, value, row }: CellEdit): void {
  try {
    if (document.isArray(path)) document.replace([...path, String(Number(column) - 1)], value);
    else document.add([...path, String(column)], value);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const sentence = `cells, row ${row}, column ${quote(String(column))}: ${error.message.replace(/\.$/, "")}.`;
    throw new SluiceError(error.code, sentence, { path: "cells" });
  }
}

function wrong(path: string, message: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", message, { path: path.slice(0, 60) });
}
