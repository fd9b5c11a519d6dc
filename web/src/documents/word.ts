/**
 * Documents of Word (OOXML) as text.
 * @module
 */
import { BlockWriter } from "./blocks.js";
import {
  checkForm,
  convertText,
  toDamagedError,
  FactsBuilder,
  createSink,
  type Converted,
  type ConvertOptions,
} from "./document.js";
import { readDrawingParts } from "./drawing.js";
import { WordNumbering } from "./numbering.js";
import { DocumentPackage, type Relationship } from "./package.js";
import {
  HIDDEN_TEXT,
  MAX_NOTE_CHARS,
  MAX_NOTES,
  type Note,
  nameAuthor,
  type NoteKind,
  NoteWriter,
  readDay,
  TRACKED_CHANGES,
} from "./notes.js";
import { readStyles } from "./word-styles.js";
import { LineCollector } from "./block-target.js";
import { makeFindings, type WordContext, type WordFindings, WordText } from "./word-text.js";
import { getAttribute, localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";

const KIND = "Word document";

/** Bytes at the beginning of a document in which Word has said where the first page ends, if it has. */
const FIRST_PAGE: number = 1024 * 1024;

/** Longest text of a note, and of a header. */
const MAX_NOTE = 100_000;

/** Most headers and footers that are read. */
const MAX_MARGINS = 30;

/**
 * Reads a document of Word: paragraphs, headings, lists and tables. Footnotes, endnotes and comments stand at the end of the part that
 * refers to them, headers and footers at the end of the document. Parts are the pages that Word has laid out; where it has not, they
 * begin at headings of level 1 and at breaks of pages.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`, E_DOCUMENT for anything but such a document, or
 * encrypted, E_TOO_LARGE.
 */
export async function convertWord(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "links"]);
  const form = options.form === "links" ? "links" : "text";
  const source = await DocumentPackage.open(bytes, KIND, ".docx", options);
  const main = await source.mainPart("word/document.xml");
  const facts = new FactsBuilder("section");
  const sink = createSink(facts, options);
  return convertText(KIND, sink, options, async function* () {
    const relations = await source.relationships(main);
    const findings = makeFindings();
    const hasPages = form === "text" && (await hasRenderedPages(source, main));
    if (hasPages) facts.part = "page";
    const base = {
      form,
      styles: await readStyles(source, findPart(relations, "styles")),
      numbering: await WordNumbering.read(source, findPart(relations, "numbering")),
      findings,
    } as const;
    const read = new NotesReader(source, relations, base);
    const notes = form === "text" ? new NoteWriter(await read.all()) : undefined;
    const blocks: BlockWriter = new BlockWriter(sink, form === "text" && !hasPages ? 1 : 0, () => notes?.write(blocks));
    const drawings = await readDrawingParts(source, relations);
    const body = new WordText(blocks, { ...base, relations, drawings, notes, hasPages });
    yield* xmlSteps(source.read(main), body);
    if (!body.isDocument) throw toDamagedError(KIND);
    if (notes === undefined) yield* read.links(blocks);
    else {
      notes.write(blocks);
      notes.writeOthers(blocks);
      blocks.gap();
      yield* read.margins(blocks);
    }
    facts.title(findings.title);
    facts.title(await source.title());
    for (const notice of listNotices(findings)) facts.notice(notice);
  });
}

/** The part that the first relationship of a type leads to. */
export function findPart(relations: ReadonlyMap<string, Relationship>, type: string): string | undefined {
  for (const relation of relations.values()) if (relation.type === type && !relation.isExternal) return relation.target;
  return undefined;
}

/** Whether Word has said where the pages ended when it last showed the document. Other programs do not. */
async function hasRenderedPages(source: DocumentPackage, main: string): Promise<boolean> {
  const head = new TextDecoder("latin1").decode(await source.peek(main, FIRST_PAGE));
  return head.includes(":lastRenderedPageBreak");
}

function listNotices({ changes, hidden }: WordFindings): readonly string[] {
  return [...(changes > 0 ? [TRACKED_CHANGES] : []), ...(hidden > 0 ? [HIDDEN_TEXT] : [])];
}

/** Reads what stands beside the text: notes, comments, headers and footers. */
class NotesReader {
  readonly #source: DocumentPackage;
  readonly #relations: ReadonlyMap<string, Relationship>;
  readonly #base: Pick<WordContext, "form" | "styles" | "numbering" | "findings">;

  constructor(
    source: DocumentPackage,
    relations: ReadonlyMap<string, Relationship>,
    base: Pick<WordContext, "form" | "styles" | "numbering" | "findings">,
  ) {
    this.#source = source;
    this.#relations = relations;
    this.#base = base;
  }

  /** All notes by kind and id. */
  async all(): Promise<Readonly<Record<NoteKind, ReadonlyMap<string, Note>>>> {
    const [footnote, endnote, comment] = [
      await this.#readNotes("footnote"),
      await this.#readNotes("endnote"),
      await this.#readNotes("comment"),
    ];
    const threads = await this.#readThreads();
    const ids = new Map(Array.from(comment, ([id, { paragraph }]) => [paragraph, id]));
    const threaded = Array.from(comment, ([id, note]): [string, Note] => {
      const { parent, isResolved } = threads.get(note.paragraph) ?? {};
      const answered = parent === undefined ? undefined : ids.get(parent);
      return [id, { ...note, ...(answered !== undefined && { parent: answered }), isResolved: isResolved === true }];
    });
    return { footnote, endnote, comment: new Map(threaded) };
  }

