/**
 * Text of OpenDocument's paragraphs, and the cells of its spreadsheets as CSV.
 * @module
 */
import type { DocumentForm, TextSink } from "./document.js";
import { MAX_COLUMNS, MAX_ROWS, RowWriter } from "./rows.js";
import { countOf, type MarkupHandler } from "./xml.js";

/** Most spaces that one element stands for. */
const MAX_SPACES = 1000;

/** Longest text of a cell. */
export const MAX_CELL = 1_000_000;

type Attributes = Readonly<Record<string, string>>;

/** A sheet of a spreadsheet. */
export interface OpenSheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/** Elements of which nothing is text of the document. */
export const UNSEEN: ReadonlySet<string> = new Set(
  (
    "text:tracked-changes table:tracked-changes office:forms office:scripts office:font-face-decls office:automatic-styles " +
    "text:sequence-decls text:variable-decls text:user-field-decls text:ruby-text text:note-citation presentation:settings " +
    "table:dde-links table:shapes table:named-expressions table:database-ranges office:event-listeners form:form " +
    "dc:date meta:date-string text:alphabetical-index-source text:table-of-content-source loext:sender-initials " +
    "office:binary-data"
  ).split(" "),
);

/** Text of paragraphs, in which white space collapses. */
export class ParagraphText {
  readonly pieces: string[] = [];
  #endsInSpace = true;

  add(text: string): void {
    let collapsed = text.replaceAll(/[\t\n\r ]+/g, " ");
    if (this.#endsInSpace && collapsed.startsWith(" ")) collapsed = collapsed.slice(1);
    if (collapsed === "") return;
    this.#endsInSpace = collapsed.endsWith(" ");
    this.pieces.push(collapsed);
  }

  /** What does not collapse: tabs, line breaks and spaces that are elements. */
  exact(text: string): void {
    this.#endsInSpace = false;
    this.pieces.push(text);
  }

  toString(): string {
    return this.pieces.join("");
  }
}

/** The text that an element within a paragraph stands for; "" for one that stands for none. */
export function markOf(tag: string, attributes: Attributes): string {
  if (tag === "text:s") return " ".repeat(countOf(attributes["text:c"], 1, MAX_SPACES, 1));
  if (tag === "text:tab") return "\t";
  return tag === "text:line-break" ? "\n" : "";
}

/** The cells of the sheets, written row by row. */
export class SheetsText implements MarkupHandler {
  readonly #sink: TextSink;
  readonly #form: DocumentForm;
  readonly #sheets: readonly OpenSheet[];
  readonly #only: number | undefined;
  #sheet = -1;
  #rows: RowWriter | undefined;
  #depth = 0;
  #bodyDepth = -1;
  #unseen = 0;
  #row = 1;
  #rowRepeat = 1;
  #column = 0;
  #cells = new Map<number, string>();
  #cell: { readonly repeat: number; readonly value: string | undefined; readonly paragraphs: string[] } | undefined;
  #paragraph: ParagraphText | undefined;
  #chars = 0;

  constructor(sink: TextSink, form: DocumentForm, sheets: readonly OpenSheet[], only: number | undefined) {
    this.#sink = sink;
    this.#form = form;
    this.#sheets = sheets;
    this.#only = only;
  }

