/**
 * Text of OpenDocument's paragraphs, and the cells of its spreadsheets as CSV.
 * @module
 */
import { GENERAL } from "./cell-format.js";
import { columnName, MAX_COLUMNS, MAX_ROWS, parseRange, writeRange, type CellRange } from "./cell-range.js";
import type { DocumentForm, TextSink } from "./document.js";
import { RowWriter, type ChosenSheet, type SheetName } from "./rows.js";
import { SheetNotes } from "./sheet-notes.js";
import { readCount, type MarkupHandler } from "./xml.js";

/** Most spaces that one element stands for. */
const MAX_SPACES = 1000;

/** Longest text of a cell. */
export const MAX_CELL = 1_000_000;

type Attributes = Readonly<Record<string, string>>;

/** What is known of a spreadsheet before its cells are read. */
export interface SheetOutline {
  readonly sheets: readonly SheetName[];
  readonly styles: SheetStyles;
  /** Ranges with names, by sheet. */
  readonly ranges: readonly { readonly name: string; readonly sheet: string; readonly range: CellRange }[];
  /** What charts are, by the address of their objects. */
  readonly charts: ReadonlyMap<string, string>;
}

/** Most styles that are known. */
const MAX_STYLES = 100_000;

/** Which styles of cells show a part of a date, or a duration that may be more than a day. */
export class SheetStyles {
  readonly #kinds = new Map<string, "part" | "span">();
  /** The styles of cells, each with the format that it has, and the style that it is made of. */
  readonly #cells = new Map<string, { readonly format: string | undefined; readonly parent: string | undefined }>();
  #date: { readonly name: string; readonly parts: Set<string> } | undefined;

  open(tag: string, attributes: Attributes): void {
    const name = attributes["style:name"] ?? "";
    if (tag === "style:style" && attributes["style:family"] === "table-cell") {
      if (this.#cells.size < MAX_STYLES)
        this.#cells.set(name, {
          format: attributes["style:data-style-name"],
          parent: attributes["style:parent-style-name"],
        });
    } else if (tag === "number:date-style") this.#date = { name, parts: new Set() };
    else if (tag === "number:time-style" && attributes["number:truncate-on-overflow"] === "false") {
      if (this.#kinds.size < MAX_STYLES) this.#kinds.set(name, "span");
    } else if (tag.startsWith("number:")) this.#date?.parts.add(tag.slice("number:".length));
  }

  close(tag: string): void {
    if (tag !== "number:date-style" || this.#date === undefined) return;
    const { name, parts } = this.#date;
    this.#date = undefined;
    const isWhole = ["day", "month", "year"].every((part) => parts.has(part));
    if (!isWhole && this.#kinds.size < MAX_STYLES) this.#kinds.set(name, "part");
  }

  /** Undefined for numbers, whole dates, and times. */
  find(style: string | undefined): "part" | "span" | undefined {
    let name = style;
    for (let depth = 0; name !== undefined && depth < MAX_PARENTS; depth++) {
      const found = this.#cells.get(name);
      if (found?.format !== undefined) return this.#kinds.get(found.format);
      name = found?.parent;
    }
    return undefined;
  }
}

/** Most styles that are made of each other. */
const MAX_PARENTS = 20;

/** The sheet and the range of `$Sheet1.$B$2:.$D$40`. Undefined for anything else. */
export function parseOpenReference(text: string): { readonly sheet: string; readonly range: CellRange } | undefined {
  const [, quoted, plain, first = "", last = first] =
    /^\$?(?:'((?:[^']|'')*)'|([^.']+))\.([$A-Za-z0-9]+)(?::(?:[^:]*\.)?([$A-Za-z0-9]+))?$/.exec(text.slice(0, 1000)) ??
    [];
  const sheet = quoted?.replaceAll("''", "'") ?? plain;
  const range = parseRange(`${first}:${last}`);
  return sheet === undefined || range === undefined ? undefined : { sheet, range };
}

/** A formula as Excel writes it: `of:=SUM([.A1:.A3])` is `=SUM(A1:A3)`. */
export function readOpenFormula(formula: string): string {
  return formula
    .slice(0, MAX_FORMULA)
    .replace(/^[a-z]+:/, "")
    .replaceAll(/"(?:[^"]|"")*"|\[((?:'[^']*'|[^\]])*)\]/g, (whole, reference: string | undefined) =>
      reference === undefined
        ? whole
        : reference.replaceAll(/\$?('[^']*'|[^.:'[\]]*)\.(?=[$A-Z#])/g, (_, sheet: string) =>
            sheet === "" ? "" : `${sheet}!`,
          ),
    );
}

