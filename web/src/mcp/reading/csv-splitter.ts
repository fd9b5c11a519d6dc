/**
 * Records of CSV (RFC 4180) whose bytes come in pieces: a line break inside quotes ends none.
 * @module
 */
import type { Splitter } from "./line-splitter.js";
import type { RecordCollector } from "./records.js";

const QUOTE = 0x22;
const NEWLINE = 0x0a;

/** Where in a field the next byte stands; `quote` is behind a quote inside quotes. */
type Within = "start" | "plain" | "quotes" | "quote";

/** A quote that does not begin its field is a character like any other. Empty lines are no records. */
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
