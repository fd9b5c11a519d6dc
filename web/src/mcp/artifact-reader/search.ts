/**
 * Searches an artifact for a text.
 * @module
 */
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import { jsonChars, type AnswerParts } from "./answer.js";
import { toAscii } from "./byte-range.js";
import { plainType } from "../../core/media-type.js";
import { alternatives } from "../../errors/arguments.js";
import { quote } from "./definition.js";
import { Needle } from "./needle.js";
import { MAX_POINTER_BYTES } from "./json-value.js";
import type { Inspection } from "./inspection.js";
import { pour, type Readable, nameSubject, readFacts, findSheet } from "./source.js";

/** Most hits in an answer. */
const MAX_HITS = 50;

/** Most places that are counted. */
const MAX_COUNTED = 100_000;

/** Most characters around a hit, including the hit. */
const HIT_CHARS = 200;

const NEWLINE_CHARS = 2;
/** Bytes shown on either side of a hit in a binary artifact. */
const BINARY_AROUND = 24;
/** Most characters shown before a hit. The rest of its space follows it. */
const BEFORE = 60;

/** Bytes from the start of a hit that are shown in any case. */
const REACH = HIT_CHARS - BEFORE;

/** Answers with hits in at most `most` characters. */
export async function tellSearch(
  from: Readable,
  inspection: Inspection,
  needle: string,
  most: number,
): Promise<AnswerParts> {
  const { size_bytes: size } = from.ref;
  const isSheet = readFacts(from)?.part === "sheet";
  // Each row of a table and each value of JSON has a place of its own, and is named.
  const isGrouped = inspection.isText && !isSheet && !isTable(from, inspection) && !inspection.isJson;
  const searcher = new Searcher(new Needle(needle), {
    skipsLabels: isSheet,
    reach: isGrouped ? REACH : 0,
  });
  const end = Math.min(size, from.maxScanned);
  await pour(from, { start: 0, end }, (chunk) => {
    searcher.push(chunk);
    return !searcher.isFull;
  });
  searcher.end();
  const hits = inspection.isText ? await placeHits(from, searcher) : searcher.hits;
  const lines = fittingLines(await describeHits(from, inspection, hits), most);
  const shown = hits.slice(0, lines.length).reduce((sum, { more }) => sum + 1 + more, 0);
  const limit = end < size ? [`Only the first ${humanSize(end)} were searched.`] : [];
  const head = `${nameSubject(from)}, search for ${quote(needle)}`;
  const outline = inOutline(from, needle);
  if (lines.length === 0) {
    return { head: `${head}: not found`, notes: [...limit, ...outline, ...noneNotes(from, inspection)] };
  }
  const { count } = searcher;
  const notes = [...limit, ...outline, ...pathsNote(from), readOn(from, inspection)];
  const all = searcher.isFull ? `more than ${groupDigits(count)} places` : countNoun(count, "place");
  return {
    head: `${head}: ${shown < count ? `the first ${groupDigits(shown)} of ` : ""}${all}`,
    data: lines.join("\n"),
    notes,
  };
}

/** The hits with the lines and parts that they have in the artifact. */
async function placeHits(from: Readable, { hits, uncounted }: Searcher): Promise<readonly Hit[]> {
  if (uncounted === 0) return hits;
  const before: Breaks = { lines: 0, parts: 0 };
  await pour(from, { start: 0, end: uncounted }, (chunk) => {
    countBreaks(chunk, before);
    return true;
  });
  return hits.map((hit) => ({ ...hit, line: hit.line + before.lines, part: hit.part + before.parts }));
}

/** A line for each hit, with where it is. */
async function describeHits(from: Readable, inspection: Inspection, hits: readonly Hit[]): Promise<readonly string[]> {
  if (!inspection.isText) return hits.map(binaryLine);
  const isNamed = isTable(from, inspection) || (inspection.isJson && from.ref.size_bytes <= MAX_POINTER_BYTES);
  // In service workers nothing is loaded later: lines are told there.
  const places = isNamed && hits.length > 0 ? await import("./places.js").catch(() => undefined) : undefined;
  const named = await places?.findPlaces(from, inspection, hits);
  return hits.map((hit, at) => {
    const more = hit.more > 0 ? ` and ${countNoun(hit.more, "place")} behind it` : "";
    return `${named?.[at] ?? namePlace(hit, from)}${more}: ${textLine(hit, hits[at + 1]?.isContinued)}`;
  });
}

