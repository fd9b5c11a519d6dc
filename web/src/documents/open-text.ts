/**
 * Text of OpenDocument texts, presentations and drawings, with marks for what stands elsewhere or was changed.
 * @module
 */
import { oneLine, raiseDigits, type BlockWriter } from "./blocks.js";
import { type Chart, describeChart, listChartRows } from "./chart.js";
import type { DocumentForm } from "./document.js";
import { describeImage, describeObject } from "./drawing.js";
import { MAX_NOTES, nameAuthor, type Note, type NoteKind, NoteWriter, readDay } from "./notes.js";
import { MAX_CELL, toMark, ParagraphText, UNSEEN } from "./open-sheets.js";
import { OpenLists } from "./open-lists.js";
import type { OpenStyles } from "./open-styles.js";
import { OpenTable } from "./open-table.js";
import { readCount, type MarkupHandler } from "./xml.js";

/** Most rows that are kept of a row that is repeated in a text. */
const MAX_ROW_REPEAT = 1000;

/** Most changes that are known, and most text of all that were deleted. */
const MAX_CHANGES = 20_000;
const MAX_DELETED = 4_000_000;

/** Most drawings that are described, and footers. */
const MAX_DRAWINGS = 10_000;
const MAX_FOOTERS = 100;

/** Longest title or description of a drawing. */
const MAX_ALT = 4096;

type Attributes = Readonly<Record<string, string>>;

/** What text is read with. */
export interface OpenContext {
  readonly form: DocumentForm;
  readonly styles: OpenStyles;
  /** The charts and equations of a document, by the folder that each has in it. */
  readonly charts: ReadonlyMap<string, Chart>;
  readonly equations: ReadonlyMap<string, string>;
  /** Whether it is made of slides, or of drawn pages. */
  readonly hasSlides: boolean;
  /** Whether the file says where its pages ended when it was last shown. */
  readonly hasPages: boolean;
}

/** What was found in a document, besides its text. */
export interface OpenFindings {
  changes: number;
  hidden: number;
}

interface Paragraph {
  text: ParagraphText;
  readonly isHeading: boolean;
  /** The level of a heading, from 1, or of an item, from 0. */
  readonly level: number;
  /** What stands before it; undefined for what is of no list. */
  mark: string | undefined;
  /** What is said of the text that was added last: `inserted by Ann`. */
  label: string;
  isHidden: boolean;
  readonly rows: (readonly string[])[];
}

interface OpenNote {
  readonly kind: NoteKind;
  readonly id: string;
  text: string;
  author: string;
  day: string;
  readonly parent: string | undefined;
  readonly isResolved: boolean;
  /** How many paragraphs were open where it stands. */
  readonly at: number;
}

interface Change {
  kind: string;
  author: string;
  text: string;
}

interface Frame {
  readonly name: string;
  title: string;
  description: string;
  hasImage: boolean;
  /** A table brings a picture of itself. */
  hasTable: boolean;
  image: string;
  object: string;
  media: string;
}

/** A page of a presentation or drawing. Its text is held back: its title comes first. */
interface Page {
  readonly isHidden: boolean;
  readonly footer: string;
  readonly title: string[];
  readonly held: (() => void)[];
  readonly notes: (() => void)[];
  chars: number;
}

/** Elements that have a title, a description, or something to see. */
const FRAMES: ReadonlySet<string> = new Set(
  "draw:frame draw:custom-shape draw:g draw:rect draw:ellipse draw:path draw:polygon draw:line draw:connector draw:control".split(
    " ",
  ),
);

