/**
 * Where the rows of a JSON document are, if it does not say so itself.
 * @module
 */
import { joinPointer } from "../json/pointer.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../json/value-scanner.js";

/** Where the rows of a document are. */
export interface RowPlace {
  readonly tokens: readonly string[];
  /** Whether the value there is one row, or each of its members. */
  readonly is: "row" | "rows";
  /** Pointers of other arrays of objects, as far as they were seen. */
  readonly others: readonly string[];
  /** Whether the rows are members of an object. */
  readonly isOfMembers?: true;
  /** Where the first two rows stand in the beginning of the document, if they are arrays. */
  readonly cells?: readonly Span[];
}

type Span = readonly [start: number, end: number];

interface SeenArray {
  readonly tokens: readonly string[];
  isOfObjects: boolean;
  isOfArrays: boolean;
  isOfOthers: boolean;
  /** The first two elements. */
  readonly spans: Span[];
}

/** Names of what wraps rows, or stands beside them: objects of these are no table of their members. */
const WRAPPER =
  /^(?:_?embedded|_?links|_?meta|metadata|data|page|paging|pagination|extensions|hits|aggregations|response|results?|body|payload|included|info|errors?|settings|headers?|schema)$/i;

/** Members by which an object within a document is a table of them. */
const LEAST_MEMBERS = 3;

/** Names of what tells of rows, and has none. */
const DESCRIPTIVE =
  /^(?:schema|meta|metadata|columns|fields|headers?|links|errors|warnings|facets|aggregations|pagination|included)$/i;

/** Arrays of objects that are named beside the one that is read. */
const OTHERS = 10;

/** Objects whose members are remembered. */
const MAX_OBJECTS = 1000;

/** Looks at the beginning of a document to tell where its rows are. */
class Outline implements JsonVisitor {
  root: JsonKind | undefined;
  /** The members of objects, as far as they were seen, by the pointer of the object. */
  readonly members = new Map<string, { readonly names: string[]; readonly kinds: JsonKind[] }>();
  /** Tokens of arrays that begin with an object, or that are empty. */
  readonly arrays: SeenArray[] = [];
  readonly #path: string[] = [];
  /** Depth of the outermost array that is open. Nothing in it is looked at. */
  #array = Infinity;
  #element = 0;

  wantsKey(depth: number): boolean {
    return depth <= this.#array;
  }