/** Whether the places are rows: of CSV, or of a sheet. The text of a document has places of its own. */
function isTable(from: Readable, { layout }: Inspection): boolean {
  return (
    layout.kind === "csv" &&
    (from.origin === undefined || !/^(?:text|links|cells)/.test(String(from.ref.source["form"])))
  );
}

function fittingLines(all: readonly string[], most: number): readonly string[] {
  const lines: string[] = [];
  let left = most;
  for (const line of all) {
    left -= jsonChars(line) + (lines.length > 0 ? NEWLINE_CHARS : 0);
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  return lines;
}

/** Where a hit is: in a part of a document, or in the bytes. */
function namePlace(hit: Hit, from: Readable): string {
  const { at, line } = hit;
  const facts = readFacts(from);
  // Bytes are those of the artifact, not of what it was decoded to.
  if (facts === undefined) return from.origin === undefined ? `line ${line}, byte ${at}` : `line ${line}`;
  const part = findSheet(from)?.number ?? hit.part;
  const name = facts.names?.[part - 1];
  const place = `${facts.part} ${name === undefined ? part : quote(name)}`;
  if (facts.part !== "sheet") return `${place}, line ${line}`;
  // Its row begins with the number that it has in the sheet.
  const row = /(?:^|[\n\f])([1-9][0-9]{0,6}),[^\n]*$/.exec(new TextDecoder().decode(hit.before))?.[1];
  return row === undefined ? place : `${place}, row ${row}`;
}

/** Most entries of an outline that are named. */
const MAX_OUTLINE = 5;

/** Where the outline has it: that of a PDF is not in the text of its pages. */
function inOutline(from: Readable, needle: string): readonly string[] {
  const { part, headings = [] } = readFacts(from) ?? {};
  if (part !== "page") return [];
  const found = headings.filter(({ title }) => title.toLowerCase().includes(needle.toLowerCase()));
  if (found.length === 0) return [];
  const named = found.slice(0, MAX_OUTLINE).map(({ title, part: page }) => `${quote(title)} (page ${page})`);
  return [`The outline has ${named.join(", ")}${found.length > MAX_OUTLINE ? " and more" : ""}.`];
}

/** The line around a hit, as far as it fits; up to {@link REACH} if the next hit is on the same line, and shows what follows. */
function textLine({ before, match, after, isContinued }: Hit, goesOn = false): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const left = Array.from(
    decoder
      .decode(whole(before))
      .split(/[\n\f]/)
      .at(-1) ?? "",
  );
  const own = Array.from(decoder.decode(match)).slice(0, HIT_CHARS);
  const start = left.slice(-Math.min(BEFORE, HIT_CHARS - own.length) || left.length);
  const right = Array.from(
    decoder
      .decode(after, { stream: true })
      .split(/[\n\f]/, 1)[0]
      ?.replace(/\r$/, "") ?? "",
  );
  const near = Array.from(decoder.decode(after.subarray(0, Math.max(0, REACH - match.length)), { stream: true }));
  const room = HIT_CHARS - own.length - start.length;
  const end = right.slice(0, goesOn ? Math.min(room, near.length) : room);
  const opening = start.length < left.length || isContinued ? "…" : "";
  const closing = end.length < right.length ? "…" : "";
  return `${opening}${[...start, ...own, ...end].join("")}${closing}`;
}

function binaryLine({ at, before, match, after }: Hit): string {
  const shown = toAscii(before.subarray(-BINARY_AROUND)) + toAscii(match) + toAscii(after.subarray(0, BINARY_AROUND));
  return `byte ${at}: ${shown}`;
}

