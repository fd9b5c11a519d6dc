/**
 * PDFium as WebAssembly: documents, their pages, and what PDFium tells of them. Calls its exports themselves, since its wrappers
 * take many times as long. Coordinates are points, 1/72 inch, from the top left of the page as it is displayed.
 * @module
 */
import { init } from "@embedpdf/pdfium";
import { toDamagedError, unreadable } from "./document.js";
import type { Pixels } from "./picture.js";

/** A function of PDFium, over numbers and addresses. */
type Native = (...args: readonly number[]) => number;

/** Most bytes of PDFium's memory. A page may need more, and is then drawn in part. */
const MAX_MEMORY = 512 * 1024 ** 2;

/** Most entries of an outline, its depth, and most fields, and attachments that are asked for. */
const MAX_ENTRIES = 200;
const MAX_DEPTH = 6;

/** Most characters of a page. */
const MAX_CHARS = 1_000_000;

/** Most bytes of a text that PDFium gives. */
const MAX_STRING = 64 * 1024;

/** Codes of `FPDF_GetLastError` (`fpdfview.h`). */
const PASSWORD = 4;

/** Subtype of an annotation, and types of a field (`fpdf_annot.h`, `fpdf_formfill.h`). */
const WIDGET = 20;
const CHECK_BOX = 2;
const RADIO_BUTTON = 3;

/** Annotations are drawn, and pixels are RGBA in place of BGRA (`fpdfview.h`). */
const DRAW_FLAGS = 0x01 | 0x10;

/** A hyphen at the end of a line, and what stands for characters without Unicode. */
const HYPHEN = 2;
const UNKNOWN = [0, 0xfffe, 0xffff];

/** Characters that follow each other on a line without a space. */
export interface TextPiece {
  readonly text: string;
  /** Quarter turns counter-clockwise, as displayed. */
  readonly turn: number;
  /** The position across the line, which grows from line to line. */
  readonly base: number;
  /** Where it begins and ends along the line. */
  readonly from: number;
  readonly to: number;
  /** The height of its characters. */
  readonly size: number;
  /** Whether there is a space before it in the file. */
  readonly isSpaced: boolean;
}

/** An entry of the outline. */
export interface OutlineEntry {
  readonly title: string;
  /** From 1. */
  readonly level: number;
  /** The page that it leads to, from 1. Undefined if it leads nowhere. */
  readonly page: number | undefined;
}

/** A page in pixels, and the part of it that is drawn. */
export interface PagePart {
  readonly whole: { readonly width: number; readonly height: number };
  readonly part: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

/** A field of a form that was filled in. */
export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** PDFium, and how often it was refused memory. */
export class Pdfium {
  readonly #exports: Record<string, Native>;
  readonly #memory: WebAssembly.Memory;
  readonly #counts: { readonly refused: number };
  /** The last view, since characters are read at one address. */
  #view = new DataView(new ArrayBuffer(0));

  private constructor(exports: WebAssembly.Exports, counts: { readonly refused: number }) {
    this.#exports = exports as unknown as Record<string, Native>;
    this.#memory = exports["memory"] as WebAssembly.Memory;
    this.#counts = counts;
  }

  /**
   * Starts PDFium, of a module that was compiled: `@embedpdf/pdfium/pdfium.wasm`.
   *
   * @param maxMemory bytes. @defaultValue 512 MiB
   */
  static async load(module: WebAssembly.Module, maxMemory = MAX_MEMORY): Promise<Pdfium> {
    const counts = { refused: 0 };
    const options = {
      print: () => undefined,
      printErr: () => undefined,
      instantiateWasm(
        imports: WebAssembly.Imports,
        done: (instance: WebAssembly.Instance) => void,
      ): WebAssembly.Exports {
        const env = imports["env"] as Record<string, Native>;
        const instance = new WebAssembly.Instance(module, {
          ...imports,
          env: { ...env, ...limitMemory(env, maxMemory, counts) },
        });
        done(instance);
        return instance.exports;
      },
    };
    const { pdfium } = await init(options);
    const started = new Pdfium((pdfium as unknown as { wasmExports: WebAssembly.Exports }).wasmExports, counts);
    started.call("PDFiumExt_Init");
    return started;
  }

