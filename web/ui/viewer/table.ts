/**
 * A table as it is read: columns by name, rows of texts.
 * @module
 */
import { element } from "./preview.js";
import { VirtualRows } from "./rows.js";

/** Columns that are shown at most. */
const MOST_COLUMNS = 200;
/** Rows that are held at most. */
const MOST_ROWS = 1_000_000;

/** Rows of cells under named columns; both grow while a table is read. */
export class Table {
  readonly #columns: string[] = [];
  readonly #rows: (readonly string[])[] = [];
  #wider = 0;

  /** The columns, in the order in which they came. */
  get columns(): readonly string[] {
    return this.#columns;
  }

  /** How many rows there are. */
  get count(): number {
    return this.#rows.length;
  }

  /** Whether no more rows are taken. */
  get full(): boolean {
    return this.#rows.length >= MOST_ROWS;
  }

  /** What was left out, as a sentence; undefined when nothing was. */
  get note(): string | undefined {
    if (this.#wider === 0) return undefined;
    return `The first ${MOST_COLUMNS} of ${this.#wider.toLocaleString("en")} columns are shown.`;
  }

  /** A row; its cells may be fewer than the columns. */
  row(index: number): readonly string[] {
    return this.#rows[index] ?? [];
  }

  /** Takes a row by position; columns beyond those known are numbered. */
  add(cells: readonly string[]): void {
    if (this.full) return;
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

/** The height of rows in pixels, as the styles have it. */
const ROW = 28;
/** Rows that widths are judged by. */
const SAMPLE = 200;
/** Characters that a column is wide, at least and at most. */
const NARROW = 5;
const WIDE = 40;
/** Pixels on both sides of a cell. */
const PADDING = 20;
/** Characters of a cell that are drawn; more would not be seen. */
const CLIPPED = 300;
/** Columns drawn beyond those in view, on each side. */
const BEYOND = 2;

/** A view of a table that may still be growing. */
export class TableView {
  readonly #table: Table;
  readonly #scroller: HTMLElement;
  readonly #head = element("div", "head", { role: "rowgroup" });
  readonly #rows: VirtualRows;
  /** Where columns begin, in pixels; one more than there are columns. */
  #edges: number[] = [0];
  #character = 8;
  #judged = 0;
  /** Characters of the greatest row number. */
  #digits = 0;
  #first = 0;
  #last = 0;

  constructor(host: HTMLElement, table: Table, label: string, signal: AbortSignal) {
    this.#table = table;
    const body = element("div", "rows", { role: "rowgroup" });
    this.#scroller = element("div", "table", {
      role: "table",
      tabindex: "0",
      "aria-label": label,
      "aria-rowcount": "-1",
    });
    this.#scroller.append(this.#head, body);
    this.#rows = new VirtualRows(
      { scroller: this.#scroller, body, height: ROW, above: ROW, noun: "Rows", draw: (index) => this.#record(index) },
      signal,
    );
    host.append(this.#rows.bar, this.#scroller);
    const probe = element("span", "probe", { "aria-hidden": "true" });
    this.#scroller.append(probe);
    this.#character = probe.getBoundingClientRect().width / 100 || this.#character;
    probe.remove();
    const look = (): void => {
      if (this.#look()) this.#rows.redraw();
    };
    this.#scroller.addEventListener("scroll", look, { signal, passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(this.#scroller);
    signal.addEventListener("abort", () => resized.disconnect(), { once: true });
  }

  /** Rows or columns have come; `complete` when these are all. */
  update(complete: boolean): void {
    const { columns, count } = this.#table;
    const judged = Math.min(count, SAMPLE);
    // Row numbers grow wider while a table is read.
    const digits = Math.max(NARROW, count.toLocaleString("en").length);
    const isWider = digits !== this.#digits;
    this.#digits = digits;
    if (this.#edges.length !== columns.length + 2 || judged !== this.#judged || isWider) this.#judge(judged);
    this.#scroller.setAttribute("aria-rowcount", complete ? String(count + 1) : "-1");
    this.#rows.count = count;
  }

  // Widths go by what is in the first rows.
  #judge(judged: number): void {
    this.#judged = judged;
    const { columns } = this.#table;
    const longest = columns.map((name) => name.length);
    for (let at = 0; at < judged; at += 1) {
      for (const [column, cell] of this.#table.row(at).entries()) {
        longest[column] = Math.max(longest[column] ?? 0, cell.length);
      }
    }
    const widths = [this.#digits, ...longest].map((characters) =>
      Math.ceil(Math.min(WIDE, Math.max(NARROW, characters)) * this.#character + PADDING),
    );
    this.#edges = [0];
    for (const width of widths) this.#edges.push((this.#edges.at(-1) ?? 0) + width);
    this.#scroller.style.setProperty("--columns", widths.map((width) => `${width}px`).join(" "));
    this.#scroller.style.setProperty("--width", `${this.#edges.at(-1) ?? 0}px`);
    this.#scroller.setAttribute("aria-colcount", String(columns.length + 1));
    this.#last = -1;
    this.#look();
    this.#rows.redraw();
  }

  // Which columns are in view; true when they are others than before.
  #look(): boolean {
    const { scrollLeft, clientWidth } = this.#scroller;
    const columns = this.#table.columns.length;
    const passed = this.#edges.findIndex((edge) => edge > scrollLeft);
    const beyond = this.#edges.findIndex((edge) => edge >= scrollLeft + clientWidth);
    const first = Math.max(0, passed - 2 - BEYOND);
    const last = Math.min(columns, (beyond === -1 ? columns : beyond - 1) + BEYOND);
    if (first === this.#first && last === this.#last) return false;
    this.#first = first;
    this.#last = last;
    this.#head.replaceChildren(this.#line(1, "columnheader", "#", this.#table.columns));
    return true;
  }

  #record(index: number): HTMLElement {
    return this.#line(index + 2, "cell", (index + 1).toLocaleString("en"), this.#table.row(index));
  }

  #line(rowIndex: number, role: string, number: string, cells: readonly string[]): HTMLElement {
    const line = element("div", "record", { role: "row", "aria-rowindex": String(rowIndex) });
    const isHead = role === "columnheader";
    line.append(element("span", "number", { role: isHead ? role : "rowheader", "aria-colindex": "1" }, number));
    for (let column = this.#first; column < this.#last; column += 1) {
      const text = cells[column] ?? "";
      const cell = element("span", "cell", { role, "aria-colindex": String(column + 2) }, text.slice(0, CLIPPED));
      if (text.length > WIDE) cell.title = text.slice(0, 2000);
      cell.style.gridColumn = String(column + 2);
      line.append(cell);
    }
    return line;
  }
}
