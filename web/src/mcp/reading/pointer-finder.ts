/**
 * The value that a JSON Pointer names, looked up while the text passes by.
 * @module
 */
import { Capture } from "./capture.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "./json-scanner.js";
import { MAX_MEMBERS } from "./limits.js";

/** A value on the way to the one that is looked for, or that one. */
export interface Place {
  /** Tokens that led to it. */
  readonly depth: number;
  readonly kind: JsonKind;
  readonly start: number;
  /** Behind its last byte. */
  readonly end: number;
  /** Of an array or object. */
  readonly members: number;
}

/** A member of the value, for an outline. */
export interface Member extends Place {
  /** Undefined for a key that is too long. */
  readonly name: string | number | undefined;
  /** A short value as it is written; undefined for a longer one. */
  readonly source: string | undefined;
}

type Open<T> = { -readonly [Key in keyof T]: T[Key] };

/** Values up to so many bytes are told as they are. */
const MAX_SHOWN = 80;

/** Of keys that are there twice the last one counts, as for `JSON.parse`. */
export class PointerFinder implements JsonVisitor {
  readonly #tokens: readonly string[];
  readonly #scanner: JsonScanner;
  readonly #value: Capture;
  readonly #member = new Capture(MAX_SHOWN);
  #chunk: Uint8Array = new Uint8Array(0);
  #base: number;
  /** Open containers that the pointer leads through. */
  #chain = 0;
  #deepest: Open<Place> | undefined;
  /** Members of the value, and the one that is open. */
  #members: Open<Member>[] = [];
  #openMember: Open<Member> | undefined;
  #isInside = false;

  /** Keeps so many bytes of the value; `from` is the place of the text's first byte. */
  constructor(tokens: readonly string[], mostBytes: number, from: number) {
    this.#tokens = tokens;
    this.#value = new Capture(mostBytes);
    this.#base = from;
    this.#scanner = new JsonScanner(this, from);
  }

  /** Takes bytes. Throws E_JSON_…. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    if (this.#isInside) this.#value.take(chunk, this.#base, this.#base + chunk.length);
    if (this.#openMember !== undefined) this.#member.take(chunk, this.#base, this.#base + chunk.length);
    this.#base += chunk.length;
  }

  /** Nothing more comes. Throws E_JSON_…. */
  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** The value, or how far the pointer leads: its `depth` tells. */
  get deepest(): Place | undefined {
    return this.#deepest;
  }

  /** The value as it is written, as far as it was kept. */
  text(): { readonly text: string; readonly isCut: boolean } {
    return { text: this.#value.text(), isCut: this.#value.isCut };
  }

  /** Its first members. */
  get members(): readonly Member[] {
    return this.#members;
  }

  /** For {@link JsonScanner}. */
  wantsKey(depth: number): boolean {
    if (this.#isInside) return depth === this.#tokens.length + 1 && this.#members.length < MAX_MEMBERS;
    return this.#chain === depth;
  }

  /** For {@link JsonScanner}. */
  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    if (this.#isInside) this.#beginMember(kind, at, depth, name);
    else if (this.#chain === depth && this.#leadsTo(depth, name)) this.#beginPlace(kind, at, depth);
  }

  /** For {@link JsonScanner}. */
  endValue(_kind: JsonKind, end: number, depth: number, members: number): boolean {
    const length = this.#tokens.length;
    if (this.#isInside && depth === length + 1) this.#endMember(end, members);
    if (this.#isInside && depth === length) {
      this.#isInside = false;
      this.#value.take(this.#chunk, this.#base, end);
      this.#endPlace(end, depth, members);
    } else if (!this.#isInside && this.#chain === depth + 1) {
      this.#chain = depth;
      this.#endPlace(end, depth, members);
    }
    return true;
  }

  #leadsTo(depth: number, name: string | number | undefined): boolean {
    return depth === 0 || String(name) === this.#tokens[depth - 1];
  }

  #beginPlace(kind: JsonKind, at: number, depth: number): void {
    this.#deepest = { depth, kind, start: at, end: -1, members: 0 };
    this.#members = [];
    if (depth === this.#tokens.length) {
      this.#isInside = true;
      this.#value.begin(at);
    } else if (kind === "object" || kind === "array") this.#chain = depth + 1;
  }

  #endPlace(end: number, depth: number, members: number): void {
    if (this.#deepest?.depth !== depth) return;
    this.#deepest.end = end;
    this.#deepest.members = members;
  }

  #beginMember(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    if (depth !== this.#tokens.length + 1 || this.#members.length >= MAX_MEMBERS) return;
    this.#openMember = { depth, kind, start: at, end: -1, members: 0, name, source: undefined };
    this.#member.begin(at);
  }

  #endMember(end: number, members: number): void {
    const member = this.#openMember;
    if (member === undefined) return;
    this.#openMember = undefined;
    this.#member.take(this.#chunk, this.#base, end);
    this.#members.push({ ...member, end, members, source: this.#member.isCut ? undefined : this.#member.text() });
  }
}
