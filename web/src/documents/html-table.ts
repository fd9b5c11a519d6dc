/**
 * A table in HTML as rows of CSV: the one with the most rows, where there are several.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { csvRecord } from "../query/csv-cells.js";
import { oneLine } from "./blocks.js";
import { checkForm, convertText, type Converted, type ConvertOptions, createSink, FactsBuilder } from "./document.js";
import { readCount, xmlSteps, type MarkupHandler } from "./xml.js";

/** Bytes that are read without a pause. */
const PIECE = 64 * 1024;

/** Most columns of a table, and rows that a cell is counted for. */
const MAX_COLUMNS = 1000;
const MAX_SPAN = 1000;

/** Most characters of a cell, and of one that stands in several rows. */
const MAX_CELL = 256 * 1024;
const MAX_REPEATED = 200;

/** Elements of which nothing is seen. */
const UNSEEN: ReadonlySet<string> = new Set(["script", "style", "template", "noscript", "svg"]);

/**
 * Reads the rows of a table. The first one names the columns.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `rows`; the text throws it where there is no table, and E_DOCUMENT.
 */
export async function convertHtmlTable(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, "page of HTML", ["rows"]);
  const facts = new FactsBuilder("section");
  const sink = createSink(facts, options);
  return Promise.resolve(
    convertText("page of HTML", sink, options, async function* () {
      const sizes = new Map<number, TableSize>();
      const count = new TableReader((table, row) => {
        const { rows, columns } = sizes.get(table) ?? NO_ROWS;
        sizes.set(table, { rows: rows + 1, columns: Math.max(columns, row.length) });
      });
      yield* xmlSteps(pieces(bytes), count, "html");
      let chosen = -1;
      let { rows: most, columns } = NO_ROWS;
      for (const [table, size] of sizes)
        if (size.rows > most) [chosen, most, columns] = [table, size.rows, size.columns];
      if (most < 2) {
        const message = "The HTML has no table with rows: read it with pages, lines or search.";
        throw new SluiceError("E_INVALID_ARGUMENT", message, { path: "rows" });
      }
      const several = sizes.size > 1 ? `, the one of ${sizes.size} that has the most rows` : "";
      facts.notice(`These are the rows of table ${chosen + 1}${several}: pages tells what stands around it.`);
      let isHeader = true;
      const write = new TableReader((table, row) => {
        if (table !== chosen) return;
        const cells = isHeader ? Array.from({ length: columns }, (_, column) => row[column] ?? "") : row;
        isHeader = false;
        sink.add(`${csvRecord(cells)}\n`);
      });
      yield* xmlSteps(pieces(bytes), write, "html");
    }),
  );
}

// oxlint-disable-next-line require-await -- what reads it takes streams
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

interface TableSize {
  readonly rows: number;
  readonly columns: number;
}

const NO_ROWS: TableSize = { rows: 0, columns: 0 };

/** A table that is open. */
interface Table {
  readonly number: number;
  row: string[];
  /** The text of the cell that is open, and how many columns and rows it takes. */
  text: string | undefined;
  columns: number;
  rows: number;
  /** What stands in columns of rows to come: a short cell that takes several rows stands in each. */
  readonly below: Map<number, { readonly text: string; left: number }>;
}

/** Hands on the rows of all tables, with the number of each from 0. A table within a cell is one of its own. */
class TableReader implements MarkupHandler {
  readonly #onRow: (table: number, row: readonly string[]) => void;
  readonly #open: Table[] = [];
  #count = 0;
  #unseen = 0;

  constructor(onRow: (table: number, row: readonly string[]) => void) {
    this.#onRow = onRow;
  }

  /** @internal */
  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    if (UNSEEN.has(tag)) this.#unseen += 1;
    if (tag === "table") {
      this.#open.push({ number: this.#count++, row: [], text: undefined, columns: 1, rows: 1, below: new Map() });
      return;
    }
    const table = this.#open.at(-1);
    if (table === undefined) return;
    if (tag === "tr") endRow(table, this.#onRow);
    else if (tag === "br" || tag === "p" || tag === "div" || tag === "li") this.text(" ");
    else if (tag === "td" || tag === "th") {
      endCell(table);
      table.text = "";
      table.columns = readCount(attributes["colspan"], 1, MAX_COLUMNS, 1);
      table.rows = readCount(attributes["rowspan"], 1, MAX_SPAN, 1);
    }
  }

  /** @internal */
  close(tag: string): void {
    if (UNSEEN.has(tag)) this.#unseen -= 1;
    const table = this.#open.at(-1);
    if (table === undefined) return;
    if (tag === "td" || tag === "th") endCell(table);
    else if (tag === "tr") endRow(table, this.#onRow);
    else if (tag === "table") {
      endRow(table, this.#onRow);
      this.#open.pop();
    }
  }

  /** @internal */
  text(text: string): void {
    const table = this.#open.at(-1);
    if (table?.text === undefined || this.#unseen > 0 || table.text.length > MAX_CELL) return;
    table.text += text;
  }
}

function endCell(table: Table): void {
  if (table.text === undefined) return;
  const text = oneLine(table.text);
  table.text = undefined;
  takeAbove(table);
  for (let column = 0; column < table.columns && table.row.length < MAX_COLUMNS; column += 1) {
    const value = column === 0 ? text : "";
    const repeated = value.length > MAX_REPEATED ? "" : value;
    if (table.rows > 1) table.below.set(table.row.length, { text: repeated, left: table.rows - 1 });
    table.row.push(value);
  }
}

/** Adds the cells of rows above that stand in the next columns, too. */
function takeAbove({ row, below }: Table): void {
  for (let cell = below.get(row.length); cell !== undefined; cell = below.get(row.length)) {
    cell.left -= 1;
    if (cell.left === 0) below.delete(row.length);
    row.push(cell.text);
  }
}

function endRow(table: Table, onRow: (table: number, row: readonly string[]) => void): void {
  endCell(table);
  if (table.row.length === 0) return;
  takeAbove(table);
  onRow(table.number, table.row);
  table.row = [];
}
