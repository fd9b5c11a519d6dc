/**
 * Reports the values of a JSON text (RFC 8259) that arrives in chunks, as they begin and end.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** Longest key that is decoded, in bytes as written. */
const MAX_KEY_BYTES = 8192;

/** Deepest nesting that is followed. */
const MAX_DEPTH = 1000;

/** The kind of a JSON value. */
export type JsonKind = "object" | "array" | "string" | "number" | "true" | "false" | "null";

/** Receives values. Offsets are bytes from the start of the text. The document has depth 0. */
export interface JsonVisitor {
  /** Whether to decode the keys of members at this depth. Decoding costs time. */
  wantsKey(depth: number): boolean;
  /** A value begins. `name` is its index or its key; undefined for a key that is not wanted or too long. */
  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void;
  /**
   * A value ends. `end` is the offset after its last byte; `members` counts the members of an array or object. Return
   * false to stop scanning.
   */
  endValue(kind: JsonKind, end: number, depth: number, members: number): boolean;
}

type Expected = "value" | "element" | "member" | "key" | "colon" | "next" | "nothing";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT = 1;

/** Bytes of numbers, those of NaN and Infinity among them, which Python writes. */
const NUMBER_BYTES: ReadonlySet<number> = new Set(Array.from("0123456789.-+eENaInfity", (char) => char.charCodeAt(0)));

/** Literals by first byte. Numbers begin with `-` or a digit, or are NaN or Infinity. */
const LITERALS: ReadonlyMap<number, "true" | "false" | "null"> = new Map([
  [0x74, "true"],
  [0x66, "false"],
  [0x6e, "null"],
]);

/**
 * Scans one text. It validates the structure, but neither number syntax nor escapes in long strings.
 *
 * @throws SluiceError E_JSON_SYNTAX with the offset, E_JSON_DEPTH.
 */
export class JsonScanner {
  readonly #visitor: JsonVisitor;
  readonly #kinds = new Uint8Array(MAX_DEPTH + 1);
  readonly #counts = new Uint32Array(MAX_DEPTH + 1);
  #depth = 0;
  #expected: Expected = "value";
  #at: number;
  #inString: "no" | "value" | "key" = "no";
  #isEscaped = false;
  #key: Capture | undefined;
  #name: string | undefined;
  /** The number or literal being read, and how much of it was read. */
  #scalar: "number" | "true" | "false" | "null" | undefined;
  #scalarAt = 0;
  #isStopped = false;

  /** `from` is the offset of the first byte. */
  constructor(visitor: JsonVisitor, from: number) {
    this.#visitor = visitor;
    this.#at = from;
  }

  /** Scans a chunk. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.#isStopped;) {
      if (this.#inString !== "no") at = this.#string(chunk, at);
      else if (this.#scalar !== undefined) at = this.#continueScalar(chunk, at, this.#scalar);
      else at = this.#structure(chunk[at] as number, at) + 1;
    }
    this.#key?.take(chunk, this.#at, this.#at + chunk.length);
    this.#at += chunk.length;
  }

  /** Ends the text. */
  end(): void {
    if (this.#scalar !== undefined && !this.#isStopped) this.#endScalar(this.#scalar, 0);
    if (this.#expected !== "nothing" && !this.#isStopped) throw this.#syntax(0);
  }

  /** Handles one byte outside strings and scalars. */
  #structure(byte: number, at: number): number {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at;
    switch (this.#expected) {
      case "element":
        if (byte === 0x5d) this.#closeContainer(at);
        else this.#begin(byte, at);
        break;
      case "value":
        this.#begin(byte, at);
        break;
      case "member":
        if (byte === 0x7d) this.#closeContainer(at);
        else this.#beginKey(byte, at);
        break;
      case "key":
        this.#beginKey(byte, at);
        break;
      case "colon":
        if (byte !== 0x3a) throw this.#syntax(at);
        this.#expected = "value";
        break;
      case "next":
        this.#next(byte, at);
        break;
      case "nothing":
        throw this.#syntax(at);
    }
    return at;
  }

  #next(byte: number, at: number): void {
    const isObject = this.#kinds[this.#depth] === OBJECT;
    if (byte === 0x2c) this.#expected = isObject ? "key" : "value";
    else if (byte === (isObject ? 0x7d : 0x5d)) this.#closeContainer(at);
    else throw this.#syntax(at);
  }

  #beginKey(byte: number, at: number): void {
    if (byte !== QUOTE) throw this.#syntax(at);
    this.#inString = "key";
    this.#name = undefined;
    if (!this.#visitor.wantsKey(this.#depth)) return;
    this.#key = new Capture(MAX_KEY_BYTES);
    this.#key.begin(this.#at + at);
  }

