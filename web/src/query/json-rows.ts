/**
 * Rows of a JSON document while it arrives: elements of an array, or members of an object.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { pointerOf } from "../json/pointer.js";
import { Capture, JsonScanner, type JsonKind, type JsonVisitor } from "../json/value-scanner.js";

/** Longest row, in bytes. */
export const MAX_ROW_BYTES: number = 4 * 1024 * 1024;

/** A row as it was read. */
export interface JsonRow {
  /** Its key in the object of rows. */
  readonly key?: string;
  readonly value: unknown;
}

/** Where the rows of a document are. */
export interface RowPlace {
  readonly tokens: readonly string[];
  /** Whether the value there is one row, or each of its members. */
  readonly is: "row" | "rows";
  /** Pointers of other arrays of objects, as far as they were seen. */
  readonly others: readonly string[];
}

/** Arrays of objects that are named beside the one that is read. */
const OTHERS = 10;

/** Looks at the beginning of a document to tell where its rows are. */
class Outline implements JsonVisitor {
  root: JsonKind | undefined;
  /** Kinds of the first members of the document. */
  readonly kinds: JsonKind[] = [];
  /** Tokens of arrays that begin with an object, or that are empty. */
  readonly arrays: { readonly tokens: readonly string[]; isOfObjects: boolean; isOfOthers: boolean }[] = [];
  readonly #path: string[] = [];
  /** Depth of the outermost array that is open. Nothing in it is looked at. */
  #array = Infinity;

  wantsKey(depth: number): boolean {
    return depth <= this.#array;
  }

