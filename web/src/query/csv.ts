/**
 * CSV (RFC 4180) and its relatives: the dialect of a text, and records found while they stream, as bytes or as text. `csv-cells.ts` has
 * the cells of records.
 *
 * A quote opens a field that begins with it. Inside quotes, two of them stand for one, and line breaks belong to the field. What follows
 * the closing quote belongs to the field too, and a quote inside any other field is an ordinary character. Empty lines are no records.
 * @module
 */
import { indexOfByte } from "#byte-search";
/** How records and cells are separated. */
export interface CsvDialect {
  /** What separates cells: one ASCII character. */
  readonly delimiter: string;
  /** What ends records. `\n` stands for `\r\n` too. */
  readonly newline: "\n" | "\r";
}

/** What may separate cells, the first one by default. */
const DELIMITERS = [",", ";", "\t", "|"];

/** The dialect of a text, by its beginning: the delimiter that the first record has most often. */
export function findDialect(sample: string): CsvDialect {
  const counts = new Map<string, number>();
  let isFirst = true;
  let isQuoted = false;
  let newline: "\n" | "\r" = "\n";
  for (let at = 0; at < sample.length; at += 1) {
    const char = sample[at] as string;
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (char === "\n") return { delimiter: findMost(counts), newline: "\n" };
    else if (char === "\r" && at + 1 < sample.length && sample[at + 1] !== "\n") {
      // Returns alone end records only where there is no other line break.
      newline = "\r";
      isFirst = false;
    } else if (isFirst && DELIMITERS.includes(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  return { delimiter: findMost(counts), newline };
}

/** Lines that may stand above a table. */
const MAX_ABOVE = 20;

/** Rows behind the header by which a table is told. */
const FIRST_ROWS = 3;

/**
 * Where the header of a table is, in characters, if titles stand above it: lines with one cell at most, and then an empty one, or a header of
 * three or more cells; the rows behind it have as many. 0 for any other text.
 */
export function findHeader(sample: string): number {
  const lines = sample.split("\n", MAX_ABOVE + FIRST_ROWS + 2);
  // The last one may be cut.
  if (lines.length > 1) lines.pop();
  const rows = lines.map((line) => {
    const bare = line.replace(/"(?:[^"]|"")*"/g, "x");
    const cells = bare.split(findDialect(bare).delimiter);
    return { cells: cells.length, filled: cells.filter((cell) => cell.trim() !== "").length };
  });
  const at = rows.findIndex(({ filled }) => filled > 1);
  const header = rows[at];
  if (header === undefined || at === 0 || at > MAX_ABOVE) return 0;
  const below = rows.slice(at + 1, at + 1 + FIRST_ROWS);
  const isTable = below.length > 1 && below.every(({ cells }) => cells === header.cells);
  const isApart = rows[at - 1]?.filled === 0 || header.filled > 2;
  return isTable && isApart ? lines.slice(0, at).join("\n").length + 1 : 0;
}

/** The delimiter that Excel is told above a table, as in `sep=;`, and where that line ends. */
export function findSeparator(sample: string): { readonly delimiter: string; readonly end: number } | undefined {
  const [line, delimiter] = /^sep=([\t -!#-~])\r?\n/i.exec(sample) ?? [];
  return line === undefined || delimiter === undefined ? undefined : { delimiter, end: line.length };
}

function findMost(counts: ReadonlyMap<string, number>): string {
  const most = Math.max(0, ...counts.values());
  return DELIMITERS.find((delimiter) => most > 0 && counts.get(delimiter) === most) ?? ",";
}

const QUOTE = 0x22;

/** What the last character was: the start of a field, one of a plain field, one inside quotes, or a quote that may end these. */
type Within = "start" | "plain" | "quotes" | "quote";

/**
 * Finds where records end, in chunks of any size, in constant memory. Chunks are bytes of UTF-8 or the like, or text; offsets are bytes
 * or characters then.
 */
export class CsvRecords {
  readonly #delimiter: number;
  readonly #newline: number;
  #within: Within = "start";

  constructor({ delimiter, newline }: CsvDialect) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#newline = newline.charCodeAt(0);
  }

  /** Whether the text so far ends inside quotes. */
  get isOpen(): boolean {
    return this.#within === "quotes";
  }

  /** Calls `end` with the offset of each line break of a chunk that ends a record or an empty line. */
  push(chunk: Uint8Array | string, end: (at: number) => void): void {
    for (let at = 0; at < chunk.length;) {
      const isQuoted = this.#within === "quotes";
      const next = isQuoted ? nextQuote(chunk, at) : nextSpecial(chunk, this.#newline, at);
      if (!isQuoted && (next < 0 || next > at)) {
        const last = codeAt(chunk, (next < 0 ? chunk.length : next) - 1);
        this.#within = last === this.#delimiter ? "start" : "plain";
      }
      if (next < 0) return;
      at = next + 1;
      if (isQuoted) this.#within = "quote";
      else if (codeAt(chunk, next) === QUOTE) this.#within = this.#within === "plain" ? "plain" : "quotes";
      else {
        this.#within = "start";
        end(next);
      }
    }
  }

  /** The parts of a piece of text that records have in it. The last one may go on in the next piece. */
  split(text: string): readonly string[] {
    if (!this.isOpen && text !== "" && !text.includes('"')) {
      const last = text.charCodeAt(text.length - 1);
      this.#within = last === this.#delimiter || last === this.#newline ? "start" : "plain";
      return text.split(String.fromCharCode(this.#newline));
    }
    const parts: string[] = [];
    let from = 0;
    this.push(text, (end) => {
      parts.push(text.slice(from, end));
      from = end + 1;
    });
    parts.push(text.slice(from));
    return parts;
  }
}

/** Offset of the next quote or line break from `from` on. -1 if there is none. */
function nextSpecial(chunk: Uint8Array | string, newline: number, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const code = codeAt(chunk, at);
    if (code === QUOTE || code === newline) return at;
  }
  return -1;
}

/** Bytes that are looked at one by one, because most fields are short and a search takes some time to begin. */
const NEAR = 24;

function nextQuote(chunk: Uint8Array | string, from: number): number {
  if (typeof chunk === "string") return chunk.indexOf('"', from);
  const near = Math.min(chunk.length, from + NEAR);
  for (let at = from; at < near; at += 1) if (chunk[at] === QUOTE) return at;
  return indexOfByte(chunk, QUOTE, near);
}

function codeAt(chunk: Uint8Array | string, at: number): number | undefined {
  return typeof chunk === "string" ? chunk.charCodeAt(at) : chunk[at];
}
