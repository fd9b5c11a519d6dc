/**
 * Tables to ask questions of, made of bytes that arrive: CSV, NDJSON, JSON, and rows of any other origin.
 * @module
 */
import { joinBytes } from "../artifacts/bytes.js";
import { SluiceError } from "../errors/error.js";
import { isObject } from "../errors/arguments.js";
import { pointerOf, tokensOf } from "../json/pointer.js";
import { columnNames, CsvRows, valueOf } from "./csv-cells.js";
import type { CsvDialect } from "./csv.js";
import { JsonRows, MAX_ROW_BYTES, rowPlace, tooLong, valueOfJson, type JsonRow, type RowPlace } from "./json-rows.js";
import type { Cells, QueryTable } from "./types.js";
import { unknownColumn } from "./scope.js";
import { wrongQuery } from "./statement.js";
import { indexOfByte } from "#byte-search";

/** Bytes that are looked at together. A chunk may be a whole file. */
const PIECE_BYTES = 256 * 1024;

/** Rows whose members give the columns of JSON. */
const SAMPLE_ROWS = 1000;

/** Bytes of a JSON document by which is told where its rows are. */
const BEGINNING_BYTES = 1024 * 1024;

/** Options for {@link jsonTable}. */
export interface JsonTableOptions {
  /**
   * JSON Pointer (RFC 6901) to the array or object with the rows. Left out, they are the document if it is an array; its members if
   * all are objects; or the first array of objects within it, which a note then names.
   */
  readonly pointer?: string;
}

/**
 * A table of the rows of CSV, TSV or the like in UTF-8. The first row names the columns.
 *
 * What is left out of the dialect is told by the beginning of the text: comma, tab, semicolon or bar, newlines or returns.
 *
 * Cells that are numbers in JSON, of up to 15 digits, are numbers; empty ones are NULL; all others are text.
 *
 * @throws SluiceError E_INVALID_ARGUMENT if there is no row; while it is read E_TOO_LARGE for a row of more than 1 MiB.
 */
export async function csvTable(
  bytes: AsyncIterable<Uint8Array>,
  dialect: Partial<CsvDialect> = {},
): Promise<QueryTable> {
  const splitter = new CsvRows(dialect);
  const hasCommas = (): boolean => splitter.delimiter !== ",";
  const batches = (async function* (): AsyncGenerator<readonly (readonly string[])[]> {
    const decoder = new TextDecoder();
    for await (const piece of piecesOf(bytes)) yield splitter.push(decoder.decode(piece, { stream: true }));
    yield splitter.push(decoder.decode());
    yield splitter.end();
  })();
  return rowTable(batches, [], hasCommas);
}

/** Rows by which is told whether a column has decimal commas. */
const COMMA_ROWS = 1000;

/** A number with a decimal comma, and points between thousands if any: `1.234,5`. */
const COMMA_NUMBER = /^-?(?:\d{1,3}(?:\.\d{3})+|\d{1,15})(?:,\d{1,15})?$/;

/** One whose comma may as well stand between thousands. */
const THOUSANDS = /^-?[1-9]\d{0,2},\d{3}$/;

/** The columns whose numbers have decimal commas, as programs write them in much of Europe. */
function findCommaColumns(rows: readonly (readonly string[])[], count: number): ReadonlySet<number> {
  const sample = rows.slice(0, COMMA_ROWS);
  const isOne = (column: number): boolean => {
    const cells = sample.flatMap((row) => ((row[column] ?? "") === "" ? [] : [row[column] as string]));
    const commas = cells.filter((cell) => cell.includes(","));
    return (
      commas.length > 0 &&
      cells.every((cell) => COMMA_NUMBER.test(cell)) &&
      !commas.every((cell) => THOUSANDS.test(cell))
    );
  };
  return new Set(Array.from({ length: count }, (_, column) => column).filter(isOne));
}

/** A cell of a column with decimal commas. */
function readCommaNumber(cell: string | undefined): unknown {
  if (cell === undefined || !COMMA_NUMBER.test(cell)) return valueOf(cell);
  return valueOf(cell.replaceAll(".", "").replace(",", "."));
}

/**
 * A table of rows of cells, the first of which names the columns.
 *
 * @param told notes that the table has from the start
 * @param hasCommas whether numbers may have decimal commas, once the first rows are there
 * @throws SluiceError E_INVALID_ARGUMENT if there is no row
 */
