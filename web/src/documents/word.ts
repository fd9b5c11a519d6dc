/**
 * Documents of Word (OOXML) as text.
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
} from "./document.js";
import { DocumentPackage, relationshipId, type Relationship } from "./package.js";
import { attributeOf, countOf, localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";

const KIND = "Word document";

/** Most styles of a document that are known. */
const MAX_STYLES = 20_000;

/** Most columns that one cell of a table is counted for. */
const MAX_SPAN = 63;

/** Elements of which nothing is text: what was deleted, the older twin of a drawing, pronunciations. */
const UNSEEN: ReadonlySet<string> = new Set(["Fallback", "del", "moveFrom", "rt", "instrText", "delInstrText"]);

type Attributes = Readonly<Record<string, string>>;

/** What a style says of its paragraphs, with those that it is based on. */
interface Style {
  readonly level: number;
  readonly isList: boolean;
  readonly isTitle: boolean;
}

const PLAIN: Style = { level: 0, isList: false, isTitle: false };

/**
 * Reads a document of Word: paragraphs, headings, lists and tables, with footnotes, endnotes and comments behind them. Parts begin at
 * headings of level 1.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`, E_DOCUMENT for what is no such document, or
 * encrypted, E_TOO_LARGE.
 */
export async function convertWord(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".docx", options);
  const main = await source.mainPart("word/document.xml");
  const sink = sinkOf(new FactsBuilder("section"), options);
  return converted(KIND, sink, options, async function* () {
    const relations = await source.relationships(main);
    const styles = await readStyles(source, relations);
    const blocks = new BlockWriter(sink, options.form === "text" ? 1 : 0);
    const body = new BodyText(blocks, styles, relations, options.form, (title) => {
      sink.facts.title(title);
    });
    yield* xmlSteps(source.read(main), body);
    if (!body.isDocument) throw damaged(KIND);
    for (const { type, mark, element } of options.form === "text" ? NOTES : []) {
      const part = partOf(relations, type);
      if (part === undefined || !source.has(part)) continue;
      yield* xmlSteps(source.read(part), new NoteText(blocks, element, mark));
    }
    sink.facts.title(await source.title());
  });
}

interface NoteKind {
  readonly type: string;
  readonly element: string;
  readonly mark: (id: string, author: string) => string;
}

const NOTES: readonly NoteKind[] = [
  { type: "footnotes", element: "footnote", mark: (id) => `[^${id}]:` },
  { type: "endnotes", element: "endnote", mark: (id) => `[^e${id}]:` },
  {
    type: "comments",
    element: "comment",
    mark: (id, author) => `[comment ${id}]${author === "" ? "" : ` ${author}`}:`,
  },
];

/** The part that the first relationship of a type leads to. */
export function partOf(relations: ReadonlyMap<string, Relationship>, type: string): string | undefined {
  for (const relation of relations.values()) if (relation.type === type && !relation.isExternal) return relation.target;
  return undefined;
}

interface RawStyle {
  name: string;
  basedOn: string | undefined;
  level: number | undefined;
  isList: boolean | undefined;
}

/** The styles of paragraphs by id. */
async function readStyles(
  source: DocumentPackage,
  relations: ReadonlyMap<string, Relationship>,
): Promise<ReadonlyMap<string, Style>> {
  const raw = new Map<string, RawStyle>();
  const part = partOf(relations, "styles");
  if (part === undefined || !source.has(part)) return new Map();
  let current: RawStyle | undefined;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      const value = attributeOf(attributes, "val");
      if (name === "style") {
        current = { name: "", basedOn: undefined, level: undefined, isList: undefined };
        const id = attributeOf(attributes, "styleId");
        if (id !== undefined && raw.size < MAX_STYLES) raw.set(id, current);
      } else if (current === undefined) return;
      else if (name === "name") current.name = value?.slice(0, 100) ?? "";
      else if (name === "basedOn") current.basedOn = value;
      else if (name === "outlineLvl") current.level = outlineLevel(value);
      else if (name === "numId") current.isList = value !== "0";
    },
    close: (tag) => {
      if (localName(tag) === "style") current = undefined;
    },
  });
  return new Map(Array.from(raw.keys(), (id) => [id, styleOf(id, raw)]));
}

/** Longest chain of styles that are based on one another: Word allows eleven. */
const MAX_CHAIN = 20;

/** A style with what it inherits. Chains that come back to themselves end at their bound. */
function styleOf(id: string, raw: ReadonlyMap<string, RawStyle>): Style {
  let level: number | undefined;
  let isList: boolean | undefined;
  let isTitle = false;
  let at: string | undefined = id;
  for (let step = 0; at !== undefined && step < MAX_CHAIN; step++) {
    const style = raw.get(at);
    if (style === undefined) break;
    // Names of the styles that come with Word are English in every language.
    const heading = /^heading ([1-9])$/i.exec(style.name)?.[1];
    level ??= style.level ?? (heading === undefined ? undefined : Number(heading));
    isList ??= style.isList;
    isTitle ||= /^title$/i.test(style.name);
    at = style.basedOn;
  }
  return { level: level ?? 0, isList: isList ?? false, isTitle };
}

