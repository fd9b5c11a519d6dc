/**
 * Inspects the first bytes of an artifact: what it contains, and so how it can be read.
 * @module
 */
import { plainType } from "../../core/media-type.js";
import type { EncodingLabel } from "../../core/text-encoding.js";
import { SluiceError } from "../../errors/error.js";
import { findDialect, findHeader, findSeparator, type CsvDialect } from "../../query/csv.js";
import { hasDrawnTable } from "../../query/drawn-table.js";
import { JsonScanner } from "../../json/value-scanner.js";
import type { DocumentForm } from "../../documents/document.js";
import { type DocumentKind, detectKind, findTraits } from "../../documents/kind.js";
import type { Selection, TableOptions, Wanted } from "./request.js";
import { loadPart, pour, readSpan, type Readable } from "./source.js";

/** Bytes that are inspected. */
export const HEAD_BYTES = 8192;

/** How rows are separated. They begin at the byte `start`, and stand between so many lines of words. */
type Layout =
  | ({ readonly kind: "csv" } & Between & CsvDialect & Header)
  | ({ readonly kind: "ndjson" } & Between)
  /** In the document as a whole, or in a part of it. */
  | {
      readonly kind: "array";
      readonly span?: { readonly start: number; readonly end: number; readonly pointer: string };
    }
  | { readonly kind: "none" };

interface Between {
  readonly start: number;
  readonly above: number;
  readonly below: number;
}

interface Header {
  /** Whether the first record names the columns. Without a header they are `c1`, `c2` and so on. */
  readonly hasHeader: boolean;
  /** The lines, from 1, at which other tables begin, in order. */
  readonly others: readonly number[];
}

const NAMED: Header = { hasHeader: true, others: [] };

/** The result of an inspection. */
export interface Inspection {
  readonly head: Uint8Array;
  readonly isText: boolean;
  /** Length of the byte order mark, 0 or 3. */
  readonly markBytes: number;
  readonly isJson: boolean;
  readonly layout: Layout;
  /** Whether a table that is drawn with characters is in sight: its rows are read as CSV. */
  readonly isDrawn: boolean;
}

const NEWLINE = 0x0a;
const TAB = 0x09;
const NDJSON = /[/+](?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json-seq)$/;
const TABLE_TYPE = /^text\/(?:csv|tab-separated-values)$/;
const TABLE_NAME = /\.[ct]sv$/;
const DECODER = new TextDecoder();

/** Bytes from which a table has enough rows for the core to call it one. */
const SURE_BYTES = 256;

/** The first bytes of an artifact. Throws what the source throws. */
export async function readHead(from: Readable): Promise<Uint8Array> {
  return readSpan(from, { start: 0, end: Math.min(HEAD_BYTES, from.ref.size_bytes) });
}

/**
 * Inspects an artifact by its first bytes. A text that was told to be something else than a table is none, and rows begin and end where it
 * was told.
 */
export function inspect({ ref }: Readable, head: Uint8Array): Inspection {
  const inspection = inspectBytes(head, plainType(ref.mime_type) ?? "", ref.filename ?? "");
  const { layout } = inspection;
  const { description } = ref.source;
  if ((layout.kind !== "csv" && layout.kind !== "ndjson") || typeof description !== "string") return inspection;
  // What is quoted from the file could say the same.
  const [told = ""] = description.split('"', 1);
  if (/^(?:[CT]SV, .*[0-9] columns?\b|NDJSON, )/.test(told))
    return { ...inspection, layout: placeRows(inspection, layout, told) };
  if (layout.kind !== "csv" || isTableType(ref)) return inspection;
  if (layout.start > inspection.markBytes) return inspection;
  // Of few rows the core cannot tell whether they are a table.
  const isUnsure = ref.size_bytes < SURE_BYTES && description.startsWith("text");
  return isUnsure || /^[CT]SV\b/.test(description) ? inspection : { ...inspection, layout: { kind: "none" } };
}

/** Whether an artifact was told as JSON of which the end is missing. */
export function isCutJson({ ref }: Readable): boolean {
  const { description } = ref.source;
  return typeof description === "string" && /, cut off(?:$|, values )/.test(description);
}

