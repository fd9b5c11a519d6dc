/**
 * The pages of a PDF on screen: those in view are drawn, one after the other.
 * @module
 */
import type { PDFDocumentProxy, PDFPageProxy, RenderTask } from "pdfjs-dist";
import { button, element } from "./element.js";
import { VirtualRows } from "./rows.js";

/** Pixels between pages. */
const GAP = 12;
/** Pixels that one canvas has at most, on a side and in all. */
const LONGEST = 8192;
const MOST_PIXELS = 16 * 1024 ** 2;
/** Canvases that there are at most. */
const MOST_CANVASES = 8;
/** Characters of a page that screen readers are given. */
const MOST_TEXT = 20_000;
/** CSS pixels of a point: PDFs count in 1/72 inch. */
const ACTUAL = 96 / 72;

/** What is known before pages are drawn. */
export interface PdfOutline {
  /** Pages that are offered. */
  readonly count: number;
  /** Whose size all are taken to have until they are drawn. */
  readonly first: PDFPageProxy;
  /** What the file is called. */
  readonly name: string;
}

interface Sheet {
  readonly index: number;
  readonly box: HTMLElement;
  task?: RenderTask;
}

/** Pages below each other, with a bar to go through them. */
export class PdfPages {
  /** Settles when a page has been drawn. */
  readonly shown: Promise<void>;
  readonly #pdf: PDFDocumentProxy;
  readonly #outline: PdfOutline;
  readonly #signal: AbortSignal;
  readonly #scroller: HTMLElement;
  readonly #rows: VirtualRows;
  readonly #number = element("input", "", { type: "number", min: "1", value: "1", "aria-label": "Page" });
  readonly #sheets = new Map<number, Sheet>();
  /** Width and height of pages that were drawn, in points. */
  readonly #sizes = new Map<number, readonly [number, number]>();
  #fits = true;
  #drawing = false;
  #width = 0;
  #announce: () => void = () => {};

  constructor(host: HTMLElement, pdf: PDFDocumentProxy, outline: PdfOutline, signal: AbortSignal) {
    this.#pdf = pdf;
    this.#outline = outline;
    this.#signal = signal;
    this.shown = new Promise<void>((resolve) => (this.#announce = resolve));
    signal.addEventListener("abort", () => this.#announce(), { once: true });
    const body = element("div", "rows");
    this.#scroller = element(
      "div",
      "pdf",
      { tabindex: "0", role: "group", "aria-label": `Pages of ${outline.name}` },
      body,
    );
    this.#rows = new VirtualRows(
      {
        scroller: this.#scroller,
        body,
        height: (index) => this.#heightOf(index),
        noun: "Pages",
        beyond: 1,
        draw: (index) => this.#add(index),
        left: (index) => this.#remove(index),
      },
      signal,
    );
    host.append(this.#bar(), this.#scroller);
    this.#width = this.#scroller.clientWidth;
    this.#follow();
    this.#rows.count = outline.count;
  }

  #bar(): HTMLElement {
    const { count } = this.#outline;
    const zooms = [true, false].map((fits) => {
      const zoom = button(fits ? "Fit" : "100 %", () => zoomTo(fits), this.#signal);
      zoom.ariaPressed = String(fits);
      return zoom;
    });
    const zoomTo = (fits: boolean): void => {
      for (const [at, zoom] of zooms.entries()) zoom.ariaPressed = String(fits === (at === 0));
      this.#fits = fits;
      this.#again();
    };
    this.#number.max = String(count);
    this.#number.addEventListener("change", () => this.#go(this.#number.valueAsNumber), { signal: this.#signal });
    return element(
      "div",
      "bar",
      { role: "group", "aria-label": "Pages" },
      button("Previous", () => this.#go(this.#page - 1), this.#signal),
      this.#number,
      element("span", "soft", {}, `of ${count.toLocaleString("en")}`),
      button("Next", () => this.#go(this.#page + 1), this.#signal),
      ...zooms,
    );
  }

  get #page(): number {
    return (this.#rows.inView?.first ?? 0) + 1;
  }

  #go(page: number): void {
    const wanted = Math.min(this.#outline.count, Math.max(1, Math.round(page) || this.#page));
    this.#number.value = String(wanted);
    this.#rows.show(wanted - 1);
  }

  // The bar says which page is seen, arrows turn pages, and a new width is a new size.
  #follow(): void {
    const signal = this.#signal;
    this.#scroller.addEventListener("scroll", () => void (this.#number.value = String(this.#page)), {
      signal,
      passive: true,
    });
    this.#scroller.addEventListener(
      "keydown",
      ({ key }) => {
        if (key === "ArrowLeft" || key === "ArrowRight") this.#go(this.#page + (key === "ArrowLeft" ? -1 : 1));
      },
      { signal },
    );
    const resized = new ResizeObserver(() => {
      if (!this.#fits || this.#scroller.clientWidth === this.#width) return;
      this.#width = this.#scroller.clientWidth;
      this.#again();
    });
    resized.observe(this.#scroller);
    signal.addEventListener("abort", () => resized.disconnect(), { once: true });
  }

  #again(): void {
    const at = this.#page;
    this.#rows.remeasure();
    this.#rows.show(at - 1);
  }

  #sizeOf(index: number): readonly [number, number] {
    const known = this.#sizes.get(index) ?? this.#sizes.get(0);
    if (known !== undefined) return known;
    const { width, height } = this.#outline.first.getViewport({ scale: 1 });
    return [width, height];
  }