export async function rowTable(
  batches: AsyncGenerator<readonly (readonly string[])[]>,
  told: readonly string[] = [],
  hasCommas: () => boolean = () => false,
): Promise<QueryTable> {
  const first = await nextFilled(batches);
  const [header = [], ...rows] = first;
  const columns = columnNames(header);
  if (columns.length === 0) throw wrongQuery("The text has no rows: it is empty.");
  const notes = [...told];
  const commas = hasCommas() ? findCommaColumns(rows, columns.length) : new Set<number>();
  return {
    columns,
    notes,
    close: async () => {
      await batches.return(undefined);
    },
    async *rows(wanted) {
      const places = placesOf(wanted, columns);
      const read = places.filter((place) => commas.has(place)).map((place) => JSON.stringify(columns[place]));
      if (read.length > 0) notes.push(`A comma in ${read.join(", ")} is read as the decimal point.`);
      let longer = 0;
      const cellsOf = (row: readonly string[]): Cells => {
        if (row.length > columns.length) longer += 1;
        return places.map((place) => (commas.has(place) ? readCommaNumber(row[place]) : valueOf(row[place])));
      };
      try {
        yield rows.map(cellsOf);
        for await (const batch of batches) yield batch.map(cellsOf);
      } finally {
        if (longer > 0) notes.push(`${longer} rows have more cells than the header: these cells are left out.`);
        await batches.return(undefined);
      }
    },
  };
}

/**
 * A table of NDJSON: one JSON value a line. The members of the first 1,000 objects are the columns.
 *
 * @throws SluiceError E_JSON_SYNTAX for a line that is not JSON, E_TOO_LARGE for one of more than 4 MiB; while it is read, too.
 */
export async function ndjsonTable(bytes: AsyncIterable<Uint8Array>): Promise<QueryTable> {
  return objectTable(linesOf(bytes), []);
}

/**
 * A table of the elements of a JSON array, or of the members of an object, which then have a column `key`. The members of the first
 * 1,000 rows are the columns; others can be asked for.
 *
 * @throws SluiceError E_JSON_SYNTAX, E_JSON_DEPTH, E_INVALID_ARGUMENT for a pointer that leads to no rows, E_TOO_LARGE for a row of more
 *   than 4 MiB; while it is read, too.
 */
export async function jsonTable(
  bytes: AsyncIterable<Uint8Array>,
  { pointer }: JsonTableOptions = {},
): Promise<QueryTable> {
  const pieces = withoutMark(piecesOf(bytes));
  if (pointer !== undefined) {
    return objectTable(elementsOf(pieces, { tokens: tokensIn(pointer), is: "rows" }), []);
  }
  const beginning = await beginningOf(pieces);
  const place = rowPlace(joinBytes(beginning).subarray(0, BEGINNING_BYTES));
  return objectTable(elementsOf(chained(beginning, pieces), place), notesOn(place));
}

/** A table of rows that come from elsewhere, such as those of a sheet. Cells are in the order of the columns. */
export function tableOf(columns: readonly string[], batches: AsyncIterable<readonly Cells[]>): QueryTable {
  return {
    columns,
    async *rows(wanted) {
      const places = placesOf(wanted, columns);
      for await (const batch of batches) yield batch.map((row) => places.map((place) => row[place] ?? null));
    },
  };
}

/** Where each column that is wanted is. */
function placesOf(wanted: readonly string[], columns: readonly string[]): readonly number[] {
  const known = new Map(columns.map((name, index) => [name, index]));
  return wanted.map((name) => known.get(name) ?? -1);
}

function tokensIn(pointer: string): readonly string[] {
  if (pointer === "") return [];
  if (pointer.startsWith("/")) return tokensOf(pointer.slice(1));
  throw new SluiceError("E_INVALID_ARGUMENT", "pointer must be empty or begin with a slash, as /items does.", {
    path: "pointer",
  });
}

function notesOn({ tokens, is, others }: RowPlace): readonly string[] {
  if (is === "row") return ["The document is one row: it has no array of objects."];
  if (tokens.length === 0) return [];
  const more = others.length === 0 ? "" : ` Others are at ${others.join(", ")}: ask for them by pointer.`;
  return [`The rows are those of the array at ${pointerOf(tokens)}.${more}`];
}

async function nextFilled<T>(batches: AsyncIterator<readonly T[]>): Promise<readonly T[]> {
  for (;;) {
    const { done, value } = await batches.next();
    if (done === true) return [];
    if (value.length > 0) return value;
  }
}

/** Bytes in pieces of a size that is held in memory without thinking. */
async function* piecesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) yield chunk.subarray(from, from + PIECE_BYTES);
  }
}

