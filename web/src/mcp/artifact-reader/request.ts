/**
 * Parses requests: arguments of the tool, and URIs of resources.
 * @module
 */
import { readRange, resolveRange, type Span, type WrittenRange } from "../../artifacts/bytes.js";
import { isPlainId } from "../../artifacts/reference.js";
import { countNoun } from "../../core/amounts.js";
import {
  ALL_CELLS,
  type CellRange,
  intersectRanges,
  MAX_ROWS,
  parseRange,
  splitReference,
} from "../../documents/cell-range.js";
import { SluiceError } from "../../errors/error.js";
import { splitPointer } from "../../json/pointer.js";
import { quote } from "./definition.js";

/** Longest search text, in characters. */
const MAX_NEEDLE = 200;

/** Longest pointer, in characters. */
const MAX_POINTER = 2000;

/** Longest URI, in characters. */
const MAX_URI = 4096;

/** Longest query, in characters. */
const MAX_QUERY = 10_000;

/** Longest name of an entry or a sheet, in characters. */
const MAX_NAME = 1024;

/** What to read of an artifact. */
export type Wanted =
  | { readonly mode: "info" }
  | { readonly mode: "bytes"; readonly range: WrittenRange }
  | { readonly mode: RecordMode; readonly range: RecordSpec; readonly tokens?: readonly string[] }
  | { readonly mode: "pointer"; readonly tokens: readonly string[] }
  | { readonly mode: "search"; readonly needle: string }
  | { readonly mode: "query"; readonly sql: string; readonly tokens: readonly string[] | undefined }
  | { readonly mode: "image"; readonly page: number; readonly region: ImageRegion | undefined };

/** A part of a picture, in pixels of the whole as it is shown. */
export interface ImageRegion {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What is counted from 1. */
export type RecordMode = "lines" | "rows" | "pages";

/** What a document is read as. */
const FORMS = ["text", "links", "image"] as const;

/** Which part of an artifact to read, and as what. */
export interface Selection {
  /** The path of a file in an archive. */
  readonly entry?: string;
  /** A sheet of a workbook: its name, its number from 1, or the name of a range of it. */
  readonly sheet?: string;
  /** The cells of the sheet. */
  readonly cells?: CellRange;
  readonly as?: (typeof FORMS)[number];
  /** The part of an image. */
  readonly region?: ImageRegion;
  /** How a text is a table, where that is not guessed. */
  readonly table?: TableOptions;
}

/** What is otherwise guessed of a table. */
export interface TableOptions {
  /** The line, or the row of a sheet, that names the columns, from 1. Of a text, 0 where none does. */
  readonly header?: number;
  /** One ASCII character. */
  readonly delimiter?: string;
  /** A label of the Encoding Standard. */
  readonly encoding?: string;
}

interface ReadRequest {
  readonly id: string;
  readonly selection: Selection;
  readonly wanted: Wanted;
  /** Most characters of content that the caller wants. */
  readonly limit: number;
}

const MODES = ["bytes", "lines", "rows", "pages", "pointer", "search", "query"] as const;
const KNOWN: readonly string[] = [
  "uri",
  "entry",
  "sheet",
  ...MODES,
  "as",
  "region",
  "limit",
  "header",
  "delimiter",
  "encoding",
];

const COUNTED: readonly string[] = ["lines", "rows", "pages"];

type Mode = (typeof MODES)[number];
type Given = Partial<Record<Mode, string>>;

/** Parses the arguments of a call. Null counts as omitted. Throws E_INVALID_ARGUMENT with the argument's path. */
export function parseRequest(args: unknown): ReadRequest {
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw wrong("arguments", 'The arguments must be an object such as {"uri":"artifact://…","lines":"1-50"}.');
  }
  const all = args as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(all)) {
    if (!KNOWN.includes(name))
      throw wrong(name, `There is no argument ${quote(name)}; the arguments are ${KNOWN.join(", ")}.`);
  }
  const { id, given } = readUri(parseString("uri", all["uri"]));
  const modes: Given = { ...given };
  for (const mode of MODES) {
    const value = all[mode] ?? undefined;
    // A row, line or page alone is a number to many models.
    const isAlone = typeof value === "number" && COUNTED.includes(mode);
    if (value !== undefined) modes[mode] = isAlone ? String(value) : parseString(mode, value);
  }
  const asked = readCells(parseSelection(all), modes);
  const wanted = toImageWanted(toWanted(asked.modes), asked.selection);
  return { id, selection: asked.selection, wanted, limit: parseLimit(all["limit"]) };
}

