/**
 * HTML as text: what a reader sees of it, in the manner of Markdown.
 * @module
 */
import { BlockWriter, oneLine } from "./blocks.js";
import { checkForm, converted, FactsBuilder, sinkOf, type Converted, type ConvertOptions } from "./document.js";
import { xmlSteps, type MarkupHandler } from "./xml.js";

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
  const sink = sinkOf(new FactsBuilder("section"), options);
  const blocks = new BlockWriter(sink, options.form === "text" ? 2 : 0);
  const page = new HtmlText(blocks, {
    form: options.form,
    onTitle: (title) => {
      sink.facts.title(title);
    },
    showsTitle: true,
  });
  return Promise.resolve(converted("page of HTML", sink, options, () => htmlSteps(pieces(bytes), page, "html")));
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
}

interface List {
  readonly isOrdered: boolean;
  next: number;
}

interface Table {
  /** Rows are blocks, one after another: it places text, and has no data. */
  isLayout: boolean;
  cells: string[];
  /** Whether a cell is open. */
  isInCell: boolean;
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
  readonly #lists: List[] = [];
  #mark: string | undefined;
  readonly #tables: Table[] = [];
  #base: string | undefined;
  #link: { readonly href: string; text: string } | undefined;

  constructor(blocks: BlockWriter, options: HtmlOptions) {
    this.#blocks = blocks;
    this.#options = options;
  }

  /** @internal */
  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth++;
    if (this.#unseenAt > 0) return;
    if (UNSEEN.has(tag) || isHidden(attributes)) {
      if (!/^(?:html|body)$/.test(tag)) this.#unseenAt = this.#depth;
      return;
    }
    if (BLOCKS.has(tag)) this.#openBlock(tag, attributes);
    else if (tag === "title") this.#title = "";
    else if (tag === "base") this.#base ??= attributes["href"];
    else if (tag === "a") this.#openLink(attributes["href"]);
    else if (tag === "img") this.#image(attributes["alt"]);
  }

  /** @internal */
  close(tag: string): void {
    const depth = this.#depth--;
    if (this.#unseenAt > 0) {
      if (depth === this.#unseenAt) this.#unseenAt = 0;
      return;
    }
    if (BLOCKS.has(tag)) this.#closeBlock(tag);
    else if (tag === "title") this.#closeTitle();
    else if (tag === "a") this.#closeLink();
  }

  /** @internal */
  text(text: string): void {
    if (this.#unseenAt > 0) return;
    if (this.#title !== undefined) {
      if (this.#title.length < 1024) this.#title += text;
      return;
    }
    if (this.#link !== undefined && this.#link.text.length < 1024) this.#link.text += text;
    this.#add(text);
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
    if (this.#endsInSpace && collapsed.startsWith(" ")) collapsed = collapsed.slice(1);
    if (collapsed === "") return;
    this.#endsInSpace = collapsed.endsWith(" ");
    this.#text.push(collapsed);
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
      this.#lists.push({ isOrdered: tag === "ol", next: Number.isSafeInteger(start) ? start : 1 });
    } else if (tag === "li") this.#openItem();
    else if (tag === "table") this.#tables.push({ isLayout: false, cells: [], isInCell: false });
    else if (tag === "tr") this.#endRow(this.#tables.at(-1));
    else if (tag === "td" || tag === "th") {
      const table = this.#tables.at(-1);
      // A cell whose end was left out, with something open in it.
      if (table?.isInCell === true) this.#closeCell();
      if (table !== undefined) table.isInCell = true;
    }
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

  #openItem(): void {
    const list = this.#lists.at(-1);
    this.#mark = list?.isOrdered === true ? `${list.next++}.` : "-";
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
      table.cells.push(this.#text.join(""));
      this.#text = [];
      this.#endsInSpace = true;
    }
    if (table !== undefined) table.isInCell = false;
  }

  #endRow(table: Table | undefined): void {
    if (table === undefined) return;
    if (table.isInCell) this.#closeCell();
    const { cells } = table;
    table.cells = [];
    if (cells.length === 0) return;
    this.#writeTitle("");
    this.#blocks.row(cells);
  }

  /** All tables around this place text: what they have so far becomes blocks. */
  #layOut(): void {
    for (const table of this.#tables) {
      if (table.isLayout || !table.isInCell) continue;
      table.isLayout = true;
      this.#writeTitle("");
      for (const cell of table.cells) this.#blocks.paragraph(cell);
      table.cells = [];
    }
  }

  #image(alt: string | undefined): void {
    const text = oneLine(alt ?? "");
    if (text === "") return;
    if (this.#link !== undefined) this.#link.text += ` ${text} `;
    this.#add(`[image: ${text}]`);
  }

  #openLink(href: string | undefined): void {
    this.#closeLink();
    if (href !== undefined && this.#options.form === "links") this.#link = { href, text: "" };
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined) this.#blocks.link(link.text, resolved(link.href, this.#base));
  }

  #closeTitle(): void {
    const title = oneLine(this.#title ?? "");
    this.#title = undefined;
    this.#options.onTitle(title);
    if (this.#options.showsTitle && this.#options.form === "text" && this.#heldTitle === "") this.#heldTitle = title;
  }

  /** Writes the title before the first block, unless that is the same. */
  #writeTitle(heading: string): void {
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

/** An address against the base of its page; as it is where that is none, or no address. */
function resolved(href: string, base: string | undefined): string {
  const trimmed = href.trim();
  if (base === undefined || trimmed.length > 4096) return trimmed;
  try {
    return new URL(trimmed, base).href;
  } catch {
    return trimmed;
  }
}
