/**
 * Searching bytes that pass by in chunks, in one window of them.
 * @module
 */
import { HIT_CHARS } from "./limits.js";
import type { Needle } from "./needle.js";

/** A place where the needle is. */
export interface Hit {
  /** Its first byte in the artifact. */
  readonly at: number;
  /** From 1: lines end at `\n`. */
  readonly line: number;
  /** Bytes around it, at most {@link AROUND} on either side. */
  readonly before: Uint8Array;
  readonly match: Uint8Array;
  readonly after: Uint8Array;
}

/** Most bytes told on either side of a hit. */
export const AROUND: number = 4 * HIT_CHARS;

const PIECE = 64 * 1024;
const NEWLINE = 0x0a;

/** Hits do not overlap. Chunks are copied into the window, which is all that is held. */
export class Searcher {
  readonly hits: Hit[] = [];
  readonly #needle: Needle;
  readonly #mostHits: number;
  /** Bytes that must be at hand behind a place before it is looked at. */
  readonly #ahead: number;
  readonly #window: Uint8Array;
  #filled = 0;
  /** Where the window begins in the artifact, and up to where in it was searched. */
  #base = 0;
  #searched = 0;
  #line = 1;
  #countedTo = 0;

  constructor(needle: Needle, mostHits: number) {
    this.#needle = needle;
    this.#mostHits = mostHits;
    this.#ahead = needle.mostBytes + AROUND;
    this.#window = new Uint8Array(AROUND + PIECE + this.#ahead);
  }

  /** Whether there are as many hits as were wanted: what follows is not searched. */
  get isFull(): boolean {
    return this.hits.length >= this.#mostHits;
  }

  /** Takes bytes, in chunks of any size. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.isFull;) {
      if (this.#filled === this.#window.length) this.#shift();
      const piece = chunk.subarray(at, at + this.#window.length - this.#filled);
      this.#window.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      this.#search(this.#filled - this.#ahead);
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#search(this.#filled);
  }

  #search(until: number): void {
    const window = this.#window;
    while (this.#searched < until && !this.isFull) {
      const at = this.#needle.candidate(window, this.#searched, until);
      this.#searched = at;
      if (at >= until) return;
      const length = this.#needle.matchAt(window, at, this.#filled);
      if (length > 0) this.#note(at, length);
      this.#searched = at + Math.max(1, length);
    }
  }

  #note(at: number, length: number): void {
    this.#countLines(at);
    const end = at + length;
    this.hits.push({
      at: this.#base + at,
      line: this.#line,
      before: this.#window.slice(Math.max(0, at - AROUND), at),
      match: this.#window.slice(at, end),
      after: this.#window.slice(end, Math.min(this.#filled, end + AROUND)),
    });
  }

  #countLines(until: number): void {
    for (;;) {
      const next = this.#window.indexOf(NEWLINE, this.#countedTo);
      if (next < 0 || next >= until) break;
      this.#line += 1;
      this.#countedTo = next + 1;
    }
    this.#countedTo = Math.max(this.#countedTo, until);
  }

  /** Makes room; keeps what may stand before a hit. */
  #shift(): void {
    const from = this.#searched - AROUND;
    this.#countLines(from);
    this.#window.copyWithin(0, from, this.#filled);
    this.#base += from;
    this.#filled -= from;
    this.#searched = AROUND;
    this.#countedTo -= from;
  }
}