/** The level of a heading, from 1; 0 for body text. */
function outlineLevel(value: string | undefined): number {
  const level = countOf(value, 0, 9, 9);
  return level === 9 ? 0 : level + 1;
}

interface Paragraph {
  text: string[];
  style: Style;
  level: number | undefined;
  listId: string | undefined;
  listLevel: number;
}

interface Table {
  cells: string[];
  cell: string[];
  span: number;
}

/** Text of paragraphs: what runs hold, with marks for what stands elsewhere. */
class RunText {
  #unseen = 0;
  #isText = false;

  /** Whether the element, or what it is in, has no text. Call it first. */
  opens(name: string): boolean {
    if (this.#unseen > 0 || UNSEEN.has(name)) {
      this.#unseen++;
      return false;
    }
    this.#isText = name === "t";
    return true;
  }

  closes(): boolean {
    this.#isText = false;
    if (this.#unseen === 0) return true;
    this.#unseen--;
    return false;
  }

  get isText(): boolean {
    return this.#isText && this.#unseen === 0;
  }
}

/** What an element within a run stands for. */
function runMark(name: string, attributes: Attributes): string {
  switch (name) {
    case "tab":
      return "\t";
    case "br":
    case "cr":
      return "\n";
    case "noBreakHyphen":
      return "-";
    case "footnoteReference":
      return `[^${attributeOf(attributes, "id") ?? ""}]`;
    case "endnoteReference":
      return `[^e${attributeOf(attributes, "id") ?? ""}]`;
    case "commentReference":
      return `[comment ${attributeOf(attributes, "id") ?? ""}]`;
    case "docPr": {
      const alt = oneLine(attributes["descr"] ?? "");
      return alt === "" ? "" : `[image: ${alt}]`;
    }
    default:
      return "";
  }
}

/** The body of a document. */
class BodyText implements MarkupHandler {
  isDocument = false;
  readonly #blocks: BlockWriter;
  readonly #styles: ReadonlyMap<string, Style>;
  readonly #relations: ReadonlyMap<string, Relationship>;
  readonly #form: ConvertOptions["form"];
  readonly #onTitle: (title: string) => void;
  readonly #run = new RunText();
  /** The paragraph that is open; text boxes have paragraphs within one. */
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: Table[] = [];
  /** Whether properties of a paragraph are open: tab stops are no tabs. */
  #properties = 0;
  readonly #links: { readonly address: string; text: string }[] = [];
  #field: string | undefined;
  #fieldLink: { readonly address: string; text: string } | undefined;

