/**
 * HTML as text: what a reader sees of it, in the manner of Markdown.
 * @module
 */
import { ABOVE, BlockWriter, LEFT, oneLine, raiseDigits } from "./blocks.js";
import { checkForm, convertText, FactsBuilder, createSink, type Converted, type ConvertOptions } from "./document.js";
import { describeImage } from "./drawing.js";
import { EquationText } from "./equation.js";
import { formatNumber, NUMBER_STYLES, type NumberStyle } from "./numbering.js";
import { readCount, localName, xmlSteps, type MarkupHandler } from "./xml.js";

/** Elements of which nothing is seen. */
const UNSEEN: ReadonlySet<string> = new Set(
  "script style template noscript svg iframe object canvas audio video datalist select noembed noframes".split(" "),
);

/** Elements that stand on lines of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  (
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure " +
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section " +
    "summary table tbody td tfoot th thead tr ul"
  ).split(" "),
);

/** Bytes that are read without a pause. */
const PIECE = 64 * 1024;

/**
 * Reads HTML. Parts begin at headings of the levels 1 and 2.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`; the text throws E_DOCUMENT.
 */
export async function convertHtml(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, "page of HTML", ["text", "links"]);
  const sink = createSink(new FactsBuilder("section"), options);
  const blocks = new BlockWriter(sink, options.form === "text" ? 2 : 0);
  const page = new HtmlText(blocks, {
    form: options.form,
    onTitle: (title) => {
      sink.facts.title(title);
    },
    showsTitle: true,
  });
  return Promise.resolve(convertText("page of HTML", sink, options, () => htmlSteps(pieces(bytes), page, "html")));
}

/** Reads a page of HTML, and pauses after each piece. */
export async function* htmlSteps(
  chunks: AsyncIterable<Uint8Array>,
  page: HtmlText,
  language: "html" | "xhtml",
): AsyncGenerator<void, void> {
  yield* xmlSteps(chunks, page, language);
  page.end();
  yield;
}

// oxlint-disable-next-line require-await -- what reads it takes streams
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** What is wanted of a page. */
export interface HtmlOptions {
  readonly form: ConvertOptions["form"];
  readonly onTitle: (title: string) => void;
  /** Whether the title is the first line of the text, unless the first heading is the same. */
  readonly showsTitle: boolean;
  /** What a chapter is called elsewhere: its heading, unless it begins with one. */
  readonly heading?: string;
  /** The part of a book that an address leads to. Pictures without a description are then told, too. */
  readonly findPart?: (address: string) => string;
  /** The marks of notes by the addresses of the notes, of all pages of a book. */
  readonly notes?: Map<string, string>;
}

/** Most notes that are known, and the longest mark of one. */
const MAX_NOTES = 20_000;
const MAX_MARK = 20;

/** Most columns and rows that a cell is counted for. */
const MAX_COLUMNS = 64;
const MAX_ROWS = 1000;

interface List {
  readonly style: NumberStyle | undefined;
  next: number;
}

interface Table {
  /** Rows are blocks, one after another: it places text, and has no data. */
  isLayout: boolean;
  cells: string[];
  /** How many of the cells are not joined with others. */
  own: number;
  /** Whether a cell is open. */
  isInCell: boolean;
  /** Columns and rows of the cell that is open. */
  columns: number;
  rows: number;
  /** How many more rows each column is joined with the cell above for. */
  readonly joined: number[];
}

/** Writes a page as its elements come. */
export class HtmlText implements MarkupHandler {
  readonly #blocks: BlockWriter;
  readonly #options: HtmlOptions;
  /** Depth, and that of the element which hides what it has. */
  #depth = 0;
  #unseenAt = 0;
  /** Text of the block that is open, in pieces. */
  #text: string[] = [];
  /** Whether the text that is open ends in a space, or has none yet. */
  #endsInSpace = true;
  #pre = 0;
  #heading = 0;
  #title: string | undefined;
  #heldTitle = "";
  #heldHeading: string;
  readonly #notes: Map<string, string>;
  /** The mark of the note that is open, until it has text. */
  #noteMark = "";
  readonly #lists: List[] = [];
  #mark: string | undefined;
  readonly #tables: Table[] = [];
  #base: string | undefined;
  #link: { readonly href: string; text: string } | undefined;
  /** How many elements are open that say that their text was deleted, and that it is raised. */
  #deleted = 0;
  #raised = 0;
  #isDeletion = false;
  #equation: EquationText | undefined;
  /** A reference to a note, or back from one, that is open. */
  #noteLink: { readonly href: string | undefined; text: string } | undefined;

  constructor(blocks: BlockWriter, options: HtmlOptions) {
    this.#blocks = blocks;
    this.#options = options;
    this.#heldHeading = oneLine(options.heading ?? "");
    this.#notes = options.notes ?? new Map<string, string>();
  }