const MAX_FORMULA = 8192;

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
export function toMark(tag: string, attributes: Attributes): string {
  if (tag === "text:s") return " ".repeat(readCount(attributes["text:c"], 1, MAX_SPACES, 1));
  if (tag === "text:tab") return "\t";
  return tag === "text:line-break" ? "\n" : "";
}

interface OpenCell {
  readonly attributes: Attributes;
  readonly repeat: number;
  readonly isCovered: boolean;
  readonly paragraphs: string[];
}

/** What stands over or beside a cell: a comment or a drawing. */
interface Aside {
  readonly isComment: boolean;
  readonly cell: string;
  name: string;
  alt: string;
  text: string;
  author: string;
  object: string | undefined;
  isImage: boolean;
}

/** The cells of the sheets, written row by row. */
export class SheetsText implements MarkupHandler {
  readonly #sink: TextSink;
  readonly #form: DocumentForm;
  readonly #outline: SheetOutline;
  readonly #chosen: ChosenSheet | undefined;
  #sheet = -1;
  #rows: RowWriter | undefined;
  #notes = new SheetNotes();
  #depth = 0;
  #bodyDepth = -1;
  #unseen = 0;
  #row = 1;
  #rowRepeat = 1;
  #column = 0;
  /** The styles of cells that have none of their own, by column: a run each. */
  #columnStyles: { readonly last: number; readonly style: string | undefined }[] = [];
  #rowStyle: string | undefined;
  #cells = new Map<number, string>();
  #cell: OpenCell | undefined;
  #paragraph: ParagraphText | undefined;
  #aside: Aside | undefined;
  #asideDepth = 0;
  #asideTag = "";
  #chars = 0;

  constructor(sink: TextSink, form: DocumentForm, outline: SheetOutline, chosen: ChosenSheet | undefined) {
    this.#sink = sink;
    this.#form = form;
    this.#outline = outline;
    this.#chosen = chosen;
  }