  #begin(byte: number, at: number): void {
    if (byte === QUOTE) {
      this.#tell("string", at);
      this.#inString = "value";
    } else if (byte === 0x7b || byte === 0x5b) this.#openContainer(byte === 0x7b, at);
    else {
      const isNumber = byte === 0x2d || byte === 0x4e || byte === 0x49 || isDigit(byte);
      const kind = LITERALS.get(byte) ?? (isNumber ? "number" : undefined);
      if (kind === undefined) throw this.#syntax(at);
      this.#tell(kind, at);
      this.#scalar = kind;
      this.#scalarAt = 1;
    }
  }

  /** Values inside a container have the container's depth plus one. */
  #openContainer(isObject: boolean, at: number): void {
    this.#tell(isObject ? "object" : "array", at);
    if (this.#depth >= MAX_DEPTH) throw tooDeep();
    this.#depth += 1;
    this.#kinds[this.#depth] = isObject ? OBJECT : 0;
    this.#counts[this.#depth] = 0;
    this.#expected = isObject ? "member" : "element";
  }

  #closeContainer(at: number): void {
    const members = this.#counts[this.#depth] as number;
    const kind = this.#kinds[this.#depth] === OBJECT ? "object" : "array";
    this.#depth -= 1;
    this.#finish(kind, at + 1, members);
  }

  #tell(kind: JsonKind, at: number): void {
    const isElement = this.#depth > 0 && this.#kinds[this.#depth] !== OBJECT;
    const name = isElement ? this.#counts[this.#depth] : this.#name;
    this.#name = undefined;
    this.#visitor.beginValue(kind, this.#at + at, this.#depth, name);
    this.#counts[this.#depth] = (this.#counts[this.#depth] as number) + 1;
  }

  #finish(kind: JsonKind, end: number, members: number): void {
    this.#expected = this.#depth === 0 ? "nothing" : "next";
    this.#isStopped = !this.#visitor.endValue(kind, this.#at + end, this.#depth, members);
  }

  /** Scans to the end of the string and returns the offset after it. */
  #string(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte < 0x20) throw this.#syntax(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#endString(chunk, at + 1);
        return at + 1;
      }
    }
    return chunk.length;
  }

  #endString(chunk: Uint8Array, end: number): void {
    const isKey = this.#inString === "key";
    this.#inString = "no";
    if (!isKey) {
      this.#finish("string", end, 0);
      return;
    }
    this.#expected = "colon";
    if (this.#key === undefined) return;
    this.#key.take(chunk, this.#at, this.#at + end);
    this.#name = this.#key.isCut ? undefined : this.#readKey(this.#key.text(), end);
    this.#key = undefined;
  }

  #readKey(json: string, end: number): string {
    try {
      return JSON.parse(json) as string;
    } catch {
      throw this.#syntax(end);
    }
  }

  #continueScalar(chunk: Uint8Array, from: number, kind: "number" | "true" | "false" | "null"): number {
    let at = from;
    while (at < chunk.length && this.#isInScalar(kind, chunk[at] as number)) at += 1;
    if (at < chunk.length) this.#endScalar(kind, at);
    return at;
  }

  #isInScalar(kind: "number" | "true" | "false" | "null", byte: number): boolean {
    if (kind === "number") return NUMBER_BYTES.has(byte);
    if (byte !== kind.charCodeAt(this.#scalarAt)) return false;
    this.#scalarAt += 1;
    return true;
  }

  #endScalar(kind: "number" | "true" | "false" | "null", end: number): void {
    if (kind !== "number" && this.#scalarAt !== kind.length) throw this.#syntax(end);
    this.#scalar = undefined;
    this.#finish(kind, end, 0);
  }

  #syntax(at: number): SluiceError {
    return new SluiceError(
      "E_JSON_SYNTAX",
      `The artifact is not JSON at byte ${this.#at + at}: read it with lines, bytes or search.`,
      { path: "uri" },
    );
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function tooDeep(): SluiceError {
  return new SluiceError(
    "E_JSON_DEPTH",
    `The JSON is nested deeper than ${MAX_DEPTH} levels: read it with lines, bytes or search.`,
    { path: "uri" },
  );
}

/** Collects a range of bytes up to a length. It copies, because callers may reuse their chunks. */
export class Capture {
  readonly #most: number;
  #pieces: Uint8Array[] = [];
  #kept = 0;
  #next = 0;
  #isCut = false;

  /** `most` is in bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether the range was longer than the limit. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Starts a new range at an offset. */
  begin(at: number): void {
    this.#pieces = [];
    this.#kept = 0;
    this.#next = at;
    this.#isCut = false;
  }

  /** Collects what is new up to offset `until`. `base` is the offset of the chunk's first byte. */
  take(chunk: Uint8Array, base: number, until: number): void {
    const from = this.#next - base;
    const to = until - base;
    if (to <= from) return;
    this.#next = until;
    const piece = chunk.slice(from, Math.min(to, from + this.#most - this.#kept));
    this.#kept += piece.length;
    if (piece.length < to - from) this.#isCut = true;
    if (piece.length > 0) this.#pieces.push(piece);
  }

  /** The collected bytes as UTF-8. A character that the limit cuts in half is left out. */
  text(): string {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = this.#pieces.map((piece) => decoder.decode(piece, { stream: true })).join("");
    return this.#isCut ? text : text + decoder.decode();
  }
}