/** Removes leading bytes that continue a character. */
function whole(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return from < 0 || from > 3 ? bytes : bytes.subarray(from);
}

function readOn(from: Readable, inspection: Inspection): string {
  const ways = waysOn(from, inspection);
  return `Read around a place with ${alternatives(ways)}.`;
}

function waysOn(from: Readable, inspection: Inspection): readonly string[] {
  if (!inspection.isText) return ["bytes"];
  if (isTable(from, inspection)) return ["rows", "bytes"];
  if (readFacts(from)?.part === "sheet") return ["rows and sheet"];
  if (from.ref.source["form"] === "links") return ['lines and as "links"'];
  // Lines of HTML are those of its source, unless it is said otherwise.
  if (plainType(from.origin?.mime_type ?? null) === "text/html") return ["pages", 'lines and as "text"'];
  if (readFacts(from) !== undefined) return ["pages", "lines"];
  const ways = inspection.isJson ? ["pointer", "lines"] : ["lines"];
  return from.origin === undefined ? [...ways, "bytes"] : ways;
}

/** The text of an archive is the list of its files. */
function pathsNote({ ref }: Readable): readonly string[] {
  return ref.source["form"] === "entries" ? ["Only the paths were searched: search within one file with entry."] : [];
}

function noneNotes(from: Readable, inspection: Inspection): readonly string[] {
  if (inspection.isText) {
    const notices = readFacts(from)?.notices ?? [];
    return [...pathsNote(from), ...notices, "It is searched as plain text, without patterns."];
  }
  return ["The artifact is not plain text: its content may be compressed or encoded."];
}

/** An occurrence of the search text. */
interface Hit {
  /** Offset of its first byte in the artifact. */
  readonly at: number;
  /** Line number from 1. Lines end at `\n`. */
  readonly line: number;
  /** Number of the page, from 1. Form feeds separate pages. */
  readonly part: number;
  /** Whether the hit before is on the same line. */
  readonly isContinued: boolean;
  /** Further ones that its line of the answer shows, too. */
  more: number;
  /** Bytes around it, at most {@link AROUND} on either side, and before it none that the hit before shows. */
  readonly before: Uint8Array;
  readonly match: Uint8Array;
  readonly after: Uint8Array;
}

/** Most bytes kept on either side of a hit. */
const AROUND: number = 4 * HIT_CHARS;

const PIECE = 64 * 1024;

/** Bytes that show which are rare, and after how many that is looked at again. */
const SAMPLE = 16 * 1024;
const ADAPT_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;
const COMMA = 0x2c;

/** Digits of the number of a row. */
const MAX_LABEL = 7;

function isLineEnd(byte: number | undefined): boolean {
  return byte === NEWLINE || byte === FORM_FEED;
}

const FORM_FEED = 0x0c;

interface SearchOptions {
  /** Whether what names the rows of a sheet is no text of it: `12,` at the start of a line. */
  readonly skipsLabels: boolean;
  /** Bytes from the start of a hit that its line of the answer shows at least: others within them are told with it. */
  readonly reach: number;
}

/** Finds hits that do not overlap. It copies chunks into a window, which is all that it holds. */
class Searcher {
  /** The first ones. */
  readonly hits: Hit[] = [];
  /** How many there are so far. */
  count = 0;
  readonly #needle: Needle;
  readonly #options: SearchOptions;
  /** Bytes that must be available after a place before it is examined. */
  readonly #ahead: number;
  readonly #window: Uint8Array;
  #filled = 0;
  /** Offset of the window in the artifact, and how far it was searched. */
  #base = 0;
  #searched = 0;
  /** Ends of lines and parts from `uncounted` on, up to an offset in the window. */
  readonly #breaks: Breaks = { lines: 0, parts: 0 };
  #countedTo = 0;
  #uncounted = 0;
  #adaptAt = 0;

  constructor(needle: Needle, options: SearchOptions) {
    this.#needle = needle;
    this.#options = options;
    this.#ahead = needle.mostBytes + AROUND;
    this.#window = new Uint8Array(AROUND + PIECE + this.#ahead);
  }

