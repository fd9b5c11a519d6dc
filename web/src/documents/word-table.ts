/**
 * A table of Word while it is read, row by row.
 * @module
 */
import type { Block } from "./block-target.js";
import { ABOVE, InnerTable, LEFT } from "./blocks.js";

/** Most columns of a table: Word allows 63. */
const MAX_COLUMNS = 1000;

interface Cell {
  readonly blocks: Block[];
  span: number;
  /** Whether it belongs to the cell above, or to that at the left. */
  joins: "above" | "left" | undefined;
}

/** A row that has ended. */
interface EndedRow {
  readonly cells: readonly string[];
  /** What the only cell of the row holds, if that frames text, which stays as it is. */
  readonly blocks: readonly Block[] | undefined;
  /** Whether a page ends before it. */
  readonly endsPage: boolean;
}

function makeCell(): Cell {
  return { blocks: [], span: 1, joins: undefined };
}

/** The text of a cell, and marks for those that it is joined with. */
function listCell({ blocks, span, joins }: Cell): readonly string[] {
  const all = blocks.map(({ text, mark = "" }) => (mark === "" ? text : `${mark} ${text}`)).join(" ");
  const first = joins === undefined ? all : joins === "above" ? ABOVE : LEFT;
  return [first, ...Array.from({ length: span - 1 }, () => LEFT)];
}

/** The rows and cells of one table. */
export class WordTable {
  /** Its rows where it stands in a cell. */
  readonly inner: InnerTable = new InnerTable();
  /** The cell that is open. */
  cell: Cell = makeCell();
  /** What happened to the row that is open: `row inserted by Ann`. */
  change = "";
  /** Cells that are left out before the first of the row. */
  before = 0;
  /** Whether a page ends before the row that is open. */
  endsPage = false;
  #cells: Cell[] = [];

  /** Begins a cell. */
  openCell(): void {
    this.cell = makeCell();
  }

  /** Ends the cell that is open. */
  endCell(): void {
    this.#cells.push(this.cell);
    this.openCell();
  }

  /** Ends the row that is open, and gives it. */
  takeRow(): EndedRow {
    const [only, second] = this.#cells;
    const isFrame = second === undefined && only?.span === 1 && only.blocks.length > 1;
    const cells = Array.from({ length: this.before }, () => "");
    for (const cell of this.#cells) if (cells.length < MAX_COLUMNS) cells.push(...listCell(cell));
    if (this.change !== "" && cells.length > 0) cells[0] = `[${this.change}] ${cells[0] ?? ""}`;
    const row: EndedRow = { cells, blocks: isFrame ? only.blocks : undefined, endsPage: this.endsPage };
    this.#cells = [];
    this.change = "";
    this.before = 0;
    this.endsPage = false;
    return row;
  }

  /** Adds a table that stands in the open cell, as text of it. */
  addTable({ inner }: WordTable): void {
    const text = inner.toString();
    if (text !== "") this.cell.blocks.push({ text, level: 0, mark: undefined, isHeading: false });
  }
}
