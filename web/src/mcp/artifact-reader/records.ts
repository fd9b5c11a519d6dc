/**
 * Reads lines of a text, and rows of CSV, NDJSON or a JSON array, split while the bytes arrive.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { findEnd, type Inspection } from "./inspection.js";
import type { RecordMode, RecordSpec } from "./request.js";
import { nameBytes, pour, type Readable, nameSubject, MAX_RESOURCE_PART, readFacts } from "./source.js";
import { joinBytes } from "../../artifacts/bytes.js";
import { CsvRecords, type CsvDialect } from "../../query/csv.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../json/value-scanner.js";

/** Most characters of one line or row. */
const MAX_RECORD_CHARS = 2000;

/** Most characters of what begins a page among several, `[section 12345]` and its line end. */
const MAX_BORDER = 20;

/** Artifacts up to this size are read to the end, so that their records are counted. */
const COUNTED_BYTES = 4 * 1024 * 1024;

interface Found {
  readonly header: Kept | undefined;
  readonly kept: readonly Kept[];
  /** Number of records. Undefined if not all were read. */
  readonly total: number | undefined;
  /** Whether a quote is never closed, so that all later rows look like one. */
  readonly isUnclosed: boolean;
}

const CUTS_NAMED = 3;

/** Answers with lines or rows in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…. */
export async function tellRecords(
  from: Readable,
  inspection: Inspection,
  mode: RecordMode,
  range: RecordSpec,
  most: number,
): Promise<AnswerParts> {
  // The first of several has a border, too.
  const each = mode === "pages" ? Math.max(1, most - MAX_BORDER) : Math.min(MAX_RECORD_CHARS, most);
  const limits: KeepLimits = { each, all: most, excess: "cut", border: mode === "pages" ? MAX_BORDER : 0 };
  const rowsEnd = mode === "rows" ? await findEnd(from, inspection) : from.ref.size_bytes;
  const { header, kept, total, isUnclosed } = await readRecords(from, inspection, mode, range, limits, rowsEnd);
  const first = kept[0] as Kept;
  const last = kept.at(-1) as Kept;
  const noun = chooseNoun(mode, from);
  const which = first === last ? `${noun} ${first.index}` : `${noun}s ${first.index}-${last.index}`;
  const shown = header === undefined ? kept : [header, ...kept];
  const hasBorders = mode === "pages" && kept.length > 1;
  return {
    head: `${nameSubject(from)}, ${which}${total === undefined ? "" : ` of ${groupDigits(total)}`}${aboutRows(mode, inspection)}`,
    data: shown.map((record) => (hasBorders ? `[${noun} ${record.index}]\n` : "") + writeRecord(record)).join("\n"),
    notes: [
      ...(mode === "rows" ? noteBeside(inspection, from.ref.size_bytes, rowsEnd) : []),
      ...(mode === "rows" ? noteTable(from) : []),
      ...moreNotes(last.index, range, total, mode),
      ...(isUnclosed ? ["A quote is never closed, so the last row takes all that follows it."] : []),
      ...cutNotes(shown, mode, from),
      ...(kept.every(({ text }) => text.trim() === "") ? (readFacts(from)?.notices ?? []) : []),
    ],
  };
}

function writeRecord({ text, isCut }: Kept): string {
  return isCut ? `${text}…` : text;
}

/** The same records whole, without our own words, for a resource. Throws the same. */
export async function textOfRecords(
  from: Readable,
  inspection: Inspection,
  mode: RecordMode,
  range: RecordSpec,
): Promise<string> {
  const limits: KeepLimits = { each: MAX_RESOURCE_PART, all: MAX_RESOURCE_PART, excess: "refuse", border: 0 };
  const rowsEnd = mode === "rows" ? await findEnd(from, inspection) : from.ref.size_bytes;
  const { header, kept } = await readRecords(from, inspection, mode, range, limits, rowsEnd);
  return (header === undefined ? kept : [header, ...kept]).map(({ text }) => text).join("\n");
}

