/**
 * Some of the lines or rows that pass by, each with where it stands.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { fitting } from "./json-chars.js";
import type { RecordSpec } from "./ranges.js";

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

/** How a record ends. */
export interface FinishOptions {
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
    if (!this.#isFull && this.#count >= first) this.#keep(start, size, joined(pieces, size));
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

function joined(pieces: readonly Uint8Array[], most: number): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all.subarray(0, most);
}

function tooMuch(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    "What was asked for is larger than 4 MiB: ask for fewer lines or rows, or bytes.",
  );
}
