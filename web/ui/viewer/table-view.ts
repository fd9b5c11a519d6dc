/**
 * A table on screen: rows and columns in view, sorted by a column, filtered by a text, with a field that goes to a row.
 * @module
 */
import { element } from "./preview.js";
import { VirtualRows } from "./rows.js";
import type { Table } from "./table.js";
import { parseNumber, orderRows, type Sorting } from "./table-order.js";

/** The height of a row in pixels. Rows that are opened are as high as what is touched. */
const ROW = 28;
/** Rows that widths and alignments are judged by. */
const SAMPLE = 200;
/** Characters that a column is wide, at least and at most. */
const NARROW = 5;
const WIDE = 40;
/** Pixels on both sides of a cell, and of the mark of a sorted column. */
const PADDING = 20;
const MARK = 14;
/** Characters of a cell that are drawn; more would not be seen. */
const CLIPPED = 300;
/** Columns drawn beyond those in view, on each side. */
const BEYOND = 2;
/** Rows from which on there is something to look for. */
const MANY = 20;
/** Milliseconds that a text is left alone while it is typed. */
const TYPED = 150;

/** How a table is shown. */
export interface TableOptions {
  /** What it is called, for screen readers. */
  readonly label: string;
  /** Opens a row, by its first cell. Left out, rows are not opened. */
  readonly open?: (index: number) => void;
  /** What all rows are, as a sentence. Defaults to their number. */
  readonly summary?: () => string;
  /** What is written in a cell, in the place of its text. Its text is what is sorted and filtered. */
  readonly shown?: (column: number, text: string) => string;
}

/** A view of a table that may still be growing. */
export class TableView {
  readonly #table: Table;
  readonly #options: TableOptions;
  readonly #scroller: HTMLElement;
  readonly #head = element("div", "head", { role: "rowgroup" });
  readonly #rows: VirtualRows;
  readonly #tools: HTMLElement;
  readonly #filter = element("input", "filter", { type: "search", placeholder: "Filter", "aria-label": "Filter rows" });
  readonly #number = element("input", "", { type: "number", min: "1", "aria-label": "Go to row", placeholder: "Row" });
  readonly #said = element("span", "soft", { role: "status" });
  readonly #signal: AbortSignal;
  /** Where columns begin, in pixels; one more than there are columns. */
  #edges: number[] = [0];
  #character = 8;
  /** Pixels of the head and of a row. */
  #heights: readonly [head: number, row: number] = [ROW, ROW];
  #judged = 0;
  #numeric: readonly boolean[] = [];
  /** Characters of the greatest row number. */
  #digits = 0;
  #first = 0;
  #last = 0;
  #sorting: Sorting | undefined;
  #order: Uint32Array | undefined;
  #arranging: AbortController | undefined;
  /** The row that was gone to. */
  #found = -1;
  #isComplete = false;

