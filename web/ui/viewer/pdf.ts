/**
 * Previews of PDF, drawn by PDF.js in a worker, without scripts, links or forms.
 * @module
 */
import type * as PdfJs from "pdfjs-dist";
import type { PDFDocumentLoadingTask, PDFDocumentProxy, PDFPageProxy, RenderTask } from "pdfjs-dist";
import { pdfSettings } from "./pdf-settings.js";
import {
  button,
  type Drawn,
  element,
  loadRenderer,
  notLoaded,
  type PreviewInput,
  PreviewProblem,
  WHOLE_LIMIT,
} from "./preview.js";
import { wholeBlob } from "./artifact-reader.js";
import { VirtualRows } from "./rows.js";

/** Pixels of an image in a document, and bytes of its canvas. */
const MAX_IMAGE_PIXELS = 64 * 1024 ** 2;
const MOST_BYTES = 128 * 1024 ** 2;
/** Pages on offer: a document may claim any number. */
const MOST_PAGES = 10_000;

/** Draws the pages in view. */
export async function renderPdf(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const settings = pdfSettings();
  if (settings === undefined) throw new PreviewProblem("PDF previews are not set up on this page.", "source");
  const { library, workerSrc, ...addresses } = settings;
  const pdfjs = (await loadRenderer("PDF", library())) as typeof PdfJs;
  const blob = await wholeBlob(input, WHOLE_LIMIT, "", signal);
  const data = new Uint8Array(await blob.arrayBuffer());
  signal.throwIfAborted();
  pdfjs.GlobalWorkerOptions.workerSrc = workerSrc;
  const task = pdfjs.getDocument({
    data,
    ...addresses,
    cMapPacked: true,
    // System fonts have other widths than the standard ones, which would misplace letters.
    useSystemFonts: settings.standardFontDataUrl === undefined,
    isEvalSupported: false,
    enableXfa: false,
    stopAtErrors: false,
    maxImageSize: MAX_IMAGE_PIXELS,
    canvasMaxAreaInBytes: MOST_BYTES,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  signal.addEventListener("abort", () => void task.destroy().catch(() => {}), { once: true });
  const pdf = await openDocument(task);
  signal.throwIfAborted();
  const count = Math.min(pdf.numPages, MOST_PAGES);
  const first = await pdf.getPage(1).catch((cause: unknown) => {
    throw toProblem(cause);
  });
  signal.throwIfAborted();
  const pages = new PdfPages(host, pdf, { count, first, name: input.name }, signal);
  await pages.shown;
  return count < pdf.numPages ? { note: `The first ${MOST_PAGES} of ${pdf.numPages} pages are shown.` } : {};
}

async function openDocument(task: PDFDocumentLoadingTask): Promise<PDFDocumentProxy> {
  try {
    return await task.promise;
  } catch (cause) {
    throw toProblem(cause);
  }
}

function toProblem(cause: unknown): PreviewProblem {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "PasswordException") {
    return new PreviewProblem("It is protected by a password, so only a PDF reader can show it.", "none", { cause });
  }
  if (name === "InvalidPDFException" || name === "FormatError" || name === "MissingPDFException") {
    return new PreviewProblem("This PDF cannot be read.", "source", { cause });
  }
  if (cause instanceof Error && cause.message.includes("worker failed")) return notLoaded("PDF", cause);
  return new PreviewProblem("This PDF could not be drawn.", "source", { cause });
}

/** Pixels between pages. */
const GAP = 12;
/** Pixels of a canvas, per side and in total. */
const LONGEST = 8192;
const MOST_PIXELS = 16 * 1024 ** 2;
/** Canvases at a time. */
const MOST_CANVASES = 8;
/** Characters of a page for screen readers. */
const MOST_TEXT = 20_000;
/** CSS pixels of a point: PDFs count in 1/72 inch. */
const ACTUAL = 96 / 72;

/** What is known of a document before its pages are drawn. */
interface PdfOutline {
  /** The number of pages. */
  readonly count: number;
  /** The first page, whose size is assumed for all others until they are drawn. */
  readonly first: PDFPageProxy;
  /** The name of the file. */
  readonly name: string;
}

interface Sheet {
  readonly index: number;
  readonly box: HTMLElement;
  task?: RenderTask;
}

/** The pages, with a toolbar. */
class PdfPages {
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
        height: (index) => this.#findHeight(index),
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

  #findSize(index: number): readonly [number, number] {
    const known = this.#sizes.get(index) ?? this.#sizes.get(0);
    if (known !== undefined) return known;
    const { width, height } = this.#outline.first.getViewport({ scale: 1 });
    return [width, height];
  }

  #findScale(index: number): number {
    const [width] = this.#findSize(index);
    return this.#fits ? Math.min(2.5, Math.max(100, this.#width - 2 * GAP) / width) : ACTUAL;
  }

  #findHeight(index: number): number {
    return Math.min(LONGEST, Math.ceil(this.#findSize(index)[1] * this.#findScale(index))) + GAP;
  }

  #add(index: number): HTMLElement {
    const box = element("div", "sheet");
    this.#sheets.set(index, { index, box });
    this.#place(index, box);
    void this.#draw();
    return element("div", "sheets", {}, box);
  }

  #place(index: number, box: HTMLElement): void {
    const scale = this.#findScale(index);
    const [width] = this.#findSize(index);
    box.style.inlineSize = `${Math.ceil(width * scale)}px`;
    box.style.blockSize = `${this.#findHeight(index) - GAP}px`;
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
    this.#rows.resize(index, this.#findHeight(index));
    this.#place(index, box);
    const scale = this.#findScale(index) * Math.min(2, devicePixelRatio);
    const viewport = page.getViewport({ scale: limitScale(natural.width, natural.height, scale) });
    const label = `Page ${index + 1} of ${this.#outline.count}`;
    const canvas = element("canvas", "", { role: "img", "aria-label": label });
    canvas.width = Math.max(1, Math.floor(viewport.width));
    canvas.height = Math.max(1, Math.floor(viewport.height));
    sheet.task = page.render({ canvas, viewport, background: "#ffffff" });
    await sheet.task.promise;
    if (this.#sheets.get(index) !== sheet) return;
    box.replaceChildren(canvas);
    this.#announce();
    const text = await readText(page);
    if (text !== "") box.append(element("p", "unseen", {}, text));
  }

  #fail(sheet: Sheet): void {
    if (this.#sheets.get(sheet.index) !== sheet) return;
    sheet.box.replaceChildren(element("p", "empty", {}, `Page ${sheet.index + 1} could not be drawn.`));
    this.#announce();
  }
}

function limitScale(width: number, height: number, scale: number): number {
  const area = Math.sqrt(MOST_PIXELS / Math.max(1, width * height));
  return Math.min(scale, area, LONGEST / Math.max(1, width), LONGEST / Math.max(1, height));
}

async function readText(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  let text = "";
  for (const item of items) {
    if ("str" in item) text += item.str + (item.hasEOL ? "\n" : "");
    if (text.length > MOST_TEXT) return text.slice(0, MOST_TEXT);
  }
  return text.trim();
}