  open(tag: string, attributes: Attributes): void {
    this.#depth++;
    if (
      this.#unseen > 0 ||
      UNSEEN.has(tag) ||
      tag === "office:annotation" ||
      (this.#cell !== undefined && tag.startsWith("draw:"))
    ) {
      this.#unseen++;
      return;
    }
    if (tag === "office:body") this.#bodyDepth = this.#depth;
    else if (tag === "table:table" && this.#depth === this.#bodyDepth + 2) this.#openSheet();
    else if (this.#rows === undefined) return;
    else if (tag === "table:table-row") {
      this.#rowRepeat = countOf(attributes["table:number-rows-repeated"], 1, MAX_ROWS, 1);
      this.#column = 0;
      this.#cells = new Map();
    } else if (tag === "table:table-cell" || tag === "table:covered-table-cell") this.#openCell(tag, attributes);
    else if (this.#cell !== undefined) {
      if (tag === "text:p") this.#paragraph = new ParagraphText();
      else {
        const mark = markOf(tag, attributes);
        if (mark !== "") this.#paragraph?.exact(mark);
      }
    }
  }

  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    if (tag === "table:table" && depth === this.#bodyDepth + 2) this.#rows = undefined;
    else if (this.#rows === undefined) return;
    else if (tag === "text:p" && this.#paragraph !== undefined) {
      if (this.#chars < MAX_CELL) this.#cell?.paragraphs.push(this.#paragraph.toString());
      this.#paragraph = undefined;
    } else if (tag === "table:table-cell" || tag === "table:covered-table-cell") this.#closeCell();
    else if (tag === "table:table-row") this.#closeRow(this.#rows);
  }

  text(text: string): void {
    if (this.#unseen > 0 || this.#paragraph === undefined) return;
    this.#chars += text.length;
    if (this.#chars < MAX_CELL) this.#paragraph.add(text);
  }

  #openSheet(): void {
    const index = ++this.#sheet;
    const sheet = this.#sheets[index];
    if (sheet === undefined || (this.#only !== undefined && index !== this.#only)) return;
    this.#sink.part();
    if (this.#form === "text") {
      this.#sink.facts.heading(sheet.name, 1);
      this.#sink.add(`# ${sheet.name.replaceAll(/\s+/g, " ")}${sheet.isHidden ? " (hidden)" : ""}\n`);
    }
    this.#rows = new RowWriter(this.#sink, sheet.name);
    this.#row = 1;
  }

  #openCell(tag: string, attributes: Attributes): void {
    const repeat = countOf(attributes["table:number-columns-repeated"], 1, MAX_COLUMNS, 1);
    this.#chars = 0;
    // What a merged cell covers is not seen.
    const value = tag === "table:table-cell" ? valueOf(attributes) : "";
    this.#cell = { repeat, value, paragraphs: [] };
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    const text = cell.value ?? cell.paragraphs.join("\n");
    if (text !== "") {
      const end = Math.min(MAX_COLUMNS, this.#column + cell.repeat);
      for (let column = this.#column; column < end; column++) this.#cells.set(column, text);
    }
    this.#column = Math.min(MAX_COLUMNS, this.#column + cell.repeat);
  }

  #closeRow(rows: RowWriter): void {
    // Rows of nothing are only counted; the bound of the text ends the others.
    if (this.#cells.size > 0) {
      for (let n = 0; n < this.#rowRepeat && this.#row + n <= MAX_ROWS; n++) rows.row(this.#row + n, this.#cells);
    }
    this.#row = Math.min(MAX_ROWS, this.#row + this.#rowRepeat);
    this.#cells = new Map();
  }
}

/** The value of a cell, exact as the file has it; undefined where its text is the value. */
function valueOf(attributes: Attributes): string | undefined {
  switch (attributes["office:value-type"]) {
    case "float":
    case "percentage":
    case "currency":
      // A formula that failed has the type of a number, and an error for its text.
      return attributes["calcext:value-type"] === "error" ? undefined : attributes["office:value"];
    case "date":
      return attributes["office:date-value"];
    case "time":
      return clockOf(attributes["office:time-value"]);
    case "boolean":
      return attributes["office:boolean-value"] === "true" ? "TRUE" : "FALSE";
    default:
      return undefined;
  }
}

/** `PT12H30M00S` as `12:30:00`; other durations as they are. */
function clockOf(duration: string | undefined): string | undefined {
  const found = /^PT(?:([0-9]{1,9})H)?(?:([0-9]{1,2})M)?(?:([0-9]{1,2})([.,][0-9]{1,9})?S)?$/.exec(duration ?? "");
  if (found === null) return duration;
  const [, hours = "0", minutes = "0", seconds = "0", fraction = ""] = found;
  const exact = /[1-9]/.test(fraction) ? fraction.replace(",", ".").replace(/0+$/, "") : "";
  return `${hours.padStart(2, "0")}:${minutes.padStart(2, "0")}:${seconds.padStart(2, "0")}${exact}`;
}
