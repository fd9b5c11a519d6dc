/**
 * A table of OpenDocument while it is read, row by row.
 * @module
 */
import { ABOVE, InnerTable, LEFT } from "./blocks.js";
import { MAX_COLUMNS } from "./cell-range.js";
import { readCount } from "./xml.js";

/** Most columns that one cell of a table in a text is counted for. */
const MAX_REPEAT = 64;

/** The rows and cells of one table. */
export class OpenTable {
  /** Its rows where it stands in a cell. */
  readonly inner: InnerTable = new InnerTable();
  /** What stands in the cell that is open. */
  cell: string[] = [];
  #cells: string[] = [];
  #repeat = 1;
  #isCovered = false;
  /** How many cells to the right are joined with the last that is not covered. */
  #joined = 0;

  /** Begins a cell; a covered one is joined with another. */
  openCell(isCovered: boolean, attributes: Readonly<Record<string, string>>): void {
    this.#isCovered = isCovered;
    this.#repeat = readCount(attributes["table:number-columns-repeated"], 1, MAX_REPEAT, 1);
    if (!isCovered) this.#joined = readCount(attributes["table:number-columns-spanned"], 1, MAX_COLUMNS, 1) - 1;
  }

  /** Ends the cell that is open. */
  endCell(): void {
    const text = this.cell.join(" ");
    // What is repeated without text only fills the row up.
    for (let n = 0; n < this.#repeat && this.#cells.length < MAX_COLUMNS; n++) {
      this.#cells.push(this.#isCovered ? (this.#joined > 0 ? LEFT : ABOVE) : text);
      if (this.#isCovered) this.#joined--;
    }
    this.cell = [];
    this.#repeat = 1;
  }

  /** Ends the row that is open, and gives its cells. */
  takeRow(): string[] {
    const cells = this.#cells;
    this.#cells = [];
    this.#joined = 0;
    return cells;
  }

  /** Adds a table that stands in the open cell, as text of it. */
  addTable({ inner }: OpenTable): void {
    const text = inner.toString();
    if (text !== "") this.cell.push(text);
  }
}
