/**
 * Workbooks of Excel (OOXML) as CSV.
 * @module
 */
import { BlockWriter } from "./blocks.js";
import {
  checkForm,
  converted,
  damaged,
  FactsBuilder,
  sinkOf,
  unreadable,
  type Converted,
  type ConvertOptions,
  type TextSink,
} from "./document.js";
import { DocumentPackage, relationshipId, type Relationship } from "./package.js";
import { MAX_COLUMNS, MAX_ROWS, RowWriter, sheetIndex } from "./rows.js";
import { partOf } from "./word.js";
import { countOf, localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";
import { formatKind, shownDate, USUAL_KINDS, type DateKind } from "./cell-dates.js";
import { SluiceError } from "../errors/error.js";

const KIND = "workbook";

/** Most texts that cells share. */
const MAX_SHARED = 5_000_000;

/** Most sheets, formats and links that are read of a workbook. */
const MAX_SHEETS = 10_000;
const MAX_FORMATS = 100_000;

/** Longest text of a cell: Excel's is 32,767. */
const MAX_CELL = 1_000_000;

type Attributes = Readonly<Record<string, string>>;

interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Undefined for a chart, which has no cells. */
  readonly part: string | undefined;
}

interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
}

/**
 * Reads a workbook. `rows` gives one sheet as CSV (RFC 4180, `\n` for line ends), so that line n is row n; `text` all sheets, each
 * behind its name. Numbers are as the file has them, dates as ISO 8601, of formulas the values that were saved.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a sheet that is not there, E_DOCUMENT for what is no such workbook, or encrypted,
 * E_TOO_LARGE.
 */
export async function convertWorkbook(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "rows", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".xlsx", options);
  const main = await source.mainPart("xl/workbook.xml", "xl/workbook.bin");
  if (/\.bin$/i.test(main))
    throw unreadable("The workbook is of the binary format .xlsb: save it as .xlsx, and read that.");
  const relations = await source.relationships(main);
  const book = await readWorkbook(source, main, relations);
  const facts = new FactsBuilder("sheet");
  for (const { name, isHidden } of book.sheets) facts.name(isHidden ? `${name.slice(0, 110)} (hidden)` : name);
  facts.total = book.sheets.length;
  const sink = sinkOf(facts, options);
  const only = options.form === "rows" ? [sheetIndex(book.sheets, options.sheet)] : book.sheets.keys();
  return converted(KIND, sink, options, async function* () {
    const blocks = new BlockWriter(sink, 0);
    const cells = options.form === "links" ? undefined : await readCells(source, relations, book.is1904);
    for (const index of only) {
      const sheet = book.sheets[index] as Sheet;
      if (options.form !== "links") sink.part();
      if (options.form === "text") {
        facts.heading(sheet.name, 1);
        sink.add(`# ${sheet.name.replaceAll(/\s+/g, " ")}${sheet.isHidden ? " (hidden)" : ""}\n`);
      }
      if (sheet.part === undefined) continue;
      if (!source.has(sheet.part)) throw damaged(KIND);
      if (cells === undefined) {
        yield* xmlSteps(source.read(sheet.part), new SheetLinks(blocks, await source.relationships(sheet.part)));
      } else {
        yield* xmlSteps(source.read(sheet.part), new SheetText(sink, sheet.name, cells));
      }
    }
    facts.title(await source.title());
  });
}

async function readWorkbook(
  source: DocumentPackage,
  main: string,
  relations: ReadonlyMap<string, Relationship>,
): Promise<Workbook> {
  const sheets: Sheet[] = [];
  const root = { is1904: false, isWorkbook: false };
  await readXml(source.read(main), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "workbook") root.isWorkbook = true;
      else if (name === "workbookPr") root.is1904 = isTrue(attributes["date1904"]);
      else if (name === "sheet" && sheets.length < MAX_SHEETS) {
        const relation = relations.get(relationshipId(attributes) ?? "");
        if (relation === undefined || relation.isExternal) throw damaged(KIND);
        sheets.push({
          name: (attributes["name"] ?? "").slice(0, 255),
          isHidden: /hidden/i.test(attributes["state"] ?? ""),
          part: relation.type === "worksheet" ? relation.target : undefined,
        });
      }
    },
  });
  if (!root.isWorkbook || sheets.length === 0) throw damaged(KIND);
  return { sheets, is1904: root.is1904 };
}