/** Where rows are, by what was told of the lines above and below them, of a header, and of other tables. */
function placeRows({ head, markBytes }: Inspection, layout: Extract<Layout, Between>, told: string): Layout {
  const [above = 0, below = 0] = ["above", "below"].map((side) =>
    Number(new RegExp(`, ([0-9]+) lines? ${side}\\b`).exec(told)?.[1] ?? 0),
  );
  const separator = findSeparator(String.fromCharCode(...head.subarray(markBytes, markBytes + 16)));
  let start = markBytes + (separator?.end ?? 0);
  for (let line = 0; line < above; line += 1) start = head.indexOf(NEWLINE, start) + 1;
  if (layout.kind !== "csv") return { ...layout, start, above, below };
  const dialect =
    start === layout.start || separator !== undefined ? {} : findDialect(DECODER.decode(head.subarray(start)));
  const [, others = ""] = /, (?:another table|more tables) from lines? ([0-9]+(?:, [0-9]+)*),/.exec(told) ?? [];
  return {
    ...layout,
    ...dialect,
    start,
    above,
    below,
    hasHeader: !/ rows? without a header,/.test(told),
    others: others.split(", ").filter(Boolean).map(Number),
  };
}

/** Bytes of the end of a text that has the lines below rows. */
const TAIL_BYTES = 8192;

/** Where rows end: before the next table, or the lines of words that stand below them. Throws what the source throws. */
export async function findEnd(from: Readable, { layout, markBytes }: Inspection): Promise<number> {
  const { size_bytes: size } = from.ref;
  const next = layout.kind === "csv" ? layout.others.find((line) => line > layout.above + 1) : undefined;
  if (layout.kind === "csv" && next !== undefined) {
    const place = await findLine(from, markBytes, next, size);
    return place === undefined ? size : skipWords(from, layout, place);
  }
  const below = "below" in layout ? layout.below : 0;
  if (below === 0) return size;
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = await readSpan(from, { start, end: size });
  let end = tail.at(-1) === NEWLINE ? tail.length - 1 : tail.length;
  for (let line = 0; line < below; line += 1) end = tail.lastIndexOf(NEWLINE, end - 1);
  return end < 0 ? size : start + end + 1;
}

/** Where the rows end that stand above a line: empty lines and those without a delimiter lie between. */
async function skipWords(from: Readable, layout: Extract<Layout, Header>, line: number): Promise<number> {
  const start = Math.max(layout.start, line - TAIL_BYTES);
  const tail = await readSpan(from, { start, end: line });
  for (let end = tail.length; end > 0;) {
    const begin = tail.lastIndexOf(NEWLINE, end - 2) + 1;
    if (tail.subarray(begin, end).includes(layout.delimiter.charCodeAt(0))) return start + end;
    end = begin;
  }
  return line;
}

/** Whether the type or the file name says that it is a table. */
function isTableType({ mime_type, filename }: Readable["ref"]): boolean {
  return TABLE_TYPE.test(plainType(mime_type) ?? "") || TABLE_NAME.test(filename?.toLowerCase() ?? "");
}

/** Inspects the first bytes. Type and file name are trusted only for the layout of rows. */
export function inspectBytes(head: Uint8Array, type: string, filename: string): Inspection {
  const markBytes = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const isText = looksLikeText(head);
  const body = head.subarray(markBytes);
  const layout: Layout = isText ? findLayout(body, markBytes, type, filename.toLowerCase()) : { kind: "none" };
  const isJson =
    isText && layout.kind !== "csv" && layout.kind !== "ndjson" && isJsonSoFar(body) && startsJson(body, type);
  const isDrawn = isText && !isJson && layout.kind === "none" && hasDrawnTable(DECODER.decode(body));
  return { head, isText, markBytes, isJson, layout, isDrawn };
}

/** What belongs to a database. One that is unreadable has its name alone. */
export type DatabaseFile = "database" | "log" | "journal" | "unreadable";

const DATABASE_TYPE = /^application\/(?:(?:vnd\.|x-)?sqlite3?|geopackage\+sqlite3|vnd\.mapbox-mbtiles|vnd\.mbtiles)$/;
const DATABASE_NAME = /\.(?:sqlite3?|db3|gpkg|mbtiles)$/;

/** Whether an artifact is a database of SQLite, or belongs to one (SQLite file format §1.3, §3, §4). Undefined for all else. */
export function detectDatabase({ ref }: Readable, head: Uint8Array): DatabaseFile | undefined {
  const begin = String.fromCharCode(...head.subarray(0, 16));
  if (begin === "SQLite format 3\0") return "database";
  if (begin.startsWith("\x37\x7f\x06\x82") || begin.startsWith("\x37\x7f\x06\x83")) return "log";
  if (begin.startsWith("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")) return "journal";
  const isClaimed =
    DATABASE_TYPE.test(plainType(ref.mime_type) ?? "") || DATABASE_NAME.test(ref.filename?.toLowerCase() ?? "");
  return isClaimed && head.length > 0 && !looksLikeText(head) ? "unreadable" : undefined;
}

