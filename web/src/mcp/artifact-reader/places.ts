/**
 * Where the places that a search found are, in the words of what reads on there: the row of a table, the pointer of a JSON value.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { joinPointer } from "../../json/pointer.js";
import { JsonScanner, type JsonKind, type JsonVisitor } from "../../json/value-scanner.js";
import { CsvRecords, type CsvDialect } from "../../query/csv.js";
import type { Inspection } from "./inspection.js";
import { pour, type Readable } from "./source.js";

/** Most characters of a pointer. */
const MAX_POINTER = 200;

/** A place that was found: the offset of its first byte, and its line from 1. */
interface Found {
  readonly at: number;
  readonly line: number;
}

/** Where places of a table or of a JSON document are, in order: `row 5, byte 90`, `/a/b, line 3, byte 40`. */
export async function findPlaces(
  from: Readable,
  { layout, markBytes }: Inspection,
  found: readonly Found[],
): Promise<readonly string[]> {
  const offsets = found.map(({ at }) => at);
  if (layout.kind === "csv") {
    const rows = await rowsAt(from, layout, layout.start, offsets);
    const first = layout.hasHeader ? 0 : 1;
    return rows.map((row, index) => `${row + first === 0 ? "header" : `row ${row + first}`}, byte ${offsets[index]}`);
  }
  const pointers = await pointersAt(from, markBytes, offsets);
  return found.map(({ at, line }, index) => `${pointerText(pointers[index])}line ${line}, byte ${at}`);
}

/** Keys may have line breaks. */
function pointerText(pointer: string | undefined): string {
  return pointer === undefined || pointer === "" ? "" : `${JSON.stringify(pointer).slice(1, -1)}, `;
}

/** The rows of a CSV in which bytes are, from 1; 0 is the header. Offsets are in order. Reads up to the last one's row. */
async function rowsAt(
  from: Readable,
  dialect: CsvDialect,
  start: number,
  offsets: readonly number[],
): Promise<readonly number[]> {
  const rows = new RowFinder(dialect, start, offsets);
  await pour(from, { start, end: from.ref.size_bytes }, (chunk) => {
    rows.push(chunk);
    return rows.found.length < offsets.length;
  });
  return offsets.map((_, at) => rows.found[at] ?? rows.row);
}

const RETURN = 0x0d;

class RowFinder {
  readonly found: number[] = [];
  /** The row that is read. */
  row = 0;
  readonly #records: CsvRecords;
  readonly #offsets: readonly number[];
  /** Offset of the next chunk, of the record that is read, and the last byte of the chunk before. */
  #base: number;
  #from: number;
  #last = 0;

  constructor(dialect: CsvDialect, start: number, offsets: readonly number[]) {
    this.#records = new CsvRecords(dialect);
    this.#offsets = offsets;
    this.#base = start;
    this.#from = start;
  }

  push(chunk: Uint8Array): void {
    this.#records.push(chunk, (at) => {
      const end = this.#base + at;
      for (let next = this.#offsets[this.found.length]; next !== undefined && next <= end;) {
        this.found.push(this.row);
        next = this.#offsets[this.found.length];
      }
      const size = end - this.#from;
      const isEmpty = size === 0 || (size === 1 && (at > 0 ? chunk[at - 1] : this.#last) === RETURN);
      if (!isEmpty) this.row += 1;
      this.#from = end + 1;
    });
    this.#base += chunk.length;
    this.#last = chunk.at(-1) ?? this.#last;
  }
}

/**
 * JSON Pointers to the values in which bytes are; a key belongs to its value. Offsets are in order. Reads up to the last one. Undefined
 * for what is too long, or after the text is no JSON any more.
 */
async function pointersAt(
  from: Readable,
  start: number,
  offsets: readonly number[],
): Promise<readonly (string | undefined)[]> {
  const finder = new PointerFinder(offsets);
  const scanner = new JsonScanner(finder, start);
  try {
    await pour(from, { start, end: from.ref.size_bytes }, (chunk) => {
      scanner.push(chunk);
      return finder.found.length < offsets.length;
    });
  } catch (error) {
    from.signal?.throwIfAborted();
    if (!(error instanceof SluiceError && error.code.startsWith("E_JSON"))) throw error;
  }
  return offsets.map((_, at) => finder.found[at]);
}

class PointerFinder implements JsonVisitor {
  readonly found: (string | undefined)[] = [];
  readonly #offsets: readonly number[];
  readonly #path: (string | number | undefined)[] = [];

  constructor(offsets: readonly number[]) {
    this.#offsets = offsets;
  }

  wantsKey(): boolean {
    return true;
  }

  beginValue(_kind: JsonKind, at: number, depth: number, name: string | number | undefined): void {
    this.#path.length = Math.max(0, depth - 1);
    if (depth > 0) this.#path.push(name);
    this.#note(at);
  }

  endValue(_kind: JsonKind, end: number, depth: number): boolean {
    this.#path.length = depth;
    this.#note(end);
    return this.found.length < this.#offsets.length;
  }

  /** The places before an offset are in the value at hand. */
  #note(end: number): void {
    for (let next = this.#offsets[this.found.length]; next !== undefined && next < end;) {
      this.found.push(this.#pointer());
      next = this.#offsets[this.found.length];
    }
  }

  #pointer(): string | undefined {
    const path = this.#path.filter((name) => name !== undefined);
    if (path.length < this.#path.length) return undefined;
    const pointer = joinPointer(path);
    return pointer.length > MAX_POINTER ? undefined : pointer;
  }
}
