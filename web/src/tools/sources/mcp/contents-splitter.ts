/**
 * The contents of a resource in a JSON text whose bytes come in pieces.
 * @module
 */
import { SluiceError } from "../../../errors/error.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../../mcp/reading/json-scanner.js";
import { textOf } from "../../../transports/bytes.js";
import { MAX_HELD } from "./limits.js";

/** Takes the list itself, or the result that has it as `contents`, and gives each element as it is written. */
export class ContentsSplitter implements JsonVisitor {
  readonly #scanner = new JsonScanner(this, 0);
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes before this chunk. */
  #base = 0;
  /** How deep the elements are; undefined outside of the list. */
  #depth: number | undefined;
  /** Up to where of an open element, or of what stands in the list's place, the bytes are kept; undefined outside. */
  #from: number | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #elements: string[] = [];
  #other: string | undefined;

  /** Takes bytes, which are not kept. Throws E_TOO_LARGE for an element beyond all measure, E_JSON_…. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    this.#keep(this.#base + chunk.length);
    this.#base += chunk.length;
  }

  /** Nothing more comes. */
  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** The elements since the last time. */
  take(): readonly string[] {
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  /** What stands in the place of the list, where that is none. */
  get other(): string | undefined {
    return this.#other;
  }

  /** For {@link JsonScanner}. */
  wantsKey(depth: number): boolean {
    return depth === 1 && this.#depth === undefined;
  }

  /** For {@link JsonScanner}. */
  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    const isList = depth === 0 ? kind === "array" : depth === 1 && name === "contents" && this.#depth === undefined;
    if (isList && kind === "array") this.#depth = depth + 1;
    else if (isList || depth === this.#depth) this.#from = at;
  }

  /** For {@link JsonScanner}. */
  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    if (this.#depth !== undefined && depth === this.#depth - 1) this.#depth = undefined;
    const isElement = depth === this.#depth;
    if (this.#from === undefined || !(isElement || depth === 1)) return true;
    this.#keep(end);
    this.#from = undefined;
    const text = textOf(this.#pieces);
    this.#pieces = [];
    this.#size = 0;
    if (isElement) this.#elements.push(text);
    else this.#other = text;
    return true;
  }

  #keep(until: number): void {
    if (this.#from === undefined) return;
    const piece = this.#chunk.slice(this.#from - this.#base, until - this.#base);
    this.#from = until;
    this.#pieces.push(piece);
    this.#size += piece.length;
    if (this.#size > MAX_HELD) throw tooMuch();
  }
}

/** What is said of a resource that is more than can be held. */
export function tooMuch(): SluiceError {
  return new SluiceError("E_TOO_LARGE", "The resource has more contents than can be held: read less at a time.");
}
