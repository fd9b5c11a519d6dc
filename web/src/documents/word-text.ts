/**
 * Text of Word's paragraphs and tables, with marks for what stands elsewhere or was changed.
 * @module
 */
import { type BlockTarget, writeBlock } from "./block-target.js";
import { oneLine, raiseDigits } from "./blocks.js";
import { describeChart, listChartRows } from "./chart.js";
import { describeImage, describeObject, type DrawingParts } from "./drawing.js";
import { EquationText } from "./equation.js";
import type { WordNumbering } from "./numbering.js";
import { relationshipId, type Relationship } from "./package.js";
import { type NoteWriter, nameAuthor } from "./notes.js";
import { guessStyle, isOn, PLAIN, readOutlineLevel, readSymbol, type Style } from "./word-styles.js";
import { WordTable } from "./word-table.js";
import { getAttribute, readCount, localName, type MarkupHandler } from "./xml.js";

/** Most columns that one cell of a table is counted for. */
const MAX_SPAN = 63;

/** Most drawings of a document that are described. */
const MAX_DRAWINGS = 10_000;

/** Elements of which nothing is text: the older twin of a drawing, pronunciations, what something looked like before. */
const UNSEEN: ReadonlySet<string> = new Set([
  "Fallback",
  "rt",
  "instrText",
  "delInstrText",
  "pPrChange",
  "rPrChange",
  "tblPrChange",
  "tblPrExChange",
  "tblGridChange",
  "tcPrChange",
  "trPrChange",
  "sectPrChange",
  "numberingChange",
]);

/** Elements that hold properties. */
const PROPERTIES: ReadonlySet<string> = new Set(["pPr", "rPr", "tcPr", "trPr", "tblPr", "sdtPr"]);

/** Changes that are followed, by their elements. */
const CHANGES: Readonly<Record<string, string>> = {
  ins: "inserted",
  del: "deleted",
  moveFrom: "moved away",
  moveTo: "moved here",
};

type Attributes = Readonly<Record<string, string>>;

/** What text of a document is read with. */
export interface WordContext {
  readonly form: "text" | "links";
  readonly styles: ReadonlyMap<string, Style>;
  readonly numbering: WordNumbering;
  readonly relations: ReadonlyMap<string, Relationship>;
  readonly drawings: DrawingParts;
  /** Takes what is referred to. Left out where notes themselves are read. */
  readonly notes: NoteWriter | undefined;
  readonly findings: WordFindings;
  /** Whether Word has said where its pages end. */
  readonly hasPages: boolean;
}

/** What was found in a document, besides its text. */
export interface WordFindings {
  title: string;
  changes: number;
  hidden: number;
  drawings: number;
  /** The charts and diagrams that were written in full: they may be referred to again and again. */
  readonly written: Set<object>;
  /** The headers and footers of its sections, by their relationships. */
  readonly margins: Map<string, "header" | "footer">;
}

/** Findings of a document that was not read yet. */
export function makeFindings(): WordFindings {
  return { title: "", changes: 0, hidden: 0, drawings: 0, written: new Set(), margins: new Map() };
}

interface Paragraph {
  readonly pieces: string[];
  /** What is said of the text that was added last: `deleted by Ann`. */
  label: string;
  /** Whether there is text that was not deleted. */
  isLive: boolean;
  style: Style;
  level: number | undefined;
  listId: string | undefined;
  listLevel: number | undefined;
  /** Whether a part ends before it, and behind it. */
  breaksBefore: boolean;
  breaksBehind: boolean;
  readonly rows: (readonly string[])[];
  /** What happened to its end: `inserted by Ann`. */
  end: string;
}

interface Drawing {
  alt: string;
  name: string;
  readonly pictures: { alt: string; name: string; part: string }[];
  readonly objects: string[];
}

function makeParagraph(): Paragraph {
  return {
    pieces: [],
    label: "",
    isLive: false,
    style: PLAIN,
    level: undefined,
    listId: undefined,
    listLevel: undefined,
    breaksBefore: false,
    breaksBehind: false,
    rows: [],
    end: "",
  };
}

