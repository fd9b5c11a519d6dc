/**
 * Workbooks of Excel (OOXML) as CSV.
 * @module
 */
import { BlockWriter } from "./blocks.js";
import { CellFormats, findUsualCode, type CellFormat } from "./cell-format.js";
import {
  columnName,
  MAX_COLUMNS,
  MAX_ROWS,
  moveFormula,
  parseRange,
  splitReference,
  type CellRange,
} from "./cell-range.js";
import {
  checkForm,
  convertText,
  toDamagedError,
  FactsBuilder,
  createSink,
  unreadable,
  type Converted,
  type ConvertOptions,
} from "./document.js";
import { DocumentPackage, relationshipId, type Relationship } from "./package.js";
import { chooseSheet, RowWriter, type ChosenSheet, type SheetName } from "./rows.js";
import { SheetNotes } from "./sheet-notes.js";
import { findPart } from "./word.js";
import { readPeople, readSheetParts, readTables } from "./workbook-parts.js";
import { readCount, localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";
import { SluiceError } from "../errors/error.js";

const KIND = "workbook";

/** Most texts that cells share. */
const MAX_SHARED = 5_000_000;

/** Most sheets, formats, names and shared formulas that are read of a workbook. */
const MAX_SHEETS = 10_000;
const MAX_FORMATS = 100_000;
const MAX_NAMES = 10_000;
const MAX_FORMULAS = 100_000;

/** Longest text of a cell: Excel's is 32,767. */
const MAX_CELL = 1_000_000;

/** Most formulas of several cells that are looked at for each cell. */
const MAX_ARRAYS = 100;

/** Longest formula: that of Excel. */
const MAX_FORMULA = 8192;

type Attributes = Readonly<Record<string, string>>;

interface Sheet extends SheetName {
  /** How it is hidden: `hidden`, or `very hidden` from the menu too. */
  readonly state: string;
  readonly part: string;
  /** A chart alone has no cells. */
  readonly hasCells: boolean;
}

interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
  /** Whether programs that open it are to calculate all formulas: zeros that are stored may stand for no value then. */
  readonly isUncalculated: boolean;
  readonly names: ReadonlyMap<string, ChosenSheet>;
  /** The names as they are written, by sheet. */
  readonly written: readonly { readonly name: string; readonly index: number; readonly range: string }[];
}

/**
 * Reads a workbook: `cells` gives one sheet as it is shown, `values` as it is computed with, `text` all sheets as they are shown, each
 * behind its name, with what they have besides cells.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a sheet that is not there, E_DOCUMENT for anything but such a workbook, or for an encrypted one,
 * E_TOO_LARGE.
 */