  constructor(
    blocks: BlockWriter,
    styles: ReadonlyMap<string, Style>,
    relations: ReadonlyMap<string, Relationship>,
    form: ConvertOptions["form"],
    onTitle: (title: string) => void,
  ) {
    this.#blocks = blocks;
    this.#styles = styles;
    this.#relations = relations;
    this.#form = form;
    this.#onTitle = onTitle;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (name === "document") this.isDocument = true;
    if (name === "instrText" && this.#form === "links") this.#field ??= "";
    if (!this.#run.opens(name)) return;
    if (name === "pPr" || name === "rPr" || name === "tcPr") this.#properties++;
    if (this.#properties > 0) this.#property(name, attributes);
    else if (name === "p")
      this.#paragraphs.push({ text: [], style: PLAIN, level: undefined, listId: undefined, listLevel: 0 });
    else if (name === "tbl") this.#tables.push({ cells: [], cell: [], span: 1 });
    else if (name === "hyperlink" && this.#form === "links") this.#openLink(attributes);
    else if (name === "fldSimple" && this.#form === "links") {
      const address = fieldAddress(attributeOf(attributes, "instr") ?? "");
      this.#links.push({ address, text: "" });
    } else if (name === "fldChar") this.#fieldMark(attributeOf(attributes, "fldCharType"));
    else this.#write(runMark(name, attributes));
  }

  close(tag: string): void {
    const name = localName(tag);
    if (!this.#run.closes()) return;
    if (name === "pPr" || name === "rPr" || name === "tcPr") this.#properties--;
    else if (name === "p") this.#endParagraph();
    else if (name === "tc") this.#endCell();
    else if (name === "tr") this.#endRow();
    else if (name === "tbl") this.#endTable();
    else if ((name === "hyperlink" || name === "fldSimple") && this.#form === "links") {
      const link = this.#links.pop();
      if (link !== undefined && link.address !== "") this.#blocks.link(link.text, link.address);
    }
  }

  text(text: string): void {
    if (this.#run.isText) this.#write(text);
    else if (this.#field !== undefined && this.#fieldLink === undefined && this.#field.length < 4096)
      this.#field += text;
  }

  #write(text: string): void {
    if (text === "") return;
    if (this.#form === "text") this.#paragraphs.at(-1)?.text.push(text);
    else
      for (const link of [this.#links.at(-1), this.#fieldLink])
        if (link !== undefined && link.text.length < 1024) link.text += text;
  }

  #property(name: string, attributes: Attributes): void {
    const value = attributeOf(attributes, "val");
    const paragraph = this.#paragraphs.at(-1);
    const table = this.#tables.at(-1);
    if (name === "gridSpan" && table !== undefined) table.span = countOf(value, 1, MAX_SPAN + 1, 1);
    if (paragraph === undefined) return;
    if (name === "pStyle" && value !== undefined) paragraph.style = this.#styles.get(value) ?? usualStyle(value);
    else if (name === "outlineLvl") paragraph.level = outlineLevel(value);
    else if (name === "numId") paragraph.listId = value;
    else if (name === "ilvl") paragraph.listLevel = countOf(value, 0, 8, 0);
  }

  #openLink(attributes: Attributes): void {
    const relation = this.#relations.get(relationshipId(attributes) ?? "");
    this.#links.push({ address: relation?.isExternal === true ? relation.target : "", text: "" });
  }

  /** Fields of older programs: their instruction, then what they show. */
  #fieldMark(type: string | undefined): void {
    if (this.#form !== "links") return;
    if (type === "separate") {
      const address = fieldAddress(this.#field ?? "");
      if (address !== "") this.#fieldLink = { address, text: "" };
    } else if (type === "end" && this.#fieldLink !== undefined) {
      this.#blocks.link(this.#fieldLink.text, this.#fieldLink.address);
      this.#fieldLink = undefined;
    }
    this.#field = undefined;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined || this.#form !== "text") return;
    const text = paragraph.text.join("");
    const table = this.#tables.at(-1);
    if (table !== undefined) {
      table.cell.push(text);
      return;
    }
    const level = paragraph.level ?? paragraph.style.level;
    const isList = paragraph.listId === undefined ? paragraph.style.isList : paragraph.listId !== "0";
    if (paragraph.style.isTitle) this.#onTitle(text);
    if (level > 0) this.#blocks.heading(text, level);
    else if (isList) this.#blocks.item(text, paragraph.listLevel);
    else this.#blocks.paragraph(text);
  }

  #endCell(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    table.cells.push(table.cell.join(" "));
    for (let more = 1; more < table.span; more++) table.cells.push("");
    table.cell = [];
    table.span = 1;
  }

  #endRow(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    const { cells } = table;
    table.cells = [];
    // A table in a cell becomes text of that cell.
    const outer = this.#tables.at(-2);
    if (outer === undefined) this.#blocks.row(cells);
    else outer.cell.push(cells.map(oneLine).filter(Boolean).join(" "));
  }

  #endTable(): void {
    this.#tables.pop();
    if (this.#tables.length === 0) this.#blocks.gap();
  }
}

/** Notes of one kind, each on a line behind its mark. */
class NoteText implements MarkupHandler {
  readonly #blocks: BlockWriter;
  readonly #element: string;
  readonly #mark: NoteKind["mark"];
  readonly #run = new RunText();
  #text: string[] | undefined;
  #before = "";

  constructor(blocks: BlockWriter, element: string, mark: NoteKind["mark"]) {
    this.#blocks = blocks;
    this.#element = element;
    this.#mark = mark;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (!this.#run.opens(name)) return;
    if (name === this.#element) {
      // Separators of notes are notes of a type of their own.
      const isNote = !/separator|continuation/i.test(attributeOf(attributes, "type") ?? "");
      this.#text = isNote ? [] : undefined;
      const author = oneLine(attributeOf(attributes, "author") ?? "").slice(0, 100);
      this.#before = this.#mark(attributeOf(attributes, "id") ?? "", author);
    } else if (name === "p" || name === "tab" || name === "br") this.#text?.push(" ");
  }

  close(tag: string): void {
    if (!this.#run.closes() || localName(tag) !== this.#element) return;
    if (this.#text !== undefined) this.#blocks.note(this.#before, this.#text.join(""));
    this.#text = undefined;
  }

  text(text: string): void {
    if (this.#run.isText) this.#text?.push(text);
  }
}

/** What the id of a style says, in documents without that style. */
function usualStyle(id: string): Style {
  const level = /^Heading ?([1-9])$/i.exec(id)?.[1];
  return { level: Number(level ?? 0), isList: /^List(?:Bullet|Number)/i.test(id), isTitle: /^Title$/i.test(id) };
}

/** The address in `HYPERLINK "…"`, or "". */
function fieldAddress(instruction: string): string {
  return /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s\\]\S*))/i.exec(instruction)?.slice(1).find(Boolean) ?? "";
}