/** What cells refer to. */
interface CellTable {
  readonly shared: readonly string[];
  /** What a style shows a number as; undefined for a number. */
  readonly kinds: readonly (DateKind | undefined)[];
  readonly is1904: boolean;
}

async function readCells(
  source: DocumentPackage,
  relations: ReadonlyMap<string, Relationship>,
  is1904: boolean,
): Promise<CellTable> {
  const strings = partOf(relations, "sharedStrings");
  const styles = partOf(relations, "styles");
  return {
    shared: strings !== undefined && source.has(strings) ? await readShared(source, strings) : [],
    kinds: styles !== undefined && source.has(styles) ? await readKinds(source, styles) : [],
    is1904,
  };
}

async function readShared(source: DocumentPackage, part: string): Promise<readonly string[]> {
  const shared: string[] = [];
  const item = new StringItem();
  await readXml(source.read(part), {
    open: (tag) => {
      item.open(localName(tag));
    },
    close: (tag) => {
      const name = localName(tag);
      item.close(name);
      if (name !== "si") return;
      if (shared.length >= MAX_SHARED) throw tooManyTexts();
      shared.push(item.take());
    },
    text: (text) => {
      item.text(text);
    },
  });
  return shared;
}

/** Text of `<si>` or `<is>`: of its runs, without what tells their pronunciation. */
class StringItem {
  #pieces: string[] = [];
  #length = 0;
  #isText = false;
  #phonetic = 0;

  open(name: string): void {
    if (name === "rPh") this.#phonetic++;
    this.#isText = name === "t" && this.#phonetic === 0;
  }

  close(name: string): void {
    if (name === "rPh") this.#phonetic--;
    this.#isText = false;
  }

  text(text: string): void {
    if (!this.#isText || this.#length > MAX_CELL) return;
    this.#length += text.length;
    this.#pieces.push(text);
  }

  take(): string {
    const text = this.#pieces.length === 1 ? (this.#pieces[0] ?? "") : this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return unescaped(text);
  }
}

/** `_x000D_` is how a workbook writes what XML cannot have. */
function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (whole, code: string) => {
    const unit = Number.parseInt(code, 16);
    return unit >= 0xd800 && unit <= 0xdfff ? whole : String.fromCharCode(unit);
  });
}

async function readKinds(source: DocumentPackage, part: string): Promise<readonly (DateKind | undefined)[]> {
  const kinds: (DateKind | undefined)[] = [];
  const formats = new Map<number, DateKind | undefined>();
  let isCells = false;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "cellXfs") isCells = true;
      const id = countOf(attributes["numFmtId"], 0, 1_000_000, 0);
      if (name === "numFmt" && formats.size < MAX_FORMATS) formats.set(id, formatKind(attributes["formatCode"] ?? ""));
      else if (name === "xf" && isCells && kinds.length < MAX_FORMATS) {
        kinds.push(formats.has(id) ? formats.get(id) : USUAL_KINDS.get(id));
      }
    },
    close: (tag) => {
      if (localName(tag) === "cellXfs") isCells = false;
    },
  });
  return kinds;
}

/** The cells of a sheet, written row by row. */
class SheetText implements MarkupHandler {
  readonly #rows: RowWriter;
  readonly #table: CellTable;
  #row = 0;
  #column = -1;
  #cells = new Map<number, string>();
  #type = "n";
  #style = 0;
  #value = "";
  #isValue = false;
  #isInRow = false;
  #inline: StringItem | undefined;

