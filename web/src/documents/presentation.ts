/**
 * Presentations of PowerPoint (OOXML) as text.
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
import { partOf } from "./word.js";
import { countOf, localName, readXml, type MarkupHandler } from "./xml.js";

const KIND = "presentation";

/** Most slides that are read. */
const MAX_SLIDES = 20_000;

/** Most characters of one slide. */
const MAX_SLIDE_CHARS = 4_000_000;

type Attributes = Readonly<Record<string, string>>;

/** Placeholders that say the same on every slide. */
const REPEATED: ReadonlySet<string> = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

/**
 * Reads a presentation in the order in which it is shown: of each slide the title, the text, its tables, and its notes behind a line
 * `Notes:`. Each slide is a part.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`, E_DOCUMENT for what is no such presentation, or
 * encrypted, E_TOO_LARGE.
 */
export async function convertPresentation(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".pptx", options);
  const main = await source.mainPart("ppt/presentation.xml");
  const slides = await slideParts(source, main);
  const facts = new FactsBuilder("slide");
  facts.total = Math.max(1, slides.length);
  const sink = sinkOf(facts, options);
  return converted(KIND, sink, options, async function* () {
    const blocks = new BlockWriter(sink, 0);
    for (const part of slides) {
      if (!source.has(part)) throw damaged(KIND);
      const relations = await source.relationships(part);
      const slide = new SlideText(blocks, relations, options.form);
      if (options.form === "text") blocks.part();
      await readXml(source.read(part), slide);
      if (options.form === "text") {
        slide.write(blocks);
        const notes = partOf(relations, "notesSlide");
        if (notes !== undefined && source.has(notes)) await writeNotes(source, notes, blocks);
      }
      yield;
    }
    facts.title(await source.title());
  });
}

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
      if (relation === undefined || relation.isExternal) throw damaged(KIND);
      slides.push(relation.target);
    },
  });
  if (!root.isPresentation) throw damaged(KIND);
  return slides;
}

async function writeNotes(source: DocumentPackage, part: string, blocks: BlockWriter): Promise<void> {
  const notes = new SlideText(blocks, new Map(), "text");
  await readXml(source.read(part), notes);
  notes.writeNotes(blocks);
}

interface Paragraph {
  readonly kind: "paragraph";
  text: string;
  level: number;
  isItem: boolean;
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
  alt: string;
  readonly blocks: (Paragraph | Row)[];
}

/** Text of one slide, shape by shape. Shapes are few and are kept: the title may be the last of them. */
class SlideText implements MarkupHandler {
  readonly #writer: BlockWriter;
  readonly #relations: ReadonlyMap<string, Relationship>;
  readonly #form: ConvertOptions["form"];
  readonly #shapes: Shape[] = [];
  #shape: Shape | undefined;
  #paragraph: Paragraph | undefined;
  #row: Row | undefined;
  #cell: string[] | undefined;
  #isText = false;
  #unseen = 0;
  #chars = 0;
  #isHidden = false;
  /** Address of the run, or of the shape. */
  #runLink = "";
  #shapeLink = "";
  #runText = "";

  constructor(writer: BlockWriter, relations: ReadonlyMap<string, Relationship>, form: ConvertOptions["form"]) {
    this.#writer = writer;
    this.#relations = relations;
    this.#form = form;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    // The older twin of a shape.
    if (this.#unseen > 0 || name === "Fallback") {
      this.#unseen++;
      return;
    }
    this.#isText = name === "t";
    switch (name) {
      case "sld":
        this.#isHidden = /^(?:0|false)$/.test(attributes["show"] ?? "");
        break;
      case "sp":
      case "pic":
      case "graphicFrame":
      case "cxnSp":
        this.#shape = { placeholder: "", isPicture: name === "pic", alt: "", blocks: [] };
        this.#shapes.push(this.#shape);
        break;
      case "cNvPr":
        if (this.#shape?.isPicture === true) this.#shape.alt = oneLine(attributes["descr"] ?? "");
        break;
      case "ph":
        if (this.#shape !== undefined) this.#shape.placeholder = attributes["type"] ?? "obj";
        break;
      case "p":
        this.#paragraph = { kind: "paragraph", text: "", level: 0, isItem: false };
        break;
      case "pPr":
        if (this.#paragraph !== undefined) this.#paragraph.level = countOf(attributes["lvl"], 0, 8, 0);
        break;
      case "buChar":
      case "buAutoNum":
        if (this.#paragraph !== undefined) this.#paragraph.isItem = true;
        break;
      case "br":
        this.#write("\n");
        break;
      case "tr":
        this.#row = { kind: "row", cells: [] };
        break;
      case "tc":
        this.#cell = [];
        break;
      case "r":
      case "fld":
        this.#runLink = "";
        this.#runText = "";
        break;
      case "hlinkClick":
        this.#openLink(attributes);
        break;
    }
  }

  close(tag: string): void {
    this.#isText = false;
    if (this.#unseen > 0) {
      this.#unseen--;
      return;
    }
    switch (localName(tag)) {
      case "p":
        this.#endParagraph();
        break;
      case "tc":
        this.#row?.cells.push(this.#cell?.join(" ") ?? "");
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
      case "sp":
      case "pic":
      case "graphicFrame":
      case "cxnSp":
        this.#endShape();
        break;
    }
  }

  text(text: string): void {
    if (this.#isText) this.#write(text);
  }

  /** Writes the title, then the other shapes in their order. */
  write(blocks: BlockWriter): void {
    const titles = this.#shapes.filter(({ placeholder }) => placeholder === "title" || placeholder === "ctrTitle");
    const title = oneLine(titles.flatMap(textsOf).join(" "));
    blocks.heading(this.#isHidden && title !== "" ? `${title} (hidden)` : title, 1);
    if (this.#isHidden && title === "") blocks.paragraph("(hidden)");
    for (const shape of this.#shapes) {
      if (titles.includes(shape) || REPEATED.has(shape.placeholder)) continue;
      writeShape(shape, blocks);
      blocks.gap();
    }
  }

  /** Writes what is said to a slide, of its page of notes. */
  writeNotes(blocks: BlockWriter): void {
    const bodies = this.#shapes.filter(({ placeholder }) => placeholder === "body");
    if (bodies.flatMap(textsOf).join("").trim() === "") return;
    blocks.paragraph("Notes:");
    for (const shape of bodies) writeShape(shape, blocks);
  }

  #write(text: string): void {
    this.#chars += text.length;
    if (this.#chars > MAX_SLIDE_CHARS) return;
    if (this.#paragraph !== undefined) this.#paragraph.text += text;
    if (this.#form === "links" && this.#runText.length < 1024) this.#runText += text;
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
      this.#writer.link(shape.alt === "" ? textsOf(shape).join(" ").slice(0, 1024) : shape.alt, this.#shapeLink);
    }
    this.#shapeLink = "";
    this.#shape = undefined;
  }
}

function textsOf(shape: Shape): readonly string[] {
  return shape.blocks.flatMap((block) => (block.kind === "row" ? block.cells : [block.text]));
}

function writeShape({ alt, isPicture, blocks }: Shape, writer: BlockWriter): void {
  if (isPicture && alt !== "") writer.paragraph(`[image: ${alt}]`);
  for (const block of blocks) {
    if (block.kind === "row") writer.row(block.cells);
    else if (block.isItem || block.level > 0) writer.item(block.text, block.level);
    else writer.paragraph(block.text);
  }
}
