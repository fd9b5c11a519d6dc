/**
 * OpenDocument (ODF 1.0 to 1.4) as text: documents, spreadsheets, presentations and drawings.
 * @module
 */
import { BlockWriter, oneLine } from "./blocks.js";
import { type Chart, describeChart, readOpenChart } from "./chart.js";
import {
  checkForm,
  convertText,
  toDamagedError,
  FactsBuilder,
  createSink,
  type Converted,
  type ConvertOptions,
  type DocumentForm,
  type PartNoun,
} from "./document.js";
import { readUndamaged } from "./drawing.js";
import { EquationText } from "./equation.js";
import { HIDDEN_TEXT, TRACKED_CHANGES } from "./notes.js";
import { DocumentPackage, needsPassword } from "./package.js";
import {
  toMark,
  ParagraphText,
  parseOpenReference,
  SheetStyles,
  SheetsText,
  type SheetOutline,
} from "./open-sheets.js";
import { OpenStyles } from "./open-styles.js";
import { OpenText } from "./open-text.js";
import { chooseSheet, type ChosenSheet } from "./rows.js";
import { localName, readXml, xmlSteps, type MarkupHandler } from "./xml.js";

/** Most sheets and styles that are known. */
const MAX_SHEETS = 10_000;
const MAX_STYLES = 100_000;

/** Most charts and equations that are looked into. */
const MAX_OBJECTS = 500;

/** Most headers and footers that are told, and the longest. */
const MAX_MARGINS = 30;
const MAX_MARGIN = 20_000;

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
  /** Whether the file says where the pages of a text ended when it was last shown. */
  readonly hasPages: boolean;
  readonly styles: OpenStyles;
}

/**
 * Reads an OpenDocument file, whichever it is. Texts are told as those of Word are, spreadsheets as workbooks are, presentations slide
 * by slide.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form that it does not have, or a sheet that is not there, E_DOCUMENT for anything but such a
 * document, or encrypted, E_TOO_LARGE.
 */
export async function convertOpenDocument(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  const source = await DocumentPackage.open(bytes, "OpenDocument file", ".odt, .ods or .odp", options);
  const manifest = await readManifest(source);
  if (manifest.isEncrypted) throw needsPassword("document");
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
  const sink = createSink(facts, options);
  return convertText(kind, sink, options, async function* () {
    const title = await readTitle(source);
    if (isSheets && options.form !== "links") {
      const charts = await readCharts(source, outline.objects);
      const book = { ...outline.sheets, charts };
      yield* xmlSteps(source.read("content.xml"), new SheetsText(sink, options.form, book, chosen));
    } else {
      const isText = options.form === "text";
      const hasPages = outline.hasPages && isText;
      if (hasPages) facts.part = "page";
      const margins = isText ? await readStylesPart(source, outline.styles) : [];
      const breakLevel = outline.body === "text" && isText && !hasPages ? 1 : 0;
      const blocks: BlockWriter = new BlockWriter(sink, breakLevel, () => {
        body.writeNotes();
      });
      const body: OpenText = new OpenText(blocks, {
        form: options.form,
        styles: outline.styles,
        ...(await readObjects(source, isText ? manifest.objects : new Map())),
        hasSlides: part === "slide" || part === "page",
        hasPages,
      });
      yield* xmlSteps(source.read("content.xml"), body);
      body.writeNotes();
      blocks.gap();
      if (outline.body === "text") for (const { kind: name, text } of margins) blocks.note(`[${name}]`, text);
      for (const notice of listNotices(body.findings)) facts.notice(notice);
    }
    facts.title(title);
  });
}

function listNotices({ changes, hidden }: OpenText["findings"]): readonly string[] {
  return [...(changes > 0 ? [TRACKED_CHANGES] : []), ...(hidden > 0 ? [HIDDEN_TEXT] : [])];
}

interface Manifest {
  readonly isEncrypted: boolean;
  /** The charts and equations, by the folder that each has. */
  readonly objects: ReadonlyMap<string, "chart" | "formula">;
}

async function readManifest(source: DocumentPackage): Promise<Manifest> {
  const name = "META-INF/manifest.xml";
  const objects = new Map<string, "chart" | "formula">();
  let isEncrypted = source.has("encrypted-package");
  if (!source.has(name)) return { isEncrypted, objects };
  await readXml(source.read(name), {
    open: (tag, attributes) => {
      isEncrypted ||= localName(tag) === "encryption-data";
      const type = /^application\/vnd\.oasis\.opendocument\.(chart|formula)$/.exec(
        attributes["manifest:media-type"] ?? "",
      )?.[1];
      const path = attributes["manifest:full-path"] ?? "";
      if (type !== undefined && path.length > 1 && objects.size < MAX_OBJECTS)
        objects.set(path.replace(/\/$/, ""), type as "chart" | "formula");
    },
  });
  return { isEncrypted, objects };
}

