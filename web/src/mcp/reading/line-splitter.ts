/**
 * Lines of bytes that come in pieces.
 * @module
 */
import type { RecordCollector } from "./records.js";

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
