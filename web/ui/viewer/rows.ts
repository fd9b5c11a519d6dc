/**
 * Rows of which only those in view are in the document.
 * @module
 */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { button, element } from "./element.js";

/** Browsers draw elements up to some 17 million pixels high: longer lists are shown part by part. */
const PART = 200_000;
/** Rows drawn above and below those in view, where nothing else is said. */
const BEYOND = 6;

/** What rows there are, and how they look. */
export interface RowTerms {
  /** What scrolls. */
  readonly scroller: HTMLElement;
  /** What the rows are in, within the scroller. */
  readonly body: HTMLElement;
  /** The height of a row in pixels; where rows differ, what to expect. */
  readonly height: number | ((index: number) => number);
  /** Rows are as high as what is in them. */
  readonly measured?: () => boolean;
  /** Pixels of the scroller above the body. */
  readonly above?: number;
  /** Rows drawn above and below those in view; 6 when left out. */
  readonly beyond?: number;
  /** What rows are called: `Rows`, `Lines`. */
  readonly noun: string;
  /** Draws a row. */
  draw(index: number): HTMLElement;
  /** A row has left the document. */
  left?(index: number): void;
}

/** A window over rows, until the signal is aborted. */
export class VirtualRows {
  /** Says which part is shown, and goes to others; hidden while there is only one. */
  readonly bar: HTMLElement;
  readonly #terms: RowTerms;
  readonly #rows: Virtualizer<HTMLElement, HTMLElement>;
  readonly #drawn = new Map<number, HTMLElement>();
  readonly #where: HTMLElement;
  readonly #earlier: HTMLButtonElement;
  readonly #later: HTMLButtonElement;
  #count = 0;
  #part = 0;
  #frame = 0;

  constructor(terms: RowTerms, signal: AbortSignal) {
    this.#terms = terms;
    this.#where = element("span", "soft", { role: "status" });
    this.#earlier = button("Earlier", () => this.#turn(this.#part - 1), signal);
    this.#later = button("Later", () => this.#turn(this.#part + 1), signal);
    this.bar = element("div", "bar", {}, this.#earlier, this.#where, this.#later);
    this.bar.hidden = true;
    this.#rows = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    // These two are what adapters of the library to frameworks call.
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

  /** Rows that have come; what is drawn follows with the next frame. */
  set count(count: number) {
    this.#count = count;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#update();
    });
  }

  /** The first and the last row in view; null when there are none. */
  get inView(): { first: number; last: number } | null {
    const { range } = this.#rows;
    return range && { first: this.#first + range.startIndex, last: this.#first + range.endIndex };
  }

  /** Brings a row to the top. */
  show(index: number): void {
    this.#turn(Math.floor(index / PART));
    this.#rows.scrollToIndex(index % PART, { align: "start" });
  }

  /** Draws again what is in view: other rows are drawn when they come. */
  redraw(): void {
    this.#clear();
    this.#update();
  }

  /** Forgets how high rows were, and draws them again. */
  remeasure(): void {
    this.#rows.measure();
    this.redraw();
  }

  /** Says how high a row is. */
  resize(index: number, height: number): void {
    this.#rows.resizeItem(index - this.#first, height);
  }

  get #first(): number {
    return this.#part * PART;
  }

  #options(): VirtualizerOptions<HTMLElement, HTMLElement> {
    const { scroller, height, above = 0, beyond = BEYOND } = this.#terms;
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
    this.#terms.scroller.scrollTop = 0;
    this.#rows.measure();
    this.#update();
  }

  #update(): void {
    const parts = Math.ceil(this.#count / PART);
    this.bar.hidden = parts < 2;
    this.#earlier.disabled = this.#part === 0;
    this.#later.disabled = this.#part >= parts - 1;
    const last = Math.min(this.#count, this.#first + PART);
    const counts = [this.#first + 1, last, this.#count].map((number) => number.toLocaleString("en"));
    this.#where.textContent = `${this.#terms.noun} ${counts[0]} to ${counts[1]} of ${counts[2]}`;
    this.#rows.setOptions(this.#options());
    this.#attach();
    this.#draw();
  }

  #attach(): void {
    // oxlint-disable-next-line no-underscore-dangle
    this.#rows._willUpdate();
  }

  #draw(): void {
    const { body, above = 0 } = this.#terms;
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
    const row = this.#terms.draw(index);
    row.classList.add("row");
    row.dataset["row"] = String(inPart);
    this.#drawn.set(index, row);
    // In the order of the document, whichever way it was scrolled.
    const next = [...this.#drawn.keys()]
      .filter((other) => other > index)
      .sort((a, b) => a - b)
      .at(0);
    this.#terms.body.insertBefore(row, next === undefined ? null : (this.#drawn.get(next) ?? null));
    if (this.#terms.measured?.() === true) this.#rows.measureElement(row);
    return row;
  }

  #drop(index: number, row: HTMLElement): void {
    this.#drawn.delete(index);
    row.remove();
    this.#terms.left?.(index);
  }

  #clear(): void {
    for (const [index, row] of this.#drawn) this.#drop(index, row);
  }
}