  open(tag: string, attributes: Attributes): void {
    this.#depth++;
    if (this.#unseen > 0 || (UNSEEN.has(tag) && tag !== "table:shapes")) this.#unseen++;
    else if (this.#aside !== undefined) this.#openInAside(this.#aside, tag, attributes);
    else if (tag === "office:body") this.#bodyDepth = this.#depth;
    else if (tag === "table:table" && this.#depth === this.#bodyDepth + 2) this.#openSheet();
    else if (this.#rows === undefined) return;
    else if (tag === "office:annotation" || tag.startsWith("draw:")) this.#openAside(tag, attributes);
    else if (tag === "table:table-column") this.#openColumn(attributes);
    else if (tag === "table:table-row") this.#openRow(attributes);
    else if (tag === "table:table-cell" || tag === "table:covered-table-cell") this.#openCell(tag, attributes);
    else if (this.#cell !== undefined) {
      if (tag === "text:p") this.#paragraph = new ParagraphText();
      else {
        const mark = toMark(tag, attributes);
        if (mark !== "") this.#paragraph?.exact(mark);
      }
    }
  }

  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#unseen > 0) this.#unseen--;
    else if (this.#aside !== undefined) this.#closeInAside(this.#aside, depth);
    else if (tag === "table:table" && depth === this.#bodyDepth + 2) this.#closeSheet();
    else if (this.#rows === undefined) return;
    else if (tag === "text:p" && this.#paragraph !== undefined) {
      if (this.#chars < MAX_CELL) this.#cell?.paragraphs.push(this.#paragraph.toString());
      this.#paragraph = undefined;
    } else if (tag === "table:table-cell" || tag === "table:covered-table-cell") this.#closeCell();
    else if (tag === "table:table-row") this.#closeRow(this.#rows);
  }

  text(text: string): void {
    if (this.#unseen > 0) return;
    const aside = this.#aside;
    if (aside !== undefined) {
      const field = ASIDE_FIELDS[this.#asideTag];
      if (field !== undefined && aside[field].length < MAX_ASIDE) aside[field] += text;
    } else if (this.#paragraph !== undefined) {
      this.#chars += text.length;
      if (this.#chars < MAX_CELL) this.#paragraph.add(text);
    }
  }

  #openSheet(): void {
    const index = ++this.#sheet;
    const sheet = this.#outline.sheets[index];
    if (sheet === undefined || (this.#chosen !== undefined && index !== this.#chosen.index)) return;
    this.#sink.part();
    if (this.#form === "text") {
      this.#sink.facts.heading(sheet.name, 1);
      this.#sink.add(`# ${sheet.name.replaceAll(/\s+/g, " ")}${sheet.isHidden ? " (hidden)" : ""}\n`);
    }
    this.#rows = new RowWriter(this.#sink, this.#form === "text");
    this.#notes = new SheetNotes();
    this.#row = 1;
    this.#column = 0;
    this.#columnStyles = [];
  }

  #closeSheet(): void {
    const rows = this.#rows;
    if (rows === undefined) return;
    this.#rows = undefined;
    rows.end();
    const { sheets, ranges } = this.#outline;
    const name = sheets[this.#sheet]?.name;
    for (const each of ranges) if (each.sheet === name) this.#notes.range(each.name, writeRange(each.range));
    if (this.#form === "text") this.#notes.writeTo(this.#sink, rows.size);
    else this.#sink.facts.sheet = this.#notes.facts(this.#sheet + 1, rows.size, this.#chosen?.range);
    this.#sink.facts.about(this.#sheet + 1, this.#notes.describe(rows.size));
  }

  #openColumn(attributes: Attributes): void {
    const repeat = readCount(attributes["table:number-columns-repeated"], 1, MAX_COLUMNS, 1);
    const last = Math.min(MAX_COLUMNS, this.#column + repeat);
    if (isHidden(attributes) && this.#column < MAX_COLUMNS) this.#notes.hideColumns(this.#column + 1, last);
    if (last > this.#column) this.#columnStyles.push({ last, style: attributes["table:default-cell-style-name"] });
    this.#column = last;
  }

  #openRow(attributes: Attributes): void {
    this.#rowRepeat = readCount(attributes["table:number-rows-repeated"], 1, MAX_ROWS, 1);
    this.#rowStyle = attributes["table:default-cell-style-name"];
    this.#column = 0;
    this.#cells = new Map();
    if (!isHidden(attributes)) return;
    this.#notes.hideRows(this.#row, Math.min(MAX_ROWS, this.#row + this.#rowRepeat - 1));
    if (attributes["table:visibility"] === "filter") this.#notes.filter("", true);
  }

  #openCell(tag: string, attributes: Attributes): void {
    const repeat = readCount(attributes["table:number-columns-repeated"], 1, MAX_COLUMNS, 1);
    this.#chars = 0;
    this.#cell = { attributes, repeat, isCovered: tag === "table:covered-table-cell", paragraphs: [] };
    const columns = readCount(attributes["table:number-columns-spanned"], 1, MAX_COLUMNS, 1);
    const rows = readCount(attributes["table:number-rows-spanned"], 1, MAX_ROWS, 1);
    const [firstRow, firstColumn] = [this.#row, this.#column + 1];
    this.#notes.merge({ firstRow, firstColumn, lastRow: firstRow + rows - 1, lastColumn: firstColumn + columns - 1 });
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    if (cell === undefined) return;
    // What a merged cell covers is not seen.
    const text = cell.isCovered ? "" : this.#show(cell);
    const end = Math.min(MAX_COLUMNS, this.#column + cell.repeat);
    if (text !== "") for (let column = this.#column; column < end; column++) this.#cells.set(column, text);
    this.#column = end;
  }

  /** The text of a cell: programs write what they show; where they did not, it is the value. */
  #show({ attributes, paragraphs }: OpenCell): string {
    const isExact = this.#form === "values";
    const shown = paragraphs.join("\n");
    const type = attributes["office:value-type"] ?? "";
    // A formula that failed has the type of a number, and an error for its text.
    if (attributes["calcext:value-type"] === "error") return shown;
    const formula = attributes["table:formula"];
    if (formula !== undefined && type === "" && shown === "") {
      this.#notes.formulas++;
      return readOpenFormula(formula);
    }
    const kind =
      type === "date" || type === "time" ? this.#outline.styles.find(this.#findStyle(attributes)) : undefined;
    if (kind === "span") this.#notes.durations++;
    const value = readValue(attributes, type, kind === "span" && isExact);
    if (value === undefined) return shown;
    if (isExact || paragraphs.length === 0) return value;
    // A whole date is ISO 8601: what programs write depends on where they were.
    if (type === "date" && kind === undefined) return shown.includes(":") ? value : value.slice(0, 10);
    if (type === "boolean") return value;
    if (shown === "") this.#notes.blanks++;
    return shown;
  }

  #findStyle(attributes: Attributes): string | undefined {
    return (
      attributes["table:style-name"] ??
      this.#rowStyle ??
      this.#columnStyles.find(({ last }) => this.#column < last)?.style
    );
  }

  #closeRow(rows: RowWriter): void {
    // Rows of nothing are only counted; the bound of the text ends the others.
    if (this.#cells.size > 0) {
      for (let n = 0; n < this.#rowRepeat && this.#row + n <= MAX_ROWS; n++) rows.row(this.#row + n, this.#cells);
    }
    this.#row = Math.min(MAX_ROWS, this.#row + this.#rowRepeat);
    this.#cells = new Map();
  }

  #openAside(tag: string, attributes: Attributes): void {
    const cell = this.#cell === undefined ? "" : `${columnName(Math.min(MAX_COLUMNS, this.#column + 1))}${this.#row}`;
    const isComment = tag === "office:annotation";
    const name = attributes["draw:name"] ?? "";
    this.#aside = { isComment, cell, name, alt: "", text: "", author: "", object: undefined, isImage: false };
    this.#asideDepth = this.#depth;
  }

  #openInAside(aside: Aside, tag: string, attributes: Attributes): void {
    this.#asideTag = tag;
    if (tag === "draw:object") aside.object = attributes["xlink:href"];
    else if (tag === "draw:image") aside.isImage = true;
    else if (tag === "draw:frame" && aside.name === "") aside.name = attributes["draw:name"] ?? "";
    else if (tag === "text:p" && aside.text !== "") aside.text += " ";
  }

  #closeInAside(aside: Aside, depth: number): void {
    // Text behind a span is still that of its paragraph.
    if (this.#asideTag !== "text:span") this.#asideTag = "";
    else this.#asideTag = "text:p";
    if (depth !== this.#asideDepth) return;
    this.#aside = undefined;
    const { isComment, cell, author, text, object, isImage } = aside;
    const chart = object === undefined ? undefined : this.#outline.charts.get(object);
    const name = [aside.name, aside.alt].filter(Boolean).join(": ");
    if (isComment) this.#notes.comment(cell, author, text);
    else if (chart !== undefined) this.#notes.drawing("chart", cell, chart === "" ? name : chart);
    else if (isImage) this.#notes.drawing("image", cell, name);
    else if (text.trim() !== "") this.#notes.drawing("text box", cell, text);
  }
}

/** Longest text of a comment or a drawing that is kept. */
const MAX_ASIDE = 10_000;

/** Where the text of an element within a comment or a drawing belongs. */
const ASIDE_FIELDS: Readonly<Record<string, "text" | "author" | "alt" | undefined>> = {
  "text:p": "text",
  "text:span": "text",
  "text:a": "text",
  "dc:creator": "author",
  "svg:title": "alt",
  "svg:desc": "alt",
};

function isHidden(attributes: Attributes): boolean {
  return /^(?:collapse|filter)$/.test(attributes["table:visibility"] ?? "");
}

/** The value of a cell, exact as the file has it; undefined where its text is the value. */
function readValue(attributes: Attributes, type: string, isDays: boolean): string | undefined {
  switch (type) {
    case "float":
    case "percentage":
    case "currency": {
      const value = attributes["office:value"];
      return value === undefined ? undefined : GENERAL.exactNumber(value, false);
    }
    case "date":
      return attributes["office:date-value"];
    case "time":
      return readDuration(attributes["office:time-value"], isDays);
    case "boolean":
      return attributes["office:boolean-value"] === "true" ? "TRUE" : "FALSE";
    default:
      return undefined;
  }
}

/** `PT12H30M00S` as `12:30:00`, or as days; other durations as they are. */
function readDuration(duration: string | undefined, isDays: boolean): string | undefined {
  const found = /^(-)?PT(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})([.,][0-9]{1,9})?S)?$/.exec(duration ?? "");
  if (found === null) return duration;
  const [, sign = "", hours = "0", minutes = "0", seconds = "0", fraction = ""] = found;
  const exact = /[1-9]/.test(fraction) ? fraction.replace(",", ".").replace(/0+$/, "") : "";
  if (isDays) {
    const days = (Number(hours) + Number(minutes) / 60 + Number(`${seconds}${exact}`) / 3600) / 24;
    return `${sign}${Number(days.toPrecision(15))}`;
  }
  return `${sign}${hours.padStart(2, "0")}:${minutes.padStart(2, "0")}:${seconds.padStart(2, "0")}${exact}`;
}
