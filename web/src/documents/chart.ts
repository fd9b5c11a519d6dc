/**
 * Charts of OOXML and OpenDocument: kind, title, series, axes, and the values that the file keeps of them.
 * @module
 */
import { CellFormat } from "./cell-format.js";
import { shortenLine } from "./document.js";
import type { DocumentPackage } from "./package.js";
import { readCount, localName, readXml, type MarkupHandler } from "./xml.js";

/** One line, row or slice of a chart. */
export interface ChartSeries {
  /** Empty if it has none. */
  readonly name: string;
  /** At most 50, in the order of the categories; empty where there is none. */
  readonly values: readonly string[];
}

/** What a person reads of a chart. Texts are one line of at most 120 characters. */
export interface Chart {
  /** `column`, `line`, `pie`; those of a chart of several are joined by ` and `. Empty if it is unknown. */
  readonly kind: string;
  /** Empty if it has none. */
  readonly title: string;
  /** Titles of the axes that have one. */
  readonly axes: readonly string[];
  /** The first 50. */
  readonly series: readonly ChartSeries[];
  /** How many series there are. */
  readonly seriesCount: number;
  /** What the values are of: the first 50. Empty if each series has its own. */
  readonly categories: readonly string[];
  /** How many values the longest series has. */
  readonly pointCount: number;
}

const MAX_SERIES = 50;
const MAX_POINTS = 50;
const MAX_AXES = 4;

/** Longest text that is collected of a title, a name or a value. */
const MAX_TEXT = 1024;

/** Series that are named in one line. */
const MAX_NAMED = 20;

type Attributes = Readonly<Record<string, string>>;

/**
 * Reads a chart of OOXML: a part that a relationship of the type `chart` or `chartEx` leads to.
 *
 * @throws SluiceError E_DOCUMENT for a part that is missing or damaged, E_TOO_LARGE.
 */
export async function readChart(source: DocumentPackage, part: string): Promise<Chart> {
  const markup = new ChartMarkup();
  await readXml(source.read(part), markup);
  return markup.toChart();
}

/**
 * Reads a chart of OpenDocument: the `content.xml` of an object, as `Object 1/content.xml`.
 *
 * @throws SluiceError E_DOCUMENT for a part that is missing or damaged, E_TOO_LARGE.
 */
export async function readOpenChart(source: DocumentPackage, part: string): Promise<Chart> {
  const markup = new OpenChartMarkup();
  await readXml(source.read(part), markup);
  return markup.toChart();
}

/** A chart in one line: `[chart: Sales; column; series: North, South; axes: Quarter, EUR]`. */
export function describeChart(chart: Chart): string {
  const names = chart.series.map(({ name }) => name).filter((name) => name !== "");
  const more = chart.seriesCount - Math.min(names.length, MAX_NAMED);
  const named = `${names.slice(0, MAX_NAMED).join(", ")}${names.length > 0 && more > 0 ? `, … (${chart.seriesCount})` : ""}`;
  const said = [
    chart.title,
    chart.kind,
    names.length === 0 ? "" : `series: ${named}`,
    chart.axes.length === 0 ? "" : `axes: ${chart.axes.join(", ")}`,
  ];
  const text = said.filter((each) => each !== "").join("; ");
  return text === "" ? "[chart]" : `[chart: ${text}]`;
}

/** The values of a chart as a table with the series as columns; nothing where the file keeps none. */
export function listChartRows(chart: Chart): readonly (readonly string[])[] {
  const { series, categories } = chart;
  const count = Math.max(0, ...series.map(({ values }) => values.length));
  if (count === 0 || categories.length === 0) return [];
  const rows = [["", ...series.map(({ name }) => name)]];
  for (let at = 0; at < count; at++) rows.push([categories[at] ?? "", ...series.map(({ values }) => values[at] ?? "")]);
  if (chart.pointCount > count) rows.push([`… (${chart.pointCount})`]);
  return rows;
}

/** What is collected of a series. */
class SeriesBuilder {
  name = "";
  /** The cell that has its name: the name itself, where the file does not keep that. */
  cell = "";
  /** With holes where there is none. */
  readonly categories: (string | undefined)[] = [];
  readonly values: (string | undefined)[] = [];
  points = 0;

  toSeries(): ChartSeries {
    const name = this.name === "" ? this.cell.replaceAll("$", "") : this.name;
    return { name: shortenLine(name), values: Array.from(this.values, (value = "") => shortenLine(value)) };
  }
}

/** The categories of all series, where they are the same. */
function joinCategories(series: readonly SeriesBuilder[]): readonly string[] {
  const [first, ...others] = series.map(({ categories }) => Array.from(categories, (each = "") => shortenLine(each)));
  if (first === undefined) return [];
  const isSame = others.every((other) => other.length === 0 || other.join("\n") === first.join("\n"));
  return isSame ? first : [];
}