  constructor(sink: TextSink, name: string, table: CellTable) {
    this.#rows = new RowWriter(sink, name);
    this.#table = table;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (name === "c") this.#openCell(attributes);
    else if (name === "v") this.#isValue = true;
    else if (name === "row") {
      // A row without a number is the next one.
      this.#row = countOf(attributes["r"], 1, MAX_ROWS, Math.min(MAX_ROWS, this.#row + 1));
      this.#column = -1;
      this.#cells = new Map();
      this.#isInRow = true;
    } else if (name === "is") this.#inline = new StringItem();
    else this.#inline?.open(name);
  }

  close(tag: string): void {
    const name = localName(tag);
    if (name === "v") this.#isValue = false;
    else if (name === "c") this.#closeCell();
    else if (name === "row" && this.#isInRow) {
      this.#isInRow = false;
      this.#rows.row(this.#row, this.#cells);
    } else if (name === "is" && this.#inline !== undefined) {
      this.#value = this.#inline.take();
      this.#inline = undefined;
    } else this.#inline?.close(name);
  }

  text(text: string): void {
    if (this.#isValue) {
      if (this.#value.length < MAX_CELL) this.#value += text;
    } else this.#inline?.text(text);
  }

  #openCell(attributes: Attributes): void {
    const named = columnOf(attributes["r"]);
    this.#column = named ?? this.#column + 1;
    this.#type = attributes["t"] ?? "n";
    this.#style = countOf(attributes["s"], 0, MAX_FORMATS, 0);
    this.#value = "";
  }

  #closeCell(): void {
    if (!this.#isInRow || this.#value === "" || this.#column >= MAX_COLUMNS) return;
    const text = this.#shown();
    if (text !== "") this.#cells.set(this.#column, text);
  }

  #shown(): string {
    const value = this.#value;
    switch (this.#type) {
      case "s":
        return this.#table.shared[countOf(value, 0, MAX_SHARED, MAX_SHARED)] ?? "";
      case "b":
        return isTrue(value.trim()) ? "TRUE" : "FALSE";
      case "str":
        return unescaped(value);
      case "inlineStr":
        return value;
      case "n": {
        const number = value.trim();
        const kind = this.#table.kinds[this.#style];
        return kind === undefined ? number : shownDate(number, kind, this.#table.is1904);
      }
      default:
        return value.trim();
    }
  }
}

/** Links of a sheet: what is shown, or else the cell. */
class SheetLinks implements MarkupHandler {
  readonly #blocks: BlockWriter;
  readonly #relations: ReadonlyMap<string, Relationship>;

  constructor(blocks: BlockWriter, relations: ReadonlyMap<string, Relationship>) {
    this.#blocks = blocks;
    this.#relations = relations;
  }

  open(tag: string, attributes: Attributes): void {
    if (localName(tag) !== "hyperlink") return;
    const relation = this.#relations.get(relationshipId(attributes) ?? "");
    if (relation?.isExternal !== true) return;
    this.#blocks.link((attributes["display"] ?? attributes["ref"] ?? "").slice(0, 1024), relation.target);
  }
}

function isTrue(value: string | undefined): boolean {
  return value === "1" || value?.toLowerCase() === "true";
}

/** The column of `AB12`, from 0. Undefined for what is no such reference. */
function columnOf(reference: string | undefined): number | undefined {
  if (reference === undefined) return undefined;
  let column = 0;
  let at = 0;
  for (; at < 3; at++) {
    const letter = reference.charCodeAt(at) & 0xdf;
    if (!(letter >= 65 && letter <= 90)) break;
    column = column * 26 + letter - 64;
  }
  return at === 0 ? undefined : column - 1;
}

function tooManyTexts(): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `The workbook has more than ${MAX_SHARED} texts: split it, or save the sheet that you want as CSV.`,
  );
}