  beginValue(kind: JsonKind, _at: number, depth: number, name: string | number | undefined): void {
    if (depth === 0) this.root = kind;
    if (depth === 1) this.kinds.push(kind);
    const open = this.arrays.at(-1);
    if (depth === this.#array + 1 && open !== undefined) {
      if (kind === "object") open.isOfObjects = true;
      else open.isOfOthers = true;
    }
    if (depth > this.#array) return;
    this.#path.length = Math.max(0, depth - 1);
    if (depth > 0) this.#path.push(String(name));
    if (kind !== "array") return;
    this.#array = depth;
    this.arrays.push({ tokens: [...this.#path], isOfObjects: false, isOfOthers: false });
  }

  endValue(_kind: JsonKind, _end: number, depth: number): boolean {
    if (depth === this.#array) this.#array = Infinity;
    return true;
  }
}

/**
 * Where the rows of a document are, told by its beginning: the document itself if it is an array, the members of an object of
 * objects, or the first array of objects within objects. Any other object is one row. Throws E_JSON_….
 */
export function rowPlace(beginning: Uint8Array): RowPlace {
  const outline = new Outline();
  new JsonScanner(outline, 0).push(beginning);
  if (outline.root === "array") return { tokens: [], is: "rows", others: [] };
  if (outline.root !== "object") return { tokens: [], is: "row", others: [] };
  const tables = outline.arrays.filter(({ isOfObjects }) => isOfObjects);
  const isOfObjects = outline.kinds.length > 1 && outline.kinds.every((kind) => kind === "object");
  if (isOfObjects) return { tokens: [], is: "rows", others: [] };
  const [found, ...others] = tables.length > 0 || outline.arrays.length !== 1 ? tables : outline.arrays;
  if (found === undefined) return { tokens: [], is: "row", others: [] };
  return { tokens: found.tokens, is: "rows", others: others.slice(0, OTHERS).map(({ tokens }) => pointerOf(tokens)) };
}

/** Reads the rows at a place. */
export class JsonRows implements JsonVisitor {
  readonly #tokens: readonly string[];
  readonly #is: "row" | "rows";
  readonly #scanner: JsonScanner;
  readonly #capture = new Capture(MAX_ROW_BYTES);
  #chunk: Uint8Array = new Uint8Array(0);
  #base = 0;
  /** Open containers on the path to the place. */
  #chain = 0;
  #isInside = false;
  #isOver = false;
  #isOpen = false;
  #isObject = false;
  #key: string | undefined;
  #count = 0;
  #rows: JsonRow[] = [];

  constructor({ tokens, is }: Pick<RowPlace, "tokens" | "is">) {
    this.#tokens = tokens;
    this.#is = is;
    this.#scanner = new JsonScanner(this, 0);
  }

  /** Whether all rows were read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The rows that a chunk ends. Throws E_JSON_…, E_TOO_LARGE, E_INVALID_ARGUMENT. */
  push(chunk: Uint8Array): readonly JsonRow[] {
    this.#chunk = chunk;
    this.#scanner.push(chunk);
    if (this.#isOpen) this.#take(this.#base + chunk.length);
    this.#base += chunk.length;
    return this.#taken();
  }

  /** The last rows. Throws the same, also if there is nothing at the pointer. */
  end(): readonly JsonRow[] {
    this.#chunk = new Uint8Array(0);
    this.#scanner.end();
    if (this.#isOver) return this.#taken();
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `The document has nothing at pointer ${JSON.stringify(pointerOf(this.#tokens))}.`,
      {
        path: "pointer",
      },
    );
  }

  #taken(): readonly JsonRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  wantsKey(depth: number): boolean {
    return this.#isInside ? depth === this.#tokens.length + 1 : this.#chain === depth;
  }

  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    if (this.#isOver) return;
    if (this.#isInside) {
      if (depth === this.#tokens.length + 1 && this.#is === "rows")
        this.#open(at, this.#isObject ? String(name ?? "") : undefined);
    } else if (this.#chain === depth && (depth === 0 || String(name) === this.#tokens[depth - 1])) {
      if (depth === this.#tokens.length) this.#enter(kind, at);
      else if (kind === "object" || kind === "array") this.#chain = depth + 1;
    }
  }

  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    const length = this.#tokens.length;
    if (this.#isInside) {
      if (this.#isOpen && depth === (this.#is === "row" ? length : length + 1)) this.#close(end);
      if (depth !== length) return true;
      this.#isInside = false;
      this.#isOver = true;
      // The rest of the document is not looked at.
      return length === 0;
    }
    if (this.#chain === depth + 1) this.#chain = depth;
    return true;
  }

  #enter(kind: JsonKind, at: number): void {
    this.#isInside = true;
    this.#isObject = kind === "object";
    if (this.#is === "row") this.#open(at, undefined);
    else if (kind !== "object" && kind !== "array") {
      throw new SluiceError(
        "E_INVALID_ARGUMENT",
        `The value at pointer ${JSON.stringify(pointerOf(this.#tokens))} is a ${kind} and has no rows: point to an array or object.`,
        { path: "pointer" },
      );
    }
  }

  #open(at: number, key: string | undefined): void {
    this.#isOpen = true;
    this.#key = key;
    this.#capture.begin(at);
  }

  #take(until: number): void {
    this.#capture.take(this.#chunk, this.#base, until);
    if (this.#capture.isCut) throw tooLong(this.#count + 1);
  }

  #close(end: number): void {
    this.#take(end);
    this.#isOpen = false;
    this.#count += 1;
    const value = valueOfJson(this.#capture.text(), `Row ${this.#count}`);
    this.#rows.push(this.#key === undefined ? { value } : { key: this.#key, value });
  }
}

/** E_TOO_LARGE for a row. */
export function tooLong(row: number): SluiceError {
  return new SluiceError("E_TOO_LARGE", `Row ${row} is larger than 4 MiB: read it with pointer or bytes.`, {
    path: "query",
  });
}

const LONG_NUMBER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** What Python writes for numbers that JSON does not have, and strings, in which it is text. */
const NO_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

/**
 * Parses a row. Whole numbers that a number cannot hold become text, so that ids stay what they are; NaN and Infinity, which no column of
 * numbers can hold, become null.
 */
export function valueOfJson(text: string, place: string): unknown {
  const exact = /\d{16}/.test(text)
    ? text.replaceAll(LONG_NUMBER, (token) =>
        token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
      )
    : text;
  const plain = /NaN|Infinity/.test(exact)
    ? exact.replaceAll(NO_NUMBER, (token) => (token.startsWith('"') ? token : "null"))
    : exact;
  try {
    return JSON.parse(plain);
  } catch (error) {
    throw new SluiceError(
      "E_JSON_SYNTAX",
      `${place} is not JSON: read it with lines or bytes.`,
      { path: "query" },
      { cause: error },
    );
  }
}
