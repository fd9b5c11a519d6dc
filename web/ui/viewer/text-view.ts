/**
 * Text on screen: numbered rows, of which only those in view are in the document.
 * @module
 */
import { button, element } from "./preview.js";
import { VirtualRows } from "./rows.js";

/** The height of a row in pixels, as the styles have it. */
const ROW = 20;

/** A word of a row and the class that colours it. */
export interface Token {
  /** What is written. */
  readonly text: string;
  /** A class of the styles; empty for plain text. */
  readonly look: string;
}

/** How a text is shown. */
interface TextOptions {
  /** What it is called, for screen readers. */
  readonly label: string;
  /** Whether long lines begin wrapped. */
  readonly wraps: boolean;
  /** The colours of a row; undefined while there are none. */
  readonly tokens?: (index: number) => readonly Token[] | undefined;
}

/** A view of lines, which may still be coming: set `count` of what is returned. */
export function textView(host: HTMLElement, lines: Lines, options: TextOptions, signal: AbortSignal): VirtualRows {
  const body = element("div", "rows");
  const scroller = element("div", "text", { tabindex: "0", role: "group", "aria-label": options.label }, body);
  let wraps = options.wraps;
  const rows = new VirtualRows(
    { scroller, body, height: ROW, measured: () => wraps, noun: "Rows", draw: (index) => drawRow(index) },
    signal,
  );
  const wrapping = button("Wrap lines", () => wrap(!wraps), signal);
  const wrap = (wanted: boolean): void => {
    wraps = wanted;
    wrapping.ariaPressed = String(wanted);
    scroller.classList.toggle("wraps", wanted);
    rows.remeasure();
  };
  const drawRow = (index: number): HTMLElement => {
    const { line, text } = lines.row(index);
    const number = element("span", "number", { "aria-hidden": "true" }, line === 0 ? "" : String(line));
    const written = element("code", "written");
    const tokens = options.tokens?.(index);
    if (tokens === undefined) written.textContent = text;
    else
      written.append(
        ...tokens.map((token) => (token.look === "" ? token.text : element("span", token.look, {}, token.text))),
      );
    return element("div", "line", {}, number, written);
  };
  wrapping.ariaPressed = String(wraps);
  scroller.classList.toggle("wraps", wraps);
  host.append(element("div", "bar", {}, wrapping, rows.bar), scroller);
  return rows;
}

/** Characters of a row; the rest of a line follows in rows without a number. */
const LONGEST = 1000;
/** Characters that are looked through for the end of a word. */
const LONGEST_WORD = 100;
/** Rows of a text at most: each has its cost, even when nothing is in it. */
const MOST_ROWS = 4_000_000;

/** A row of a text. */
interface TextRow {
  /** The number of its line, from 1; 0 when it goes on with the row before. */
  readonly line: number;
  /** Without what ends the line. */
  readonly text: string;
}

/** Collects a text that comes in pieces. */
export class Lines {
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  #open = "";
  #opensLine = true;
  #line = 1;

  /** How many rows there are, the unfinished last one not counted. */
  get count(): number {
    return this.#texts.length;
  }

  /** Whether no more rows are taken. */
  get full(): boolean {
    return this.#texts.length >= MOST_ROWS;
  }

  /** Takes the next piece. */
  push(piece: string): void {
    const lines = (this.#open + piece).split("\n");
    this.#open = lines.pop() ?? "";
    for (const line of lines) {
      this.#add(line.endsWith("\r") ? line.slice(0, -1) : line);
      this.#opensLine = true;
      this.#line += 1;
    }
    if (this.#open.length > LONGEST) this.#open = this.#cut(this.#open);
  }

  /** Ends the text. */
  end(): void {
    if (this.#open !== "" || this.#texts.length === 0) this.#add(this.#open);
    this.#open = "";
  }

  /** A row, from 0. */
  row(index: number): TextRow {
    return { line: this.#numbers[index] ?? 0, text: this.#texts[index] ?? "" };
  }

  #add(line: string): void {
    this.#put(this.#cut(line));
  }

  // Puts rows for all but the end of a long line.
  #cut(line: string): string {
    let at = 0;
    while (line.length - at > LONGEST) {
      const end = this.#findEnd(line, at + LONGEST);
      this.#put(line.slice(at, end));
      at = end;
    }
    return line.slice(at);
  }

  // Between words where there are any; a pair of surrogates stays together.
  #findEnd(line: string, most: number): number {
    const space = line.lastIndexOf(" ", most - 1);
    if (space > most - LONGEST_WORD) return space + 1;
    const last = line.charCodeAt(most - 1);
    return most - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
  }

  #put(text: string): void {
    if (this.full) return;
    this.#texts.push(text);
    this.#numbers.push(this.#opensLine ? this.#line : 0);
    this.#opensLine = false;
  }
}
