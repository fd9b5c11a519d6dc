/**
 * Reads lines of a text, and rows of CSV, NDJSON or a JSON array, split while the bytes arrive.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { findEnd, type Inspection } from "./inspection.js";
import { RecordIndex } from "./record-index.js";
import { type RecordMode, type RecordSpec, resolveRecords } from "./request.js";
import { nameBytes, pour, type Readable, nameSubject, MAX_RESOURCE_PART, readFacts } from "./source.js";
import { joinBytes } from "../../artifacts/bytes.js";
import type { ByteRange } from "../../artifacts/store.js";
import {
  CsvSplitter,
  ElementSplitter,
  LineSplitter,
  type FinishOptions,
  type RecordSink,
  type Splitter,
} from "./record-splitter.js";

/** Most characters of one line or row. */
const MAX_RECORD_CHARS = 2000;

/** Most characters of what begins a page among several, `[section 12345]` and its line end. */
const MAX_BORDER = 20;

/** Artifacts up to this size are read to the end, so that their records are counted. */
const COUNTED_BYTES = 4 * 1024 * 1024;

interface Found {
  readonly header: Kept | undefined;
  readonly kept: readonly Kept[];
  /** What was asked for, counted from the beginning. */
  readonly range: RecordSpec;
  /** Number of records. Undefined if not all were ever read. */
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
  asked: RecordSpec,
  most: number,
): Promise<AnswerParts> {
  // The first of several has a border, too.
  const each = mode === "pages" ? Math.max(1, most - MAX_BORDER) : Math.min(MAX_RECORD_CHARS, most);
  const limits: KeepLimits = { each, all: most, excess: "cut", border: mode === "pages" ? MAX_BORDER : 0 };
  const rowsEnd = mode === "rows" ? await findEnd(from, inspection) : from.ref.size_bytes;
  const found = await readRecords(from, inspection, mode, asked, limits, rowsEnd);
  const { header, kept, range, total, isUnclosed } = found;
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
      ...(mode === "rows" ? noteForm(from) : []),
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
  const reading = planReading(from, inspection, mode, rowsEnd);
  const { index, span, end, isWhole } = reading;
  const passed = new RecordCollector(NONE, limits);
  if (range.first < 0 && index.count === undefined) {
    await passRecords(reading, new RecordCollector(NONE, limits), passed, false);
  }
  const wanted = index.count === undefined ? range : resolveRecords(range, index.count.total);
  const countsAll = index.count === undefined && span.end - span.start <= COUNTED_BYTES;
  // Header and rows may take half of the space each.
  const hasHeader = mode === "rows" && inspection.layout.kind === "csv" && inspection.layout.hasHeader;
  const share = hasHeader ? { ...limits, all: Math.floor(limits.all / 2) } : limits;
  const header = new RecordCollector({ first: 1, last: 1 }, share);
  const records = new RecordCollector(wanted, share);
  if (wanted.first > 0 && wanted.first <= (index.count?.total ?? Infinity)) {
    await passRecords(reading, header, records, !countsAll);
  }
  const { total, isUnclosed = false } = index.count ?? {};
  if (records.kept.length === 0) {
    const count = total ?? (range.first < 0 ? passed : records).count;
    throw outside(mode, chooseNoun(mode, from), wanted, count, isWhole && total !== undefined, end, inspection);
  }
  return { header: header.kept[0], kept: records.kept, range: wanted, total, isUnclosed };
}

/** No record: all are counted only. */
const NONE: RecordSpec = { first: Infinity, last: Infinity };

/** How records are read. */
interface Reading {
  readonly from: Readable;
  readonly inspection: Inspection;
  readonly mode: RecordMode;
  readonly index: RecordIndex;
  /** Where they are. */
  readonly span: Required<ByteRange>;
  /** Where reading ends: there, or at the limit of one call. */
  readonly end: number;
  readonly isWhole: boolean;
}

function planReading(from: Readable, inspection: Inspection, mode: RecordMode, rowsEnd: number): Reading {
  const { layout } = inspection;
  const part = mode === "rows" && layout.kind === "array" ? layout.span : undefined;
  const span = {
    start: part?.start ?? (mode === "rows" ? startRows(inspection) : 0),
    end: part?.end ?? rowsEnd,
  };
  const end = Math.min(span.end, from.maxScanned);
  const dialect = layout.kind === "csv" ? [layout.delimiter, layout.newline, layout.hasHeader] : [];
  const { id, sha256, size_bytes: size } = from.ref;
  const way = mode === "rows" ? [span.start, span.end, layout.kind, ...dialect] : [];
  const key = JSON.stringify([id, sha256, size, mode, ...way]);
  const index = from.indexes?.open(key) ?? new RecordIndex();
  return { from, inspection, mode, index, span, end, isWhole: end === span.end };
}

