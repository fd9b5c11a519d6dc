/**
 * Reads one value of a JSON artifact: whole if it is short, else as an outline.
 * @module
 */
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { prefixWithin, shortenText, type AnswerParts } from "./answer.js";
import { quote } from "./definition.js";
import { Capture, JsonScanner, type JsonKind, type JsonVisitor } from "../../json/value-scanner.js";
import type { Inspection } from "./inspection.js";
import { joinPointer } from "../../json/pointer.js";
import { nameBytes, pour, type Readable, nameSubject, MAX_RESOURCE_PART } from "./source.js";

/** Largest JSON text in which a pointer is resolved, in bytes. */
export const MAX_POINTER_BYTES: number = 64 * 1024 * 1024;

/** Most members in an outline. */
const MAX_MEMBERS = 200;

/** Array elements in an outline. They are usually alike. */
const ELEMENTS_SHOWN = 20;
const MAX_NAME = 300;

/**
 * Answers with the value at a pointer in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_….
 */
export async function tellPointer(
  from: Readable,
  inspection: Inspection,
  tokens: readonly string[],
  most: number,
): Promise<AnswerParts> {
  const finder = new PointerFinder(tokens, 4 * most + 2, inspection.markBytes);
  const place = await find(from, inspection, finder, tokens);
  const { text, isCut } = finder.text();
  const fit = prefixWithin(text, most);
  const name = tokens.length === 0 ? "the whole document" : quote(joinPointer(tokens));
  const head = `${nameSubject(from)}, ${name}: ${describeKind(place)}`;
  if (!isCut && fit.text.length === text.length) return { head, data: text };
  if (place.kind === "object" || place.kind === "array") return outline(head, place, finder.members, tokens, most);
  const next = nameBytes(from, place.start, place.end);
  return { head: `${head}, its beginning`, data: fit.text, notes: [`The whole value is ${next}: read on there.`] };
}

/** The source text of the value at a pointer, whole. Throws the same. */
export async function textAtPointer(
  from: Readable,
  inspection: Inspection,
  tokens: readonly string[],
): Promise<string> {
  const finder = new PointerFinder(tokens, MAX_RESOURCE_PART, inspection.markBytes);
  await find(from, inspection, finder, tokens);
  const { text, isCut } = finder.text();
  if (!isCut) return text;
  throw new SluiceError("E_TOO_LARGE", "The value is larger than 4 MiB: point to a part of it, or read bytes.", {
    path: "pointer",
  });
}

/** The value at a pointer, or the deepest on the way to it. Throws E_TOO_LARGE, E_JSON_…. */
export async function findPlace(from: Readable, inspection: Inspection, tokens: readonly string[]): Promise<Place> {
  return seek(from, inspection, new PointerFinder(tokens, 0, inspection.markBytes));
}

/** The array at a pointer. Throws E_INVALID_ARGUMENT where there is none, E_TOO_LARGE, E_JSON_…. */
export async function findArray(from: Readable, inspection: Inspection, tokens: readonly string[]): Promise<Place> {
  const place = await find(from, inspection, new PointerFinder(tokens, 0, inspection.markBytes), tokens);
  if (place.kind === "array") return place;
  const name = tokens.length === 0 ? "The document" : quote(joinPointer(tokens));
  throw wrong("E_INVALID_ARGUMENT", `${name} is ${describeKind(place)}, and has no rows: point to an array.`);
}

async function find(
  from: Readable,
  inspection: Inspection,
  finder: PointerFinder,
  tokens: readonly string[],
): Promise<Place> {
  const place = await seek(from, inspection, finder);
  if (place.depth < tokens.length) throw leadsNowhere(place, tokens);
  return place;
}

async function seek(from: Readable, inspection: Inspection, finder: PointerFinder): Promise<Place> {
  const size = from.ref.size_bytes;
  if (size > MAX_POINTER_BYTES) {
    const most = humanSize(MAX_POINTER_BYTES);
    throw wrong(
      "E_TOO_LARGE",
      `The artifact is larger than ${most}, too large for pointer: use lines, bytes or search.`,
    );
  }
  await pour(from, { start: inspection.markBytes, end: size }, (chunk) => {
    finder.push(chunk);
    return true;
  });
  finder.end();
  return finder.deepest as Place;
}

function leadsNowhere(place: Place, tokens: readonly string[]): SluiceError {
  const pointer = joinPointer(tokens.slice(0, place.depth));
  const resolved = quote(pointer);
  const next = quote(tokens[place.depth] ?? "");
  let remedy = `read pointer ${resolved}`;
  if (place.kind === "object") remedy = `read pointer ${resolved} for its keys`;
  if (place.kind === "array") {
    remedy = place.members === 0 ? "it is empty" : `its elements are ${pointer}/0 to ${pointer}/${place.members - 1}`;
  }
  return wrong(
    "E_INVALID_ARGUMENT",
    `${place.depth === 0 ? "The document" : resolved} is ${describeKind(place)} and has no ${next}: ${remedy}.`,
  );
}

