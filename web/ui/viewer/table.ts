/**
 * A table as it is read: columns by name, rows of texts.
 * @module
 */

/** Columns that are shown at most. */
const MOST_COLUMNS = 200;
/** Rows that are held at most. */
const MOST_ROWS = 1_000_000;

/** Rows of cells under named columns; both grow while a table is read. */
export class Table {
  readonly #columns: string[] = [];
  readonly #rows: (readonly string[])[] = [];
  #wider = 0;
  #isCut = false;

  /** The columns, in the order in which they came. */
  get columns(): readonly string[] {
    return this.#columns;
  }

  /** How many rows there are. */
  get count(): number {
    return this.#rows.length;
  }

  /** Whether a row was refused, as all that follow will be. */
  get full(): boolean {
    return this.#isCut;
  }

  /** What was left out, as a sentence; undefined when nothing was. */
  get note(): string | undefined {
    const notes: string[] = [];
    if (this.#isCut) notes.push(`The first ${MOST_ROWS.toLocaleString("en")} rows are shown.`);
    if (this.#wider > 0) {
      notes.push(`The first ${MOST_COLUMNS} of ${this.#wider.toLocaleString("en")} columns are shown.`);
    }
    return notes.length === 0 ? undefined : notes.join(" ");
  }

  /** A row; its cells may be fewer than the columns. */
  row(index: number): readonly string[] {
    return this.#rows[index] ?? [];
  }

  /** Takes a row by position; columns beyond those known are numbered. */
  add(cells: readonly string[]): void {
    this.#isCut ||= this.#rows.length >= MOST_ROWS;
    if (this.#isCut) return;
    for (let at = this.#columns.length; at < cells.length && at < MOST_COLUMNS; at += 1) this.column(`${at + 1}`);
    this.#wider = cells.length > MOST_COLUMNS ? Math.max(this.#wider, cells.length) : this.#wider;
    this.#rows.push(cells.length > MOST_COLUMNS ? cells.slice(0, MOST_COLUMNS) : cells);
  }

  /** Adds a column; false when there are too many. */
  column(name: string): boolean {
    if (this.#columns.length >= MOST_COLUMNS) {
      this.#wider = Math.max(this.#wider, MOST_COLUMNS + 1);
      return false;
    }
    this.#columns.push(name);
    return true;
  }
}