/** Bytes in which a header is looked for that is named by its line. */
const HEADER_WITHIN = 4 * 1024 * 1024;

/** The same for a text whose header or delimiter is named. Throws E_INVALID_ARGUMENT, and what the source throws. */
export async function inspectAs(
  from: Readable,
  head: Uint8Array,
  { header, delimiter }: TableOptions,
): Promise<Inspection> {
  const inspection = inspect(from, head);
  if ((header === undefined && delimiter === undefined) || !inspection.isText) return inspection;
  const { layout, markBytes } = inspection;
  const known = layout.kind === "csv" ? layout : { start: markBytes, above: 0, below: 0, ...NAMED };
  const below = "below" in layout ? layout.below : 0;
  // Without a header the table begins where it did.
  const line = header === 0 ? undefined : header;
  const start = line === undefined ? known.start : await findLine(from, markBytes, line, HEADER_WITHIN);
  if (start === undefined) {
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `The text has no line ${header} near its beginning: give a smaller header.`,
      { path: "header" },
    );
  }
  const above = line === undefined ? known.above : line - 1;
  const sample = DECODER.decode(
    await readSpan(from, { start, end: Math.min(start + HEAD_BYTES, from.ref.size_bytes) }),
  );
  return {
    ...inspection,
    isJson: false,
    layout: {
      ...known,
      kind: "csv",
      start,
      above,
      below,
      hasHeader: header === undefined ? known.hasHeader : header > 0,
      ...findDialect(sample),
      ...(delimiter !== undefined && { delimiter }),
    },
  };
}

/** Where a line begins, if that is among the first bytes. */
async function findLine(from: Readable, start: number, line: number, within: number): Promise<number | undefined> {
  const place = { at: start, left: line - 1, start };
  await pour(from, { start, end: Math.min(from.ref.size_bytes, within) }, (chunk) => {
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && place.left > 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      place.left -= 1;
      place.start = place.at + at + 1;
    }
    place.at += chunk.length;
    return place.left > 0;
  });
  return place.left === 0 && place.start < from.ref.size_bytes ? place.start : undefined;
}

/** What has to be decoded before a text is read: another encoding than UTF-8, or the control sequences of a terminal in it. */
export type TextEncoding = EncodingLabel | "escapes";

/** Bytes in which other encodings and control sequences are looked for: a log may be coloured only where something went wrong. */
const LOOKED_AT = 1024 * 1024;

/** Bytes before the first that is not ASCII, at most, that its line has. */
const LINE_BYTES = 4096;

const ESCAPE = 0x1b;

/** What stands behind it: `[` of colours and places, `]` of titles and links, `(` of a character set. */
const SEQUENCE_STARTS = [0x5b, 0x5d, 0x28];

/** What stands behind it where ISO-2022-JP begins: `$`. */
const SHIFT = 0x24;

/**
 * What has to be decoded of a text that is not read as it is. Undefined for any other, and for anything but text. Throws what the source
 * throws.
 */
export async function findEncoding(from: Readable, head: Uint8Array): Promise<TextEncoding | undefined> {
  if (head.includes(0)) return detect(head);
  const look = await lookAt(from);
  if (!look.isUtf8 || look.hasShift) {
    const end = Math.min(from.ref.size_bytes, look.line + SAMPLE);
    const encoding = await detect(await readSpan(from, { start: look.line, end }));
    if (encoding !== undefined && encoding !== "utf-8") return encoding;
  }
  return look.hasSequences && looksLikeText(head) ? "escapes" : undefined;
}

/** Bytes by which an encoding is told. */
const SAMPLE = 64 * 1024;

async function detect(sample: Uint8Array): Promise<EncodingLabel | undefined> {
  const { detectEncoding } = await loadPart(() => import("../../core/text-encoding.js"));
  return detectEncoding(sample);
}

/** What the beginning of a text has, and where the line begins that has the first byte beyond ASCII, or the first shift of ISO-2022-JP. */
interface Look {
  isUtf8: boolean;
  hasSequences: boolean;
  hasShift: boolean;
  line: number;
}

