/**
 * A virtualised list of rows.
 * @module
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { button, element } from "./preview.js";

/** Rows per part. Browsers limit the height of an element to some 17 million pixels. */
const PART = 200_000;
/** Rows drawn above and below those in view by default. */
const BEYOND = 6;

/** Options for virtual rows. */
interface RowOptions {
  /** The scrolling element. */
  readonly scroller: HTMLElement;
  /** The element of the rows, within the scroller. */
  readonly body: HTMLElement;
  /** The height of a row in pixels, or an estimate. */
  readonly height: number | ((index: number) => number);
  /** Whether rows are measured. */
  readonly measured?: () => boolean;
  /** Pixels above the body in the scroller. */
  readonly above?: () => number;
  /** Rows drawn above and below those in view. Defaults to 6. */
  readonly beyond?: number;
  /** The name of rows: `Rows`, `Lines`. */
  readonly noun: string;
  /** Draws a row. */
  draw(index: number): HTMLElement;
  /** A row has left the document. */
  left?(index: number): void;
}

/** A window over rows, until the signal is aborted. */
export class VirtualRows {
  /** Shows the current part and moves to others; hidden if there is only one. */
  readonly bar: HTMLElement;
  readonly #options: RowOptions;
  readonly #rows: Virtualizer<HTMLElement, HTMLElement>;
  readonly #drawn = new Map<number, HTMLElement>();
  readonly #where: HTMLElement;
  readonly #earlier: HTMLButtonElement;
  readonly #later: HTMLButtonElement;
  #count = 0;
  #part = 0;
  #frame = 0;

  constructor(options: RowOptions, signal: AbortSignal) {
    this.#options = options;
    this.#where = element("span", "soft", { role: "status" });
    this.#earlier = button("Earlier", () => this.#turn(this.#part - 1), signal);
    this.#later = button("Later", () => this.#turn(this.#part + 1), signal);
    this.bar = element("div", "bar", {}, this.#earlier, this.#where, this.#later);
    this.bar.hidden = true;
    this.#rows = new Virtualizer<HTMLElement, HTMLElement>(this.#virtualizerOptions());
    // The library's framework adapters call these two.
    // oxlint-disable-next-line no-underscore-dangle
    const unmount = this.#rows._didMount();
    this.#attach();
    signal.addEventListener(
      "abort",
      () => {
        cancelAnimationFrame(this.#frame);
        unmount();
        this.#clear();
      },
      { once: true },
    );
  }

  /** How many rows there are. */
  get count(): number {
    return this.#count;
  }

  /** Sets the number of rows; they are drawn in the next frame. */
  set count(count: number) {
    this.#count = count;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#update();
    });
  }

  /** The first and the last row in view; null if there are none. */
  get inView(): { first: number; last: number } | null {
    const { range } = this.#rows;
    return range && { first: this.#first + range.startIndex, last: this.#first + range.endIndex };
  }

  /** Brings a row to the top. */
  show(index: number): void {
    this.#turn(Math.floor(index / PART));
    this.#rows.scrollToIndex(index % PART, { align: "start" });
  }

  /** Draws the rows in view again. */
  redraw(): void {
    this.#clear();
    this.#update();
  }

  /** Measures and draws all rows again. */
  remeasure(): void {
    this.#rows.measure();
    this.redraw();
  }

  /** Sets the height of a row. */
  resize(index: number, height: number): void {
    this.#rows.resizeItem(index - this.#first, height);
  }

  get #above(): number {
    return this.#options.above?.() ?? 0;
  }

  get #first(): number {
    return this.#part * PART;
  }

  #virtualizerOptions(): VirtualizerOptions<HTMLElement, HTMLElement> {
    const { scroller, height, beyond = BEYOND } = this.#options;
    const above = this.#above;
    return {
      count: Math.min(PART, this.#count - this.#first),
      getScrollElement: () => scroller,
      estimateSize: (index: number) => (typeof height === "number" ? height : height(this.#first + index)),
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      overscan: beyond,
      scrollMargin: above,
      scrollPaddingStart: above,
      indexAttribute: "data-row",
      onChange: () => this.#draw(),
    };
  }

  #turn(part: number): void {
    if (part === this.#part) return;
    this.#clear();
    this.#part = part;
    this.#options.scroller.scrollTop = 0;
    this.#rows.measure();
    this.#update();
  }

  #update(): void {
    // There may be fewer rows than before.
    if (this.#first >= this.#count && this.#part > 0) return this.#turn(0);
    const parts = Math.ceil(this.#count / PART);
    this.bar.hidden = parts < 2;
    this.#earlier.disabled = this.#part === 0;
    this.#later.disabled = this.#part >= parts - 1;
    const last = Math.min(this.#count, this.#first + PART);
    const counts = [this.#first + 1, last, this.#count].map((number) => number.toLocaleString("en"));
    this.#where.textContent = `${this.#options.noun} ${counts[0]} to ${counts[1]} of ${counts[2]}`;
    this.#rows.setOptions(this.#virtualizerOptions());
    this.#attach();
    this.#draw();
  }

  #attach(): void {
    // oxlint-disable-next-line no-underscore-dangle
    this.#rows._willUpdate();
  }

  #draw(): void {
    const { body } = this.#options;
    const above = this.#above;
    const items = this.#rows.getVirtualItems();
    body.style.blockSize = `${this.#rows.getTotalSize()}px`;
    const wanted = new Set(items.map(({ index }) => this.#first + index));
    for (const [index, row] of this.#drawn) if (!wanted.has(index)) this.#drop(index, row);
    this.#rows.measureElement(null);
    for (const item of items) {
      const index = this.#first + item.index;
      const row = this.#drawn.get(index) ?? this.#add(index, item.index);
      row.style.transform = `translateY(${item.start - above}px)`;
    }
  }

  #add(index: number, inPart: number): HTMLElement {
    const row = this.#options.draw(index);
    row.classList.add("row");
    row.dataset["row"] = String(inPart);
    this.#drawn.set(index, row);
    // In the order of the document, whichever way it was scrolled.
    const next = [...this.#drawn.keys()]
      .filter((other) => other > index)
      .sort((a, b) => a - b)
      .at(0);
    this.#options.body.insertBefore(row, next === undefined ? null : (this.#drawn.get(next) ?? null));
    if (this.#options.measured?.() === true) this.#rows.measureElement(row);
    return row;
  }

  #drop(index: number, row: HTMLElement): void {
    this.#drawn.delete(index);
    row.remove();
    this.#options.left?.(index);
  }

  #clear(): void {
    for (const [index, row] of this.#drawn) this.#drop(index, row);
  }
}