/** Reads ranges of cells where sheets and rows are named: `Q1!B2:D40`, `A:C`. With one alone its rows are asked for. */
function readCells(selection: Selection, modes: Given): { readonly selection: Selection; readonly modes: Given } {
  const ofSheet = readReference(selection.sheet, true);
  const ofRows = /[A-Za-z:!]/.test(modes.rows ?? "") ? readReference(modes.rows, false) : undefined;
  if (ofSheet === undefined && ofRows === undefined) return { selection, modes };
  const { sheet: whole, ...others } = selection;
  const sheet = ofRows?.sheet ?? (ofSheet === undefined ? whole : ofSheet.sheet);
  const cells = intersectRanges(ofSheet?.range ?? ALL_CELLS, ofRows?.range ?? ALL_CELLS);
  if (cells === undefined)
    throw wrong("rows", "The ranges in sheet and rows have no cell in common: give one of them.");
  const given = MODES.find((mode) => modes[mode] !== undefined && mode !== "rows" && mode !== "query");
  if (given !== undefined)
    throw wrong(given, `A range of cells is for rows and query: for ${given} give the sheet alone.`);
  const rows = ofRows === undefined ? modes.rows : undefined;
  const all = modes.query === undefined ? { rows: rows ?? ALL_ROWS } : {};
  return {
    selection: { ...others, ...(sheet !== undefined && { sheet }), cells },
    modes: { ...modes, ...all },
  };
}

const ALL_ROWS = `1-${MAX_ROWS}`;

/** A range with its sheet or without. A single cell may be the name of a sheet, where one is named: `Q1`. */
function readReference(
  text: string | undefined,
  isSheet: boolean,
): { readonly sheet: string | undefined; readonly range: CellRange } | undefined {
  if (text === undefined) return undefined;
  const range = isSheet && !text.includes(":") ? undefined : parseRange(text);
  return range === undefined ? splitReference(text) : { sheet: undefined, range };
}

function parseSelection(all: Readonly<Record<string, unknown>>): Selection {
  const [entry, sheet, as] = ["entry", "sheet", "as"].map((name) => {
    const value = all[name] ?? undefined;
    if (value === undefined) return undefined;
    const text = name === "sheet" && typeof value === "number" ? String(value) : parseString(name, value);
    if (text === "" || text.length > MAX_NAME) throw wrong(name, `${name} must have 1 to ${MAX_NAME} characters.`);
    return text;
  });
  const form = FORMS.find((known) => known === as);
  if (as !== undefined && form === undefined) throw wrong("as", `as must be one of ${FORMS.join(", ")}.`);
  const region = all["region"] ?? undefined;
  if (region !== undefined && form !== "image")
    throw wrong("region", 'A region is of a picture: give as "image", too.');
  return {
    ...(entry !== undefined && { entry }),
    ...(sheet !== undefined && { sheet }),
    ...(form !== undefined && { as: form }),
    ...(region !== undefined && { region: parseRegion(parseString("region", region)) }),
    ...parseTable(all),
  };
}