/** Reads charts and equations. Those that are missing or damaged are left out. */
async function readObjects(
  source: DocumentPackage,
  objects: Manifest["objects"],
): Promise<{ readonly charts: ReadonlyMap<string, Chart>; readonly equations: ReadonlyMap<string, string> }> {
  const charts = new Map<string, Chart>();
  const equations = new Map<string, string>();
  for (const [folder, kind] of objects) {
    const part = `${folder}/content.xml`;
    if (!source.has(part)) continue;
    if (kind === "chart") {
      const chart = await readUndamaged(() => readOpenChart(source, part));
      if (chart !== undefined) charts.set(folder, chart);
    } else {
      const equation = await readUndamaged(() => readEquation(source, part));
      if (equation !== undefined) equations.set(folder, equation);
    }
  }
  return { charts, equations };
}

async function readEquation(source: DocumentPackage, part: string): Promise<string> {
  const equation = new EquationText();
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      equation.open(localName(tag), attributes);
    },
    close: () => {
      equation.close();
    },
    text: (text) => {
      equation.text(text);
    },
  });
  return equation.toString();
}

interface Margin {
  readonly kind: "header" | "footer";
  readonly text: string;
}

/** Reads `styles.xml`: adds to the styles, and gives headers and footers, each text once. */
async function readStylesPart(source: DocumentPackage, styles: OpenStyles): Promise<readonly Margin[]> {
  if (!source.has("styles.xml")) return [];
  const text = new MarginText(styles);
  await readXml(source.read("styles.xml"), text);
  return text.margins;
}

/** Headers and footers of kinds of pages. */
class MarginText implements MarkupHandler {
  readonly margins: Margin[] = [];
  readonly #styles: OpenStyles;
  #kind: Margin["kind"] | undefined;
  #paragraph: ParagraphText | undefined;
  #text = "";

  constructor(styles: OpenStyles) {
    this.#styles = styles;
  }

  open(tag: string, attributes: Attributes): void {
    this.#styles.open(tag, attributes);
    const kind = /^style:(header|footer)(?:-left|-first)?$/.exec(tag)?.[1];
    if (kind !== undefined && attributes["style:display"] !== "false") this.#kind = kind as Margin["kind"];
    else if (this.#kind === undefined) return;
    else if (tag === "text:p" || tag === "text:h") this.#paragraph = new ParagraphText();
    else this.#paragraph?.exact(toMark(tag, attributes));
  }

  close(tag: string): void {
    this.#styles.close(tag);
    if (tag === "text:p" || tag === "text:h") {
      if (this.#text.length < MAX_MARGIN) this.#text += ` ${this.#paragraph?.toString() ?? ""}`;
      this.#paragraph = undefined;
    } else if (/^style:(?:header|footer)(?:-left|-first)?$/.test(tag)) this.#endMargin();
  }

  text(text: string): void {
    this.#paragraph?.add(text);
  }

  #endMargin(): void {
    const kind = this.#kind;
    const text = oneLine(this.#text);
    this.#kind = undefined;
    this.#text = "";
    if (kind === undefined || text === "" || this.margins.length >= MAX_MARGINS) return;
    if (!this.margins.some((other) => other.kind === kind && other.text === text)) this.margins.push({ kind, text });
  }
}

async function readTitle(source: DocumentPackage): Promise<string> {
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
  const sheetStyles = new SheetStyles();
  const styles = new OpenStyles();
  let hasPages = false;
  const hidden = new Set<string>();
  let body: string | undefined;
  let pages = 0;
  let style = "";
  let depth = 0;
  let bodyDepth = -1;
  let skipped = 0;
  if (source.has("styles.xml")) await readXml(source.read("styles.xml"), sheetStyles);
  await readXml(source.read("content.xml"), {
    open: (tag, attributes) => {
      const name = localName(tag);
      depth++;
      if (skipped > 0 || name === "tracked-changes") skipped++;
      if (skipped > 0) return;
      if (bodyDepth === -1) {
        sheetStyles.open(tag, attributes);
        styles.open(tag, attributes);
      }
      if (tag === "office:body") bodyDepth = depth;
      else if (depth === bodyDepth + 1) {
        body ??= name;
        hasPages ||= attributes["text:use-soft-page-breaks"] === "true";
      } else if (tag === "style:style") style = attributes["style:name"] ?? "";
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
      else if (bodyDepth === -1) {
        sheetStyles.close(tag);
        styles.close(tag);
      }
    },
  });
  if (body === undefined || !Object.hasOwn(KINDS, body)) throw toDamagedError("OpenDocument file");
  const isSheets = body === "spreadsheet";
  if (isSheets && sheets.length === 0) throw toDamagedError("spreadsheet");
  return {
    body,
    sheets: { sheets: isSheets ? sheets : [], ranges, styles: sheetStyles },
    objects,
    pages,
    hasPages,
    styles,
  };
}

/** What the charts among objects are, by their addresses. */
async function readCharts(source: DocumentPackage, objects: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const charts = new Map<string, string>();
  for (const address of objects) {
    const part = `${address.replace(/^\.\//, "")}/content.xml`;
    // oxlint-disable-next-line no-await-in-loop -- parts of a package are read in order
    const chart = source.has(part) ? await readUndamaged(() => readOpenChart(source, part)) : undefined;
    if (chart !== undefined) charts.set(address, describeChart(chart));
  }
  return charts;
}