  #scaleOf(index: number): number {
    const [width] = this.#sizeOf(index);
    return this.#fits ? Math.min(2.5, Math.max(100, this.#width - 2 * GAP) / width) : ACTUAL;
  }

  #heightOf(index: number): number {
    return Math.min(LONGEST, Math.ceil(this.#sizeOf(index)[1] * this.#scaleOf(index))) + GAP;
  }

  #add(index: number): HTMLElement {
    const box = element("div", "sheet");
    this.#sheets.set(index, { index, box });
    this.#place(index, box);
    void this.#draw();
    return element("div", "sheets", {}, box);
  }

  #place(index: number, box: HTMLElement): void {
    const scale = this.#scaleOf(index);
    const [width] = this.#sizeOf(index);
    box.style.inlineSize = `${Math.ceil(width * scale)}px`;
    box.style.blockSize = `${this.#heightOf(index) - GAP}px`;
  }

  #remove(index: number): void {
    this.#sheets.get(index)?.task?.cancel();
    this.#sheets.delete(index);
    // Its canvas was perhaps what others waited for.
    if (!this.#signal.aborted) void this.#draw();
  }

  // One page at a time, those in view first.
  async #draw(): Promise<void> {
    if (this.#drawing) return;
    this.#drawing = true;
    await Promise.resolve();
    for (;;) {
      const drawn = [...this.#sheets.values()].filter(({ task }) => task !== undefined).length;
      const { first = 0, last = 0 } = this.#rows.inView ?? {};
      const waiting = [...this.#sheets.values()].filter(
        ({ task, box }) => task === undefined && box.childElementCount === 0,
      );
      const next = waiting.find(({ index }) => index >= first && index <= last) ?? waiting.at(0);
      if (next === undefined || drawn >= MOST_CANVASES || this.#signal.aborted) break;
      try {
        await this.#drawPage(next);
      } catch {
        this.#fail(next);
      }
    }
    this.#drawing = false;
  }

  async #drawPage(sheet: Sheet): Promise<void> {
    const { index, box } = sheet;
    const page = index === 0 ? this.#outline.first : await this.#pdf.getPage(index + 1);
    if (this.#sheets.get(index) !== sheet) return;
    const natural = page.getViewport({ scale: 1 });
    this.#sizes.set(index, [natural.width, natural.height]);
    this.#rows.resize(index, this.#heightOf(index));
    this.#place(index, box);
    const scale = this.#scaleOf(index) * Math.min(2, devicePixelRatio);
    const viewport = page.getViewport({ scale: bounded(natural.width, natural.height, scale) });
    const label = `Page ${index + 1} of ${this.#outline.count}`;
    const canvas = element("canvas", "", { role: "img", "aria-label": label });
    canvas.width = Math.max(1, Math.floor(viewport.width));
    canvas.height = Math.max(1, Math.floor(viewport.height));
    sheet.task = page.render({ canvas, viewport, background: "#ffffff" });
    await sheet.task.promise;
    if (this.#sheets.get(index) !== sheet) return;
    box.replaceChildren(canvas);
    this.#announce();
    const text = await textOf(page);
    if (text !== "") box.append(element("p", "unseen", {}, text));
  }

  #fail(sheet: Sheet): void {
    if (this.#sheets.get(sheet.index) !== sheet) return;
    sheet.box.replaceChildren(element("p", "empty", {}, `Page ${sheet.index + 1} could not be drawn.`));
    this.#announce();
  }
}

function bounded(width: number, height: number, scale: number): number {
  const area = Math.sqrt(MOST_PIXELS / Math.max(1, width * height));
  return Math.min(scale, area, LONGEST / Math.max(1, width), LONGEST / Math.max(1, height));
}

async function textOf(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  let text = "";
  for (const item of items) {
    if ("str" in item) text += item.str + (item.hasEOL ? "\n" : "");
    if (text.length > MOST_TEXT) return text.slice(0, MOST_TEXT);
  }
  return text.trim();
}