/** What the elements of DrawingML draw; what is not here is named as its element is. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["bar3D", "bar"],
  ["ofPie", "pie of pie"],
  ["clusteredColumn", "column"],
  ["paretoLine", "Pareto line"],
  ["boxWhisker", "box and whisker"],
  ["regionMap", "map"],
]);

/** Parts of a series that hold points. */
const CATEGORIES: ReadonlySet<string> = new Set(["cat", "xVal"]);
const VALUES: ReadonlySet<string> = new Set(["val", "yVal"]);

/** A chart of DrawingML (ECMA-376 part 1, 21.2), or of the charts that came with Office 2016 (MS-ODRAWXML 2.24). */
class ChartMarkup implements MarkupHandler {
  readonly #path: string[] = [];
  readonly #kinds = new Set<string>();
  #title = "";
  readonly #axes: string[] = [];
  readonly #series: SeriesBuilder[] = [];
  #seriesCount = 0;
  /** The series that is open, and whether it is kept. */
  #current: SeriesBuilder | undefined;
  #point = 0;
  #format = "";
  #text: string | undefined;

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    const parent = this.#path.at(-1);
    this.#path.push(name);
    if (parent === "plotArea" && name.endsWith("Chart")) this.#addKind(name.slice(0, -"Chart".length));
    else if (name === "barDir" && attributes["val"] !== "bar") {
      if (this.#kinds.delete("bar")) this.#kinds.add("column");
    } else if (name === "ser" || name === "series") this.#openSeries(attributes["layoutId"]);
    else if (name === "title" && (parent?.endsWith("Ax") === true || parent === "axis")) {
      if (this.#axes.length <= MAX_AXES) this.#axes.push("");
    } else if (name === "pt") this.#point = readCount(attributes["idx"], 0, Number.MAX_SAFE_INTEGER, MAX_POINTS);
    else if (name === "ptCount" && this.#isIn(VALUES) && this.#current !== undefined) {
      this.#current.points = readCount(attributes["val"], 0, Number.MAX_SAFE_INTEGER, 0);
    } else if (name === "numCache" || name === "strCache") this.#format = "";
    if (isTextElement(name)) this.#text = "";
  }

  close(): void {
    const name = this.#path.pop();
    const text = this.#text;
    if (name === "ser" || name === "series") this.#current = undefined;
    else if (name === "p") this.#addTitle(" ");
    if (text === undefined || !isTextElement(name)) return;
    this.#text = undefined;
    if (name === "f") {
      if (this.#current !== undefined && this.#path.at(-2) === "tx" && this.#path.at(-3) === "ser")
        this.#current.cell = text;
    } else if (name === "formatCode") this.#format = text;
    else if (this.#path.includes("title")) this.#addTitle(text);
    else this.#addText(text);
  }

  text(text: string): void {
    if (this.#text !== undefined && this.#text.length < MAX_TEXT) this.#text += text;
  }

  toChart(): Chart {
    return {
      kind: [...this.#kinds].join(" and "),
      title: shortenLine(this.#title),
      axes: this.#axes.map(shortenLine).filter((axis) => axis !== ""),
      series: this.#series.map((each) => each.toSeries()),
      seriesCount: this.#seriesCount,
      categories: joinCategories(this.#series),
      pointCount: Math.max(0, ...this.#series.map(({ points, values }) => Math.max(points, values.length))),
    };
  }

  #addKind(element: string): void {
    const flat = element.replace(/3D$/, "");
    if (this.#kinds.size < MAX_AXES) this.#kinds.add(shortenLine(KINDS.get(element) ?? KINDS.get(flat) ?? flat));
  }

  #openSeries(layout: string | undefined): void {
    this.#seriesCount++;
    if (layout !== undefined) this.#addKind(layout);
    this.#current = new SeriesBuilder();
    if (this.#series.length < MAX_SERIES) this.#series.push(this.#current);
  }

  #isIn(names: ReadonlySet<string>): boolean {
    return this.#path.some((name) => names.has(name));
  }

  #addTitle(text: string): void {
    const at = this.#path.lastIndexOf("title");
    if (at < 0 || this.#current !== undefined) return;
    const parent = this.#path[at - 1] ?? "";
    if (parent === "chart") {
      if (this.#title.length < MAX_TEXT) this.#title += text;
    } else if (parent.endsWith("Ax") || parent === "axis") {
      const axis = this.#axes.at(-1) ?? "";
      if (axis.length < MAX_TEXT) this.#axes.splice(-1, 1, axis + text);
    }
  }

  /** A name, a category or a value of the series that is open. Labels and bars of errors have texts of their own. */
  #addText(text: string): void {
    const series = this.#current;
    if (series === undefined || this.#path.includes("dLbls")) return;
    const at = this.#point;
    const value = formatValue(text, this.#format);
    // Of categories in levels the first is next to the axis.
    if (this.#isIn(CATEGORIES)) {
      if (at < MAX_POINTS) series.categories[at] ??= value;
    } else if (this.#isIn(VALUES)) {
      if (at < MAX_POINTS) series.values[at] ??= value;
    } else if (this.#path.includes("tx") && series.name.length < MAX_TEXT) series.name += text;
  }
}

/** Elements whose text is read. */
function isTextElement(name: string | undefined): boolean {
  return name === "t" || name === "v" || name === "f" || name === "formatCode";
}

/** A value of a chart's cache as its format shows it. */
function formatValue(text: string, format: string): string {
  return text.trim() === "" ? text : new CellFormat(format).showNumber(text, false);
}

/** What OpenDocument calls kinds of charts otherwise. */
const OPEN_KINDS: ReadonlyMap<string, string> = new Map([
  ["circle", "pie"],
  ["ring", "doughnut"],
  ["filled-radar", "radar"],
]);

const MAX_COLUMNS = MAX_SERIES + 2;

/** A chart of OpenDocument (ODF 1.3 part 3, 11), with the table of values that it brings. */
class OpenChartMarkup implements MarkupHandler {
  readonly #path: string[] = [];
  readonly #kinds = new Set<string>();
  #title = "";
  readonly #axes: string[] = [];
  /** Where the names and the values of the series stand. */
  readonly #addresses: (readonly [label: string, values: string])[] = [];
  #seriesCount = 0;
  /** Rows of the table, the header first. */
  readonly #rows: string[][] = [];
  #rowCount = 0;
  #cell: { text: string; readonly repeat: number } | undefined;
  /** Styles whose bars lie. */
  readonly #lying = new Set<string>();
  #style = "";

  open(tag: string, attributes: Attributes): void {
    const parent = this.#path.at(-1);
    this.#path.push(tag);
    switch (tag) {
      case "style:style":
        this.#style = attributes["style:name"] ?? "";
        break;
      case "style:chart-properties":
        if (attributes["chart:vertical"] === "true" && this.#lying.size < MAX_TEXT) this.#lying.add(this.#style);
        break;
      case "chart:chart":
        this.#addKind(attributes["chart:class"]);
        break;
      case "chart:plot-area":
        if (!this.#lying.has(attributes["chart:style-name"] ?? "") && this.#kinds.delete("bar"))
          this.#kinds.add("column");
        break;
      case "chart:title":
        if (parent === "chart:axis" && this.#axes.length <= MAX_AXES) this.#axes.push("");
        break;
      case "chart:series":
        this.#seriesCount++;
        if (this.#addresses.length < MAX_SERIES)
          this.#addresses.push([
            attributes["chart:label-cell-address"] ?? "",
            attributes["chart:values-cell-range-address"] ?? "",
          ]);
        break;
      case "table:table-row":
        this.#rowCount++;
        if (this.#rows.length <= MAX_POINTS) this.#rows.push([]);
        break;
      case "table:table-cell":
        this.#cell = { text: "", repeat: readCount(attributes["table:number-columns-repeated"], 1, MAX_COLUMNS, 1) };
        break;
    }
  }

  close(tag: string): void {
    this.#path.pop();
    const cell = this.#cell;
    if (tag !== "table:table-cell" || cell === undefined) return;
    this.#cell = undefined;
    const row = this.#rowCount <= this.#rows.length ? this.#rows.at(-1) : undefined;
    const text = shortenLine(cell.text);
    if (row === undefined) return;
    for (let n = 0; n < cell.repeat && row.length < MAX_COLUMNS; n++) row.push(text);
  }

  text(text: string): void {
    // Cells say in drawings which range they come from.
    if (!this.#path.includes("text:p") || this.#path.includes("draw:g")) return;
    const at = this.#path.lastIndexOf("chart:title");
    if (this.#cell !== undefined) {
      if (this.#cell.text.length < MAX_TEXT) this.#cell.text += text;
    } else if (at > 0 && this.#path[at - 1] === "chart:axis") {
      const axis = this.#axes.at(-1) ?? "";
      if (axis.length < MAX_TEXT) this.#axes.splice(-1, 1, axis + text);
    } else if (at > 0 && this.#title.length < MAX_TEXT) this.#title += text;
  }

  toChart(): Chart {
    const body = this.#rows.slice(1);
    const series = this.#addresses.map(([label, range], at) => {
      const column = readAddress(range)?.column ?? at + 1;
      const named = readAddress(label) ?? { row: 0, column };
      const values = body.map((row) => (row[column] ?? "").replace(/^NaN$/, ""));
      return { name: this.#rows[named.row]?.[named.column] ?? "", values };
    });
    return {
      kind: [...this.#kinds].join(" and "),
      title: shortenLine(this.#title),
      axes: this.#axes.map(shortenLine).filter((axis) => axis !== ""),
      series,
      seriesCount: this.#seriesCount,
      categories: body.map(([category = ""]) => category),
      pointCount: Math.max(0, this.#rowCount - 1),
    };
  }

  #addKind(of: string | undefined): void {
    const kind = of?.replace(/^[^:]*:/, "") ?? "";
    if (kind !== "" && this.#kinds.size < MAX_AXES) this.#kinds.add(shortenLine(OPEN_KINDS.get(kind) ?? kind));
  }
}

/** A cell of the chart's own table at an address as `local-table.$B$1`, from 0. Undefined for cells of a sheet. */
function readAddress(address: string): { readonly row: number; readonly column: number } | undefined {
  const [, letters, digits] = /^'?local-table'?\.\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::|$)/.exec(address) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(digits) - 1, column: column - 1 };
}
