/**
 * Presentations of PowerPoint (OOXML) as text.
 * @module
 */
import { ABOVE, BlockWriter, LEFT, oneLine, raiseDigits } from "./blocks.js";
import { type Chart, describeChart, listChartRows } from "./chart.js";
import {
  checkForm,
  convertText,
  toDamagedError,
  FactsBuilder,
  createSink,
  type Converted,
  type ConvertOptions,
} from "./document.js";
import { describeImage, describeObject, type DrawingParts, readDrawingParts, readUndamaged } from "./drawing.js";
import { EquationText } from "./equation.js";
import { formatNumber, type NumberStyle } from "./numbering.js";
import { DocumentPackage, relationshipId, type Relationship } from "./package.js";
import { describeComment, nameAuthor, type Note, readDay } from "./notes.js";
import { findPart } from "./word.js";
import { readCount, localName, readXml, type MarkupHandler } from "./xml.js";

const KIND = "presentation";

/** Most slides that are read. */
const MAX_SLIDES = 20_000;

/** Most characters of one slide. */
const MAX_SLIDE_CHARS = 4_000_000;

/** Most comments of a slide, and most people who made some. */
const MAX_COMMENTS = 2000;
const MAX_AUTHORS = 10_000;

/** Longest comment. */
const MAX_COMMENT = 20_000;

/** Most footers that are told. */
const MAX_FOOTERS = 100;

type Attributes = Readonly<Record<string, string>>;

/** Placeholders that say the same on every slide. */
const REPEATED: ReadonlySet<string> = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

/** Shapes and what holds something in place of one. */
const SHAPES: ReadonlySet<string> = new Set(["sp", "pic", "graphicFrame", "cxnSp"]);

/**
 * Reads a presentation in the order in which it is shown: of each slide the title, the text, its tables, charts, diagrams and pictures,
 * then its notes behind a line `Notes:`, and its comments. Each slide is a part. A footer is told on the first slide that has it.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`, E_DOCUMENT for anything but such a presentation, or
 * encrypted, E_TOO_LARGE.
 */
export async function convertPresentation(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".pptx", options);
  const main = await source.mainPart("ppt/presentation.xml");
  const slides = await slideParts(source, main);
  const facts = new FactsBuilder("slide");
  facts.total = Math.max(1, slides.length);
  const sink = createSink(facts, options);
  return convertText(KIND, sink, options, async function* () {
    const blocks = new BlockWriter(sink, 0);
    const comments = new CommentReader(source, main);
    const footers = new Set<string>();
    for (const part of slides) {
      if (!source.has(part)) throw toDamagedError(KIND);
      const relations = await source.relationships(part);
      const drawings = options.form === "text" ? await readDrawingParts(source, relations) : NO_DRAWINGS;
      const slide = new SlideText(blocks, relations, drawings, options.form);
      if (options.form === "text") blocks.part();
      await readXml(source.read(part), slide);
      if (options.form === "text") {
        slide.write(blocks, footers);
        const notes = findPart(relations, "notesSlide");
        if (notes !== undefined && source.has(notes)) await writeNotes(source, notes, blocks);
        await comments.write(relations, blocks);
      }
      yield;
    }
    facts.title(await source.title());
  });
}

const NO_DRAWINGS: DrawingParts = { charts: new Map(), diagrams: new Map() };

/** The parts of the slides, as the presentation orders them. */
async function slideParts(source: DocumentPackage, main: string): Promise<readonly string[]> {
  const relations = await source.relationships(main);
  const slides: string[] = [];
  const root = { isPresentation: false };
  await readXml(source.read(main), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "presentation") root.isPresentation = true;
      if (name !== "sldId" || slides.length >= MAX_SLIDES) return;
      const relation = relations.get(relationshipId(attributes) ?? "");
      if (relation === undefined || relation.isExternal) throw toDamagedError(KIND);
      slides.push(relation.target);
    },
  });
  if (!root.isPresentation) throw toDamagedError(KIND);
  return slides;
}

async function writeNotes(source: DocumentPackage, part: string, blocks: BlockWriter): Promise<void> {
  const notes = new SlideText(blocks, new Map(), NO_DRAWINGS, "text");
  await readXml(source.read(part), notes);
  notes.writeNotes(blocks);
}

/** A comment of a slide, with how its parts name it. */
interface SlideComment extends Note {
  readonly id: string;
}