  /** Bytes of the artifact before the first hit whose lines were not counted: lines and parts of hits are too low by these. */
  get uncounted(): number {
    return this.#uncounted;
  }

  /** Whether as many were found as are counted. The rest is not searched. */
  get isFull(): boolean {
    return this.count >= MAX_COUNTED;
  }

  /** Searches a chunk of any size. */
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

  /** Searches the rest. */
  end(): void {
    this.#search(this.#filled);
  }

  #search(until: number): void {
    const bytes = this.#window.subarray(0, this.#filled);
    if (this.#base + until >= this.#adaptAt) {
      this.#adaptAt = this.#base + until + ADAPT_BYTES;
      this.#needle.adapt(bytes.subarray(0, SAMPLE));
    }
    this.#needle.open(bytes);
    while (this.#searched < until && !this.isFull) {
      const at = this.#needle.findCandidate(this.#searched, until);
      this.#searched = at;
      if (at >= until) return;
      const length = this.#needle.matchAt(at);
      if (length > 0 && !(this.#options.skipsLabels && this.#isLabel(at, at + length))) this.#note(at, length);
      this.#searched = at + Math.max(1, length);
    }
  }

  #note(at: number, length: number): void {
    this.count += 1;
    const last = this.hits.at(-1);
    const shown = last === undefined ? 0 : last.at + this.#options.reach - this.#base;
    if (this.hits.length >= MAX_HITS && at >= shown) return;
    if (last === undefined) this.#uncounted = this.#base + this.#countedTo;
    this.#countLines(at);
    const line = this.#breaks.lines + 1;
    const part = this.#breaks.parts + 1;
    const end = at + length;
    const isSameLine = this.#options.reach > 0 && last?.line === line && last.part === part;
    if (last !== undefined && isSameLine && end <= shown) {
      last.more += 1;
      return;
    }
    if (this.hits.length >= MAX_HITS) return;
    this.hits.push({
      at: this.#base + at,
      line,
      part,
      isContinued: isSameLine,
      more: 0,
      before: this.#window.slice(Math.max(0, at - AROUND, isSameLine ? Math.min(shown, at) : 0), at),
      match: this.#window.slice(at, end),
      after: this.#window.slice(end, Math.min(this.#filled, end + AROUND)),
    });
  }

  #isLabel(start: number, end: number): boolean {
    const window = this.#window;
    let from = start;
    while (from > 0 && start - from < MAX_LABEL && !isLineEnd(window[from - 1])) from -= 1;
    if (from > 0 ? !isLineEnd(window[from - 1]) : this.#base > 0) return false;
    const to = window.indexOf(COMMA, from);
    if (to < end || to > from + MAX_LABEL) return false;
    return /^(?:row|[0-9]+)$/.test(String.fromCharCode(...window.subarray(from, to)));
  }

  #countLines(until: number): void {
    if (until <= this.#countedTo) return;
    countBreaks(this.#window.subarray(this.#countedTo, until), this.#breaks);
    this.#countedTo = until;
  }

  /** Shifts the window and keeps what may precede a hit. */
  #shift(): void {
    const from = this.#searched - AROUND;
    // Before the first hit, which there may never be, and behind the last that is told, no line is asked for.
    const isAsked = this.hits.length > 0 && this.hits.length < MAX_HITS;
    if (isAsked) this.#countLines(from);
    else this.#countedTo = Math.max(this.#countedTo, from);
    this.#window.copyWithin(0, from, this.#filled);
    this.#base += from;
    this.#filled -= from;
    this.#searched = AROUND;
    this.#countedTo -= from;
  }
}

interface Breaks {
  lines: number;
  parts: number;
}

/** Adds the ends of lines and parts. A loop: from one to the next they are too near for a search. */
function countBreaks(bytes: Uint8Array, counts: Breaks): void {
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === NEWLINE) counts.lines += 1;
    else if (byte === FORM_FEED) counts.parts += 1;
  }
}