  /** How often PDFium was refused more memory. What it drew then may lack pictures. */
  get refused(): number {
    return this.#counts.refused;
  }

  call(name: string, ...args: readonly number[]): number {
    return (this.#exports[name] as Native)(...args);
  }

  /** Memory from an address on. Any call may grow the memory, and detach the view. */
  view(address: number, length: number): DataView {
    const { buffer } = this.#memory;
    if (this.#view.buffer !== buffer || this.#view.byteOffset !== address || this.#view.byteLength !== length) {
      this.#view = new DataView(buffer, address, length);
    }
    return this.#view;
  }

  /** Copies bytes into PDFium's memory. They stay there until `free`. Throws E_DOCUMENT if there is no room. */
  put(bytes: Uint8Array): number {
    const address = this.call("malloc", bytes.length || 1);
    if (address === 0) throw unreadable("The PDF needs more memory than documents may have: ask for a part of it.");
    new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
    return address;
  }

  take(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, address, length).slice();
  }

  free(address: number): void {
    this.call("free", address);
  }

  /** A text that PDFium writes as UTF-16 with a NUL: `write` gets an address and its room, and returns the bytes needed. */
  readText(write: (address: number, length: number) => number): string {
    const length = write(0, 0);
    if (length <= 2 || length > MAX_STRING) return "";
    const address = this.put(new Uint8Array(length));
    try {
      write(address, length);
      return new TextDecoder("utf-16le").decode(this.take(address, length - 2));
    } finally {
      this.free(address);
    }
  }
}

/** The function that grows the memory, up to the limit. */
function limitMemory(
  env: Record<string, Native>,
  maxMemory: number,
  counts: { refused: number },
): Record<string, Native> {
  const grow = env["emscripten_resize_heap"] as Native;
  return {
    emscripten_resize_heap(size: number): number {
      if (size >>> 0 <= maxMemory) return grow(size);
      counts.refused += 1;
      return 0;
    },
  };
}

/** An open document. */
export class PdfDocument implements Disposable {
  /** How many pages there are, or are said to be. */
  readonly pageCount: number;
  readonly #pdfium: Pdfium;
  readonly #document: number;
  readonly #bytes: number;
  /** What fields are read and drawn with, once it is needed. */
  #form: { readonly info: number; readonly handle: number } | undefined;

  private constructor(pdfium: Pdfium, document: number, bytes: number) {
    this.#pdfium = pdfium;
    this.#document = document;
    this.#bytes = bytes;
    this.pageCount = pdfium.call("FPDF_GetPageCount", document);
  }

  /** Opens a document. Throws E_DOCUMENT if it is damaged or has a password. */
  static open(pdfium: Pdfium, bytes: Uint8Array): PdfDocument {
    // PDFium reads them until the document is closed.
    const address = pdfium.put(bytes);
    const document = pdfium.call("FPDF_LoadMemDocument", address, bytes.length, 0);
    if (document !== 0) return new PdfDocument(pdfium, document, address);
    const code = pdfium.call("FPDF_GetLastError");
    pdfium.free(address);
    if (code === PASSWORD) throw unreadable("The PDF is protected by a password: ask for a copy without one.");
    throw toDamagedError("PDF");
  }