/** The byte order mark, which some programs put before a text. */
const MARK = [0xef, 0xbb, 0xbf];

async function* withoutMark(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    let begin: Uint8Array | undefined = new Uint8Array(0);
    for await (const piece of pieces) {
      if (begin === undefined) {
        yield piece;
        continue;
      }
      begin = joinBytes([begin, piece]);
      if (begin.length < MARK.length) continue;
      yield MARK.every((byte, at) => begin?.[at] === byte) ? begin.subarray(MARK.length) : begin;
      begin = undefined;
    }
    if (begin !== undefined) yield begin;
  } finally {
    await pieces.return(undefined);
  }
}

async function beginningOf(pieces: AsyncGenerator<Uint8Array>): Promise<readonly Uint8Array[]> {
  const kept: Uint8Array[] = [];
  for (let size = 0; size < BEGINNING_BYTES;) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    // Copied, because callers may use their chunks again.
    kept.push(value.slice());
    size += value.length;
  }
  return kept;
}

async function* chained(first: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function* elementsOf(
  pieces: AsyncIterable<Uint8Array>,
  place: Pick<RowPlace, "tokens" | "is">,
): AsyncGenerator<readonly JsonRow[]> {
  const reader = new JsonRows(place);
  for await (const piece of pieces) {
    yield reader.push(piece);
    if (reader.isOver && place.tokens.length > 0) return;
  }
  yield reader.end();
}

const NEWLINE = 0x0a;

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly JsonRow[]> {
  let open: Uint8Array[] = [];
  let size = 0;
  let line = 0;
  const taken = (): JsonRow[] => {
    line += 1;
    const text = new TextDecoder().decode(joinBytes(open)).trim();
    open = [];
    size = 0;
    return text === "" ? [] : [{ value: valueOfJson(text, `Line ${line}`) }];
  };
  for await (const piece of piecesOf(bytes)) {
    const rows: JsonRow[] = [];
    let from = 0;
    for (let at = indexOfByte(piece, NEWLINE); at >= 0; at = indexOfByte(piece, NEWLINE, from)) {
      open.push(piece.subarray(from, at));
      rows.push(...taken());
      from = at + 1;
    }
    if (from < piece.length) open.push(piece.slice(from));
    size += piece.length - from;
    if (size > MAX_ROW_BYTES) throw tooLong(line + 1);
    yield rows;
  }
  if (size > 0) yield taken();
}

type Row = Readonly<Record<string, unknown>>;

/** A table of JSON values. Its columns are the members of the first rows; a query may name others. */
async function objectTable(batches: AsyncGenerator<readonly JsonRow[]>, first: readonly string[]): Promise<QueryTable> {
  const sample: JsonRow[] = [];
  let isWhole = false;
  while (sample.length < SAMPLE_ROWS && !isWhole) {
    const { done, value } = await batches.next();
    if (done === true) isWhole = true;
    else sample.push(...value);
  }
  const hasKeys = sample.some(({ key }) => key !== undefined);
  const found = new Set(sample.slice(0, SAMPLE_ROWS).flatMap(({ value }) => Object.keys(recordOf(value))));
  const keyColumn = found.has("key") ? "_key" : "key";
  const columns = hasKeys ? [keyColumn, ...found] : [...found];
  const notes = [...first];
  return {
    columns,
    notes,
    isOpen: !isWhole || sample.length > SAMPLE_ROWS,
    close: async () => {
      await batches.return(undefined);
    },
    async *rows(wanted) {
      const known = new Set(columns);
      const missing = new Set(wanted.filter((name) => !known.has(name)));
      const cellsOf = ({ key, value }: JsonRow): Cells => {
        const record = recordOf(value);
        for (const name of missing) if (Object.hasOwn(record, name)) missing.delete(name);
        return wanted.map((name) => {
          if (key !== undefined && name === keyColumn) return key;
          return Object.hasOwn(record, name) ? (record[name] ?? null) : null;
        });
      };
      try {
        yield sample.splice(0).map(cellsOf);
        for await (const batch of batches) yield batch.map(cellsOf);
        const [name] = missing;
        if (name !== undefined) throw wrongQuery(unknownColumn(name, columns));
      } finally {
        await batches.return(undefined);
      }
    },
  };
}

/** A row as an object: an array has `column_1` and so on, any other value is `value`. */
function recordOf(value: unknown): Row {
  if (isObject(value)) return value;
  if (!Array.isArray(value)) return { value };
  return Object.fromEntries(value.map((cell: unknown, index) => [`column_${index + 1}`, cell]));
}