function outline(
  head: string,
  place: Place,
  members: readonly Member[],
  tokens: readonly string[],
  most: number,
): AnswerParts {
  const lines: string[] = [];
  let left = most;
  const enough = place.kind === "array" ? ELEMENTS_SHOWN : Infinity;
  for (const member of members.slice(0, enough)) {
    const line = writeLine(member);
    const { chars } = prefixWithin(line, Infinity);
    if (chars + 2 > left) break;
    left -= chars + 2;
    lines.push(line);
  }
  const more = place.members - lines.length;
  const rest = more > 0 ? [`${groupDigits(more)} more not listed.`] : [];
  const example = quote(`${shortenText(joinPointer(tokens), 40)}/…`);
  return {
    head: `${head}, too large to be shown whole; an outline of its members follows`,
    data: lines.join("\n"),
    notes: [
      ...rest,
      `Go deeper with pointer ${example}${place.kind === "array" && tokens.length === 0 ? ", or with rows" : ""}.`,
    ],
  };
}

/** A line of an outline: the last token of the member's pointer, and its value or kind. */
function writeLine(member: Member): string {
  const name =
    member.name === undefined
      ? "(a key too long to show)"
      : JSON.stringify(shortenText(joinPointer([member.name]), MAX_NAME));
  const { source } = member;
  return `${name}: ${source === undefined || source.includes("\n") ? describeKind(member) : source}`;
}

function describeKind({ kind, members, start, end }: Place): string {
  const size = humanSize(end - start);
  if (kind === "object") return `an object of ${countNoun(members, "member")}, ${size}`;
  if (kind === "array") return `an array of ${countNoun(members, "element")}, ${size}`;
  if (kind === "string") return `a string, ${size}`;
  return kind === "number" ? "a number" : kind;
}

function wrong(code: "E_INVALID_ARGUMENT" | "E_TOO_LARGE", message: string): SluiceError {
  return new SluiceError(code, message, { path: "pointer" });
}

/** A value on the pointer's path, or the one it points to. */
export interface Place {
  /** Number of tokens that led to it. */
  readonly depth: number;
  readonly kind: JsonKind;
  readonly start: number;
  /** Offset after its last byte. */
  readonly end: number;
  /** Number of members of an array or object. */
  readonly members: number;
}

/** A member of the value, for an outline. */
interface Member extends Place {
  /** Undefined if the key is too long. */
  readonly name: string | number | undefined;
  /** The source text of a short value. Undefined for a longer one. */
  readonly source: string | undefined;
}

type Open<T> = { -readonly [Key in keyof T]: T[Key] };

/** Longest value shown in an outline, in bytes. */
const MAX_SHOWN = 80;

/** Finds the value at a pointer. Of duplicate keys the last one wins, as in `JSON.parse`. */
class PointerFinder implements JsonVisitor {
  readonly #tokens: readonly string[];
  readonly #scanner: JsonScanner;
  readonly #value: Capture;
  readonly #member = new Capture(MAX_SHOWN);
  #chunk: Uint8Array = new Uint8Array(0);
  #base: number;
  /** Open containers on the pointer's path. */
  #chain = 0;
  #deepest: Open<Place> | undefined;
  /** Members of the value, and the open one. */
  #members: Open<Member>[] = [];
  #openMember: Open<Member> | undefined;
  #isInside = false;

  /** Keeps at most `mostBytes` of the value. `from` is the offset of the text's first byte. */
  constructor(tokens: readonly string[], mostBytes: number, from: number) {
    this.#tokens = tokens;
    this.#value = new Capture(mostBytes);
    this.#base = from;
    this.#scanner = new JsonScanner(this, from);
  }

  /** Scans a chunk. Throws E_JSON_…. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    if (this.#isInside) this.#value.take(chunk, this.#base, this.#base + chunk.length);
    if (this.#openMember !== undefined) this.#member.take(chunk, this.#base, this.#base + chunk.length);
    this.#base += chunk.length;
  }

  /** Ends the text. Throws E_JSON_…. */
  end(): void {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
  }

  /** The value, or the deepest value on its path. `depth` tells which. */
  get deepest(): Place | undefined {
    return this.#deepest;
  }

  /** The source text of the value, as far as it was kept. */
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
    } else if (!this.#isInside && (this.#chain === depth + 1 || this.#isOpenAt(depth))) {
      this.#chain = depth;
      this.#endPlace(end, depth, members);
    }
    return true;
  }

  /** Whether the deepest value so far is the one that ends here: one without members, which leads no further. */
  #isOpenAt(depth: number): boolean {
    return this.#chain === depth && this.#deepest?.depth === depth && this.#deepest.end < 0;
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