  [Symbol.dispose](): void {
    const pdfium = this.#pdfium;
    if (this.#form !== undefined) {
      pdfium.call("PDFiumExt_ExitFormFillEnvironment", this.#form.handle);
      pdfium.call("PDFiumExt_CloseFormFillInfo", this.#form.info);
    }
    pdfium.call("FPDF_CloseDocument", this.#document);
    pdfium.free(this.#bytes);
  }

  /** The title in the metadata, or an empty text. */
  readTitle(): string {
    const key = this.#pdfium.put(new TextEncoder().encode("Title\0"));
    const title = this.#pdfium.readText((address, length) =>
      this.#pdfium.call("FPDF_GetMetaText", this.#document, key, address, length),
    );
    this.#pdfium.free(key);
    return title;
  }

  /** The label of a page, as a viewer shows it, or an empty text. `page` from 1. */
  readLabel(page: number): string {
    return this.#pdfium.readText((address, length) =>
      this.#pdfium.call("FPDF_GetPageLabel", this.#document, page - 1, address, length),
    );
  }

  /** Names of the attached files, at most 200. */
  readAttachments(): readonly string[] {
    const pdfium = this.#pdfium;
    const count = Math.min(MAX_ENTRIES, pdfium.call("FPDFDoc_GetAttachmentCount", this.#document));
    return Array.from({ length: count }, (_, at) => {
      const attachment = pdfium.call("FPDFDoc_GetAttachment", this.#document, at);
      if (attachment === 0) return "";
      return pdfium.readText((address, length) => pdfium.call("FPDFAttachment_GetName", attachment, address, length));
    }).filter((name) => name !== "");
  }

  /** The outline, at most 200 entries of six levels. */
  readOutline(): readonly OutlineEntry[] {
    const entries: OutlineEntry[] = [];
    // Outlines may run in circles.
    const seen = new Set<number>();
    const read = (parent: number, level: number): void => {
      let bookmark = this.#pdfium.call("FPDFBookmark_GetFirstChild", this.#document, parent);
      while (bookmark !== 0 && !seen.has(bookmark) && entries.length < MAX_ENTRIES) {
        seen.add(bookmark);
        entries.push({ title: this.#readBookmark(bookmark), level, page: this.#findPage(bookmark) });
        if (level < MAX_DEPTH) read(bookmark, level + 1);
        bookmark = this.#pdfium.call("FPDFBookmark_GetNextSibling", this.#document, bookmark);
      }
    };
    read(0, 1);
    return entries;
  }

  #readBookmark(bookmark: number): string {
    return this.#pdfium.readText((address, length) =>
      this.#pdfium.call("FPDFBookmark_GetTitle", bookmark, address, length),
    );
  }

  #findPage(bookmark: number): number | undefined {
    const pdfium = this.#pdfium;
    let target = pdfium.call("FPDFBookmark_GetDest", this.#document, bookmark);
    if (target === 0) {
      const action = pdfium.call("FPDFBookmark_GetAction", bookmark);
      // The first type of action leads to a place in this document.
      if (action !== 0 && pdfium.call("FPDFAction_GetType", action) === 1) {
        target = pdfium.call("FPDFAction_GetDest", this.#document, action);
      }
    }
    const index = target === 0 ? -1 : pdfium.call("FPDFDest_GetDestPageIndex", this.#document, target);
    return index < 0 ? undefined : index + 1;
  }

  /** The pieces of text of a page, or null if the page is damaged. `page` from 1. */
  readPieces(page: number): readonly TextPiece[] | null {
    return this.#withPage(page, (handle) => {
      const text = this.#pdfium.call("FPDFText_LoadPage", handle);
      if (text === 0) return [];
      try {
        return readPieces(this.#pdfium, handle, text);
      } finally {
        this.#pdfium.call("FPDFText_ClosePage", text);
      }
    });
  }

  /** The fields of a page that were filled in, at most 200. `page` from 1. */
  readFields(page: number): readonly FormField[] {
    const pdfium = this.#pdfium;
    if (pdfium.call("FPDF_GetFormType", this.#document) === 0) return [];
    const form = this.#openForm();
    const fields = this.#withPage(page, (handle) => {
      // Without it no box is checked.
      pdfium.call("FORM_OnAfterLoadPage", handle, form);
      const found: FormField[] = [];
      const count = pdfium.call("FPDFPage_GetAnnotCount", handle);
      for (let at = 0; at < count && found.length < MAX_ENTRIES; at += 1) {
        const annotation = pdfium.call("FPDFPage_GetAnnot", handle, at);
        if (annotation === 0) continue;
        const field = readField(pdfium, form, annotation);
        if (field !== undefined) found.push(field);
        pdfium.call("FPDFPage_CloseAnnot", annotation);
      }
      pdfium.call("FORM_OnBeforeClosePage", handle, form);
      return found;
    });
    return fields ?? [];
  }

  /**
   * A page as pixels, or null if it is damaged. `page` from 1.
   *
   * @param choose says how large the whole page is, of its size in points, and which part of it is drawn, both in pixels.
   */
  draw(page: number, choose: (width: number, height: number) => PagePart): Pixels | null {
    const pdfium = this.#pdfium;
    const form = this.#openForm();
    return this.#withPage(page, (handle) => {
      const { whole, part } = choose(
        pdfium.call("FPDF_GetPageWidthF", handle),
        pdfium.call("FPDF_GetPageHeightF", handle),
      );
      const { width, height } = part;
      const place = [-part.x, -part.y, whole.width, whole.height, 0, DRAW_FLAGS] as const;
      const bitmap = pdfium.call("FPDFBitmap_Create", width, height, 1);
      if (bitmap === 0) throw unreadable("The page needs more memory than documents may have: read its text instead.");
      try {
        pdfium.call("FPDFBitmap_FillRect", bitmap, 0, 0, width, height, -1);
        pdfium.call("FORM_OnAfterLoadPage", handle, form);
        pdfium.call("FPDF_RenderPageBitmap", bitmap, handle, ...place);
        // What is in the fields of forms is drawn by this alone.
        pdfium.call("FPDF_FFLDraw", form, bitmap, handle, ...place);
        pdfium.call("FORM_OnBeforeClosePage", handle, form);
        const data = pdfium.take(pdfium.call("FPDFBitmap_GetBuffer", bitmap), width * height * 4);
        return { width, height, data };
      } finally {
        pdfium.call("FPDFBitmap_Destroy", bitmap);
      }
    });
  }

  #openForm(): number {
    if (this.#form === undefined) {
      const info = this.#pdfium.call("PDFiumExt_OpenFormFillInfo");
      const handle = this.#pdfium.call("PDFiumExt_InitFormFillEnvironment", this.#document, info);
      this.#form = { info, handle };
    }
    return this.#form.handle;
  }

  #withPage<T>(page: number, work: (handle: number) => T): T | null {
    const handle = this.#pdfium.call("FPDF_LoadPage", this.#document, page - 1);
    if (handle === 0) return null;
    try {
      return work(handle);
    } finally {
      this.#pdfium.call("FPDF_ClosePage", handle);
    }
  }
}

function readField(pdfium: Pdfium, form: number, annotation: number): FormField | undefined {
  if (pdfium.call("FPDFAnnot_GetSubtype", annotation) !== WIDGET) return undefined;
  const read = (what: string): string =>
    pdfium.readText((address, length) =>
      pdfium.call(`FPDFAnnot_GetFormField${what}`, form, annotation, address, length),
    );
  const type = pdfium.call("FPDFAnnot_GetFormFieldType", form, annotation);
  const isBox = type === CHECK_BOX || type === RADIO_BUTTON;
  if (isBox && pdfium.call("FPDFAnnot_IsChecked", form, annotation) !== 1) return undefined;
  const value = read("Value");
  return value === "" ? undefined : { name: read("AlternateName") || read("Name"), value };
}

/** Numbers that PDFium writes for a character, 32 bytes: its origin (two doubles), and its box (four floats). */
const CHAR_BYTES = 32;

/** A piece that still grows. */
type OpenPiece = { -readonly [Key in keyof TextPiece]: TextPiece[Key] };

/** The pieces of an open text: characters one by one, joined where they touch. */
function readPieces(pdfium: Pdfium, page: number, text: number): readonly TextPiece[] {
  const numbers = pdfium.put(new Uint8Array(CHAR_BYTES));
  const place = findPlacement(pdfium, page, numbers);
  const pieces: OpenPiece[] = [];
  let current: OpenPiece | undefined;
  let isSpaced = false;
  let [beforeX, beforeY, angle] = [Number.NaN, Number.NaN, 0];
  const count = Math.min(MAX_CHARS, pdfium.call("FPDFText_CountChars", text));
  for (let at = 0; at < count; at += 1) {
    const unit = pdfium.call("FPDFText_GetUnicode", text, at);
    if (isSpace(unit)) {
      current = undefined;
      isSpaced = true;
      continue;
    }
    if (UNKNOWN.includes(unit)) continue;
    // The second half of a character beyond U+FFFF, which is told by itself.
    if (current !== undefined && unit >= 0xdc00 && unit < 0xe000) {
      current.text += String.fromCharCode(unit);
      continue;
    }
    pdfium.call("FPDFText_GetCharOrigin", text, at, numbers, numbers + 8);
    pdfium.call("FPDFText_GetLooseCharBox", text, at, numbers + 16);
    const view = pdfium.view(numbers, CHAR_BYTES);
    const [x, y] = [view.getFloat64(0, true), view.getFloat64(8, true)];
    // What goes on along a line has the angle of what is before it.
    if (current === undefined || y !== beforeY) angle = pdfium.call("FPDFText_GetCharAngle", text, at);
    const placed = place(view, angle);
    // A ligature is told as its letters, all with one origin.
    const isLigature = beforeX === x && beforeY === y;
    [beforeX, beforeY] = [x, y];
    const character = unit === HYPHEN ? "-" : String.fromCharCode(unit);
    if (current !== undefined && (isLigature || follows(current, placed)) && current.turn === placed.turn) {
      current.text += character;
      current.from = Math.min(current.from, placed.from);
      current.to = Math.max(current.to, placed.to);
    } else {
      current = { ...placed, text: character, isSpaced };
      pieces.push(current);
    }
    isSpaced = false;
  }
  pdfium.free(numbers);
  return pieces;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0d || unit === 0x0a || unit === 0x09 || unit === 0xa0;
}

type Placed = Omit<TextPiece, "text" | "isSpaced">;

/** Whether a character touches a piece on its line, at either end. */
function follows(piece: TextPiece, { base, from, to, size }: Placed): boolean {
  const gap = Math.min(Math.abs(from - piece.to), Math.abs(piece.from - to));
  return Math.abs(piece.base - base) < 0.2 * size + 0.2 && gap < 0.15 * size + 0.01;
}

/** How characters of a page are placed as displayed: PDFium tells them as if the page were not turned. */
function findPlacement(pdfium: Pdfium, page: number, numbers: number): (view: DataView, angle: number) => Placed {
  const rotation = pdfium.call("FPDFPage_GetRotation", page);
  pdfium.call("FPDF_GetPageBoundingBox", page, numbers);
  const bounds = pdfium.view(numbers, CHAR_BYTES);
  const [left, top] = [bounds.getFloat32(0, true), bounds.getFloat32(4, true)];
  const [width, height] = [bounds.getFloat32(8, true) - left, top - bounds.getFloat32(12, true)];
  const isSideways = rotation % 2 === 1;
  // Of a point in user space: how far it is from the left and the top of the page as displayed.
  const across = (x: number, y: number): number => {
    const value = isSideways ? top - y : x - left;
    if (rotation === 1) return height - value;
    return rotation === 2 ? width - value : value;
  };
  const down = (x: number, y: number): number => {
    const value = isSideways ? x - left : top - y;
    if (rotation === 2) return height - value;
    return rotation === 3 ? width - value : value;
  };
  return (view, angle) => {
    const [x, y] = [view.getFloat64(0, true), view.getFloat64(8, true)];
    const [x0, y0] = [view.getFloat32(16, true), view.getFloat32(20, true)];
    const [x1, y1] = [view.getFloat32(24, true), view.getFloat32(28, true)];
    const [a0, a1, d0, d1] = [across(x0, y0), across(x1, y1), down(x0, y0), down(x1, y1)];
    const [start, end] = [Math.min(a0, a1), Math.max(a0, a1)];
    const [upper, lower] = [Math.min(d0, d1), Math.max(d0, d1)];
    // Angles run clockwise, in radians: text that reads upwards has 3/2 π.
    const turn = (((-Math.round(angle / (Math.PI / 2)) - rotation) % 4) + 8) % 4;
    if (turn === 0) return { turn, base: down(x, y), from: start, to: end, size: lower - upper };
    if (turn === 1) return { turn, base: across(x, y), from: -lower, to: -upper, size: end - start };
    if (turn === 2) return { turn, base: -down(x, y), from: -end, to: -start, size: lower - upper };
    return { turn, base: -across(x, y), from: upper, to: lower, size: end - start };
  };
}
