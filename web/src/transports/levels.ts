/**
 * The outermost levels of a JSON text that comes in pieces of any size.
 * @module
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What is told of a text: bytes outside of strings, and where strings begin and end. */
export interface LevelsVisitor {
  /** A byte outside of strings that is no white space, not deeper than asked for; `depth` is that around it. */
  mark(byte: number, at: number, depth: number): void;
  /** A string begins behind its quote at `at` of the chunk. */
  openString(at: number, depth: number): void;
  /** A string ends with the quote at `at` of the chunk. */
  closeString(at: number, depth: number): void;
}

/**
 * Follows braces, brackets and strings, whatever the chunks. It judges nothing else: of a text that is no JSON it
 * tells something, in the same bounded memory.
 */
export class Levels {
  readonly #visitor: LevelsVisitor;
  readonly #deepest: number;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(visitor: LevelsVisitor, deepest: number) {
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

  /** Goes on to the next string; gives where it begins. */
  #structure(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth <= this.#deepest) this.#visitor.openString(at, this.#depth);
        return at + 1;
      }
      if (byte === 0x7d || byte === 0x5d) this.#depth -= 1;
      if (this.#depth <= this.#deepest && byte > 0x20) this.#visitor.mark(byte, at, this.#depth);
      if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    }
    return chunk.length;
  }

  /** Goes on to the end of the string; gives what is behind it. */
  #string(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      const escaped = isEscaped(chunk, at, end);
      if (quote < 0) {
        this.#escaped = escaped;
        return chunk.length;
      }
      at = quote + 1;
      if (escaped) continue;
      this.#inString = false;
      if (this.#depth <= this.#deepest) this.#visitor.closeString(quote, this.#depth);
      return at;
    }
  }
}

/** Whether an odd number of backslashes stands before `end`; `from` is not escaped. */
function isEscaped(chunk: Uint8Array, from: number, end: number): boolean {
  let first = end;
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1;
  return (end - first) % 2 === 1;
}
