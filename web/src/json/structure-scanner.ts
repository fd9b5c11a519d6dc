/**
 * Finds strings and brackets in JSON text that arrives in chunks.
 *
 * It validates nothing and skips strings by a search for their ends, so it is fast on large payloads and safe on text that only
 * looks like JSON. Use `value-scanner.ts` where malformed JSON must be refused.
 * @module
 */
import { indexOfByte } from "#byte-search";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Receives the structure of a text: bytes outside strings, and where strings begin and end. */
export interface StructureVisitor {
  /**
   * A byte outside strings that is not white space. `depth` is the depth around it; deeper bytes than requested are not
   * reported.
   */
  mark(byte: number, at: number, depth: number): void;
  /** A string begins after the quote at offset `at` of the chunk. */
  openString?(at: number, depth: number): void;
  /** A string ends with the quote at offset `at` of the chunk. */
  closeString?(at: number, depth: number): void;
}

/** Tracks braces, brackets and strings across chunks of any size, in constant memory. */
export class StructureScanner {
  readonly #visitor: StructureVisitor;
  readonly #deepest: number;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(visitor: StructureVisitor, deepest: number) {
    this.#visitor = visitor;
    this.#deepest = deepest;
  }

  /** Whether the text so far ends inside a string. */
  get inString(): boolean {
    return this.#inString;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) at = this.#inString ? this.#string(chunk, at) : this.#structure(chunk, at);
  }

  /** Scans to the next string and returns the offset after its opening quote. */
  #structure(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth <= this.#deepest) this.#visitor.openString?.(at, this.#depth);
        return at + 1;
      }
      if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
      if (this.#depth <= this.#deepest && byte > 0x20) this.#visitor.mark(byte, at, this.#depth);
      if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    }
    return chunk.length;
  }

  /** Scans to the end of the string and returns the offset after it. */
  #string(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    for (;;) {
      const quote = indexOfByte(chunk, QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      const escaped = isEscaped(chunk, at, end);
      if (quote < 0) {
        this.#escaped = escaped;
        return chunk.length;
      }
      at = quote + 1;
      if (escaped) continue;
      this.#inString = false;
      if (this.#depth <= this.#deepest) this.#visitor.closeString?.(quote, this.#depth);
      return at;
    }
  }
}

/** Whether an odd number of backslashes precedes `end`. The byte at `from` is not escaped. */
function isEscaped(chunk: Uint8Array, from: number, end: number): boolean {
  let first = end;
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1;
  return (end - first) % 2 === 1;
}