  constructor(host: HTMLElement, table: Table, options: TableOptions, signal: AbortSignal) {
    this.#table = table;
    this.#options = options;
    this.#signal = signal;
    const body = element("div", "rows", { role: "rowgroup" });
    this.#scroller = element("div", "table", {
      role: "table",
      tabindex: "0",
      "aria-label": options.label,
      "aria-rowcount": "-1",
    });
    if (options.open !== undefined) this.#scroller.classList.add("opens");
    this.#scroller.append(this.#head, body);
    this.#tools = element("div", "bar", { role: "group", "aria-label": "Rows" });
    this.#tools.append(this.#filter, this.#number, this.#said);
    this.#tools.hidden = true;
    host.append(this.#tools, this.#scroller);
    this.#measure();
    this.#rows = new VirtualRows(
      {
        scroller: this.#scroller,
        body,
        height: () => this.#heights[1],
        above: () => this.#heights[0],
        noun: "Rows",
        draw: (at) => this.#record(at),
      },
      signal,
    );
    this.#tools.append(this.#rows.bar);
    this.#listen();
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
    this.#isComplete = complete;
    this.#filter.hidden = count <= MANY;
    this.#number.hidden = count <= MANY;
    this.#tools.hidden = count <= MANY && this.#options.summary === undefined;
    this.#number.max = String(count);
    if (complete && this.#isArranged) this.#arrange();
    else if (!this.#isArranged) this.#tell();
    this.#rows.count = this.#shown;
  }

  #listen(): void {
    const signal = this.#signal;
    const look = (): void => {
      if (this.#look()) this.#rows.redraw();
    };
    this.#scroller.addEventListener("scroll", look, { signal, passive: true });
    // In the next frame: drawing again may change the size that is observed.
    let frame = 0;
    const resized = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        if (this.#measure()) this.#rows.remeasure();
        look();
      });
    });
    resized.observe(this.#scroller);
    let typing: ReturnType<typeof setTimeout> | undefined;
    this.#filter.addEventListener(
      "input",
      () => {
        clearTimeout(typing);
        typing = setTimeout(() => this.#arrange(), TYPED);
      },
      { signal },
    );
    this.#number.addEventListener("change", () => this.#go(this.#number.valueAsNumber), { signal });
    // Also to the row that is already written there.
    this.#number.addEventListener(
      "keydown",
      ({ key }) => {
        if (key === "Enter") this.#go(this.#number.valueAsNumber);
      },
      { signal },
    );
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(typing);
        cancelAnimationFrame(frame);
        resized.disconnect();
        this.#arranging?.abort();
      },
      { once: true },
    );
  }

  // The width of a character, and heights, which are greater where things are touched. Tells whether these are others than before.
  #measure(): boolean {
    const probe = element("span", "probe", { "aria-hidden": "true" });
    this.#scroller.append(probe);
    const { width, height } = probe.getBoundingClientRect();
    probe.remove();
    this.#character = width / 100 || this.#character;
    // With the line below.
    const target = (Math.round(height) || ROW) + 1;
    const [head, row] = [target, this.#options.open === undefined ? ROW : target];
    const isSame = head === this.#heights[0] && row === this.#heights[1];
    this.#heights = [head, row];
    return !isSame;
  }

  get #isArranged(): boolean {
    return this.#sorting !== undefined || this.#filter.value !== "";
  }

  /** How many rows are shown. */
  get #shown(): number {
    return this.#order?.length ?? this.#table.count;
  }

  // Sorts and filters. What is asked for later takes the place of what is still being worked out.
  #arrange(): void {
    this.#arranging?.abort();
    const run = new AbortController();
    this.#arranging = run;
    const filter = this.#filter.value;
    this.#scroller.ariaBusy = "true";
    this.#said.textContent = this.#sorting === undefined ? "Filtering…" : "Sorting…";
    void this.#reorder(filter, run.signal);
  }

  async #reorder(filter: string, signal: AbortSignal): Promise<void> {
    let order: Uint32Array | undefined;
    try {
      order = await orderRows(this.#table, { sorting: this.#sorting, filter }, signal);
    } catch {
      // Something else was asked for.
      return;
    }
    if (signal.aborted) return;
    this.#order = order;
    this.#scroller.ariaBusy = "false";
    this.#scroller.scrollTop = 0;
    this.#rows.count = this.#shown;
    this.#rows.redraw();
    this.#tell();
  }

  #tell(): void {
    const { count } = this.#table;
    const counted = `${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}`;
    const all = this.#options.summary?.() ?? counted;
    this.#scroller.setAttribute("aria-rowcount", this.#isComplete ? String(this.#shown + 1) : "-1");
    this.#said.textContent = this.#filter.value === "" ? all : `${this.#shown.toLocaleString("en")} of ${counted}`;
  }

  #sort(column: number): void {
    const before = this.#sorting?.column === column ? this.#sorting : undefined;
    const isNumeric = this.#numeric[column] === true;
    // Up, down, and as in the file.
    this.#sorting =
      before?.isDescending === true ? undefined : { column, isNumeric, isDescending: before !== undefined };
    this.#drawHead();
    this.#arrange();
  }

  #go(wanted: number): void {
    if (!Number.isFinite(wanted)) return;
    const number = Math.min(this.#table.count, Math.max(1, Math.round(wanted)));
    this.#number.value = String(number);
    const at = this.#order === undefined ? number - 1 : this.#order.indexOf(number - 1);
    this.#found = number - 1;
    if (at === -1) this.#said.textContent = `Row ${number.toLocaleString("en")} does not match the filter.`;
    else {
      this.#rows.show(at);
      this.#rows.redraw();
    }
  }

  // Widths and alignments go by what is in the first rows.
  #judge(judged: number): void {
    this.#judged = judged;
    const { columns } = this.#table;
    const longest = columns.map((name) => name.length + MARK / this.#character);
    const filled = columns.map(() => 0);
    const numbers = columns.map(() => 0);
    for (let at = 0; at < judged; at += 1) {
      for (const [column, cell] of this.#table.row(at).entries()) {
        longest[column] = Math.max(longest[column] ?? 0, this.#text(column, cell).length);
        if (cell === "") continue;
        filled[column] = (filled[column] ?? 0) + 1;
        if (!Number.isNaN(parseNumber(cell))) numbers[column] = (numbers[column] ?? 0) + 1;
      }
    }
    this.#numeric = numbers.map((count, column) => count > 0 && count === filled[column]);
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
    this.#drawHead();
    return true;
  }

  #drawHead(): void {
    const line = this.#line(1);
    line.append(element("span", "number", { role: "columnheader", "aria-colindex": "1" }, "#"));
    for (const column of this.#inView()) {
      const name = this.#table.columns[column] ?? "";
      const sorting = this.#sorting?.column === column ? this.#sorting : undefined;
      const direction = sorting === undefined ? "none" : sorting.isDescending ? "descending" : "ascending";
      const sort = element("button", "sort", { type: "button" }, element("span", "", {}, name.slice(0, CLIPPED)));
      if (name.length > WIDE) sort.title = name.slice(0, 2000);
      sort.addEventListener("click", () => this.#sort(column), { signal: this.#signal });
      const cell = this.#cell(column, "columnheader", sort);
      cell.ariaSort = direction;
      line.append(cell);
    }
    // The button that has the focus is drawn again.
    const root = this.#head.getRootNode() as Document | ShadowRoot;
    const focused = this.#head.contains(root.activeElement)
      ? root.activeElement?.parentElement?.ariaColIndex
      : undefined;
    this.#head.replaceChildren(line);
    if (focused == null) return;
    const again = this.#head.querySelector<HTMLElement>(`[aria-colindex="${focused}"] button`);
    (again ?? this.#scroller).focus({ preventScroll: true });
  }

  #record(at: number): HTMLElement {
    const index = this.#order?.[at] ?? at;
    const line = this.#line(at + 2);
    line.classList.toggle("found", index === this.#found);
    const number = (index + 1).toLocaleString("en");
    line.append(element("span", "number", { role: "rowheader", "aria-colindex": "1" }, number));
    const cells = this.#table.row(index);
    const { open } = this.#options;
    for (const column of this.#inView()) {
      const text = this.#text(column, cells[column] ?? "");
      const written = text.slice(0, CLIPPED);
      const isOpener = column === 0 && open !== undefined && written !== "";
      const cell = this.#cell(
        column,
        "cell",
        isOpener ? element("button", "opener", { type: "button" }, written) : written,
      );
      if (text.length > WIDE) cell.title = text.slice(0, 2000);
      if (isOpener) cell.firstElementChild?.addEventListener("click", () => open(index), { signal: this.#signal });
      line.append(cell);
    }
    return line;
  }

  #text(column: number, text: string): string {
    return this.#options.shown?.(column, text) ?? text;
  }

  #inView(): readonly number[] {
    return Array.from({ length: Math.max(0, this.#last - this.#first) }, (_, at) => this.#first + at);
  }

  #line(rowIndex: number): HTMLElement {
    return element("div", "record", { role: "row", "aria-rowindex": String(rowIndex) });
  }

  #cell(column: number, role: string, content: Node | string): HTMLElement {
    const look = this.#numeric[column] === true ? "cell numeric" : "cell";
    const cell = element("span", look, { role, "aria-colindex": String(column + 2) }, content);
    cell.style.gridColumn = String(column + 2);
    return cell;
  }
}
