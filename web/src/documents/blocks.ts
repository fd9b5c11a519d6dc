/**
 * Text of a document block by block: paragraphs, headings, lists and rows, in the manner of Markdown.
 * @module
 */
import type { TextSink } from "./document.js";

type Block = "paragraph" | "heading" | "item" | "row" | "note";

/** Blocks of one of these kinds follow each other line by line; all others have an empty line between them. */
const CLOSE: readonly Block[] = ["item", "row", "note"];

/** Deepest indentation of a list. */
const MAX_INDENT = 8;

/** Most links of a document that are told. */
const MAX_LINKS = 10_000;

/** Longest address of a link. */
const MAX_ADDRESS = 2000;

/** What stands for a cell that is joined with the one at its left, and with the one above. */
export const LEFT = "←";
export const ABOVE = "↑";

const JOINED_CELLS = `In tables ${LEFT} marks a cell that is joined with the one at its left, ${ABOVE} with the one above.`;

/** A table that stands in a cell of another: text of that cell. */
export class InnerTable {
  readonly #rows: string[] = [];

  /** Adds a row; one without text is left out. */
  add(cells: readonly string[]): void {
    const row = cells.map(oneLine).filter(Boolean).join(", ");
    if (row !== "") this.#rows.push(row);
  }

  /** `[table: Bern, 3; Oslo, 5]`. Empty without rows. */
  toString(): string {
    return this.#rows.length === 0 ? "" : `[table: ${this.#rows.join("; ")}]`;
  }
}

/** Writes blocks into a sink, and headings into its facts. */
export class BlockWriter {
  #last: Block | undefined;
  #isEmpty = true;
  #links = 0;
  #isJoined = false;
  /** How many parts have ended since the last block. */
  #ends = 0;
  readonly #sink: TextSink;
  readonly #breakLevel: number;
  readonly #onEnd: (() => void) | undefined;

  /**
   * @param breakLevel headings of this level and above begin a part, if there is text before them. 0: none does.
   * @param onEnd writes what stands at the end of each part but the last: its notes.
   */
  constructor(sink: TextSink, breakLevel: number, onEnd?: () => void) {
    this.#sink = sink;
    this.#breakLevel = breakLevel;
    this.#onEnd = onEnd;
  }

  /** Begins a part. Without a call, the first block does. */
  part(): void {
    this.#sink.part();
    this.#isEmpty = true;
    this.#last = undefined;
  }

  /** Ends the part: the next block begins another. A part without text is none, unless it is kept, as an empty page is. */
  endPart(isKept = false): void {
    if (this.#isEmpty && !isKept) return;
    this.#onEnd?.();
    this.#ends++;
    this.#isEmpty = true;
  }

  /** A heading that is written as text; `#` for each level. */
  heading(text: string, level: number): void {
    const title = oneLine(text);
    if (title === "") return;
    if (level <= this.#breakLevel) this.endPart();
    this.#begin("heading");
    this.#sink.facts.heading(title, level);
    this.#sink.add(`${"#".repeat(level)} ${title}\n`);
  }

  /** Lines that stay as they are; white space at their ends does not. */
  paragraph(text: string): void {
    // What looks back keeps a run from being looked at again from each of its characters.
    const trimmed = text.replaceAll(/(?<![^\S\n])[^\S\n]+$/gm, "").replaceAll(/^\n+|(?<!\n)\n+$/g, "");
    if (trimmed.trim() === "") return;
    this.#begin("paragraph");
    this.#sink.add(trimmed);
    this.#sink.add("\n");
  }

  /** An item of a list; `level` from 0. */
  item(text: string, level: number, mark = "-"): void {
    const trimmed = text.trim();
    if (trimmed === "") return;
    const indent = "  ".repeat(Math.min(MAX_INDENT, Math.max(0, level)));
    this.#begin("item");
    // Further paragraphs of an item have no mark.
    this.#sink.add(`${indent}${mark === "" ? " " : mark} `);
    this.#sink.add(trimmed.replaceAll("\n", `\n${indent}  `));
    this.#sink.add("\n");
  }

  /** A row of a table: `a | b`. Rows of nothing are left out. */
  row(cells: readonly string[]): void {
    const texts = cells.map((cell) => oneLine(cell));
    if (texts.every((text) => text === "")) return;
    if (!this.#isJoined && texts.some((text) => text === LEFT || text === ABOVE)) {
      this.#isJoined = true;
      this.#sink.facts.notice(JOINED_CELLS);
    }
    this.#begin("row");
    texts.forEach((text, index) => {
      if (index > 0) this.#sink.add(" | ");
      this.#sink.add(text);
    });
    this.#sink.add("\n");
  }

  /** A line of a footnote or comment. */
  note(mark: string, text: string): void {
    const line = oneLine(text);
    if (line === "") return;
    this.#begin("note");
    this.#sink.add(`${mark} ${line}\n`);
  }

  /** Ends a table or list, so that the next one is apart from it. */
  gap(): void {
    if (this.#last !== undefined) this.#last = "paragraph";
  }

  /** A line of the form `links`. Addresses that run code or hold data are left out, and those after the first 10,000. */
  link(text: string, address: string): void {
    const target = address.trim();
    if (target === "" || target.length > MAX_ADDRESS || /^(?:javascript|vbscript|data):/i.test(target)) return;
    if (this.#links >= MAX_LINKS) return;
    if (++this.#links === MAX_LINKS) this.#sink.facts.notice(`Only the first ${MAX_LINKS} links are told.`);
    if (this.#sink.facts.at === 0) this.part();
    this.#sink.add(`${oneLine(text)}\t${target.replaceAll(/\s+/g, "%20")}\n`);
  }

  #begin(block: Block): void {
    if (this.#sink.facts.at === 0) this.part();
    for (; this.#ends > 0; this.#ends--) this.part();
    const isClose = block === this.#last && CLOSE.includes(block);
    if (!this.#isEmpty && !isClose) this.#sink.add("\n");
    this.#isEmpty = false;
    this.#last = block;
  }
}

/** Text in one line, its white space as single spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

const RAISED: Readonly<Record<string, string>> = { "+": "⁺", "-": "⁻", "−": "⁻" };
const RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Text that is written above the line: digits become raised ones, so that powers of ten stay what they are. */
export function raiseDigits(text: string): string {
  if (!/^[-−+]?[0-9]+$/.test(text)) return text;
  return text.replaceAll(/./g, (sign) => RAISED[sign] ?? RAISED_DIGITS[Number(sign)] ?? sign);
}