async function readRecords(
  from: Readable,
  inspection: Inspection,
  mode: RecordMode,
  range: RecordSpec,
  limits: KeepLimits,
  rowsEnd: number,
): Promise<Found> {
  const span = mode === "rows" && inspection.layout.kind === "array" ? inspection.layout.span : undefined;
  const size = span?.end ?? rowsEnd;
  const start = span?.start ?? (mode === "rows" ? startRows(inspection) : 0);
  const countsAll = size - start <= COUNTED_BYTES;
  // Header and rows may take half of the space each.
  const hasHeader = mode === "rows" && inspection.layout.kind === "csv";
  const share = hasHeader ? { ...limits, all: Math.floor(limits.all / 2) } : limits;
  const header = new RecordCollector({ first: 1, last: 1 }, share);
  const records = new RecordCollector(range, share);
  const splitter = splitterFor(inspection, mode, header, records, !countsAll);
  const end = Math.min(size, from.maxScanned);
  await pour(from, { start, end }, (chunk) => {
    splitter.push(chunk);
    return countsAll || !records.isFull;
  });
  const isToEnd = end === size && (countsAll || !records.isFull);
  // The end of the text closes every quote.
  const isUnclosed = splitter instanceof CsvSplitter && splitter.isOpen;
  if (isToEnd) splitter.end();
  if (records.kept.length === 0)
    throw outside(mode, chooseNoun(mode, from), range, records.count, isToEnd, end, inspection);
  return {
    header: header.kept[0],
    kept: records.kept,
    total: isToEnd ? records.count : undefined,
    isUnclosed: isToEnd && isUnclosed,
  };
}

function splitterFor(
  { layout, markBytes }: Inspection,
  mode: RecordMode,
  header: RecordCollector,
  records: RecordCollector,
  stopsEarly: boolean,
): Splitter {
  if (mode === "lines") return new LineSplitter(records, 0);
  if (mode === "pages") return new LineSplitter(records, 0, false, FORM_FEED);
  if (layout.kind === "csv") return new CsvSplitter(header, records, layout, layout.start);
  if (layout.kind === "ndjson") return new LineSplitter(records, layout.start, true);
  if (layout.kind === "array") return new ElementSplitter(records, layout.span?.start ?? markBytes, stopsEarly);
  throw refuseRows();
}

/** What is thrown for a text without rows. */
export function refuseRows(): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    "The artifact has no rows: it is neither CSV, TSV, NDJSON nor a JSON array. Use lines, or pointer for JSON.",
    { path: "rows" },
  );
}

function outside(
  mode: RecordMode,
  noun: string,
  { first }: RecordSpec,
  count: number,
  isToEnd: boolean,
  read: number,
  inspection: Inspection,
): SluiceError {
  if (!isToEnd) {
    return new SluiceError(
      "E_TOO_LARGE",
      `${noun} ${first} is beyond the first ${humanSize(read)}, which have ${countNoun(count, noun)}: use bytes or search.`,
      { path: mode },
    );
  }
  const below = mode === "rows" && inspection.layout.kind === "csv" ? " below its header" : "";
  const there = count === 0 ? `has no ${noun}s${below}` : `has ${countNoun(count, noun)}${below}: ask for "1-${count}"`;
  return new SluiceError("E_INVALID_ARGUMENT", `The artifact ${there}.`, { path: mode });
}

function chooseNoun(mode: RecordMode, from: Readable): string {
  if (mode === "pages") return readFacts(from)?.part ?? "page";
  return mode === "lines" ? "line" : "row";
}

/** The byte with which rows begin: what stands above them is none. */
function startRows({ layout, markBytes }: Inspection): number {
  return "start" in layout ? layout.start : markBytes;
}