/** Reads comments of slides, of both kinds: those of before 2021 (ECMA-376 part 1, 19.4), and threads (MS-PPTX 2.6). */
class CommentReader {
  readonly #source: DocumentPackage;
  readonly #main: string;
  #authors: ReadonlyMap<string, string> | undefined;

  constructor(source: DocumentPackage, main: string) {
    this.#source = source;
    this.#main = main;
  }

  /** Writes the comments of the slide that has these relationships. */
  async write(relations: ReadonlyMap<string, Relationship>, blocks: BlockWriter): Promise<void> {
    const comments: SlideComment[] = [];
    for (const { type, target, isExternal } of relations.values()) {
      if (type !== "comments" || isExternal || !this.#source.has(target)) continue;
      const authors = (this.#authors ??= await this.#readAuthors());
      const handler = new CommentText(authors, comments);
      await readUndamaged(() => readXml(this.#source.read(target), handler));
    }
    const numbers = new Map(comments.map(({ id }, at) => [id, at + 1]));
    for (const [at, comment] of comments.entries()) {
      const answered = comment.parent === undefined ? undefined : numbers.get(comment.parent);
      blocks.note(describeComment(at + 1, comment, "", answered), comment.text);
    }
  }

  /** Names by id: numbers in the older kind, GUIDs in the other. */
  async #readAuthors(): Promise<ReadonlyMap<string, string>> {
    const authors = new Map<string, string>();
    for (const { type, target } of (await this.#source.relationships(this.#main)).values()) {
      if (!/^(?:commentAuthors|authors)$/.test(type) || !this.#source.has(target)) continue;
      await readXml(this.#source.read(target), {
        open: (tag, attributes) => {
          if (/^(?:cmAuthor|author)$/.test(localName(tag)) && authors.size < MAX_AUTHORS)
            authors.set(attributes["id"] ?? "", nameAuthor(attributes["name"]));
        },
      });
    }
    return authors;
  }
}

/** The comments of one part. */
class CommentText implements MarkupHandler {
  readonly #authors: ReadonlyMap<string, string>;
  readonly #comments: SlideComment[];
  /** The comment that is open, and the answer within it. */
  readonly #open: { comment: Omit<SlideComment, "text" | "parent">; parent: string | undefined; text: string }[] = [];
  #isText = false;

  constructor(authors: ReadonlyMap<string, string>, comments: SlideComment[]) {
    this.#authors = authors;
    this.#comments = comments;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    const current = this.#open.at(-1);
    this.#isText = name === "t" || name === "text";
    if (name === "cm" || name === "reply") {
      const author = attributes["authorId"] ?? "";
      const id = attributes["id"] ?? `${author}/${attributes["idx"] ?? ""}`;
      const comment = {
        id,
        author: this.#authors.get(author) ?? "",
        day: readDay(attributes["dt"] ?? attributes["created"]),
        isResolved: attributes["status"] === "resolved",
      };
      this.#open.push({ comment, parent: current?.comment.id, text: "" });
    } else if (name === "parentCm" && current !== undefined) {
      current.parent = `${attributes["authorId"] ?? ""}/${attributes["idx"] ?? ""}`;
    } else if ((name === "p" || name === "br") && current !== undefined) current.text += " ";
  }

  close(tag: string): void {
    const name = localName(tag);
    this.#isText = false;
    if (name !== "cm" && name !== "reply") return;
    const { comment, parent, text } = this.#open.pop() ?? {};
    if (comment === undefined || this.#comments.length >= MAX_COMMENTS) return;
    const whole = { ...comment, text: text ?? "", ...(parent !== undefined && { parent }) };
    // The answers of a comment come before its own text.
    const at = this.#comments.findIndex((other) => other.parent === comment.id);
    if (at < 0 || name === "reply") this.#comments.push(whole);
    else this.#comments.splice(at, 0, whole);
  }

  text(text: string): void {
    const current = this.#open.at(-1);
    if (this.#isText && current !== undefined && current.text.length < MAX_COMMENT) current.text += text;
  }
}

interface Paragraph {
  readonly kind: "paragraph";
  text: string;
  level: number;
  isItem: boolean;
  /** How its number is written, and where the numbers begin. */
  scheme: string | undefined;
  start: number;
}

interface Row {
  readonly kind: "row";
  readonly cells: string[];
}

/** A shape with its text. */
interface Shape {
  /** The type of the placeholder that it is, or "". */
  placeholder: string;
  isPicture: boolean;
  isHidden: boolean;
  alt: string;
  name: string;
  /** The file of a picture, and what plays when it is clicked. */
  part: string;
  media: string;
  readonly blocks: (Paragraph | Row)[];
}

/** Text of one slide, shape by shape. Shapes are few and are kept: the title may be the last of them. */
class SlideText implements MarkupHandler {
  readonly #writer: BlockWriter;
  readonly #relations: ReadonlyMap<string, Relationship>;
  readonly #drawings: DrawingParts;
  readonly #form: ConvertOptions["form"];
  readonly #shapes: Shape[] = [];
  readonly #written = new Set<Chart>();
  #shape: Shape | undefined;
  #paragraph: Paragraph | undefined;
  #row: Row | undefined;
  #cell: string[] | undefined;
  /** What stands for the cell that is open if it is joined with another. */
  #join: string | undefined;
  #equation: EquationText | undefined;
  #isText = false;
  #isRaised = false;
  #unseen = 0;
  #chars = 0;
  #isHidden = false;
  /** Address of the run, or of the shape. */
  #runLink = "";
  #shapeLink = "";
  #runText = "";

  constructor(
    writer: BlockWriter,
    relations: ReadonlyMap<string, Relationship>,
    drawings: DrawingParts,
    form: ConvertOptions["form"],
  ) {
    this.#writer = writer;
    this.#relations = relations;
    this.#drawings = drawings;
    this.#form = form;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (this.#equation !== undefined) {
      this.#equation.open(name, attributes);
      return;
    }
    // The older twin of a shape.
    if (this.#unseen > 0 || name === "Fallback") {
      this.#unseen++;
      return;
    }
    this.#isText = name === "t";
    if (SHAPES.has(name)) this.#openShape(name);
    else if (!this.#readShape(name, attributes)) this.#readText(name, attributes);
  }

  #openShape(name: string): void {
    this.#shape = {
      placeholder: "",
      isPicture: name === "pic",
      isHidden: false,
      alt: "",
      name: "",
      part: "",
      media: "",
      blocks: [],
    };
    this.#shapes.push(this.#shape);
  }

  /** What a shape is. Gives whether the element says that. */
  #readShape(name: string, attributes: Attributes): boolean {
    const shape = this.#shape;
    switch (name) {
      case "sld":
        this.#isHidden = /^(?:0|false)$/.test(attributes["show"] ?? "");
        return true;
      case "cNvPr":
        if (shape === undefined) return true;
        shape.alt = oneLine(attributes["descr"] ?? attributes["title"] ?? "");
        shape.name = attributes["name"] ?? "";
        shape.isHidden = /^(?:1|true)$/.test(attributes["hidden"] ?? "");
        return true;
      case "ph":
        if (shape !== undefined) shape.placeholder = attributes["type"] ?? "obj";
        return true;
      case "blip":
        if (shape?.isPicture === true) shape.part ||= this.#findTarget(attributes["r:embed"] ?? attributes["r:link"]);
        return true;
      case "videoFile":
      case "audioFile":
        if (shape !== undefined)
          shape.media = `${name.slice(0, 5)}: ${this.#findTarget(relationshipId(attributes, "link")).slice(0, 200)}`;
        return true;
      case "chart": {
        const chart = this.#drawings.charts.get(relationshipId(attributes) ?? "");
        if (chart === undefined) return true;
        this.#addBlock(describeChart(chart));
        // One chart may be referred to again and again.
        if (this.#written.has(chart)) return true;
        this.#written.add(chart);
        for (const row of listChartRows(chart)) shape?.blocks.push({ kind: "row", cells: [...row] });
        return true;
      }
      case "relIds":
        for (const item of this.#drawings.diagrams.get(relationshipId(attributes, "dm") ?? "") ?? [])
          this.#addBlock(item.text, item.level);
        return true;
      case "oleObj":
        this.#addBlock(describeObject(attributes["progId"] ?? "", this.#findTarget(relationshipId(attributes))));
        return true;
      default:
        return false;
    }
  }

  #readText(name: string, attributes: Attributes): void {
    const paragraph = this.#paragraph;
    switch (name) {
      case "p":
        this.#paragraph = makeParagraph();
        break;
      case "pPr":
        if (paragraph !== undefined) paragraph.level = readCount(attributes["lvl"], 0, 8, 0);
        break;
      case "buChar":
        if (paragraph !== undefined) paragraph.isItem = true;
        break;
      case "buAutoNum":
        if (paragraph === undefined) break;
        paragraph.isItem = true;
        paragraph.scheme = attributes["type"] ?? "arabicPeriod";
        paragraph.start = readCount(attributes["startAt"], 1, 32_767, 1);
        break;
      case "br":
        this.#write("\n");
        break;
      case "oMath":
        this.#equation = new EquationText();
        break;
      case "tr":
        this.#row = { kind: "row", cells: [] };
        break;
      case "tc":
        this.#cell = [];
        this.#join = isSet(attributes["hMerge"]) ? LEFT : isSet(attributes["vMerge"]) ? ABOVE : undefined;
        break;
      case "r":
      case "fld":
        this.#runLink = "";
        this.#runText = "";
        this.#isRaised = false;
        break;
      case "rPr":
        this.#isRaised = /^[1-9]/.test(attributes["baseline"] ?? "");
        break;
      case "hlinkClick":
        this.#openLink(attributes);
        break;
    }
  }

  close(tag: string): void {
    if (this.#equation !== undefined) {
      this.#closeEquation();
      return;
    }
    this.#isText = false;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    const name = localName(tag);
    switch (name) {
      case "p":
        this.#endParagraph();
        break;
      case "tc":
        this.#row?.cells.push(this.#join ?? this.#cell?.join(" ") ?? "");
        this.#cell = undefined;
        break;
      case "tr":
        if (this.#row !== undefined) this.#shape?.blocks.push(this.#row);
        this.#row = undefined;
        break;
      case "r":
      case "fld":
        if (this.#form === "links" && this.#runLink !== "") this.#writer.link(this.#runText, this.#runLink);
        this.#runLink = "";
        break;
      default:
        if (SHAPES.has(name)) this.#endShape();
    }
  }

  text(text: string): void {
    if (this.#equation !== undefined) this.#equation.text(text);
    else if (this.#isText) this.#write(this.#isRaised ? raiseDigits(text) : text);
  }

  /** Writes the title, then the other shapes in their order, and footers that are not among those told before. */
  write(blocks: BlockWriter, footers: Set<string>): void {
    const titles = this.#shapes.filter(isTitle);
    const title = oneLine(titles.flatMap(listTexts).join(" "));
    blocks.heading(this.#isHidden && title !== "" ? `${title} (hidden)` : title, 1);
    if (this.#isHidden && title === "") blocks.paragraph("(hidden)");
    const others = this.#shapes.filter((shape) => !isTitle(shape) && !REPEATED.has(shape.placeholder));
    const first = others.filter(isSubtitle);
    for (const shape of [...first, ...others.filter((other) => !isSubtitle(other))]) {
      writeShape(shape, blocks);
      blocks.gap();
    }
    for (const shape of this.#shapes.filter(({ placeholder }) => placeholder === "ftr")) {
      const text = oneLine(listTexts(shape).join(" ").slice(0, 1000));
      if (text === "" || footers.has(text) || footers.size >= MAX_FOOTERS) continue;
      footers.add(text);
      blocks.note("[footer]", text);
    }
  }

  /** Writes what is said to a slide, of its page of notes. */
  writeNotes(blocks: BlockWriter): void {
    const bodies = this.#shapes.filter(({ placeholder }) => placeholder === "body");
    if (bodies.flatMap(listTexts).join("").trim() === "") return;
    blocks.paragraph("Notes:");
    for (const shape of bodies) writeShape(shape, blocks);
  }

  #write(text: string): void {
    this.#chars += text.length;
    if (this.#chars > MAX_SLIDE_CHARS) return;
    if (this.#paragraph !== undefined) this.#paragraph.text += text;
    if (this.#form === "links" && this.#runText.length < 1024) this.#runText += text;
  }

  /** Adds a block that is not of the slide's own text. */
  #addBlock(text: string, level?: number): void {
    this.#chars += text.length;
    if (this.#form !== "text" || this.#chars > MAX_SLIDE_CHARS) return;
    this.#shape?.blocks.push({ ...makeParagraph(), text, level: level ?? 0, isItem: level !== undefined });
  }

  #findTarget(id: string | undefined): string {
    return this.#relations.get(id ?? "")?.target ?? "";
  }

  #closeEquation(): void {
    const equation = this.#equation;
    if (equation?.close() !== true) return;
    this.#equation = undefined;
    this.#write(equation.toString());
  }

  #openLink(attributes: Attributes): void {
    if (this.#form !== "links") return;
    const relation = this.#relations.get(relationshipId(attributes) ?? "");
    if (relation?.isExternal !== true) return;
    if (this.#paragraph === undefined) this.#shapeLink = relation.target;
    else this.#runLink = relation.target;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraph;
    this.#paragraph = undefined;
    if (paragraph === undefined || paragraph.text.trim() === "") return;
    if (this.#cell !== undefined) this.#cell.push(paragraph.text);
    else this.#shape?.blocks.push(paragraph);
  }

  #endShape(): void {
    const shape = this.#shape;
    if (this.#shapeLink !== "" && shape !== undefined) {
      this.#writer.link(shape.alt === "" ? listTexts(shape).join(" ").slice(0, 1024) : shape.alt, this.#shapeLink);
    }
    this.#shapeLink = "";
    this.#shape = undefined;
  }
}

function makeParagraph(): Paragraph {
  return { kind: "paragraph", text: "", level: 0, isItem: false, scheme: undefined, start: 1 };
}

function isTitle({ placeholder }: Shape): boolean {
  return placeholder === "title" || placeholder === "ctrTitle";
}

function isSubtitle({ placeholder }: Shape): boolean {
  return placeholder === "subTitle";
}

function isSet(value: string | undefined): boolean {
  return value === "1" || value === "true";
}

function listTexts(shape: Shape): readonly string[] {
  return shape.blocks.flatMap((block) => (block.kind === "row" ? block.cells : [block.text]));
}

function writeShape(shape: Shape, writer: BlockWriter): void {
  const { alt, isPicture, isHidden, name, part, media, blocks } = shape;
  if (isHidden && (isPicture || blocks.length > 0)) writer.paragraph("[hidden shape]");
  if (media !== "") writer.paragraph(`[${media}${alt === "" ? "" : `: ${alt}`}]`);
  else if (isPicture) writer.paragraph(describeImage(alt, name, part));
  else if (alt !== "") writer.paragraph(blocks.length === 0 ? describeImage(alt) : `[alternative text: ${alt}]`);
  const numbers = new Numbers();
  for (const block of blocks) {
    if (block.kind === "row") writer.row(block.cells);
    else if (block.isItem || block.level > 0) writer.item(block.text, block.level, numbers.count(block));
    else {
      numbers.end();
      writer.paragraph(block.text);
    }
  }
}

/** The numbers of the paragraphs of a shape, level by level. */
class Numbers {
  #counts: { value: number; scheme: string; start: number }[] = [];

  /** The number of the next paragraph, or a dash. */
  count({ level, scheme, start }: Paragraph): string {
    this.#counts.length = Math.min(this.#counts.length, level + 1);
    if (scheme === undefined) {
      this.#counts.length = Math.min(this.#counts.length, level);
      return "-";
    }
    const before = this.#counts[level];
    const isNext = before?.scheme === scheme && before.start === start;
    const value = isNext ? before.value + 1 : start;
    while (this.#counts.length < level) this.#counts.push({ value: 0, scheme: "", start: 0 });
    this.#counts[level] = { value, scheme, start };
    return writeScheme(value, scheme);
  }

  end(): void {
    this.#counts = [];
  }
}

/** A number as a scheme of DrawingML writes it (ECMA-376 part 1, 20.1.10.61): `alphaLcParenR` is `a)`. */
function writeScheme(value: number, scheme: string): string {
  const kind = /^(?:alpha|roman)(?:Lc|Uc)/.exec(scheme)?.[0] ?? "";
  const styles: Readonly<Record<string, NumberStyle>> = {
    alphaLc: "lower-letter",
    alphaUc: "upper-letter",
    romanLc: "lower-roman",
    romanUc: "upper-roman",
  };
  const text = formatNumber(value, styles[kind] ?? "decimal");
  if (scheme.endsWith("ParenBoth")) return `(${text})`;
  if (scheme.endsWith("ParenR")) return `${text})`;
  return scheme.endsWith("Plain") ? text : `${text}.`;
}