export async function convertWorkbook(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  const { form } = options;
  checkForm(form, KIND, ["text", "cells", "values", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".xlsx", options);
  const main = await source.mainPart("xl/workbook.xml", "xl/workbook.bin");
  if (/\.bin$/i.test(main))
    throw unreadable("The workbook is of the binary format .xlsb: save it as .xlsx, and read that.");
  const relations = await source.relationships(main);
  const book = await readWorkbook(source, main, relations);
  const facts = new FactsBuilder("sheet");
  for (const [index, { name, state }] of book.sheets.entries()) {
    facts.name(name);
    facts.about(index + 1, state);
  }
  facts.total = book.sheets.length;
  const sink = createSink(facts, options);
  const isSheet = form === "cells" || form === "values";
  const chosen = isSheet ? await findSheet(source, book, options.sheet) : undefined;
  return convertText(KIND, sink, options, async function* () {
    const blocks = new BlockWriter(sink, 0);
    const cells = form === "links" ? undefined : await readCells(source, relations, book);
    const people = cells === undefined ? new Map<string, string>() : await readPeople(source, relations);
    for (const index of chosen === undefined ? book.sheets.keys() : [chosen.index]) {
      const sheet = book.sheets[index] as Sheet;
      if (!source.has(sheet.part)) throw toDamagedError(KIND);
      const parts = await source.relationships(sheet.part);
      if (cells === undefined) {
        if (sheet.hasCells) yield* xmlSteps(source.read(sheet.part), new SheetLinks(blocks, parts));
        continue;
      }
      sink.part();
      const rows = new RowWriter(sink, form === "text");
      const notes = new SheetNotes();
      if (form === "text") {
        facts.heading(sheet.name, 1);
        sink.add(`# ${sheet.name.replaceAll(/\s+/g, " ")}${sheet.state === "" ? "" : ` (${sheet.state})`}\n`);
      }
      if (sheet.hasCells) {
        yield* xmlSteps(source.read(sheet.part), new SheetCells(rows, notes, cells, form === "values"));
      }
      rows.end();
      await readSheetParts(source, parts, people, notes, (reference) => {
        const found = splitReference(reference);
        if (found?.sheet !== sheet.name) return undefined;
        return rows.find(found.range.firstRow, found.range.firstColumn);
      });
      for (const { name, index: at, range } of book.written) if (at === index) notes.range(name, range);
      if (form === "text") notes.writeTo(sink, rows.size);
      else facts.sheet = notes.facts(index + 1, rows.size, chosen?.range);
      facts.about(index + 1, notes.describe(rows.size));
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
  const root = { is1904: false, isUncalculated: false, isWorkbook: false };
  const defined: { readonly name: string; target: string }[] = [];
  let open: { readonly name: string; target: string } | undefined;
  await readXml(source.read(main), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "workbook") root.isWorkbook = true;
      else if (name === "workbookPr") root.is1904 = isTrue(attributes["date1904"]);
      else if (name === "calcPr") root.isUncalculated = isTrue(attributes["fullCalcOnLoad"]);
      else if (name === "sheet" && sheets.length < MAX_SHEETS) {
        const relation = relations.get(relationshipId(attributes) ?? "");
        if (relation === undefined || relation.isExternal) throw toDamagedError(KIND);
        const state = { hidden: "hidden", veryhidden: "very hidden" }[(attributes["state"] ?? "").toLowerCase()] ?? "";
        sheets.push({
          name: (attributes["name"] ?? "").slice(0, 255),
          isHidden: state !== "",
          state,
          part: relation.target,
          hasCells: relation.type !== "chartsheet",
        });
      } else if (name === "definedName" && defined.length < MAX_NAMES) {
        // Names of Excel's own, as of areas to print, are told nowhere.
        const own = (attributes["name"] ?? "").slice(0, 255);
        if (own === "" || own.startsWith("_xlnm.") || isTrue(attributes["hidden"])) return;
        open = { name: own, target: "" };
        defined.push(open);
      }
    },
    close: () => (open = undefined),
    text: (text) => {
      if (open !== undefined && open.target.length < MAX_CHARS_OF_NAME) open.target += text;
    },
  });
  if (!root.isWorkbook || sheets.length === 0) throw toDamagedError(KIND);
  return { ...root, sheets, ...resolveNames(defined, sheets) };
}

/** Longest reference that a name stands for. */
const MAX_CHARS_OF_NAME = 300;

/** Names that stand for one range of a sheet. */
function resolveNames(
  defined: readonly { readonly name: string; readonly target: string }[],
  sheets: readonly SheetName[],
): Pick<Workbook, "names" | "written"> {
  const indexes = new Map(sheets.map(({ name }, index) => [name.toLowerCase(), index]));
  const names = new Map<string, ChosenSheet>();
  const written: Workbook["written"][number][] = [];
  for (const { name, target } of defined) {
    const found = splitReference(target);
    const index = found === undefined ? undefined : indexes.get(found.sheet.toLowerCase());
    if (found === undefined || index === undefined) continue;
    names.set(name.toLowerCase(), { index, range: found.range });
    written.push({ name, index, range: target.slice(target.lastIndexOf("!") + 1).replaceAll("$", "") });
  }
  return { names, written };
}

/** The sheet that is wanted. Tables are looked for where nothing else has that name. */
async function findSheet(source: DocumentPackage, book: Workbook, wanted: string | undefined): Promise<ChosenSheet> {
  try {
    return chooseSheet(book.sheets, wanted, book.names);
  } catch (error) {
    for (const [index, { part }] of book.sheets.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- parts of a package are read in order
      for (const { name, range } of await readTables(source, await source.relationships(part)))
        if (name.toLowerCase() === wanted?.toLowerCase() && range !== undefined) return { index, range };
    }
    throw error;
  }
}

/** What cells refer to. */
interface CellTable {
  readonly shared: readonly string[];
  /** The codes of the formats of styles. */
  readonly codes: readonly (string | undefined)[];
  readonly formats: CellFormats;
  readonly is1904: boolean;
  readonly isUncalculated: boolean;
}

async function readCells(
  source: DocumentPackage,
  relations: ReadonlyMap<string, Relationship>,
  { is1904, isUncalculated }: Workbook,
): Promise<CellTable> {
  const strings = findPart(relations, "sharedStrings");
  const styles = findPart(relations, "styles");
  return {
    shared: strings !== undefined && source.has(strings) ? await readShared(source, strings) : [],
    codes: styles !== undefined && source.has(styles) ? await readCodes(source, styles) : [],
    formats: new CellFormats(),
    is1904,
    isUncalculated,
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
    return unescapeText(text);
  }
}

/** `_x000D_` is how a workbook writes what XML cannot have. */
function unescapeText(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (whole, code: string) => {
    const unit = Number.parseInt(code, 16);
    return unit >= 0xd800 && unit <= 0xdfff ? whole : String.fromCharCode(unit);
  });
}