/** Says where to find what stands above rows, and below them, where they end at a byte. */
export function noteBeside({ layout }: Pick<Inspection, "layout">, size: number, end: number): readonly string[] {
  const above = "above" in layout ? layout.above : 0;
  return [
    ...(above > 0 ? [`The table begins at line ${above + 1}: lines "1-${above}" tells what stands above it.`] : []),
    ...(end < size ? [`The table ends before the end: bytes "-${size - end}" tells what stands below it.`] : []),
  ];
}

/** Which table of a text or a page of HTML the rows are of. */
export function noteTable(from: Readable): readonly string[] {
  const { table } = from.ref.source;
  if (typeof table === "string") return [table];
  const isPage = from.ref.source["form"] === "rows" && plainType(from.origin?.mime_type ?? null) === "text/html";
  return isPage ? (readFacts(from)?.notices ?? []) : [];
}

function aboutRows(mode: RecordMode, { layout }: Inspection): string {
  if (mode !== "rows") return "";
  if (layout.kind === "csv") return ", below the header";
  return layout.kind === "array" ? `, where row 1 is pointer ${layout.span?.pointer ?? ""}/0` : "";
}

/** Says where the rest of shortened records is. */
function cutNotes(records: readonly Kept[], mode: RecordMode, from: Readable): readonly string[] {
  const cut = records.filter(({ isCut }) => isCut);
  if (cut.length === 0) return [];
  const named = cut
    .slice(0, CUTS_NAMED)
    .map(({ start, size }) => `${nameBytes(from, start, start + size)} (${humanSize(size)})`);
  const more = cut.length > CUTS_NAMED ? ` and ${groupDigits(cut.length - CUTS_NAMED)} more` : "";
  const cuts = countNoun(cut.length, `long ${chooseNoun(mode, from)}`);
  return [`${cuts} cut at "…": for the whole, read ${named.join(", ")}${more}.`];
}

function moreNotes(last: number, range: RecordSpec, total: number | undefined, mode: RecordMode): readonly string[] {
  const wanted = Math.min(range.last, total ?? Infinity);
  if (last >= wanted) return [];
  const rest = wanted === Infinity ? `${last + 1}-` : `${last + 1}-${wanted}`;
  return [`The answer is full: read on with ${mode} "${rest}".`];
}

/** A line or a row. */
export interface Kept {
  /** Counted from 1. */
  readonly index: number;
  /** Offset of its first byte in the artifact. */
  readonly start: number;
  /** Its size in bytes, without its terminator. */
  readonly size: number;
  readonly text: string;
  /** Whether `text` is incomplete. */
  readonly isCut: boolean;
}

/** Limits for kept records. */
interface KeepLimits {
  /** Most characters of one record, as JSON. */
  readonly each: number;
  /** Most characters of all records. */
  readonly all: number;
  /** Whether records that are too long are cut, or refused with E_TOO_LARGE. */
  readonly excess: "cut" | "refuse";
  /** Characters that stand before each record, if there are several. */
  readonly border: number;
}

const CARRIAGE_RETURN = 0x0d;
const NEWLINE_CHARS = 2;

/** Takes the records of a splitter, in order and in pieces. */
export interface RecordSink {
  /** Number of records that have ended. */
  readonly count: number;
  /** Bytes of the current record so far. */
  readonly size: number;
  /** Whether later records are ignored. */
  readonly isFull: boolean;
  /** Adds a piece of the current record. The bytes are the caller's. */
  piece(chunk: Uint8Array, from: number, to: number): void;
  /** Ends the current record, which started at offset `start`. With `skipBlank` an empty one is not counted. */
  finish(start: number, options?: FinishOptions): void;
}

/** How a record ends. */
export interface FinishOptions {
  /** Whether a trailing carriage return is part of the terminator. */
  readonly trimReturn?: boolean;
  /** Whether empty records are skipped. */
  readonly skipBlank?: boolean;
}

/** Collects records in order, in pieces, from a splitter. */
class RecordCollector implements RecordSink {
  readonly kept: Kept[] = [];
  readonly #wanted: RecordSpec;
  readonly #limits: KeepLimits;
  readonly #mostBytes: number;
  #pieces: Uint8Array[] = [];
  #keptBytes = 0;
  #size = 0;
  #endsWithReturn = false;
  #count = 0;
  #charsLeft: number;
  #isFull = false;