  beginValue(kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    if (depth === 0) this.root = kind;
    const open = this.arrays.at(-1);
    if (depth === this.#array + 1 && open !== undefined) {
      if (kind === "object") open.isOfObjects = true;
      else if (kind === "array") open.isOfArrays = true;
      else open.isOfOthers = true;
      this.#element = at;
    }
    if (depth > this.#array) return;
    this.#path.length = Math.max(0, depth - 1);
    if (depth > 0) {
      this.#addMember(String(name), kind);
      this.#path.push(String(name));
    }
    if (kind !== "array") return;
    this.#array = depth;
    this.arrays.push({ tokens: [...this.#path], isOfObjects: false, isOfArrays: false, isOfOthers: false, spans: [] });
  }

  /** Whether the members of an object are rows. */
  isTable(tokens: readonly string[], least: number): boolean {
    const { names = [], kinds = [] } = this.members.get(joinPointer(tokens)) ?? {};
    return (
      kinds.length >= least && kinds.every((kind) => kind === "object") && !names.some((name) => WRAPPER.test(name))
    );
  }

  #addMember(name: string, kind: JsonKind): void {
    const pointer = joinPointer(this.#path);
    const seen = this.members.get(pointer);
    if (seen === undefined && this.members.size >= MAX_OBJECTS) return;
    const { names, kinds } = seen ?? { names: [], kinds: [] };
    names.push(name);
    kinds.push(kind);
    if (seen === undefined) this.members.set(pointer, { names, kinds });
  }

  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    const open = this.arrays.at(-1);
    if (depth === this.#array + 1 && open !== undefined && open.spans.length < 2) open.spans.push([this.#element, end]);
    if (depth === this.#array) this.#array = Infinity;
    return true;
  }
}

/** Pointers of the arrays of a document, as far as its beginning shows them; those of objects first. */
export function listArrays(beginning: Uint8Array): readonly string[] {
  const outline = new Outline();
  new JsonScanner(outline, 0).push(beginning);
  const arrays = outline.arrays.toSorted((a, b) => Number(b.isOfObjects) - Number(a.isOfObjects));
  return arrays.slice(0, OTHERS).map(({ tokens }) => joinPointer(tokens));
}

/** The way to the one string of a document that looks like JSON, told by its beginning. Undefined if there is none, or several. */
export function findJsonText(beginning: Uint8Array): readonly string[] | undefined {
  const found: (readonly string[])[] = [];
  const path: string[] = [];
  const visitor: JsonVisitor = {
    wantsKey: () => true,
    beginValue: (kind, at, depth, name) => {
      path.length = Math.max(0, depth - 1);
      if (depth > 0) path.push(String(name));
      if (kind === "string" && /^"(?:\\[nrt]|\s)*[[{]/.test(readAscii(beginning, at))) found.push([...path]);
    },
    endValue: () => true,
  };
  new JsonScanner(visitor, 0).push(beginning);
  return found.length === 1 ? found[0] : undefined;
}

const readAscii = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 40));

/**
 * Where the rows of a document are, told by its beginning: the document itself if it is an array, the members of an object of
 * objects, or the first array of objects within objects. Any other object is one row. Throws E_JSON_….
 */
export function findRows(beginning: Uint8Array): RowPlace {
  const outline = new Outline();
  new JsonScanner(outline, 0).push(beginning);
  if (outline.root === "array") return { tokens: [], is: "rows", others: [], ...tellCells(outline.arrays[0]) };
  if (outline.root !== "object") return { tokens: [], is: "row", others: [] };
  if (outline.isTable([], 2)) return { tokens: [], is: "rows", others: [], isOfMembers: true };
  const ofObjects = outline.arrays.filter((array) => array.isOfObjects);
  const ofArrays = outline.arrays.filter((array) => array.isOfArrays && !array.isOfOthers && !array.isOfObjects);
  const tables = [
    ...ofObjects.filter(isRows),
    ...ofArrays.filter(isRows),
    ...ofObjects.filter((array) => !isRows(array)),
  ];
  const [found, ...others] = tables.length > 0 || outline.arrays.length !== 1 ? tables : outline.arrays;
  if (found === undefined) return { tokens: [], is: "row", others: [] };
  // Each member of an object may have such an array: then these members are the rows.
  const length = found.tokens.findIndex((_, at) => at > 0 && outline.isTable(found.tokens.slice(0, at), LEAST_MEMBERS));
  if (length > 0) return { tokens: found.tokens.slice(0, length), is: "rows", others: [], isOfMembers: true };
  return {
    tokens: found.tokens,
    is: "rows",
    others: others.slice(0, OTHERS).map(({ tokens }) => joinPointer(tokens)),
    ...tellCells(found),
  };
}

/** Whether the members of an object of the document are rows, as far as its beginning shows. */
export function isTableOfMembers(beginning: Uint8Array, name: string): boolean {
  const outline = new Outline();
  new JsonScanner(outline, 0).push(beginning);
  return outline.isTable([name], 2);
}

function isRows({ tokens }: SeenArray): boolean {
  return !tokens.some((token) => DESCRIPTIVE.test(token));
}

function tellCells(array: SeenArray | undefined): Pick<RowPlace, "cells"> {
  return array?.isOfArrays === true && !array.isOfObjects ? { cells: array.spans } : {};
}

const COLUMNS =
  /"(?:columns|column_?names|headers?|fields)"\s*:\s*(\[\s*"(?:[^"\\]|\\.)*"(?:\s*,\s*"(?:[^"\\]|\\.)*")*\s*\])/i;

/** What is known of the columns of rows that are arrays: their names, and whether the first row has them. */
export function findCellNames(
  { cells = [] }: RowPlace,
  beginning: Uint8Array,
): { readonly names: readonly string[]; readonly isFirstRow: boolean } | undefined {
  const [first = [], second = []] = cells.map(([start, end]) => parseArray(beginning.subarray(start, end)));
  const isHeader = first.length > 1 && first.every(isText) && new Set(first).size === first.length;
  if (isHeader && (second.some((cell) => !isText(cell)) || second.length === 0))
    return { names: first.filter(isText), isFirstRow: true };
  const [, listed] = COLUMNS.exec(new TextDecoder().decode(beginning)) ?? [];
  const names = listed === undefined ? [] : parseArray(new TextEncoder().encode(listed)).filter(isText);
  return names.length > 0 && names.length === first.length ? { names, isFirstRow: false } : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string";

function parseArray(bytes: Uint8Array): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