/** The codes of number formats, by style. */
async function readCodes(source: DocumentPackage, part: string): Promise<readonly (string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  const own = new Map<number, string>();
  let isCells = false;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "cellXfs") isCells = true;
      const id = readCount(attributes["numFmtId"], 0, 1_000_000, 0);
      if (name === "numFmt" && own.size < MAX_FORMATS) own.set(id, (attributes["formatCode"] ?? "").slice(0, 1000));
      else if (name === "xf" && isCells && codes.length < MAX_FORMATS) codes.push(own.get(id) ?? findUsualCode(id));
    },
    close: (tag) => {
      if (localName(tag) === "cellXfs") isCells = false;
    },
  });
  return codes;
}

interface SharedFormula {
  readonly text: string;
  readonly row: number;
  readonly column: number;
}

/** The cells of a sheet, written row by row. */
class SheetCells implements MarkupHandler {
  readonly #rows: RowWriter;
  readonly #notes: SheetNotes;
  readonly #table: CellTable;
  readonly #isExact: boolean;
  readonly #formulas = new Map<string, SharedFormula>();
  /** Formulas of several cells that have no values: those but the first are cells without a formula. */
  readonly #arrays: { readonly range: CellRange; readonly text: string }[] = [];
  #row = 0;
  #column = -1;
  #cells = new Map<number, string>();
  #type = "n";
  #style = 0;
  #value = "";
  #hasValue = false;
  #formula: { text: string; readonly attributes: Attributes } | undefined;
  #inside: "value" | "formula" | undefined;
  #isInRow = false;
  #inline: StringItem | undefined;
  #filtered = 1;

  /** @param isExact whether it writes values to compute with, and not what is shown. */
  constructor(rows: RowWriter, notes: SheetNotes, table: CellTable, isExact: boolean) {
    this.#rows = rows;
    this.#notes = notes;
    this.#table = table;
    this.#isExact = isExact;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (this.#inline !== undefined) this.#inline.open(name);
    else if (name === "c") this.#openCell(attributes);
    else if (name === "v") {
      this.#inside = "value";
      this.#hasValue = true;
    } else if (name === "f") {
      this.#inside = "formula";
      this.#formula = { text: "", attributes };
    } else if (name === "row") this.#openRow(attributes);
    else if (name === "is") this.#inline = new StringItem();
    else this.#openNote(name, attributes);
  }

  close(tag: string): void {
    const name = localName(tag);
    if (name === "v" || name === "f") this.#inside = undefined;
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
    if (this.#inside === "value") {
      if (this.#value.length < MAX_CELL) this.#value += text;
    } else if (this.#inside === "formula" && this.#formula !== undefined) {
      if (this.#formula.text.length < MAX_FORMULA) this.#formula.text += text;
    } else this.#inline?.text(text);
  }

  #openRow(attributes: Attributes): void {
    // A row without a number is the next one.
    this.#row = readCount(attributes["r"], 1, MAX_ROWS, Math.min(MAX_ROWS, this.#row + 1));
    this.#column = -1;
    this.#cells = new Map();
    this.#isInRow = true;
    if (isTrue(attributes["hidden"])) this.#notes.hideRows(this.#row, this.#row);
  }

  /** What stands before and behind the rows. */
  #openNote(name: string, attributes: Attributes): void {
    if (name === "col" && isTrue(attributes["hidden"])) {
      const first = readCount(attributes["min"], 1, MAX_COLUMNS, 1);
      this.#notes.hideColumns(first, readCount(attributes["max"], first, MAX_COLUMNS, first));
    } else if (name === "mergeCell") this.#notes.merge(parseRange(attributes["ref"] ?? ""));
    else if (name === "autoFilter") {
      this.#notes.filter(attributes["ref"] ?? "");
      this.#filtered = parseRange(attributes["ref"] ?? "")?.firstColumn ?? 1;
    } else if (name === "filterColumn") {
      this.#notes.filterColumn(columnName(this.#filtered + readCount(attributes["colId"], 0, MAX_COLUMNS, 0)));
    }
  }