/**
 * Passes records to a collector, from the last known place before those that it wants, and keeps where they are. With `stopsEarly` it ends
 * once the collector is full.
 */
async function passRecords(
  { from, inspection, mode, index, span, end, isWhole }: Reading,
  header: RecordCollector,
  records: RecordCollector,
  stopsEarly: boolean,
): Promise<void> {
  const place = index.find(records.first);
  const { first } = index;
  if (place !== undefined && first !== undefined && mode === "rows" && inspection.layout.kind === "csv") {
    const splitter = splitterFor(inspection, mode, header, header, false);
    await pour(from, { start: span.start, end: first.offset }, (chunk) => {
      splitter.push(chunk);
      return true;
    });
  }
  const start = place?.offset ?? span.start;
  // Below the header all are rows.
  const above = place === undefined ? header : records;
  const splitter = splitterFor(inspection, mode, above, records, stopsEarly, place?.offset);
  records.begin(place?.before ?? 0, index);
  await pour(from, { start, end }, (chunk) => {
    splitter.push(chunk);
    return !stopsEarly || !records.isFull;
  });
  if (!isWhole || (stopsEarly && records.isFull)) return;
  // The end of the text closes every quote.
  const isUnclosed = splitter instanceof CsvSplitter && splitter.isOpen;
  splitter.end();
  index.count = { total: records.count, isUnclosed };
}

function splitterFor(
  { layout, markBytes }: Inspection,
  mode: RecordMode,
  header: RecordCollector,
  records: RecordCollector,
  stopsEarly: boolean,
  place?: number,
): Splitter {
  if (mode === "lines") return new LineSplitter(records, place ?? 0);
  if (mode === "pages") return new LineSplitter(records, place ?? 0, false, FORM_FEED);
  if (layout.kind === "csv")
    return new CsvSplitter(layout.hasHeader ? header : records, records, layout, place ?? layout.start);
  if (layout.kind === "ndjson") return new LineSplitter(records, place ?? layout.start, true);
  if (layout.kind === "array") {
    if (place === undefined) return new ElementSplitter(records, layout.span?.start ?? markBytes, stopsEarly);
    const splitter = new ElementSplitter(records, place - 1, stopsEarly);
    splitter.push(OPENING);
    return splitter;
  }
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

/** What separates the pages of a text. */
const FORM_FEED = 0x0c;

/** What stands before an element of an array, as far as a scanner is concerned. */
const OPENING = new TextEncoder().encode("[");

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
      `${first < 0 ? "The end" : `${noun} ${first}`} is beyond the first ${humanSize(read)}, which have ${countNoun(count, noun)}: use bytes or search.`,
      { path: mode },
    );
  }
  const { layout } = inspection;
  const below = mode === "rows" && layout.kind === "csv" && layout.hasHeader ? " below its header" : "";
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
  const others = layout.kind === "csv" ? layout.others.filter((line) => line !== above + 1) : [];
  return [
    ...(above > 0 ? [`The table begins at line ${above + 1}: lines "1-${above}" tells what stands above it.`] : []),
    ...(others.length > 0
      ? [
          `${others.length > 1 ? "Other tables begin at lines" : "Another table begins at line"} ${others.join(", ")}: give that line as header to read it.`,
        ]
      : []),
    ...(end < size && others.length === 0
      ? [`The table ends before the end: bytes "-${size - end}" tells what stands below it.`]
      : []),
  ];
}

/** What rows are of: which table of a text or a page of HTML, or what is whole of JSON that was cut. */
export function noteForm(from: Readable): readonly string[] {
  const { note } = from.ref.source;
  if (typeof note === "string") return [note];
  const isPage = from.ref.source["form"] === "rows" && plainType(from.origin?.mime_type ?? null) === "text/html";
  return isPage ? (readFacts(from)?.notices ?? []) : [];
}

function aboutRows(mode: RecordMode, { layout }: Inspection): string {
  if (mode !== "rows") return "";
  if (layout.kind === "csv") return layout.hasHeader ? ", below the header" : ", of a table without a header";
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
  #index: RecordIndex | undefined;

  constructor(wanted: RecordSpec, limits: KeepLimits) {
    this.#wanted = wanted;
    this.#limits = limits;
    this.#charsLeft = limits.all;
    // A character has at most four bytes. One more byte shows that there was more, and one may be the return.
    this.#mostBytes = 4 * Math.min(limits.each, limits.all) + 2;
  }

  /** Number of the first wanted one. */
  get first(): number {
    return this.#wanted.first;
  }

  /** Begins behind as many records, and keeps where others are. */
  begin(before: number, index: RecordIndex): void {
    this.#count = before;
    this.#index = index;
  }

  /** Number of records that have ended, with those before. */
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
    this.#index?.add({ offset: start, before: this.#count });
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
