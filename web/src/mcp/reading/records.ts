/**
 * Records of an artifact: lines, rows of CSV and elements of a JSON array, divided as their bytes come in pieces; and
 * some of them kept, each with where it stands.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { joined } from "../../transports/bytes.js";
import { fitting } from "./answer.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "./json-scanner.js";
import type { RecordSpec } from "./request.js";

/** A line or a row. */
export interface Kept {
  /** From 1. */
  readonly index: number;
  /** Its first byte in the artifact. */
  readonly start: number;
  /** All its bytes, without what ends it. */
  readonly size: number;
  readonly text: string;
  /** Whether `text` is not all of it. */
  readonly isCut: boolean;
}

/** How much is kept. */
export interface KeepLimits {
  /** Most characters of one record, as JSON. */
  readonly each: number;
  /** Most characters of all of them. */
  readonly all: number;
  /** Whether what is too long is cut, or refused with E_TOO_LARGE. */
  readonly excess: "cut" | "refuse";
}

const CARRIAGE_RETURN = 0x0d;
const NEWLINE_CHARS = 2;

interface FinishOptions {
  /** Whether a carriage return at its end belongs to the line's end. */
  readonly trimReturn?: boolean;
  /** Whether an empty one is not counted. */
  readonly skipBlank?: boolean;
}

/** Takes records in their order, in pieces; splitters call it. */
export class RecordCollector {
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
    // A character is four bytes at most; one byte more tells that there was more, and may be the return.
    this.#mostBytes = 4 * Math.min(limits.each, limits.all) + 2;
  }

  /** Records that have ended. */
  get count(): number {
    return this.#count;
  }

  /** Whether no later record will be kept. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Bytes of the current record so far. */
  get size(): number {
    return this.#size;
  }

  /** More of the current record. The bytes are copied. */
  piece(chunk: Uint8Array, from: number, to: number): void {
    if (to <= from) return;
    this.#size += to - from;
    this.#endsWithReturn = chunk[to - 1] === CARRIAGE_RETURN;
    // Before its end, which may be far.
    if (this.#isRefused()) throw tooMuch();
    if (this.#isFull || this.#count + 1 < this.#wanted.first) return;
    const piece = chunk.slice(from, Math.min(to, from + this.#mostBytes - this.#keptBytes));
    this.#keptBytes += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The current record is over, and started at `start`. With `skipBlank` an empty one is not counted. */
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
    if (!this.#isFull && this.#count >= first) this.#keep(start, size, joined(pieces).subarray(0, size));
    if (this.#count >= last) this.#isFull = true;
  }

  #isRefused(): boolean {
    const isWanted = !this.#isFull && this.#count + 1 >= this.#wanted.first;
    return isWanted && this.#limits.excess === "refuse" && this.#size > this.#mostBytes;
  }

  #keep(start: number, size: number, bytes: Uint8Array): void {
    const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: bytes.length < size });
    const whole = fitting(decoded, this.#limits.each);
    const isFirst = this.kept.length === 0;
    const fit = isFirst ? fitting(whole.text, this.#charsLeft) : whole;
    const isCut = fit.text.length < decoded.length || bytes.length < size;
    const chars = fit.chars + (isFirst ? 0 : NEWLINE_CHARS);
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
    "What was asked for is larger than 4 MiB: ask for fewer lines or rows, or bytes.",
  );
}

const NEWLINE = 0x0a;

/** Divides what passes by into records. */
export interface Splitter {
  /** Takes bytes, in chunks of any size. May throw E_JSON_…. */
  push(chunk: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
}

/** Ends a record at `\n` or `\r\n`. A last line without either counts; behind a final one there is none. */
export class LineSplitter implements Splitter {
  readonly #records: RecordCollector;
  readonly #skipBlank: boolean;
  #at: number;
  #start: number;

  /** `from` is the place of the first byte in the artifact. */
  constructor(records: RecordCollector, from: number, skipBlank = false) {
    this.#records = records;
    this.#skipBlank = skipBlank;
    this.#at = from;
    this.#start = from;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
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

const QUOTE = 0x22;

/** Where in a field the next byte stands; `quote` is behind a quote inside quotes. */
type Within = "start" | "plain" | "quotes" | "quote";

/**
 * Records of CSV (RFC 4180): a line break inside quotes ends none. A quote that does not begin its field is a character
 * like any other. Empty lines are no records.
 */
export class CsvSplitter implements Splitter {
  readonly #header: RecordCollector;
  readonly #rows: RecordCollector;
  readonly #delimiter: number;
  #records: RecordCollector;
  #within: Within = "start";
  #at: number;
  #start: number;

  /** The first record goes to `header`, all others to `rows`; `from` is the place of the first byte. */
  constructor(header: RecordCollector, rows: RecordCollector, delimiter: number, from: number) {
    this.#header = header;
    this.#rows = rows;
    this.#records = header;
    this.#delimiter = delimiter;
    this.#at = from;
    this.#start = from;
  }

  /** Whether the text so far ends inside quotes. */
  get isOpen(): boolean {
    return this.#within === "quotes";
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#within === "quotes") {
        const quote = chunk.indexOf(QUOTE, at);
        if (quote < 0) break;
        at = quote;
        this.#within = "quote";
        continue;
      }
      const byte = chunk[at] as number;
      if (byte === NEWLINE) {
        this.#records.piece(chunk, from, at);
        this.#finish();
        from = at + 1;
        this.#start = this.#at + from;
      } else this.#within = this.#after(byte);
    }
    this.#records.piece(chunk, from, chunk.length);
    this.#at += chunk.length;
  }

  end(): void {
    if (this.#records.size > 0) this.#finish();
  }

  #after(byte: number): Within {
    if (byte === this.#delimiter) return "start";
    if (byte === QUOTE && this.#within !== "plain") return "quotes";
    return "plain";
  }

  #finish(): void {
    this.#records.finish(this.#start, { trimReturn: true, skipBlank: true });
    if (this.#header.count > 0) this.#records = this.#rows;
    this.#within = "start";
  }
}

/** Each element is a record, as it is written. Stops at the last one wanted where `stopsEarly`. */
export class ElementSplitter implements Splitter, JsonVisitor {
  readonly #records: RecordCollector;
  readonly #stopsEarly: boolean;
  readonly #scanner: JsonScanner;
  #chunk: Uint8Array = new Uint8Array(0);
  #base: number;
  /** Where the open element begins, and what of it was not handed on. */
  #start = -1;
  #from = 0;

  /** `from` is the place of the first byte in the artifact. */
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
    `The JSON document is no array but ${kind === "object" ? "an object" : `a ${kind}`}, so it has no rows: use pointer.`,
    { path: "rows" },
  );
}