async function lookAt(from: Readable): Promise<Look> {
  const look: Look = { isUtf8: true, hasSequences: false, hasShift: false, line: 0 };
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [at, isAscii] = [0, true];
  await pour(from, { start: 0, end: Math.min(LOOKED_AT, from.ref.size_bytes) }, (chunk) => {
    look.hasSequences ||= hasSequence(chunk, SEQUENCE_STARTS);
    look.hasShift ||= hasSequence(chunk, [SHIFT]);
    if (isAscii) {
      const first = findSpecial(chunk);
      isAscii = first < 0;
      const end = chunk.lastIndexOf(NEWLINE, isAscii ? chunk.length : first);
      if (end >= 0) look.line = at + end + 1;
      if (!isAscii) look.line = Math.max(look.line, at + first - LINE_BYTES);
    }
    at += chunk.length;
    look.isUtf8 = isAscii || isUtf8(decoder, chunk);
    return look.isUtf8;
  });
  return look;
}

/** The offset of the first byte beyond ASCII, or escape; -1 if there is none. A loop, because every read of a text begins with it. */
function findSpecial(chunk: Uint8Array): number {
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] as number;
    if (byte >= 0x80 || byte === ESCAPE) return at;
  }
  return -1;
}

function isUtf8(decoder: TextDecoder, chunk: Uint8Array): boolean {
  try {
    decoder.decode(chunk, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a control sequence begins in a chunk. One at its end is taken for one. */
function hasSequence(chunk: Uint8Array, starts: readonly number[]): boolean {
  for (let at = chunk.indexOf(ESCAPE); at >= 0; at = chunk.indexOf(ESCAPE, at + 1)) {
    const next = chunk[at + 1];
    if (next === undefined || starts.includes(next)) return true;
  }
  return false;
}

/** Text has no zero bytes, few bytes that are not UTF-8 (as in older Latin encodings), and fewer control characters. */
function looksLikeText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  const text = DECODER.decode(head);
  const wrong = text.match(/\u{fffd}/gu)?.length ?? 0;
  const controls = text.match(/[\u{1}-\u{8}\u{e}-\u{1a}\u{1c}-\u{1f}]/gu)?.length ?? 0;
  return wrong <= 1 + head.length / 8 && controls <= head.length / 64;
}

function findLayout(body: Uint8Array, markBytes: number, type: string, filename: string): Layout {
  if (NDJSON.test(type) || /\.(?:ndjson|jsonl)$/.test(filename))
    return { kind: "ndjson", start: markBytes, above: 0, below: 0 };
  const separator = findSeparator(String.fromCharCode(...body.subarray(0, 16)));
  if (separator !== undefined) {
    const start = markBytes + separator.end;
    const dialect = findDialect(DECODER.decode(body.subarray(separator.end)));
    return { kind: "csv", start, above: 0, below: 0, ...NAMED, ...dialect, delimiter: separator.delimiter };
  }
  if (TABLE_TYPE.test(type) || TABLE_NAME.test(filename)) {
    const isTabbed = type === "text/tab-separated-values" || filename.endsWith(".tsv");
    const text = DECODER.decode(body);
    const header = findHeader(text);
    const above = text.slice(0, header);
    const start = markBytes + new TextEncoder().encode(above).length;
    const dialect = findDialect(text.slice(header));
    return {
      kind: "csv",
      start,
      above: above.split("\n").length - 1,
      below: 0,
      ...NAMED,
      ...dialect,
      ...(isTabbed && { delimiter: "\t" }),
    };
  }
  const dialect = findDialect(DECODER.decode(body));
  const first = firstByte(body);
  if (isSeveralDocuments(body)) return { kind: "ndjson", start: markBytes, above: 0, below: 0 };
  if (first === 0x5b && isJsonSoFar(body)) return { kind: "array" };
  const isPlain = type === "" || type === "text/plain";
  return isPlain && first !== 0x7b && looksLikeTable(body, dialect)
    ? { kind: "csv", start: markBytes, above: 0, below: 0, ...NAMED, ...dialect }
    : { kind: "none" };
}

/** Whether the first two lines are a JSON object or array each. */
function isSeveralDocuments(body: Uint8Array): boolean {
  const [first = "", second = ""] = DECODER.decode(body).split("\n", 3);
  if (!/^\s*[[{]/.test(first) || !/^\s*[[{]/.test(second)) return false;
  try {
    JSON.parse(first);
    return true;
  } catch {
    return false;
  }
}

/** Whether the first lines have the same number of delimiters, and at least one. */
function looksLikeTable(body: Uint8Array, { delimiter }: CsvDialect): boolean {
  const text = DECODER.decode(body);
  const lines = text.split("\n", 5);
  if (lines.length > 1) lines.pop();
  // Neither code nor the colours of a terminal make a table, as in the core.
  if (text.includes("\u{1b}") || lines.some((line) => line.includes(`${delimiter} `))) return false;
  const rows = lines.map((line) => line.replace(/"(?:[^"]|"")*"/g, "x").split(delimiter));
  const columns = rows[0]?.length ?? 0;
  // A semicolon ends a statement, a comma an item.
  const isEnd = columns === 2 && rows.every((cells) => cells[1]?.trim() === "");
  return lines.length > 1 && columns > 1 && !isEnd && rows.every((cells) => cells.length === columns);
}

/** Whether the bytes may begin a JSON document. Markdown and INI files begin with brackets too. */
function isJsonSoFar(body: Uint8Array): boolean {
  const listener = { wantsKey: () => false, beginValue: () => undefined, endValue: () => true };
  try {
    new JsonScanner(listener, 0).push(body);
    return true;
  } catch {
    return false;
  }
}

function startsJson(body: Uint8Array, type: string): boolean {
  const first = firstByte(body);
  const isWrapped = first === 0x22 && /^\s*"(?:\\[nrt]|\s)*[[{]/.test(String.fromCharCode(...body.subarray(0, 64)));
  return first === 0x5b || first === 0x7b || isWrapped || /[/+]json$/.test(type);
}

/** What was guessed of a text, in one sentence that says how to say it otherwise; nothing of what was given. */
export function noteGuesses(
  { ref }: Readable,
  { head, layout }: Inspection,
  isTable: boolean,
  given: TableOptions,
): readonly string[] {
  const csv = isTable && layout.kind === "csv" ? layout : undefined;
  const { encoding } = ref.source;
  const isGuessed = csv?.hasHeader === true && hasWordsAlone(head.subarray(csv.start), csv.delimiter);
  const guesses = [
    ...(csv !== undefined && (csv.above > 0 || isGuessed) && given.header === undefined
      ? [`header ${csv.above + 1}${isGuessed ? " (0 for none)" : ""}`]
      : []),
    ...(csv !== undefined && !",\t".includes(csv.delimiter) && given.delimiter === undefined
      ? [`delimiter ${JSON.stringify(csv.delimiter)}`]
      : []),
    ...(typeof encoding === "string" && given.encoding === undefined ? [`encoding ${JSON.stringify(encoding)}`] : []),
  ];
  return guesses.length === 0 ? [] : [`Guessed: ${guesses.join(", ")}; give it as an argument to say otherwise.`];
}

/** Whether the first rows of a table have words in all cells, as a header has, so that nothing tells the header from them. */
function hasWordsAlone(body: Uint8Array, delimiter: string): boolean {
  const lines = DECODER.decode(body).split("\n", 9).slice(0, -1);
  const cells = lines.flatMap((line) => line.trim().split(delimiter));
  return lines.length > 1 && cells.every((cell) => cell !== "" && !/[0-9@/.:]/.test(cell));
}

function firstByte(body: Uint8Array): number | undefined {
  return body.find((byte) => byte !== 0x20 && byte !== TAB && byte !== NEWLINE && byte !== 0x0d);
}

/** The kind of document that an artifact is, by its first bytes. Undefined for text and unknown bytes. */
export function documentKind({ ref }: Readable, head: Uint8Array): DocumentKind | undefined {
  // Mail is text, and is told by what it says.
  const isMail =
    typeof ref.source.description === "string" && /^(?:email message|mailbox),/.test(ref.source.description);
  const type = isMail ? "message/rfc822" : (plainType(ref.mime_type) ?? "");
  return detectKind({ type, filename: ref.filename ?? "", head });
}

/**
 * The form of a document in which a mode reads it. Undefined if the artifact itself is read. HTML is text already, so it is read as it
 * is unless it is said otherwise, but for the rows of its tables.
 */
export function chooseForm(
  kind: DocumentKind | undefined,
  mode: Wanted["mode"],
  { as, sheet }: Selection,
): DocumentForm | undefined {
  if (as === "text" || as === "links") return as;
  if (kind === undefined || kind === "image") return undefined;
  const isRows = mode === "rows" || mode === "query";
  if (kind === "html") return isRows ? "rows" : mode === "pages" ? "text" : undefined;
  const { forms } = findTraits(kind);
  if (!forms.includes("text") || (isRows && forms.includes("rows"))) return "rows";
  if (forms.includes("cells") && (isRows || sheet !== undefined)) return mode === "query" ? "values" : "cells";
  return "text";
}