/** Delimiters by the names that models give them. */
const DELIMITERS: Readonly<Record<string, string>> = { tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", pipe: "|" };

/** Parses what is said of a table. Throws E_INVALID_ARGUMENT. */
function parseTable(all: Readonly<Record<string, unknown>>): { readonly table?: TableOptions } {
  const [header, delimiter, encoding] = ["header", "delimiter", "encoding"].map((name) => all[name] ?? undefined);
  const number = typeof header === "string" && /^\d{1,9}$/.test(header) ? Number(header) : header;
  const line = number === false ? 0 : number;
  if (line !== undefined && !(typeof line === "number" && Number.isInteger(line) && line >= 0))
    throw wrong("header", "header must be the number of the line that names the columns, from 1, or 0 for none.");
  const text = delimiter === undefined ? undefined : parseString("delimiter", delimiter);
  const separator = text === undefined ? undefined : (DELIMITERS[text.toLowerCase()] ?? text);
  if (separator !== undefined && !/^[\t -!#-~]$/.test(separator))
    throw wrong("delimiter", 'delimiter must be one ASCII character, such as ";" or "tab".');
  const label = encoding === undefined ? undefined : findLabel(parseString("encoding", encoding));
  if (line === undefined && separator === undefined && label === undefined) return {};
  return {
    table: {
      ...(typeof line === "number" && { header: line }),
      ...(separator !== undefined && { delimiter: separator }),
      ...(label !== undefined && { encoding: label }),
    },
  };
}

function findLabel(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    throw wrong(
      "encoding",
      `The encoding ${quote(label)} is not known: windows-1252, utf-16le and shift_jis are some.`,
    );
  }
}

/** As an image, pages say which one, and nothing else fits. */
function toImageWanted(wanted: Wanted, { as, region }: Selection): Wanted {
  if (as !== "image") return wanted;
  if (wanted.mode === "info") return { mode: "image", page: 1, region };
  if (wanted.mode === "pages" && wanted.range.first === wanted.range.last)
    return { mode: "image", page: wanted.range.first, region };
  const why = wanted.mode === "pages" ? 'one page at a time: "7"' : `no ${wanted.mode}`;
  throw wrong(wanted.mode, `As an image an artifact has ${why}.`);
}

/** Parses the URI of a resource, which may name a part. Throws E_INVALID_ARGUMENT, E_NOT_FOUND. */
export function parseResourceRequest(uri: string): { readonly id: string; readonly wanted: Wanted } {
  const { id, given } = readUri(uri);
  const isImage = /[?&]as=image(?:[&#]|$)/.test(uri);
  return { id, wanted: toImageWanted(toWanted(given), isImage ? { as: "image" } : {}) };
}

/**
 * Parses `artifact://<id>` or a bare id, with an optional query. Parameters other than modes only describe the
 * artifact.
 */
function readUri(uri: string): { readonly id: string; readonly given: Given } {
  const [, name = "", query = ""] =
    uri.length > MAX_URI ? [] : (/^(?:artifact:\/\/)?([^?#]*)(?:\?([^#]*))?$/.exec(uri.trim()) ?? []);
  const id = decode(name);
  if (!isPlainId(id)) {
    throw new SluiceError(
      "E_NOT_FOUND",
      `uri ${quote(uri)} does not name an artifact: give an artifact:// URI as a result named it.`,
      {
        path: "uri",
      },
    );
  }
  const given: Given = {};
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const mode = MODES.find((known) => known === pair.slice(0, Math.max(0, equals)));
    if (mode === undefined) continue;
    if (given[mode] !== undefined) throw wrong(mode, `The URI has ${mode} twice: give it once.`);
    given[mode] = decode(pair.slice(equals + 1)) ?? badEncoding(mode);
  }
  return { id, given };
}

function toWanted(given: Given): Wanted {
  if (given.query !== undefined && given.pointer !== undefined) {
    // The pointer says where the rows are.
    const { pointer, ...rest } = given;
    return { ...(toWanted(rest) as Extract<Wanted, { mode: "query" }>), tokens: parsePointer(pointer) };
  }
  if (given.rows !== undefined && given.pointer !== undefined) {
    const { pointer, ...rest } = given;
    return { ...(toWanted(rest) as Extract<Wanted, { mode: RecordMode }>), tokens: parsePointer(pointer) };
  }
  const [mode, ...more] = MODES.filter((each) => given[each] !== undefined);
  if (mode === undefined) return { mode: "info" };
  if (more[0] !== undefined) {
    throw wrong(more[0], `Give one of ${MODES.join(", ")}, not ${mode} and ${more.join(" and ")}: call once for each.`);
  }
  const text = given[mode] as string;
  if (mode === "bytes") return { mode, range: parseBytes(text) };
  if (mode === "lines" || mode === "rows" || mode === "pages") return { mode, range: parseRecords(mode, text) };
  if (mode === "pointer") return { mode, tokens: parsePointer(text) };
  if (mode === "query") {
    if (text.length <= MAX_QUERY) return { mode, sql: text, tokens: undefined };
    throw wrong(mode, `query is longer than ${MAX_QUERY} characters: ask a shorter one.`);
  }
  if (text === "") throw wrong(mode, "search is empty: say what to find.");
  if (text.length > MAX_NEEDLE)
    throw wrong(mode, `search is longer than ${MAX_NEEDLE} characters: search for a part of it.`);
  return { mode, needle: text };
}

function parseLimit(limit: unknown): number {
  if (limit === undefined || limit === null) return Infinity;
  const characters = typeof limit === "string" && /^\d{1,9}$/.test(limit) ? Number(limit) : limit;
  if (typeof characters === "number" && Number.isInteger(characters) && characters > 0) return characters;
  throw wrong("limit", "limit must be a whole number of characters, at least 1.");
}

function parseString(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) throw wrong(name, `${name} is missing: give the artifact:// URI.`);
  throw wrong(name, `${name} must be a string.`);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function badEncoding(name: string): never {
  throw wrong(name, `${name} in the URI is not percent-encoded UTF-8.`);
}

function wrong(path: string, message: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", message, { path: path.slice(0, 60) });
}

/** A requested range of lines or rows, counted from 1. `last` may be Infinity, and `first` is -50 for the last 50. */
export interface RecordSpec {
  readonly first: number;
  readonly last: number;
}

/** A range as counted from 1, where there are so many. */
export function resolveRecords({ first, last }: RecordSpec, total: number): RecordSpec {
  return first < 0 ? { first: Math.max(1, total + first + 1), last: Math.max(1, total) } : { first, last };
}

/** Parses `0-1023`, `100-` or `-50`. Throws E_INVALID_ARGUMENT. */
function parseBytes(text: string): WrittenRange {
  const range = /\d{16}/.test(text) ? undefined : readRange(text.trim().replace(/\s*-\s*/, "-"));
  if (range === "backwards") throw backwards("bytes", text);
  if (range !== undefined) return range;
  throw noRange("bytes", text, '"0-1023" is the first 1,024, "100-" the rest, "-50" the last 50');
}

/** Parses `1-50`, `51-` or `7`, counted from 1, and `-50`. Throws E_INVALID_ARGUMENT. */
function parseRecords(name: RecordMode, text: string): RecordSpec {
  const suffix = Number(/^\s*-\s*(\d{1,15})\s*$/.exec(text)?.[1] ?? 0);
  if (suffix > 0) return { first: -suffix, last: Infinity };
  const [, a = "", dash = "", b = ""] = /^\s*(\d{1,15})\s*(-?)\s*(\d{0,15})\s*$/.exec(text) ?? [];
  const first = Number(a);
  if (a === "" || first === 0 || (dash === "" && b !== "")) {
    throw noRange(name, text, `"1-50" is the first 50, counted from 1, "51-" what follows, "-50" the last 50`);
  }
  const last = dash === "" ? first : b === "" ? Infinity : Number(b);
  if (last < first) throw backwards(name, text);
  return { first, last };
}

/** Parses `x,y,w,h`. Throws E_INVALID_ARGUMENT. */
function parseRegion(text: string): ImageRegion {
  const numbers = /^\s*\d{1,6}(?:\s*,\s*\d{1,6}){3}\s*$/.test(text) ? text.split(",").map(Number) : [];
  const [x = 0, y = 0, width = 0, height = 0] = numbers;
  if (width > 0 && height > 0) return { x, y, width, height };
  throw wrong(
    "region",
    `region ${quote(text)} is no part of a picture: "100,50,400,300" is 400 × 300 pixels, 100 from the left and 50 from the top.`,
  );
}

/** Resolves a byte range for a size. Throws E_INVALID_ARGUMENT if it is empty. */
export function spanIn(range: WrittenRange, size: number): Span {
  const span = resolveRange(range, size);
  if (span !== null) return span;
  const there = size === 0 ? "is empty" : `has ${countNoun(size, "byte")}; ask for bytes within "0-${size - 1}"`;
  throw new SluiceError("E_INVALID_ARGUMENT", `The range contains no bytes: the artifact ${there}.`, { path: "bytes" });
}

function noRange(name: string, text: string, examples: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", `${name} ${quote(text)} is not a range: ${examples}.`, { path: name });
}

function backwards(name: string, text: string): SluiceError {
  return new SluiceError(
    "E_INVALID_ARGUMENT",
    `${name} ${quote(text)} ends before it begins: write the smaller number first.`,
    {
      path: name,
    },
  );
}

/** Splits a JSON Pointer (RFC 6901) into unescaped tokens; none for the whole document. Throws E_INVALID_ARGUMENT. */
function parsePointer(text: string): readonly string[] {
  if (text === "") return [];
  if (text.length > MAX_POINTER) throw wrong("pointer", `The pointer is longer than ${MAX_POINTER} characters.`);
  if (!text.startsWith("/")) {
    throw wrong(
      "pointer",
      `pointer ${quote(text)} does not start with "/": write "/a/b/0", or "" for the whole document.`,
    );
  }
  if (/~(?![01])/.test(text)) {
    throw wrong("pointer", `pointer ${quote(text)} has a "~" that is neither "~0" (for "~") nor "~1" (for "/").`);
  }
  return splitPointer(text.slice(1));
}