  #openCell(attributes: Attributes): void {
    const named = readColumn(attributes["r"]);
    this.#column = named ?? this.#column + 1;
    this.#type = attributes["t"] ?? "n";
    this.#style = readCount(attributes["s"], 0, MAX_FORMATS, 0);
    this.#value = "";
    this.#hasValue = false;
    this.#formula = undefined;
  }

  #closeCell(): void {
    if (!this.#isInRow || this.#column >= MAX_COLUMNS) return;
    this.#inline = undefined;
    const text = this.#readFormula() ?? (this.#value === "" ? "" : this.#show());
    if (text !== "") this.#cells.set(this.#column, text);
  }

  /** The formula of a cell, if it is what the cell shows: there is no value. */
  #readFormula(): string | undefined {
    const formula = this.#formula;
    if (formula === undefined) return this.#hasValueToShow ? undefined : this.#findArray();
    const { attributes } = formula;
    const id = attributes["si"] ?? "";
    const isShared = attributes["t"] === "shared";
    if (isShared && formula.text !== "" && this.#formulas.size < MAX_FORMULAS)
      this.#formulas.set(id, { text: formula.text, row: this.#row, column: this.#column });
    if (this.#hasValueToShow) return undefined;
    this.#notes.formulas++;
    const shared = isShared && formula.text === "" ? this.#formulas.get(id) : undefined;
    const text =
      shared === undefined
        ? formula.text
        : moveFormula(shared.text, this.#row - shared.row, this.#column - shared.column);
    const plain = text.replaceAll(/_xl(?:fn|ws|pm|udf)\./g, "");
    if (attributes["t"] !== "array") return `=${plain}`;
    const range = parseRange(attributes["ref"] ?? "");
    if (range !== undefined && this.#arrays.length < MAX_ARRAYS) this.#arrays.push({ range, text: `{=${plain}}` });
    return `{=${plain}}`;
  }

  /** Whether there is a value that a program would not calculate first. */
  get #hasValueToShow(): boolean {
    if (this.#type !== "n") return this.#hasValue;
    return this.#value.trim() !== "" && !(this.#table.isUncalculated && Number(this.#value) === 0);
  }

  #findArray(): string | undefined {
    const { text } =
      this.#arrays.find(
        ({ range: { firstRow, lastRow, firstColumn, lastColumn } }) =>
          this.#row >= firstRow &&
          this.#row <= lastRow &&
          this.#column + 1 >= firstColumn &&
          this.#column + 1 <= lastColumn,
      ) ?? {};
    return text;
  }

  #show(): string {
    const value = this.#value;
    switch (this.#type) {
      case "s":
        return this.#showText(this.#table.shared[readCount(value, 0, MAX_SHARED, MAX_SHARED)] ?? "");
      case "b":
        return isTrue(value.trim()) ? "TRUE" : "FALSE";
      case "str":
        return this.#showText(unescapeText(value));
      case "inlineStr":
        return this.#showText(value);
      case "n":
        return this.#showNumber(value.trim());
      default:
        return value.trim();
    }
  }

  #showText(text: string): string {
    if (this.#isExact) return text;
    const shown = this.#format.showText(text);
    if (shown === "" && text !== "") this.#notes.blanks++;
    return shown;
  }

  #showNumber(number: string): string {
    const format = this.#format;
    const { is1904 } = this.#table;
    if (format.kind === "span") this.#notes.durations++;
    if (this.#isExact) return format.exactNumber(number, is1904);
    const shown = format.showNumber(number, is1904);
    if (shown === "") this.#notes.blanks++;
    return shown;
  }

  get #format(): CellFormat {
    return this.#table.formats.get(this.#table.codes[this.#style]);
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

/** The column of `AB12`, from 0. Undefined for anything else. */
function readColumn(reference: string | undefined): number | undefined {
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