  /** Links in notes, headers and footers. */
  async *links(blocks: BlockWriter): AsyncGenerator<void, void> {
    const parts = new Set<string>();
    for (const { type, target, isExternal } of this.#relations.values()) {
      if (/^(?:footnotes|endnotes|comments|header|footer)$/.test(type) && !isExternal) parts.add(target);
    }
    for (const part of [...parts].filter((each) => this.#source.has(each)).slice(0, MAX_MARGINS)) {
      yield* xmlSteps(this.#source.read(part), new WordText(blocks, await this.#context(part)));
    }
  }

  /** Writes headers and footers, each text once. */
  async *margins(blocks: BlockWriter): AsyncGenerator<void, void> {
    const written = new Set<string>();
    const margins = [...this.#base.findings.margins].slice(0, MAX_MARGINS);
    for (const wanted of ["header", "footer"] as const) {
      for (const [id, kind] of margins) {
        const relation = this.#relations.get(id);
        if (kind !== wanted || relation === undefined || relation.isExternal || !this.#source.has(relation.target))
          continue;
        const lines = new LineCollector(MAX_NOTE);
        await readXml(this.#source.read(relation.target), new WordText(lines, await this.#context(relation.target)));
        const text = lines.toString();
        // Numbers of pages differ.
        const key = `${kind} ${text.replaceAll(/[0-9]+/g, "#")}`;
        if (!written.has(key)) blocks.note(`[${kind}]`, text);
        written.add(key);
        yield;
      }
    }
  }

  async #context(part: string): Promise<WordContext> {
    const relations = await this.#source.relationships(part);
    const drawings = { charts: new Map(), diagrams: new Map() };
    return { ...this.#base, relations, drawings, notes: undefined, hasPages: false };
  }

  async #readNotes(kind: NoteKind): Promise<ReadonlyMap<string, Note & { readonly paragraph: string }>> {
    const part = findPart(this.#relations, `${kind}s`);
    if (part === undefined || !this.#source.has(part)) return new Map();
    const notes = new NotesText(kind, await this.#context(part));
    await readXml(this.#source.read(part), notes);
    return notes.notes;
  }

  /** Which comments answer others, and which are resolved, by their last paragraphs (MS-DOCX 2.5.3). */
  async #readThreads(): Promise<
    ReadonlyMap<string, { readonly parent: string | undefined; readonly isResolved: boolean }>
  > {
    const threads = new Map<string, { readonly parent: string | undefined; readonly isResolved: boolean }>();
    const part = findPart(this.#relations, "commentsExtended");
    if (part === undefined || !this.#source.has(part)) return threads;
    await readXml(this.#source.read(part), {
      open: (tag, attributes) => {
        const id = getAttribute(attributes, "paraId");
        if (localName(tag) !== "commentEx" || id === undefined || threads.size >= MAX_NOTES) return;
        const isResolved = /^(?:1|true)$/.test(getAttribute(attributes, "done") ?? "");
        threads.set(id, { parent: getAttribute(attributes, "paraIdParent"), isResolved });
      },
    });
    return threads;
  }
}

/** The notes of one part, each as a line. */
class NotesText implements MarkupHandler {
  readonly notes = new Map<string, Note & { readonly paragraph: string }>();
  readonly #kind: NoteKind;
  readonly #context: WordContext;
  #open:
    | { readonly id: string; readonly author: string; readonly day: string; paragraph: string; readonly text: WordText }
    | undefined;
  #lines = new LineCollector(MAX_NOTE);
  #chars = 0;

  constructor(kind: NoteKind, context: WordContext) {
    this.#kind = kind;
    this.#context = context;
  }

  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    const name = localName(tag);
    if (name === this.#kind) this.#begin(attributes);
    else if (this.#open !== undefined) {
      if (name === "p") this.#open.paragraph = getAttribute(attributes, "paraId") ?? "";
      this.#open.text.open(tag, attributes);
    }
  }

  close(tag: string): void {
    const open = this.#open;
    if (open === undefined) return;
    if (localName(tag) !== this.#kind) {
      open.text.close(tag);
      return;
    }
    this.#open = undefined;
    const { id, author, day, paragraph } = open;
    const text = this.#lines.toString();
    this.#chars += text.length;
    if (this.notes.size < MAX_NOTES && this.#chars <= MAX_NOTE_CHARS)
      this.notes.set(id, { text, author, day, paragraph });
  }

  text(text: string): void {
    this.#open?.text.text(text);
  }

  #begin(attributes: Readonly<Record<string, string>>): void {
    // Separators of notes are notes of a type of their own.
    if (/separator|continuation/i.test(getAttribute(attributes, "type") ?? "")) return;
    this.#lines = new LineCollector(MAX_NOTE);
    this.#open = {
      id: getAttribute(attributes, "id") ?? "",
      author: nameAuthor(getAttribute(attributes, "author")),
      day: readDay(getAttribute(attributes, "date")),
      paragraph: "",
      text: new WordText(this.#lines, this.#context),
    };
  }
}
