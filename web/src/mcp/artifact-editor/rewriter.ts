/**
 * Rewrites bytes while they stream: splices at known offsets, or a text wherever it stands.
 * @module
 */

/** A piece of the result. The caller copies it before it takes the next one. */
export interface Piece {
  readonly bytes: Uint8Array;
  /** Whether it differs from the origin at this place. An empty one stands for what was deleted. */
  readonly isNew: boolean;
}

/** Rewrites chunks of any size. */
export interface Rewriter {
  /** The pieces that can be told after a chunk. */
  push(chunk: Uint8Array): Iterable<Piece>;
  /** The rest, after the last chunk. */
  end(): Iterable<Piece>;
}

/** Replaces the bytes from `start` up to `end`. Offsets are in the origin. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly insert: Uint8Array;
}

/** Applies splices, which are in order and do not overlap. */
export class SpliceRewriter implements Rewriter {
  readonly #splices: readonly Splice[];
  #next = 0;
  /** Offset of the next byte of the origin. */
  #at = 0;

  constructor(splices: readonly Splice[]) {
    this.#splices = splices;
  }

  *push(chunk: Uint8Array): Generator<Piece> {
    const base = this.#at;
    const end = base + chunk.length;
    let from = base;
    for (let splice = this.#splices[this.#next]; splice !== undefined; splice = this.#splices[this.#next]) {
      // What is inserted at the end of a chunk may as well come with the next one.
      if (splice.start >= end) break;
      if (splice.start >= from) {
        if (splice.start > from) yield toUnchangedPiece(chunk.subarray(from - base, splice.start - base));
        yield { bytes: splice.insert, isNew: true };
      }
      from = Math.max(from, Math.min(end, splice.end));
      if (splice.end > end) break;
      this.#next += 1;
    }
    if (from < end) yield toUnchangedPiece(chunk.subarray(from - base));
    this.#at = end;
  }

  *end(): Generator<Piece> {
    for (const { start, insert } of this.#splices.slice(this.#next)) {
      if (start >= this.#at) yield { bytes: insert, isNew: true };
    }
  }
}

/** Finds a byte sequence in chunks of any size (Knuth, Morris, Pratt). */
export class Matcher {
  readonly #needle: Uint8Array;
  readonly #overlaps: boolean;
  /** For each length of a match so far, the longest shorter one that ends at the same place. */
  readonly #shorter: Uint32Array;
  #matched = 0;

  /** With `overlaps`, matches may share bytes. */
  constructor(needle: Uint8Array, overlaps: boolean) {
    this.#needle = needle;
    this.#overlaps = overlaps;
    this.#shorter = new Uint32Array(needle.length + 1);
    for (let length = 1, shorter = 0; length < needle.length; length += 1) {
      while (shorter > 0 && needle[length] !== needle[shorter]) shorter = this.#shorter[shorter] as number;
      if (needle[length] === needle[shorter]) shorter += 1;
      this.#shorter[length + 1] = shorter;
    }
  }

  /** How many of the last bytes may begin a match. */
  get matched(): number {
    return this.#matched;
  }

  /** Offset after the next match that ends in the chunk from offset `from` on. -1 if there is none. */
  find(chunk: Uint8Array, from: number): number {
    const needle = this.#needle;
    const shorter = this.#shorter;
    let matched = this.#matched;
    for (let at = from; at < chunk.length; at += 1) {
      if (matched === 0) {
        at = chunk.indexOf(needle[0] as number, at);
        if (at < 0) break;
      }
      const byte = chunk[at];
      while (matched > 0 && needle[matched] !== byte) matched = shorter[matched] as number;
      if (needle[matched] === byte) matched += 1;
      if (matched === needle.length) {
        this.#matched = this.#overlaps ? (shorter[matched] as number) : 0;
        return at + 1;
      }
    }
    this.#matched = matched;
    return -1;
  }
}

/** Replaces every occurrence, from the left. */
export class TextRewriter implements Rewriter {
  readonly #old: Uint8Array;
  readonly #replacement: Uint8Array;
  readonly #matcher: Matcher;
  /** Bytes held back from earlier chunks, which are a beginning of the text. */
  #held = 0;

  constructor(old: Uint8Array, replacement: Uint8Array) {
    this.#old = old;
    this.#replacement = replacement;
    this.#matcher = new Matcher(old, false);
  }

  *push(chunk: Uint8Array): Generator<Piece> {
    let from = -this.#held;
    let at = 0;
    for (let end = this.#matcher.find(chunk, at); end >= 0; end = this.#matcher.find(chunk, at)) {
      yield* this.#range(chunk, from, end - this.#old.length);
      yield { bytes: this.#replacement, isNew: true };
      from = end;
      at = end;
    }
    yield* this.#range(chunk, from, chunk.length - this.#matcher.matched);
    this.#held = this.#matcher.matched;
  }

  *end(): Generator<Piece> {
    if (this.#held > 0) yield toUnchangedPiece(this.#old.subarray(0, this.#held));
  }

  /** A range of the origin. Negative offsets are in what was held back. */
  *#range(chunk: Uint8Array, from: number, to: number): Generator<Piece> {
    if (from < 0 && to > from) {
      yield toUnchangedPiece(this.#old.subarray(this.#held + from, this.#held + Math.min(0, to)));
    }
    if (to > Math.max(0, from)) yield toUnchangedPiece(chunk.subarray(Math.max(0, from), to));
  }
}

function toUnchangedPiece(bytes: Uint8Array): Piece {
  return { bytes, isNew: false };
}
