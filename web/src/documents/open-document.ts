/**
 * OpenDocument (ODF 1.0 to 1.4) as text: documents, spreadsheets, presentations and drawings.
 * @module
 */
import { BlockWriter, oneLine } from "./blocks.js";
import {
  checkForm,
  converted,
  damaged,
  FactsBuilder,
  sinkOf,
  type Converted,
  type ConvertOptions,
  type DocumentForm,
  type PartNoun,
} from "./document.js";
import { DocumentPackage, needsPassword } from "./package.js";
import { MAX_COLUMNS } from "./cell-range.js";
import { describeChart, readOpenChart } from "./chart.js";
import {
  MAX_CELL,
  markOf,
  ParagraphText,
  parseOpenReference,
  SheetStyles,
  SheetsText,
  UNSEEN,
  type SheetOutline,
} from "./open-sheets.js";
import { chooseSheet, type ChosenSheet } from "./rows.js";
import { countOf, localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";

/** Most sheets and styles that are known. */
const MAX_SHEETS = 10_000;
const MAX_STYLES = 100_000;

type Attributes = Readonly<Record<string, string>>;

/** What documents are called, by what their body is. */
const KINDS: Readonly<Record<string, readonly [kind: string, part: PartNoun, modern: string]>> = {
  text: ["OpenDocument text", "section", ".odt"],
  spreadsheet: ["spreadsheet", "sheet", ".ods"],
  presentation: ["presentation", "slide", ".odp"],
  drawing: ["drawing", "page", ".odg"],
};

interface Outline {
  /** Which of `KINDS` it is. */
  readonly body: keyof typeof KINDS;
  readonly sheets: Omit<SheetOutline, "charts">;
  /** The addresses of objects within it. */
  readonly objects: ReadonlySet<string>;
  readonly pages: number;
}

/**
 * Reads an OpenDocument file, whichever it is. Texts are told as those of Word are, spreadsheets as workbooks are, presentations slide
 * by slide.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form that it does not have, or a sheet that is not there, E_DOCUMENT for what is no such
 * document, or encrypted, E_TOO_LARGE.
 */
export async function convertOpenDocument(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  const source = await DocumentPackage.open(bytes, "OpenDocument file", ".odt, .ods or .odp", options);
  if (await isEncrypted(source)) throw needsPassword("document");
  const outline = await readOutline(source);
  const [kind, part] = KINDS[outline.body] as (typeof KINDS)[string];
  const isSheets = outline.body === "spreadsheet";
  const forms: readonly DocumentForm[] = isSheets ? ["text", "cells", "values", "links"] : ["text", "links"];
  checkForm(options.form, kind, forms);
  const facts = new FactsBuilder(part);
  const { sheets } = outline.sheets;
  facts.total = Math.max(1, isSheets ? sheets.length : outline.pages);
  for (const [index, { name, isHidden }] of sheets.entries()) {
    facts.name(name);
    facts.about(index + 1, isHidden ? "hidden" : "");
  }
  const isSheet = options.form === "cells" || options.form === "values";
  const chosen = isSheet ? findSheet(outline.sheets, options.sheet) : undefined;
  const sink = sinkOf(facts, options);
  return converted(kind, sink, options, async function* () {
    const title = await titleOf(source);
    if (isSheets && options.form !== "links") {
      const charts = await readCharts(source, outline.objects);
      const book = { ...outline.sheets, charts };
      yield* xmlSteps(source.read("content.xml"), new SheetsText(sink, options.form, book, chosen));
    } else {
      const blocks = new BlockWriter(sink, outline.body === "text" && options.form === "text" ? 1 : 0);
      const body = new BodyText(blocks, options.form, part === "slide" || part === "page");
      yield* xmlSteps(source.read("content.xml"), body);
      body.end();
    }
    facts.title(title);
  });
}

async function isEncrypted(source: DocumentPackage): Promise<boolean> {
  const manifest = "META-INF/manifest.xml";
  let isFound = source.has("encrypted-package");
  if (!source.has(manifest)) return isFound;
  await readXml(source.read(manifest), {
    open: (tag) => {
      isFound ||= localName(tag) === "encryption-data";
    },
  });
  return isFound;
}

async function titleOf(source: DocumentPackage): Promise<string> {
  let title = "";
  let isTitle = false;
  if (!source.has("meta.xml")) return title;
  await readXml(source.read("meta.xml"), {
    open: (tag) => (isTitle = tag === "dc:title"),
    close: () => (isTitle = false),
    text: (text) => {
      if (isTitle && title.length < 1024) title += text;
    },
  });
  return title;
}

/** The sheet that is wanted, by its name or that of a range. */
function findSheet({ sheets, ranges }: Outline["sheets"], wanted: string | undefined): ChosenSheet {
  const names = ranges.map(({ name, sheet, range }): [string, ChosenSheet] => [
    name.toLowerCase(),
    { index: sheets.findIndex((each) => each.name === sheet), range },
  ]);
  return chooseSheet(sheets, wanted, new Map(names.filter(([, { index }]) => index !== -1)));
}

/** What the document is, and its sheets: they are named before the text. */
async function readOutline(source: DocumentPackage): Promise<Outline> {
  const sheets: { name: string; isHidden: boolean }[] = [];
  const ranges: SheetOutline["ranges"][number][] = [];
  const objects = new Set<string>();
  const styles = new SheetStyles();
  const hidden = new Set<string>();
  let body: string | undefined;
  let pages = 0;
  let style = "";
  let depth = 0;
  let bodyDepth = -1;
  let skipped = 0;
  if (source.has("styles.xml")) await readXml(source.read("styles.xml"), styles);
  await readXml(source.read("content.xml"), {
    open: (tag, attributes) => {
      const name = localName(tag);
      depth++;
      if (skipped > 0 || name === "tracked-changes") skipped++;
      if (skipped > 0) return;
      if (bodyDepth === -1) styles.open(tag, attributes);
      if (tag === "office:body") bodyDepth = depth;
      else if (depth === bodyDepth + 1) body ??= name;
      else if (tag === "style:style") style = attributes["style:name"] ?? "";
      else if (tag === "style:table-properties" && attributes["table:display"] === "false") {
        if (hidden.size < MAX_STYLES) hidden.add(style);
      } else if (tag === "table:table" && depth === bodyDepth + 2 && sheets.length < MAX_SHEETS) {
        const isHidden = hidden.has(attributes["table:style-name"] ?? "");
        sheets.push({ name: (attributes["table:name"] ?? "").slice(0, 255), isHidden });
      } else if (tag === "draw:page" && depth === bodyDepth + 2) pages++;
      else if (tag === "draw:object" && objects.size < MAX_OBJECTS) objects.add(attributes["xlink:href"] ?? "");
      else if ((tag === "table:named-range" || tag === "table:database-range") && ranges.length < MAX_SHEETS) {
        const address = attributes["table:cell-range-address"] ?? attributes["table:target-range-address"] ?? "";
        const found = parseOpenReference(address);
        const own = (attributes["table:name"] ?? "").slice(0, 255);
        // LibreOffice names ranges that have only a filter by itself.
        if (found !== undefined && !own.startsWith("__Anonymous")) ranges.push({ name: own, ...found });
      }
    },
    close: (tag) => {
      depth--;
      if (skipped > 0) skipped--;
      else if (bodyDepth === -1) styles.close(tag);
    },
  });
  if (body === undefined || !Object.hasOwn(KINDS, body)) throw damaged("OpenDocument file");
  const isSheets = body === "spreadsheet";
  if (isSheets && sheets.length === 0) throw damaged("spreadsheet");
  return { body, sheets: { sheets: isSheets ? sheets : [], ranges, styles }, objects, pages };
}

/** Most objects, such as charts, that are looked into. */
const MAX_OBJECTS = 500;

/** What the charts among objects are, by their addresses. */
async function readCharts(source: DocumentPackage, objects: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const charts = new Map<string, string>();
  for (const address of objects) {
    const part = `${address.replace(/^\.\//, "")}/content.xml`;
    // oxlint-disable-next-line no-await-in-loop -- parts of a package are read in order
    if (source.has(part)) charts.set(address, describeChart(await readOpenChart(source, part)));
  }
  return charts;
}

interface Note {
  readonly mark: string;
  text: string;
  author: string;
  isAuthor: boolean;
  /** How many paragraphs were open where it stands. */
  readonly at: number;
}

interface Table {
  cells: string[];
  cell: string[];
  repeat: number;
}

/** Most columns that one cell of a table in a text is counted for. */
const MAX_REPEAT = 64;

/** Most rows that are kept of a row that is repeated in a text. */
const MAX_ROW_REPEAT = 1000;

/** The body of a text, a presentation or a drawing; of a spreadsheet for its links. */
class BodyText implements MarkupHandler {
  readonly #blocks: BlockWriter;
  readonly #form: DocumentForm;
  readonly #hasPages: boolean;
  #unseen = 0;
  readonly #paragraphs: { readonly text: ParagraphText; readonly level: number }[] = [];
  readonly #lists: boolean[] = [];
  readonly #tables: Table[] = [];
  readonly #notes: Note[] = [];
  readonly #openNotes: Note[] = [];
  #footnotes = 0;
  #comments = 0;
  readonly #links: { readonly href: string; text: string }[] = [];
  #alt: string | undefined;
  /** Text that is held back on a page: its title comes first. */
  #page: { name: string; title: string[]; held: (() => void)[]; notes: (() => void)[]; chars: number } | undefined;
  #isTitle = 0;
  #isSpeech = 0;
  #depth = 0;
  #rowRepeat = 1;

  constructor(blocks: BlockWriter, form: DocumentForm, hasPages: boolean) {
    this.#blocks = blocks;
    this.#form = form;
    this.#hasPages = hasPages;
  }

  open(tag: string, attributes: Attributes): void {
    this.#depth++;
    if (this.#unseen > 0 || UNSEEN.has(tag)) {
      this.#unseen++;
      return;
    }
    const mark = markOf(tag, attributes);
    if (mark !== "") {
      this.#write(mark, true);
      return;
    }
    switch (tag) {
      case "text:h":
        this.#paragraphs.push({
          text: new ParagraphText(),
          level: countOf(attributes["text:outline-level"], 1, 10, 1),
        });
        break;
      case "text:p":
        this.#paragraphs.push({ text: new ParagraphText(), level: 0 });
        break;
      case "text:list":
        this.#lists.push(true);
        break;
      case "text:a":
      case "draw:a":
        if (this.#form === "links") this.#links.push({ href: attributes["xlink:href"] ?? "", text: "" });
        break;
      case "text:note":
        this.#openNote(
          attributes["text:note-class"] === "endnote" ? `[^e${++this.#footnotes}]` : `[^${++this.#footnotes}]`,
        );
        break;
      case "office:annotation":
        this.#openNote(`[comment ${++this.#comments}]`);
        break;
      case "dc:creator": {
        const note = this.#openNotes.at(-1);
        if (note !== undefined) note.isAuthor = true;
        break;
      }
      case "svg:title":
      case "svg:desc":
        this.#alt = "";
        break;
      case "table:table":
        this.#tables.push({ cells: [], cell: [], repeat: 1 });
        break;
      case "table:table-row":
        this.#rowRepeat = countOf(attributes["table:number-rows-repeated"], 1, MAX_ROW_REPEAT, 1);
        break;
      case "table:table-cell":
      case "table:covered-table-cell": {
        const table = this.#tables.at(-1);
        if (table !== undefined) table.repeat = countOf(attributes["table:number-columns-repeated"], 1, MAX_REPEAT, 1);
        break;
      }
      case "draw:page":
        if (this.#hasPages) this.#openPage(attributes);
        break;
      case "presentation:notes":
        this.#isSpeech = this.#depth;
        break;
      case "draw:frame":
      case "draw:custom-shape":
        this.#openShape(attributes);
        break;
    }
  }

  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    if (depth === this.#isTitle) this.#isTitle = 0;
    if (depth === this.#isSpeech) this.#isSpeech = 0;
    switch (tag) {
      case "text:h":
      case "text:p":
        this.#endParagraph();
        break;
      case "text:list":
        this.#lists.pop();
        if (this.#lists.length === 0)
          this.#later(() => {
            this.#blocks.gap();
          });
        break;
      case "text:a":
      case "draw:a": {
        const link = this.#links.pop();
        if (link !== undefined && !link.href.startsWith("#")) this.#blocks.link(link.text, link.href);
        break;
      }
      case "text:note":
      case "office:annotation":
        this.#openNotes.pop();
        break;
      case "dc:creator": {
        const note = this.#openNotes.at(-1);
        if (note !== undefined) note.isAuthor = false;
        break;
      }
      case "svg:title":
      case "svg:desc":
        this.#endAlt();
        break;
      case "table:table-cell":
      case "table:covered-table-cell":
        this.#endCell();
        break;
      case "table:table-row":
        this.#endRow();
        break;
      case "table:table":
        this.#tables.pop();
        if (this.#tables.length === 0)
          this.#later(() => {
            this.#blocks.gap();
          });
        break;
      case "draw:page":
        this.#endPage();
        break;
    }
  }

  text(text: string): void {
    if (this.#unseen === 0) this.#write(text, false);
  }

  /** Writes notes and comments behind all else. */
  end(): void {
    if (this.#form !== "text") return;
    for (const { mark, author, text } of this.#notes)
      this.#blocks.note(`${mark}${author === "" ? "" : ` ${author}`}:`, text);
  }

  #write(text: string, isExact: boolean): void {
    const note = this.#openNotes.at(-1);
    if (note?.isAuthor === true) {
      if (note.author.length < 100) note.author += oneLine(text);
      return;
    }
    if (this.#alt !== undefined) {
      if (this.#alt.length < 4096) this.#alt += text;
      return;
    }
    const link = this.#links.at(-1);
    if (link !== undefined && link.text.length < 1024) link.text += text;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined || this.#form !== "text") return;
    if (isExact) paragraph.text.exact(text);
    else paragraph.text.add(text);
  }

  #openNote(mark: string): void {
    this.#paragraphs.at(-1)?.text.exact(mark);
    const note: Note = { mark, text: "", author: "", isAuthor: false, at: this.#paragraphs.length };
    this.#openNotes.push(note);
    this.#notes.push(note);
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined || this.#form !== "text") return;
    const text = paragraph.text.toString();
    const note = this.#openNotes.at(-1);
    const table = this.#tables.at(-1);
    if (note !== undefined && this.#paragraphs.length >= note.at) {
      if (note.text.length < MAX_CELL) note.text += ` ${text}`;
    } else if (table !== undefined) table.cell.push(text);
    else if (this.#isTitle > 0 && this.#isSpeech === 0 && this.#page !== undefined) this.#page.title.push(text);
    else if (paragraph.level > 0) {
      const { level } = paragraph;
      this.#later(() => {
        this.#blocks.heading(text, level);
      }, text.length);
    } else if (this.#lists.length > 0) {
      const level = this.#lists.length - 1;
      this.#later(() => {
        this.#blocks.item(text, level);
      }, text.length);
    } else
      this.#later(() => {
        this.#blocks.paragraph(text);
      }, text.length);
  }

  #endAlt(): void {
    const alt = oneLine(this.#alt ?? "");
    this.#alt = undefined;
    if (alt === "" || this.#form !== "text") return;
    const text = `[image: ${alt}]`;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.text.exact(text);
    else if (this.#tables.length > 0) this.#tables.at(-1)?.cell.push(text);
    else
      this.#later(() => {
        this.#blocks.paragraph(text);
      }, text.length);
  }

  #endCell(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const text = table.cell.join(" ");
    // What is repeated without text only fills the row up.
    for (let n = 0; n < table.repeat && table.cells.length < MAX_COLUMNS; n++) table.cells.push(text);
    table.cell = [];
    table.repeat = 1;
  }

  #endRow(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const { cells } = table;
    table.cells = [];
    const outer = this.#tables.at(-2);
    if (outer !== undefined) outer.cell.push(cells.map(oneLine).filter(Boolean).join(" "));
    else if (this.#form === "text") {
      while (cells.at(-1) === "") cells.pop();
      const repeat = this.#rowRepeat;
      this.#later(() => {
        for (let n = 0; n < repeat; n++) this.#blocks.row(cells);
      }, cells.length);
    }
    this.#rowRepeat = 1;
  }

  #openPage(attributes: Attributes): void {
    if (this.#form === "text") this.#blocks.part();
    this.#page = { name: attributes["draw:name"] ?? "", title: [], held: [], notes: [], chars: 0 };
  }

  #openShape(attributes: Attributes): void {
    if (/^(?:title|subtitle-title)$/.test(attributes["presentation:class"] ?? "")) this.#isTitle ||= this.#depth;
  }

  /** Writes now, or once the title of the page is known. */
  #later(write: () => void, chars = 0): void {
    const page = this.#page;
    if (page === undefined) {
      if (this.#form === "text") write();
      return;
    }
    page.chars += chars + 1;
    // A page of so much text is not kept.
    if (page.chars > MAX_CELL * 4) return;
    (this.#isSpeech > 0 ? page.notes : page.held).push(write);
  }

  #endPage(): void {
    const page = this.#page;
    this.#page = undefined;
    if (page === undefined || this.#form !== "text") return;
    this.#blocks.heading(page.title.join(" "), 1);
    for (const write of page.held) write();
    if (page.notes.length === 0) return;
    this.#blocks.paragraph("Notes:");
    for (const write of page.notes) write();
  }
}