  /** @internal */
  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth++;
    if (this.#equation !== undefined) {
      this.#equation.open(localName(tag), attributes);
      return;
    }
    if (this.#unseenAt > 0) {
      // A cover is mostly a drawing of one picture.
      if (localName(tag) === "image") this.#image(undefined, attributes["xlink:href"] ?? attributes["href"]);
      return;
    }
    if (UNSEEN.has(tag) || isHidden(attributes)) {
      if (!/^(?:html|body)$/.test(tag)) this.#unseenAt = this.#depth;
      return;
    }
    if (BLOCKS.has(tag)) this.#openBlock(tag, attributes);
    else this.#openInline(tag, attributes);
  }

  #openInline(tag: string, attributes: Readonly<Record<string, string>>): void {
    switch (tag) {
      case "title":
        this.#title = "";
        break;
      case "base":
        this.#base ??= attributes["href"];
        break;
      case "a":
        if (isNoteLink(attributes)) this.#openNoteLink(attributes);
        else this.#openLink(attributes["href"]);
        break;
      case "img":
        this.#image(attributes["alt"], attributes["src"]);
        break;
      case "del":
      case "s":
      case "strike":
        this.#deleted++;
        break;
      case "input":
        if (attributes["type"]?.toLowerCase() === "checkbox")
          this.#add(Object.hasOwn(attributes, "checked") ? "☒ " : "☐ ");
        break;
      case "sup":
        this.#raised++;
        break;
      case "math":
      case "m:math":
        this.#equation = new EquationText();
        break;
    }
  }

  /** @internal */
  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#equation !== undefined) {
      this.#closeEquation();
      return;
    }
    if (this.#unseenAt > 0) {
      if (depth === this.#unseenAt) this.#unseenAt = 0;
      return;
    }
    if (BLOCKS.has(tag)) this.#closeBlock(tag);
    else if (tag === "title") this.#closeTitle();
    else if (tag === "a") {
      if (this.#noteLink === undefined) this.#closeLink();
      else this.#closeNoteLink();
    } else if (tag === "del" || tag === "s" || tag === "strike") this.#deleted = Math.max(0, this.#deleted - 1);
    else if (tag === "sup") this.#raised = Math.max(0, this.#raised - 1);
  }

  /** @internal */
  text(text: string): void {
    if (this.#unseenAt > 0) return;
    if (this.#title !== undefined) {
      if (this.#title.length < 1024) this.#title += text;
      return;
    }
    if (this.#equation !== undefined) this.#equation.text(text);
    else if (this.#noteLink !== undefined) {
      if (this.#noteLink.text.length < MAX_MARK) this.#noteLink.text += text;
    } else {
      if (this.#link !== undefined && this.#link.text.length < 1024) this.#link.text += text;
      this.#add(this.#raised > 0 ? raiseDigits(text) : text);
    }
  }

  #closeEquation(): void {
    const equation = this.#equation;
    if (equation?.close() !== true) return;
    this.#equation = undefined;
    this.#add(equation.toString());
  }

  #openNoteLink(attributes: Readonly<Record<string, string>>): void {
    const isBack = hasRole(attributes, "backlink", "doc-backlink");
    this.#noteLink = { href: isBack ? undefined : attributes["href"], text: "" };
  }

  /** A reference to a note becomes its mark, and that back from it nothing. */
  #closeNoteLink(): void {
    const { href, text } = this.#noteLink ?? {};
    this.#noteLink = undefined;
    if (href === undefined) return;
    const mark = `[^${oneLine(text ?? "").replaceAll(/[[\]^]/g, "")}]`;
    if (this.#notes.size < MAX_NOTES) this.#notes.set(this.#toAddress(href), mark);
    this.#add(mark);
  }

  /** The address of a place, with the part of the book that it is in. */
  #toAddress(href: string): string {
    const hash = href.indexOf("#");
    const place = hash < 0 ? "" : href.slice(hash);
    return `${this.#options.findPart?.(hash < 0 ? href : href.slice(0, hash)) ?? ""}${place}`;
  }

  /** Ends the page: what is open is written. */
  end(): void {
    this.#closeLink();
    this.#flush();
    for (const table of this.#tables) this.#endRow(table);
    this.#tables.length = 0;
    this.#writeTitle("");
  }

  #add(text: string): void {
    if (this.#options.form === "links") return;
    if (this.#pre > 0) {
      this.#text.push(text);
      this.#endsInSpace = false;
      return;
    }
    // No-break spaces are of the text: a browser does not collapse them.
    let collapsed = text.replaceAll(/[\t\n\f\r ]+/g, " ");
    // What stood behind the number of a note, which was a link.
    if (this.#noteMark !== "") collapsed = collapsed.replace(/^[ .:)\]]+/, "");
    if (this.#endsInSpace && collapsed.startsWith(" ")) collapsed = collapsed.slice(1);
    if (collapsed === "") return;
    this.#text.push(this.#noteMark);
    this.#noteMark = "";
    this.#markDeletion(this.#deleted > 0);
    this.#endsInSpace = collapsed.endsWith(" ");
    this.#text.push(collapsed);
  }

  /** Text that was deleted is told apart from the rest of its block. */
  #markDeletion(isDeletion: boolean): void {
    if (isDeletion === this.#isDeletion) return;
    this.#isDeletion = isDeletion;
    this.#text.push(isDeletion ? "[deleted: " : "]");
  }

  #openBlock(tag: string, attributes: Readonly<Record<string, string>>): void {
    if (tag === "br") {
      this.#break();
      return;
    }
    const level = headingLevel(tag);
    // A table within a cell, or a heading, says that the outer one places text.
    if (tag === "table" || level > 0) this.#layOut();
    this.#flush();
    if (level > 0) this.#heading = level;
    else if (tag === "pre") this.#pre++;
    else if (tag === "ul" || tag === "ol" || tag === "menu" || tag === "dir") {
      const start = Number(attributes["start"] ?? 1);
      const style = tag === "ol" ? (NUMBER_STYLES.get(attributes["type"] ?? "") ?? "decimal") : undefined;
      this.#lists.push({ style, next: Number.isSafeInteger(start) ? start : 1 });
    } else if (tag === "li") this.#openItem(attributes["value"]);
    else if (tag === "table")
      this.#tables.push({ isLayout: false, cells: [], own: 0, isInCell: false, columns: 1, rows: 1, joined: [] });
    else if (tag === "tr") this.#endRow(this.#tables.at(-1));
    else if (tag === "td" || tag === "th") {
      const table = this.#tables.at(-1);
      // A cell whose end was left out, with something open in it.
      if (table?.isInCell === true) this.#closeCell();
      if (table !== undefined) {
        table.isInCell = true;
        table.columns = readCount(attributes["colspan"], 1, MAX_COLUMNS, 1);
        table.rows = readCount(attributes["rowspan"], 1, MAX_ROWS, 1);
      }
    }
    this.#openNote(attributes["id"]);
  }

  /** A note begins with its mark: once, of the elements that have its id. */
  #openNote(id: string | undefined): void {
    const address = id === undefined ? "" : this.#toAddress(`#${id}`);
    const mark = this.#notes.get(address);
    if (mark === undefined) return;
    this.#notes.delete(address);
    this.#mark = undefined;
    this.#noteMark = `${mark}: `;
  }

  #closeBlock(tag: string): void {
    if (tag === "br") return;
    if (tag === "td" || tag === "th") {
      this.#closeCell();
      return;
    }
    this.#flush();
    if (tag === "pre") this.#pre = Math.max(0, this.#pre - 1);
    else if (tag === "ul" || tag === "ol" || tag === "menu" || tag === "dir") {
      this.#lists.pop();
      if (this.#lists.length === 0) this.#blocks.gap();
    } else if (tag === "li") this.#mark = undefined;
    else if (tag === "tr") this.#endRow(this.#tables.at(-1));
    else if (tag === "table") {
      this.#endRow(this.#tables.pop());
      this.#blocks.gap();
    } else if (headingLevel(tag) > 0) this.#heading = 0;
  }

  #openItem(value: string | undefined): void {
    const list = this.#lists.at(-1);
    if (list !== undefined && /^[0-9]{1,9}$/.test(value ?? "")) list.next = Number(value);
    this.#mark = list?.style === undefined ? "-" : `${formatNumber(list.next++, list.style, true)}.`;
  }

  #break(): void {
    if (this.#options.form === "links") return;
    this.#text.push(this.#isInRow() || this.#heading > 0 ? " " : "\n");
    this.#endsInSpace = true;
  }

  /** Whether text belongs to a cell of a table of data. */
  #isInRow(): boolean {
    const table = this.#tables.at(-1);
    return table !== undefined && table.isInCell && !table.isLayout;
  }

  /** Writes the block that is open, or puts it into its cell as it is. */
  #flush(): void {
    this.#markDeletion(false);
    const text = this.#text.join("");
    if (this.#isInRow()) {
      // Blocks of one cell become one text; it is written with its row.
      if (text !== "" && !this.#endsInSpace) this.#text.push(" ");
      this.#endsInSpace = true;
      return;
    }
    this.#text = [];
    this.#endsInSpace = true;
    if (text.trim() === "") return;
    if (this.#heading > 0) {
      this.#writeTitle(oneLine(text));
      this.#blocks.heading(text, this.#heading);
      return;
    }
    this.#writeTitle("");
    if (this.#mark === undefined) {
      this.#blocks.paragraph(text);
      return;
    }
    this.#blocks.item(text, this.#lists.length - 1, this.#mark);
    // Further blocks of an item are indented as it is, without a mark.
    this.#mark = undefined;
  }

  #closeCell(): void {
    const table = this.#tables.at(-1);
    if (table === undefined || table.isLayout) {
      this.#flush();
    } else if (table.isInCell) {
      this.#markDeletion(false);
      this.#pushCell(table, this.#text.join(""));
      this.#text = [];
      this.#endsInSpace = true;
    }
    if (table !== undefined) table.isInCell = false;
  }

  /** Adds a cell where there is room for it, and marks for those that are joined with it. */
  #pushCell(table: Table, text: string): void {
    const { cells, joined, columns, rows } = table;
    this.#fillJoined(table);
    const at = cells.length;
    table.own++;
    for (let column = at; column < at + columns; column++) {
      cells.push(column === at ? text : LEFT);
      if (rows > 1 && column < MAX_COLUMNS) joined[column] = rows - 1;
    }
  }

  /** Marks the cells that are joined with those above. */
  #fillJoined({ cells, joined }: Table): void {
    for (let left = joined[cells.length] ?? 0; left > 0; left = joined[cells.length] ?? 0) {
      joined[cells.length] = left - 1;
      cells.push(ABOVE);
    }
  }

  #endRow(table: Table | undefined): void {
    if (table === undefined) return;
    if (table.isInCell) this.#closeCell();
    const { own } = table;
    if (own > 0) this.#fillJoined(table);
    const { cells } = table;
    table.cells = [];
    table.own = 0;
    if (cells.length === 0) return;
    this.#writeTitle("");
    // A cell that has its row for itself is joined with nothing that is seen.
    this.#blocks.row(own === 1 && !cells.includes(ABOVE) ? cells.filter((cell) => cell !== LEFT) : cells);
  }

  /** All tables around this place text: what they have so far becomes blocks. */
  #layOut(): void {
    for (const table of this.#tables) {
      if (table.isLayout || !table.isInCell) continue;
      table.isLayout = true;
      this.#writeTitle("");
      for (const cell of table.cells) if (cell !== LEFT && cell !== ABOVE) this.#blocks.paragraph(cell);
      table.cells = [];
      table.own = 0;
    }
  }

  #image(alt: string | undefined, address: string | undefined): void {
    const { findPart } = this.#options;
    const text = oneLine(alt ?? "");
    // On a page of the web, what has no description is decoration.
    if (text === "" && (findPart === undefined || alt !== undefined)) return;
    if (this.#link !== undefined && text !== "") this.#link.text += ` ${text} `;
    this.#add(describeImage(text, "", address === undefined ? "" : findPart?.(address)));
  }

  #openLink(href: string | undefined): void {
    this.#closeLink();
    if (href !== undefined && this.#options.form === "links") this.#link = { href, text: "" };
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined) this.#blocks.link(link.text, resolveHref(link.href, this.#base));
  }

  #closeTitle(): void {
    const title = oneLine(this.#title ?? "");
    this.#title = undefined;
    this.#options.onTitle(title);
    if (this.#options.showsTitle && this.#options.form === "text" && this.#heldTitle === "") this.#heldTitle = title;
  }

  /** Writes the title before the first block, unless that is the same. */
  #writeTitle(heading: string): void {
    const held = this.#heldHeading;
    this.#heldHeading = "";
    if (held !== "" && heading === "" && this.#options.form === "text") this.#blocks.heading(held, 1);
    const title = this.#heldTitle;
    this.#heldTitle = "";
    if (title !== "" && title !== heading) this.#blocks.paragraph(title);
  }
}

function headingLevel(tag: string): number {
  return tag.length === 2 && /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0;
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  if (Object.hasOwn(attributes, "hidden")) return attributes["hidden"] !== "until-found";
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes["style"]?.slice(0, 4096) ?? "");
}

/** Whether an element has one of these roles in a book (EPUB 3 Structural Semantics, DPUB-ARIA). */
function hasRole(attributes: Readonly<Record<string, string>>, type: string, role: string): boolean {
  return (
    (attributes["epub:type"] ?? "").split(/\s+/, 20).includes(type) ||
    (attributes["role"] ?? "").split(/\s+/, 20).includes(role)
  );
}

function isNoteLink(attributes: Readonly<Record<string, string>>): boolean {
  return hasRole(attributes, "noteref", "doc-noteref") || hasRole(attributes, "backlink", "doc-backlink");
}

/** An address against the base of its page; as it is where that is none, or no address. */
function resolveHref(href: string, base: string | undefined): string {
  const trimmed = href.trim();
  if (base === undefined || trimmed.length > 4096) return trimmed;
  try {
    return new URL(trimmed, base).href;
  } catch {
    return trimmed;
  }
}