/** Reads the text of a part: the body, a note, or a header. */
export class WordText implements MarkupHandler {
  isDocument = false;
  readonly #blocks: BlockTarget;
  readonly #context: WordContext;
  #unseen = 0;
  #isText = false;
  /** The paragraph that is open; text boxes have paragraphs within one. */
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: WordTable[] = [];
  /** The properties that are open: tab stops are no tabs. */
  readonly #properties: string[] = [];
  readonly #links: { readonly address: string; text: string }[] = [];
  #field: string | undefined;
  #fieldLink: { readonly address: string; text: string } | undefined;
  /** The choices of a field of a form, while its properties are open. */
  #choice: { isBox: boolean; isChecked: boolean; at: number; readonly entries: string[] } | undefined;
  readonly #changes: string[] = [];
  #isHidden = false;
  #isRaised = false;
  #label = "";
  readonly #drawings: Drawing[] = [];
  #shapeAlt = "";
  #equation: EquationText | undefined;
  /** Whether the break of a page was written, and Word is about to say where it falls. */
  #isPageBroken = false;

  constructor(blocks: BlockTarget, context: WordContext) {
    this.#blocks = blocks;
    this.#context = context;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (this.#equation !== undefined) {
      this.#equation.open(name, attributes);
      return;
    }
    if (name === "instrText" && this.#context.form === "links") this.#field ??= "";
    if (this.#unseen > 0 || UNSEEN.has(name)) {
      this.#unseen++;
      return;
    }
    this.#isText = name === "t" || name === "delText";
    if (PROPERTIES.has(name)) this.#properties.push(name);
    if (this.#properties.length > 0) this.#readProperty(name, attributes);
    else this.#openElement(name, attributes);
  }

  close(tag: string): void {
    const name = localName(tag);
    if (this.#equation !== undefined) {
      this.#closeEquation();
      return;
    }
    this.#isText = false;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    if (PROPERTIES.has(name)) this.#properties.pop();
    else if (this.#properties.length === 0) this.#closeElement(name);
  }

  text(text: string): void {
    if (this.#equation !== undefined) this.#equation.text(text);
    else if (this.#isText && this.#unseen === 0) this.#write(this.#isRaised ? raiseDigits(text) : text);
    else if (this.#field !== undefined && this.#fieldLink === undefined && this.#field.length < 4096)
      this.#field += text;
  }

  #openElement(name: string, attributes: Attributes): void {
    switch (name) {
      case "document":
        this.isDocument = true;
        break;
      case "p":
        this.#paragraphs.push(makeParagraph());
        break;
      case "r":
        this.#isRaised = false;
        this.#hide(this.#paragraphs.at(-1)?.style.isHidden === true);
        break;
      case "tbl":
        this.#tables.push(new WordTable());
        break;
      case "tc":
        this.#tables.at(-1)?.openCell();
        break;
      case "ins":
      case "del":
      case "moveFrom":
      case "moveTo":
        this.#context.findings.changes++;
        this.#changes.push(describeChange(name, attributes));
        this.#relabel();
        break;
      case "hyperlink":
        if (this.#context.form === "links") this.#openLink(attributes);
        break;
      case "fldSimple":
        if (this.#context.form === "links") {
          const address = readFieldAddress(getAttribute(attributes, "instr") ?? "");
          this.#links.push({ address, text: "" });
        }
        break;
      case "fldChar":
        this.#markField(getAttribute(attributes, "fldCharType"));
        break;
      case "oMath":
        this.#equation = new EquationText();
        break;
      case "drawing":
        this.#drawings.push({ alt: "", name: "", pictures: [], objects: [] });
        break;
      case "commentRangeStart":
        this.#context.notes?.openQuote(getAttribute(attributes, "id") ?? "");
        break;
      case "commentRangeEnd":
        this.#context.notes?.closeQuote(getAttribute(attributes, "id") ?? "");
        break;
      case "br":
        if (getAttribute(attributes, "type") === "page") this.#breakPage();
        else this.#write("\n");
        break;
      case "lastRenderedPageBreak":
        if (this.#context.hasPages && !this.#isPageBroken) this.#endPage();
        this.#isPageBroken = false;
        break;
      case "headerReference":
      case "footerReference": {
        const id = relationshipId(attributes);
        const kind = name === "headerReference" ? "header" : "footer";
        if (id !== undefined && this.#context.findings.margins.size < 100) this.#context.findings.margins.set(id, kind);
        break;
      }
      default:
        if (!this.#readField(name, attributes) && !this.#readDrawing(name, attributes))
          this.#write(this.#markRun(name, attributes));
    }
  }

  #closeElement(name: string): void {
    switch (name) {
      case "p":
        this.#endParagraph();
        break;
      case "r":
        this.#hide(false);
        break;
      case "tc":
        this.#tables.at(-1)?.endCell();
        break;
      case "tr":
        this.#endRow();
        break;
      case "tbl":
        this.#endTable();
        break;
      case "ins":
      case "del":
      case "moveFrom":
      case "moveTo":
        this.#changes.pop();
        this.#relabel();
        break;
      case "hyperlink":
      case "fldSimple":
        if (this.#context.form === "links") {
          const link = this.#links.pop();
          if (link !== undefined && link.address !== "") this.#blocks.link(link.text, link.address);
        }
        break;
      case "drawing":
        this.#endDrawing();
        break;
      case "ffData":
        this.#endChoice();
        break;
    }
  }

  #closeEquation(): void {
    const equation = this.#equation;
    if (equation?.close() !== true) return;
    this.#equation = undefined;
    this.#write(equation.toString());
  }

  /** Adds text to the paragraph that is open, behind what is said of it. */
  #write(text: string): void {
    if (text === "") return;
    if (this.#context.form === "links") {
      for (const link of [this.#links.at(-1), this.#fieldLink])
        if (link !== undefined && link.text.length < 1024) link.text += text;
      return;
    }
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    if (paragraph.label !== this.#label) {
      if (paragraph.label !== "") paragraph.pieces.push("]");
      if (this.#label !== "") paragraph.pieces.push(`[${this.#label}: `);
      paragraph.label = this.#label;
    }
    paragraph.pieces.push(text);
    const isGone = this.#changes.some((change) => /^(?:deleted|moved away)/.test(change));
    paragraph.isLive ||= !isGone && text.trim() !== "";
    this.#isPageBroken = false;
    if (!isGone) this.#context.notes?.quote(text);
  }

  #relabel(): void {
    const said = this.#isHidden ? [...this.#changes, "hidden"] : this.#changes;
    this.#label = said.slice(-4).join(", ");
  }

  #hide(isHidden: boolean): void {
    if (isHidden === this.#isHidden) return;
    this.#isHidden = isHidden;
    if (isHidden) this.#context.findings.hidden++;
    this.#relabel();
  }

  #readProperty(name: string, attributes: Attributes): void {
    const value = getAttribute(attributes, "val");
    const paragraph = this.#paragraphs.at(-1);
    const table = this.#tables.at(-1);
    const [outer] = this.#properties;
    if (outer === "tcPr" && table !== undefined) {
      if (name === "gridSpan") table.cell.span = readCount(value, 1, MAX_SPAN + 1, 1);
      else if (name === "vMerge" && value !== "restart") table.cell.joins = "above";
      else if (name === "hMerge" && value !== "restart") table.cell.joins = "left";
    } else if (outer === "trPr" && table !== undefined) {
      if (name === "gridBefore") table.before = readCount(value, 0, MAX_SPAN, 0);
      else if (name === "ins" || name === "del") {
        this.#context.findings.changes++;
        table.change = `row ${describeChange(name, attributes)}`;
      }
    } else if (outer === "rPr") {
      if (name === "vanish") this.#hide(isOn(value));
      else if (name === "vertAlign") this.#isRaised = value === "superscript";
      else if (name === "rStyle" && value !== undefined && this.#context.styles.get(value)?.isHidden === true)
        this.#hide(true);
    } else if (outer === "pPr" && paragraph !== undefined) {
      if (name === "pStyle" && value !== undefined)
        paragraph.style = this.#context.styles.get(value) ?? guessStyle(value);
      else if (name === "outlineLvl") paragraph.level = readOutlineLevel(value);
      else if (name === "numId") paragraph.listId = value;
      else if (name === "ilvl") paragraph.listLevel = readCount(value, 0, 8, 0);
      else if (name === "ins" || name === "del") {
        this.#context.findings.changes++;
        paragraph.end = describeChange(name, attributes);
      } else if (name === "pageBreakBefore") paragraph.breaksBefore = isOn(value);
      else if (name === "sectPr") paragraph.breaksBehind = true;
      else if (name === "type" && value === "continuous") paragraph.breaksBehind = false;
      else if (name === "headerReference" || name === "footerReference") this.#openElement(name, attributes);
    }
  }

  /** What an element within a run stands for. */
  #markRun(name: string, attributes: Attributes): string {
    const { notes } = this.#context;
    const id = getAttribute(attributes, "id") ?? "";
    switch (name) {
      case "tab":
      case "ptab":
        return "\t";
      case "cr":
        return "\n";
      case "noBreakHyphen":
        return "-";
      case "sym":
        return readSymbol(getAttribute(attributes, "font") ?? "", getAttribute(attributes, "char") ?? "");
      case "footnoteReference":
        return notes?.refer("footnote", id) ?? "";
      case "endnoteReference":
        return notes?.refer("endnote", id) ?? "";
      case "commentReference":
        return notes?.refer("comment", id) ?? "";
      default:
        return "";
    }
  }

  /** What fields of forms show: boxes that are ticked, and choices. */
  #readField(name: string, attributes: Attributes): boolean {
    if (name === "ffData") {
      this.#choice = { isBox: false, isChecked: false, at: 0, entries: [] };
      return true;
    }
    const choice = this.#choice;
    if (choice === undefined) return false;
    const value = getAttribute(attributes, "val");
    if (name === "checkBox") choice.isBox = true;
    else if (name === "checked" || name === "default") choice.isChecked = isOn(value);
    else if (name === "result") choice.at = readCount(value, 0, 1000, 0);
    else if (name === "listEntry" && choice.entries.length < 1000) choice.entries.push(value ?? "");
    return true;
  }

  #endChoice(): void {
    const choice = this.#choice;
    this.#choice = undefined;
    if (choice === undefined) return;
    this.#write(choice.isBox ? (choice.isChecked ? "☒" : "☐") : (choice.entries[choice.at] ?? ""));
  }

  /** What a drawing is of. Gives whether the element is one of those. */
  #readDrawing(name: string, attributes: Attributes): boolean {
    const drawing = this.#drawings.at(-1);
    const picture = drawing?.pictures.at(-1);
    switch (name) {
      case "docPr":
        if (drawing === undefined) return false;
        drawing.alt = attributes["descr"] ?? attributes["title"] ?? "";
        drawing.name = attributes["name"] ?? "";
        return true;
      case "pic":
        drawing?.pictures.push({ alt: "", name: "", part: "" });
        return true;
      case "cNvPr":
        if (picture === undefined) return false;
        picture.alt = attributes["descr"] ?? "";
        picture.name = attributes["name"] ?? "";
        return true;
      case "blip":
        if (picture !== undefined) picture.part = this.#findTarget(attributes["r:embed"] ?? attributes["r:link"]);
        return true;
      case "chart": {
        const chart = this.#context.drawings.charts.get(relationshipId(attributes) ?? "");
        if (chart === undefined || drawing === undefined) return true;
        drawing.objects.push(describeChart(chart));
        if (this.#tables.length === 0 && this.#isNew(chart))
          this.#paragraphs.at(-1)?.rows.push(...listChartRows(chart));
        return true;
      }
      case "relIds": {
        const items = this.#context.drawings.diagrams.get(relationshipId(attributes, "dm") ?? "");
        if (items !== undefined && this.#isNew(items))
          drawing?.objects.push(`[diagram: ${items.map(({ text }) => text).join("; ")}]`);
        return true;
      }
      case "shape":
      case "rect":
        this.#shapeAlt = attributes["alt"] ?? "";
        return true;
      case "imagedata": {
        const part = this.#findTarget(relationshipId(attributes));
        this.#describe(describeImage(this.#shapeAlt, attributes["o:title"] ?? "", part));
        return true;
      }
      case "textpath":
        this.#describe(oneLine((attributes["string"] ?? "").slice(0, 1024)));
        return true;
      case "OLEObject":
        this.#describe(describeObject(attributes["ProgID"] ?? "", this.#findTarget(relationshipId(attributes))));
        return true;
      default:
        return false;
    }
  }

  #endDrawing(): void {
    const drawing = this.#drawings.pop();
    if (drawing === undefined) return;
    const { alt, name, pictures, objects } = drawing;
    for (const object of objects) this.#describe(object);
    for (const each of pictures) {
      const isAlone = pictures.length === 1;
      this.#describe(describeImage((isAlone && alt) || each.alt, each.name || name, each.part));
    }
    if (objects.length + pictures.length === 0 && oneLine(alt) !== "") this.#describe(describeImage(alt));
    else if (objects.length > 0 && oneLine(alt) !== "") this.#describe(` (${oneLine(alt.slice(0, 2000))})`);
  }

  /** Whether a chart or diagram is written for the first time. */
  #isNew(of: object): boolean {
    const { written } = this.#context.findings;
    return !written.has(of) && written.add(of).size > 0;
  }

  #describe(text: string): void {
    if (this.#context.form === "text" && this.#context.findings.drawings++ < MAX_DRAWINGS) this.#write(text);
  }

  #findTarget(id: string | undefined): string {
    return this.#context.relations.get(id ?? "")?.target ?? "";
  }

  #openLink(attributes: Attributes): void {
    const relation = this.#context.relations.get(relationshipId(attributes) ?? "");
    this.#links.push({ address: relation?.isExternal === true ? relation.target : "", text: "" });
  }

  /** Fields of older programs: their instruction, then what they show. */
  #markField(type: string | undefined): void {
    if (this.#context.form !== "links") return;
    if (type === "separate") {
      const address = readFieldAddress(this.#field ?? "");
      if (address !== "") this.#fieldLink = { address, text: "" };
    } else if (type === "end" && this.#fieldLink !== undefined) {
      this.#blocks.link(this.#fieldLink.text, this.#fieldLink.address);
      this.#fieldLink = undefined;
    }
    this.#field = undefined;
  }

  /** A page ends where the author says so. */
  #breakPage(): void {
    this.#endPage();
    this.#isPageBroken = true;
  }

  /** Ends the part where a page ends. Within a table it ends before the row, in a text box nowhere. */
  #endPage(): void {
    if (this.#context.form !== "text") return;
    const table = this.#tables.at(-1);
    const [paragraph, inner] = this.#paragraphs;
    if (table !== undefined) {
      const [outer] = this.#tables;
      if (outer !== undefined) outer.endsPage = true;
    } else if (inner === undefined && paragraph !== undefined) {
      if (paragraph.pieces.length > 0) this.#flushParagraph(paragraph);
      this.#blocks.endPart(this.#context.hasPages);
    }
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined || this.#context.form !== "text") return;
    const breaks = !this.#context.hasPages && this.#tables.length === 0 && this.#paragraphs.length === 0;
    if (breaks && paragraph.breaksBefore) this.#blocks.endPart();
    this.#flushParagraph(paragraph);
    if (breaks && paragraph.breaksBehind) this.#blocks.endPart();
  }

  /** Writes what a paragraph has so far. */
  #flushParagraph(paragraph: Paragraph): void {
    const { pieces, style, rows } = paragraph;
    if (paragraph.label !== "") pieces.push("]");
    // Where all of a paragraph was inserted or deleted, its end was, too.
    if (paragraph.end !== "" && paragraph.label !== paragraph.end && pieces.length > 0)
      pieces.push(` [paragraph end ${paragraph.end}]`);
    paragraph.label = "";
    paragraph.end = "";
    const text = pieces.splice(0).join("");
    this.#context.notes?.quote(" ");
    const mark = this.#numberParagraph(paragraph);
    const level = paragraph.level ?? style.level;
    const isHeading = level > 0 && (paragraph.isLive || text.trim() === "");
    if (style.isTitle && this.#context.findings.title === "") this.#context.findings.title = text;
    const block = { text, level: paragraph.listLevel ?? style.listLevel ?? 0, mark, isHeading };
    const table = this.#tables.at(-1);
    if (table !== undefined) {
      if (text.trim() !== "") table.cell.blocks.push(isHeading ? { ...block, level } : block);
      return;
    }
    writeBlock(this.#blocks, isHeading ? { ...block, level } : block);
    for (const row of rows.splice(0)) this.#blocks.row(row);
    // What follows on the next page is the same paragraph.
    paragraph.listId = "0";
    paragraph.isLive = false;
  }

  /** The number of a paragraph, or the mark of an item. Undefined for what is of no list. */
  #numberParagraph({ style, listId, listLevel }: Paragraph): string | undefined {
    const id = listId ?? style.listId;
    if (id === undefined || id === "0") return undefined;
    const { numbering } = this.#context;
    const at = listLevel ?? style.listLevel ?? (listId === undefined ? numbering.levelOfStyle(id, style.id) : 0);
    return numbering.count(id, at);
  }

  #endRow(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const isOuter = this.#tables.length === 1;
    const { blocks, cells, endsPage } = table.takeRow();
    if (!isOuter) {
      table.inner.add(cells);
      return;
    }
    if (endsPage) this.#blocks.endPart(this.#context.hasPages);
    if (blocks === undefined) {
      this.#blocks.row(cells);
      return;
    }
    this.#blocks.gap();
    for (const block of blocks) writeBlock(this.#blocks, block);
    this.#blocks.gap();
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    const outer = this.#tables.at(-1);
    if (outer === undefined) this.#blocks.gap();
    else outer.addTable(table);
  }
}

/** What was done, and by whom: `inserted by Ann`. */
function describeChange(name: string, attributes: Attributes): string {
  const author = nameAuthor(getAttribute(attributes, "author"));
  return `${CHANGES[name] ?? name}${author === "" ? "" : ` by ${author}`}`;
}

/** The address in `HYPERLINK "…"`, or the empty string. */
function readFieldAddress(instruction: string): string {
  return /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s\\]\S*))/i.exec(instruction)?.slice(1).find(Boolean) ?? "";
}