/** Reads the body of a text, a presentation or a drawing; of a spreadsheet its links. */
export class OpenText implements MarkupHandler {
  readonly findings: OpenFindings = { changes: 0, hidden: 0 };
  readonly #blocks: BlockWriter;
  readonly #context: OpenContext;
  readonly #notes: Readonly<Record<NoteKind, Map<string, Note>>> = {
    footnote: new Map(),
    endnote: new Map(),
    comment: new Map(),
  };
  readonly #writer = new NoteWriter(this.#notes);
  #unseen = 0;
  #depth = 0;
  readonly #paragraphs: Paragraph[] = [];
  readonly #lists: OpenLists;
  readonly #tables: OpenTable[] = [];
  #rowRepeat = 1;
  readonly #openNotes: OpenNote[] = [];
  #noteCount = 0;
  /** Changes by id, and the one that is described. */
  readonly #changes = new Map<string, Change>();
  #change: Change | undefined;
  #deleted = 0;
  /** The insertions that are open, by id. */
  readonly #insertions = new Map<string, string>();
  /** What takes text in place of a paragraph: an author, a title. */
  #take: ((text: string) => void) | undefined;
  /** Whether each span and section that is open is hidden, and whether spans are raised. */
  readonly #spans: (readonly [isHidden: boolean, isRaised: boolean])[] = [];
  readonly #sections: boolean[] = [];
  #hidden = 0;
  #raised = 0;
  readonly #links: { readonly href: string; text: string }[] = [];
  readonly #frames: Frame[] = [];
  #drawings = 0;
  readonly #written = new Set<Chart>();
  #page: Page | undefined;
  #isTitle = 0;
  #isSpeech = 0;
  /** Footers of slides by name, and those that were written. */
  readonly #footers = new Map<string, string>();
  #footer: string | undefined;
  #hasText = false;

  constructor(blocks: BlockWriter, context: OpenContext) {
    this.#blocks = blocks;
    this.#context = context;
    this.#lists = new OpenLists(context.styles);
  }

  open(tag: string, attributes: Attributes): void {
    this.#depth++;
    const isSeen = tag === "text:tracked-changes" || (tag === "dc:date" && this.#openNotes.length > 0);
    const isUnseen = (UNSEEN.has(tag) && !isSeen) || tag === "meta:creator-initials" || isRepeated(attributes);
    if (this.#unseen > 0 || isUnseen) {
      this.#unseen++;
      return;
    }
    if (this.#change !== undefined || tag === "text:changed-region") {
      this.#openChange(tag, attributes);
      return;
    }
    const mark = toMark(tag, attributes);
    if (mark !== "") this.#write(mark, true);
    else if (FRAMES.has(tag)) this.#openFrame(attributes);
    else if (!this.#openBlock(tag, attributes) && !this.#openDrawing(tag, attributes))
      this.#openInline(tag, attributes);
  }

  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    if (tag === "dc:creator" || tag === "dc:date" || tag === "svg:title" || tag === "svg:desc") this.#take = undefined;
    if (this.#change !== undefined) {
      if (tag === "text:changed-region") this.#change = undefined;
      return;
    }
    if (FRAMES.has(tag)) this.#endFrame();
    if (depth === this.#isTitle) this.#isTitle = 0;
    if (depth === this.#isSpeech) this.#isSpeech = 0;
    switch (tag) {
      case "text:h":
      case "text:p":
        this.#endParagraph();
        break;
      case "text:list":
        this.#endList();
        break;
      case "text:a":
      case "draw:a": {
        const link = this.#links.pop();
        if (link !== undefined && !link.href.startsWith("#")) this.#blocks.link(link.text, link.href);
        break;
      }
      case "text:span": {
        const [isHidden, isRaised] = this.#spans.pop() ?? [];
        if (isHidden === true) this.#hidden--;
        if (isRaised === true) this.#raised--;
        break;
      }
      case "text:section":
        if (this.#sections.pop() === true) this.#hidden--;
        break;
      case "text:note":
      case "office:annotation":
        this.#endNote();
        break;
      case "table:table-cell":
      case "table:covered-table-cell":
        this.#tables.at(-1)?.endCell();
        break;
      case "table:table-row":
        this.#endRow();
        break;
      case "table:table":
        this.#endTable();
        break;
      case "draw:page":
        this.#endPage();
        break;
      case "presentation:footer-decl":
        this.#footer = undefined;
        break;
    }
  }

  text(text: string): void {
    if (this.#unseen > 0) return;
    if (this.#footer !== undefined) {
      const before = this.#footers.get(this.#footer) ?? "";
      if (before.length < 1000 && this.#footers.size < MAX_FOOTERS) this.#footers.set(this.#footer, before + text);
    } else if (this.#change === undefined || this.#take !== undefined) this.#write(text, false);
    else if (this.#change.kind === "deletion" && this.#deleted < MAX_DELETED) {
      this.#deleted += text.length;
      this.#change.text += text;
    }
  }

  /** Writes the notes that the part refers to. */
  writeNotes(): void {
    if (this.#context.form === "text") this.#writer.write(this.#blocks);
  }

  #openChange(tag: string, attributes: Attributes): void {
    const change = this.#change;
    switch (tag) {
      case "text:changed-region":
        this.#change = { kind: "", author: "", text: "" };
        if (this.#changes.size < MAX_CHANGES)
          this.#changes.set(attributes["text:id"] ?? attributes["xml:id"] ?? "", this.#change);
        break;
      case "text:insertion":
      case "text:deletion":
      case "text:format-change":
        if (change !== undefined) change.kind = tag.slice("text:".length);
        break;
      case "dc:creator":
        this.#take = (text) => {
          if (change !== undefined && change.author.length < MAX_ALT) change.author += text;
        };
        break;
      case "text:p":
      case "text:h":
        if (change !== undefined && change.text !== "") change.text += " ";
        break;
    }
  }

  /** What has blocks, or is one. Gives whether the element is. */
  #openBlock(tag: string, attributes: Attributes): boolean {
    switch (tag) {
      case "text:h":
      case "text:p":
        this.#openParagraph(tag === "text:h", attributes);
        return true;
      case "text:list":
        this.#lists.open(attributes);
        return true;
      case "text:list-item":
      case "text:list-header":
        this.#lists.openItem(tag === "text:list-item", attributes["text:start-value"]);
        return true;
      case "text:section": {
        const isHidden = attributes["text:display"] === "none" || attributes["text:is-hidden"] === "true";
        this.#sections.push(isHidden);
        if (isHidden) this.#hidden++;
        return true;
      }
      case "text:soft-page-break":
        if (this.#context.hasPages) this.#breakPage();
        return true;
      case "table:table": {
        const frame = this.#frames.at(-1);
        if (frame !== undefined) frame.hasTable = true;
        this.#tables.push(new OpenTable());
        return true;
      }
      case "table:table-row":
        this.#rowRepeat = readCount(attributes["table:number-rows-repeated"], 1, MAX_ROW_REPEAT, 1);
        return true;
      case "table:table-cell":
      case "table:covered-table-cell":
        this.#tables.at(-1)?.openCell(tag === "table:covered-table-cell", attributes);
        return true;
      default:
        return false;
    }
  }

  #openInline(tag: string, attributes: Attributes): void {
    switch (tag) {
      case "text:a":
      case "draw:a":
        if (this.#context.form === "links") this.#links.push({ href: attributes["xlink:href"] ?? "", text: "" });
        break;
      case "text:span": {
        const name = attributes["text:style-name"];
        const span = [this.#context.styles.isHidden(name), this.#context.styles.isRaised(name)] as const;
        this.#spans.push(span);
        if (span[0]) this.#hidden++;
        if (span[1]) this.#raised++;
        break;
      }
      case "text:hidden-text":
        if (attributes["text:is-hidden"] !== "true") break;
        this.#hidden++;
        this.#write(attributes["text:string-value"] ?? "", false);
        this.#hidden--;
        this.#unseen++;
        break;
      case "text:hidden-paragraph": {
        const paragraph = this.#paragraphs.at(-1);
        if (paragraph !== undefined && attributes["text:is-hidden"] === "true") paragraph.isHidden = true;
        break;
      }
      case "text:change":
        this.#writeDeletion(attributes["text:change-id"] ?? "");
        break;
      case "text:change-start": {
        const id = attributes["text:change-id"] ?? "";
        const change = this.#changes.get(id);
        if (change?.kind !== "insertion") break;
        this.findings.changes++;
        if (this.#insertions.size < 10) this.#insertions.set(id, nameChange("inserted", change));
        break;
      }
      case "text:change-end":
        this.#insertions.delete(attributes["text:change-id"] ?? "");
        break;
      case "text:note":
        this.#openNote(attributes["text:note-class"] === "endnote" ? "endnote" : "footnote", attributes);
        break;
      case "office:annotation":
        this.#openNote("comment", attributes);
        break;
      case "office:annotation-end":
        this.#writer.closeQuote(attributes["office:name"] ?? "");
        break;
      case "dc:creator":
      case "dc:date":
        this.#takeNote(tag);
        break;
    }
  }

  #openDrawing(tag: string, attributes: Attributes): boolean {
    const frame = this.#frames.at(-1);
    switch (tag) {
      case "svg:title":
      case "svg:desc":
        this.#take = (text) => {
          if (frame === undefined) return;
          if (tag === "svg:title" && frame.title.length < MAX_ALT) frame.title += text;
          else if (tag === "svg:desc" && frame.description.length < MAX_ALT) frame.description += text;
        };
        return true;
      case "draw:image":
        if (frame !== undefined) {
          frame.hasImage = true;
          frame.image ||= attributes["xlink:href"] ?? "";
        }
        return true;
      case "draw:object":
      case "draw:object-ole":
        if (frame !== undefined) frame.object ||= (attributes["xlink:href"] ?? "").replaceAll(/^\.\/|\/$/g, "");
        return true;
      case "draw:plugin":
        if (frame !== undefined) frame.media ||= attributes["xlink:href"] ?? "";
        return true;
      case "draw:page":
        if (this.#context.hasSlides) this.#openPage(attributes);
        return true;
      case "presentation:notes":
        this.#isSpeech = this.#depth;
        return true;
      case "presentation:footer-decl":
        this.#footer = attributes["presentation:name"] ?? "";
        return true;
      default:
        return false;
    }
  }

  /** Adds text to the paragraph that is open, behind what is said of it. */
  #write(text: string, isExact: boolean): void {
    if (this.#take !== undefined) {
      this.#take(text);
      return;
    }
    const link = this.#links.at(-1);
    if (link !== undefined && link.text.length < 1024) link.text += text;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined || this.#context.form !== "text") return;
    const said = [...this.#insertions.values(), ...(this.#hidden > 0 || paragraph.isHidden ? ["hidden"] : [])];
    this.#relabel(paragraph, said.join(", "));
    if (isExact) paragraph.text.exact(text);
    else paragraph.text.add(this.#raised > 0 ? raiseDigits(text) : text);
    if (this.#openNotes.length === 0) this.#writer.quote(text);
  }

  #relabel(paragraph: Paragraph, label: string): void {
    if (paragraph.label === label) return;
    if (paragraph.label !== "") paragraph.text.exact("]");
    if (label !== "") paragraph.text.exact(`[${label}: `);
    if (label.includes("hidden")) this.findings.hidden++;
    paragraph.label = label;
  }

  /** What was deleted stands apart from the text; here is where it was. */
  #writeDeletion(id: string): void {
    const change = this.#changes.get(id);
    const paragraph = this.#paragraphs.at(-1);
    if (change?.kind !== "deletion" || paragraph === undefined || this.#context.form !== "text") return;
    this.findings.changes++;
    const text = change.text.replaceAll(/[\t\n\r ]+/g, " ");
    this.#relabel(paragraph, "");
    paragraph.text.exact(`[${nameChange("deleted", change)}: ${text}]`);
    // Each is written once, wherever it is said to have been.
    change.text = "";
  }

  #openParagraph(isOutlined: boolean, attributes: Attributes): void {
    const { styles } = this.#context;
    const style = attributes["text:style-name"];
    const styled = isOutlined ? 0 : styles.findHeading(style);
    const isHeading = isOutlined || styled > 0;
    const isTop = this.#paragraphs.length === 0 && this.#tables.length === 0 && this.#page === undefined;
    if (isTop && styles.breaksBefore(style)) this.#endPart();
    const outlined = readCount(attributes["text:outline-level"], 1, 10, 1);
    const level = isHeading ? styled || outlined : this.#lists.level;
    let mark = this.#lists.takeMark(style);
    if (mark === undefined && isOutlined && attributes["text:is-list-header"] !== "true")
      mark = this.#lists.countHeading(level, attributes["text:start-value"]);
    this.#paragraphs.push({
      text: new ParagraphText(),
      isHeading,
      level,
      mark,
      label: "",
      isHidden: styles.isHidden(style),
      rows: [],
    });
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined || this.#context.form !== "text") return;
    this.#relabel(paragraph, "");
    if (this.#openNotes.length === 0) this.#writer.quote(" ");
    const text = paragraph.text.toString();
    const note = this.#openNotes.at(-1);
    const table = this.#tables.at(-1);
    const { mark = "" } = paragraph;
    if (note !== undefined && this.#paragraphs.length >= note.at) {
      if (note.text.length < MAX_CELL) note.text += ` ${text}`;
    } else if (table !== undefined) table.cell.push(mark === "" ? text : `${mark} ${text}`);
    else if (this.#isTitle > 0 && this.#isSpeech === 0 && this.#page !== undefined) this.#page.title.push(text);
    else this.#writeParagraph(paragraph, text);
  }

  #writeParagraph({ isHeading, level, mark, rows }: Paragraph, text: string): void {
    if (text.trim() !== "") this.#hasText = true;
    this.#later(() => {
      if (isHeading)
        this.#blocks.heading(mark === undefined || mark === "" || mark === "-" ? text : `${mark} ${text}`, level);
      else if (mark === undefined) this.#blocks.paragraph(text);
      else this.#blocks.item(text, level, mark);
      for (const row of rows) this.#blocks.row(row);
    }, text.length + rows.length);
  }

  /** Ends the part where the file says that a page ended. What follows is of the same paragraph. */
  #breakPage(): void {
    if (this.#tables.length > 1 || this.#paragraphs.length > 1 || this.#openNotes.length > 0) return;
    const [paragraph] = this.#paragraphs;
    if (paragraph !== undefined && this.#tables.length === 0 && paragraph.text.pieces.length > 0) {
      this.#relabel(paragraph, "");
      this.#writeParagraph(paragraph, paragraph.text.toString());
      paragraph.text = new ParagraphText();
      paragraph.rows.length = 0;
      if (paragraph.mark !== undefined) paragraph.mark = "";
    }
    this.#endPart();
  }

  #endPart(): void {
    if (this.#context.form === "text" && this.#page === undefined && this.#hasText)
      this.#blocks.endPart(this.#context.hasPages);
  }

  #endList(): void {
    if (this.#lists.close())
      this.#later(() => {
        this.#blocks.gap();
      });
  }

  #openNote(kind: NoteKind, attributes: Attributes): void {
    const id = attributes["office:name"] ?? `#${this.#noteCount}`;
    this.#noteCount++;
    const mark = this.#writer.refer(kind, id);
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) {
      this.#relabel(paragraph, "");
      paragraph.text.exact(mark);
    }
    if (kind === "comment") this.#writer.openQuote(id);
    this.#openNotes.push({
      kind,
      id,
      text: "",
      author: "",
      day: "",
      parent: attributes["loext:parent-name"],
      isResolved: attributes["loext:resolved"] === "true",
      at: this.#paragraphs.length,
    });
  }

  #takeNote(tag: string): void {
    const note = this.#openNotes.at(-1);
    this.#take = (text) => {
      if (note === undefined) return;
      if (tag === "dc:date") note.day ||= readDay(text);
      else if (note.author.length < MAX_ALT) note.author += text;
    };
  }

  #endNote(): void {
    const note = this.#openNotes.pop();
    if (note === undefined || this.#notes[note.kind].size >= MAX_NOTES) return;
    const { kind, id, text, author, day, parent, isResolved } = note;
    const whole = { text, author: nameAuthor(author), day, isResolved, ...(parent !== undefined && { parent }) };
    this.#notes[kind].set(id, whole);
  }

  #openFrame(attributes: Attributes): void {
    if (/^(?:title|subtitle-title)$/.test(attributes["presentation:class"] ?? "")) this.#isTitle ||= this.#depth;
    this.#frames.push({
      name: attributes["draw:name"] ?? "",
      title: "",
      description: "",
      hasImage: false,
      hasTable: false,
      image: "",
      object: "",
      media: "",
    });
  }

  #endFrame(): void {
    const frame = this.#frames.pop();
    if (frame === undefined || this.#context.form !== "text" || this.#isSpeech > 0) return;
    const { name, title, description, hasImage, hasTable, image, object, media } = frame;
    const alt = [oneLine(title), oneLine(description)].filter((each) => each !== "").join(": ");
    const chart = this.#context.charts.get(object);
    if (chart !== undefined) {
      // One chart may be referred to again and again.
      const rows = this.#written.has(chart) ? [] : listChartRows(chart);
      this.#written.add(chart);
      this.#describe(describeChart(chart), rows);
    } else if (object !== "") this.#describe(this.#context.equations.get(object) ?? describeObject(alt, object));
    else if (media !== "") this.#describe(`[media: ${oneLine(media.slice(0, 200))}]`);
    else if (hasImage && !hasTable) this.#describe(describeImage(alt, name, image));
    else if (alt !== "") this.#describe(describeImage(alt));
  }

  /** Writes what a drawing is of, where it stands. */
  #describe(text: string, rows: readonly (readonly string[])[] = []): void {
    if (this.#drawings++ >= MAX_DRAWINGS) return;
    const paragraph = this.#paragraphs.at(-1);
    const table = this.#tables.at(-1);
    if (paragraph !== undefined) {
      this.#write(text, true);
      if (table === undefined) paragraph.rows.push(...rows);
    } else if (table !== undefined) table.cell.push(text);
    else
      this.#later(() => {
        this.#blocks.paragraph(text);
        for (const row of rows) this.#blocks.row(row);
      }, text.length + rows.length);
  }

  #endRow(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const cells = table.takeRow();
    if (this.#tables.length > 1) table.inner.add(cells);
    else if (this.#context.form === "text") {
      while (cells.at(-1) === "") cells.pop();
      const repeat = this.#rowRepeat;
      this.#hasText = true;
      this.#later(() => {
        for (let n = 0; n < repeat; n++) this.#blocks.row(cells);
      }, cells.length);
    }
    this.#rowRepeat = 1;
  }

  #endTable(): void {
    const table = this.#tables.pop();
    const outer = this.#tables.at(-1);
    if (table === undefined) return;
    if (outer === undefined)
      this.#later(() => {
        this.#blocks.gap();
      });
    else outer.addTable(table);
  }

  #openPage(attributes: Attributes): void {
    if (this.#context.form === "text") this.#blocks.part();
    this.#page = {
      isHidden: this.#context.styles.isHiddenPage(attributes["draw:style-name"]),
      footer: attributes["presentation:use-footer-name"] ?? "",
      title: [],
      held: [],
      notes: [],
      chars: 0,
    };
  }

  /** Writes now, or once the title of the page is known. */
  #later(write: () => void, chars = 0): void {
    const page = this.#page;
    if (page === undefined) {
      if (this.#context.form === "text") write();
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
    if (page === undefined || this.#context.form !== "text") return;
    const title = oneLine(page.title.join(" "));
    this.#blocks.heading(page.isHidden && title !== "" ? `${title} (hidden)` : title, 1);
    if (page.isHidden && title === "") this.#blocks.paragraph("(hidden)");
    for (const write of page.held) write();
    if (page.notes.length > 0) {
      this.#blocks.paragraph("Notes:");
      for (const write of page.notes) write();
    }
    const footer = this.#footers.get(page.footer);
    // It is told on the first slide that has it.
    if (footer !== undefined) this.#blocks.note("[footer]", footer);
    this.#footers.set(page.footer, "");
    this.#writer.write(this.#blocks);
  }
}

/** Whether a shape says the same on every page: its number, a date. */
function isRepeated(attributes: Attributes): boolean {
  return /^(?:page-number|date-time|header|footer|page)$/.test(attributes["presentation:class"] ?? "");
}

/** What was done, and by whom: `inserted by Ann`. */
function nameChange(what: string, { author }: Change): string {
  const name = nameAuthor(author);
  return name === "" ? what : `${what} by ${name}`;
}
