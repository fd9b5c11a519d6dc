/**
 * Elements of a JSON array whose bytes come in pieces.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "./json-scanner.js";
import type { Splitter } from "./line-splitter.js";
import type { RecordCollector } from "./records.js";

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