  constructor(wanted: RecordSpec, limits: KeepLimits) {
    this.#wanted = wanted;
    this.#limits = limits;
    this.#charsLeft = limits.all;
    // A character has at most four bytes. One more byte shows that there was more, and one may be the return.
    this.#mostBytes = 4 * Math.min(limits.each, limits.all) + 2;
  }

  /** Number of records that have ended. */
  get count(): number {
    return this.#count;
  }

  /** Whether later records are ignored. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Bytes of the current record so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds a piece of the current record. Copies the bytes. */
  piece(chunk: Uint8Array, from: number, to: number): void {
    if (to <= from) return;
    this.#size += to - from;
    this.#endsWithReturn = chunk[to - 1] === CARRIAGE_RETURN;
    // Checked here, because the end may be far.
    if (this.#isRefused()) throw tooMuch();
    if (this.#isFull || this.#count + 1 < this.#wanted.first) return;
    const piece = chunk.slice(from, Math.min(to, from + this.#mostBytes - this.#keptBytes));
    this.#keptBytes += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
  }

  /** Ends the current record, which started at offset `start`. With `skipBlank` an empty one is not counted. */
  finish(start: number, { trimReturn = false, skipBlank = false }: FinishOptions = {}): void {
    const size = this.#size - (trimReturn && this.#endsWithReturn ? 1 : 0);
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#keptBytes = 0;
    this.#size = 0;
    this.#endsWithReturn = false;
    if (skipBlank && size === 0) return;
    this.#count += 1;
    const { first, last } = this.#wanted;
    if (!this.#isFull && this.#count >= first) this.#keep(start, size, joinBytes(pieces).subarray(0, size));
    if (this.#count >= last) this.#isFull = true;
  }

  #isRefused(): boolean {
    const isWanted = !this.#isFull && this.#count + 1 >= this.#wanted.first;
    return isWanted && this.#limits.excess === "refuse" && this.#size > this.#mostBytes;
  }

  #keep(start: number, size: number, bytes: Uint8Array): void {
    const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: bytes.length < size });
    const whole = prefixWithin(decoded, this.#limits.each);
    const isFirst = this.kept.length === 0;
    const fit = isFirst ? prefixWithin(whole.text, this.#charsLeft) : whole;
    const isCut = fit.text.length < decoded.length || bytes.length < size;
    const border = isFirst ? 0 : NEWLINE_CHARS + this.#limits.border;
    const chars = fit.chars + border;
    const isTooMuch = chars > this.#charsLeft || (this.#limits.excess === "refuse" && isCut);
    if (isTooMuch && this.#limits.excess === "refuse") throw tooMuch();
    if (isTooMuch) {
      this.#isFull = true;
      return;
    }
    this.#charsLeft -= chars;
    this.kept.push({ index: this.#count, start, size, text: fit.text, isCut });
  }
}

function tooMuch(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    "The answer would be larger than 4 MiB: ask for fewer lines or rows, or for bytes.",
  );
}

const NEWLINE = 0x0a;

/** What separates the pages of a text. */
const FORM_FEED = 0x0c;

/** Splits a stream of bytes into records. */
interface Splitter {
  /** Splits a chunk of any size. May throw E_JSON_…. */
  push(chunk: Uint8Array): void;
  /** Ends the stream. */
  end(): void;
}

/** Splits at `\n` or `\r\n`, or at another byte. An unterminated last line counts; a final newline starts no further line. */
export class LineSplitter implements Splitter {
  readonly #records: RecordSink;
  readonly #skipBlank: boolean;
  readonly #terminator: number;
  #at: number;
  #start: number;

  /** `from` is the offset of the first byte in the artifact. */
  constructor(records: RecordSink, from: number, skipBlank = false, terminator = NEWLINE) {
    this.#records = records;
    this.#skipBlank = skipBlank;
    this.#terminator = terminator;
    this.#at = from;
    this.#start = from;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    const terminator = this.#terminator;
    for (let at = chunk.indexOf(terminator); at >= 0; at = chunk.indexOf(terminator, from)) {
      this.#records.piece(chunk, from, at);
      this.#finish(true);
      from = at + 1;
      this.#start = this.#at + from;
    }
    this.#records.piece(chunk, from, chunk.length);
    this.#at += chunk.length;
  }

  end(): void {
    if (this.#records.size > 0) this.#finish(this.#skipBlank);
  }

  #finish(trimReturn: boolean): void {
    this.#records.finish(this.#start, { trimReturn, skipBlank: this.#skipBlank });
  }
}

/** Splits CSV into its records. Empty lines are skipped. */
export class CsvSplitter implements Splitter {
  readonly #header: RecordSink;
  readonly #rows: RecordSink;
  readonly #ends: CsvRecords;
  #records: RecordSink;
  #at: number;
  #start: number;

  /** The first record goes to `header`, all others to `rows`. `from` is the offset of the first byte. */
  constructor(header: RecordSink, rows: RecordSink, dialect: CsvDialect, from: number) {
    this.#header = header;
    this.#rows = rows;
    this.#records = header;
    this.#ends = new CsvRecords(dialect);
    this.#at = from;
    this.#start = from;
  }

  /** Whether the text so far ends inside quotes. */
  get isOpen(): boolean {
    return this.#ends.isOpen;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    this.#ends.push(chunk, (end) => {
      this.#records.piece(chunk, from, end);
      this.#finish();
      from = end + 1;
      this.#start = this.#at + from;
    });
    this.#records.piece(chunk, from, chunk.length);
    this.#at += chunk.length;
  }

  end(): void {
    if (this.#records.size > 0) this.#finish();
  }

  #finish(): void {
    this.#records.finish(this.#start, { trimReturn: true, skipBlank: true });
    if (this.#header.count > 0) this.#records = this.#rows;
  }
}

/** Splits a JSON array into its elements, as source text. With `stopsEarly` it stops after the last wanted one. */
class ElementSplitter implements Splitter, JsonVisitor {
  readonly #records: RecordCollector;
  readonly #stopsEarly: boolean;
  readonly #scanner: JsonScanner;
  #chunk: Uint8Array = new Uint8Array(0);
  #base: number;
  /** Start of the open element, and of the part not passed on yet. */
  #start = -1;
  #from = 0;

  /** `from` is the offset of the first byte in the artifact. */
  constructor(records: RecordCollector, from: number, stopsEarly: boolean) {
    this.#records = records;
    this.#stopsEarly = stopsEarly;
    this.#base = from;
    this.#scanner = new JsonScanner(this, from);
  }

  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    if (this.#start >= 0) this.#handOn(this.#base + chunk.length);
    this.#base += chunk.length;
  }

  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** For {@link JsonScanner}. */
  wantsKey(): boolean {
    return false;
  }

  /** For {@link JsonScanner}. */
  beginValue(kind: JsonKind, at: number, depth: number): void {
    if (depth === 0 && kind !== "array") throw noArray(kind);
    if (depth !== 1) return;
    this.#start = at;
    this.#from = at;
  }

  /** For {@link JsonScanner}. */
  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    if (depth !== 1) return true;
    this.#handOn(end);
    this.#records.finish(this.#start);
    this.#start = -1;
    return !(this.#stopsEarly && this.#records.isFull);
  }

  #handOn(until: number): void {
    this.#records.piece(this.#chunk, this.#from - this.#base, until - this.#base);
    this.#from = until;
  }
}

function noArray(kind: JsonKind): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `The JSON document is not an array but ${kind === "object" ? "an object" : `a ${kind}`}, so it has no rows: use pointer.`,
    { path: "rows" },
  );
}
