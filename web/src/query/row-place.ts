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
  if (outline.root === "array") return { tokens: [], is: "rows", others: [] };
  if (outline.root !== "object") return { tokens: [], is: "row", others: [] };
  const tables = outline.arrays.filter(({ isOfObjects }) => isOfObjects);
  const isOfObjects = outline.kinds.length > 1 && outline.kinds.every((kind) => kind === "object");
  if (isOfObjects) return { tokens: [], is: "rows", others: [] };
  const [found, ...others] = tables.length > 0 || outline.arrays.length !== 1 ? tables : outline.arrays;
  if (found === undefined) return { tokens: [], is: "row", others: [] };
  return { tokens: found.tokens, is: "rows", others: others.slice(0, OTHERS).map(({ tokens }) => joinPointer(tokens)) };
}
