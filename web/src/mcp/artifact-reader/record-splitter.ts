/**
 * Splits bytes into records, while they arrive: lines, rows of CSV, elements of a JSON array.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { CsvRecords, type CsvDialect } from "../../query/csv.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../json/value-scanner.js";

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

const NEWLINE = 0x0a;

/** Splits a stream of bytes into records. */
export interface Splitter {
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
export class ElementSplitter implements Splitter, JsonVisitor {
  readonly #records: RecordSink;
  readonly #stopsEarly: boolean;
  readonly #scanner: JsonScanner;
  #chunk: Uint8Array = new Uint8Array(0);
  #base: number;
  /** Start of the open element, and of the part not passed on yet. */
  #start = -1;
  #from = 0;

  /** `from` is the offset of the first byte in the artifact. */
  constructor(records: RecordSink, from: number, stopsEarly: boolean) {
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
