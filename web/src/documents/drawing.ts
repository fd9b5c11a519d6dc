/**
 * Drawings of OOXML as text: pictures by their descriptions and files, charts by their values, diagrams by their points.
 * @module
 */
import { oneLine } from "./blocks.js";
import { type Chart, readChart } from "./chart.js";
import { SluiceError } from "../errors/error.js";
import type { DocumentPackage, Relationship } from "./package.js";
import { readCount, localName, readXml } from "./xml.js";

/** Most charts and diagrams that are read of a document. */
const MAX_DRAWINGS = 200;

/** Most points of a diagram, and the most text of one. */
const MAX_POINTS = 2000;
const MAX_POINT_CHARS = 4000;

/** Longest description of a picture, and longest name of its file. */
const MAX_ALT = 2000;
const MAX_PART = 200;

/** A point of a diagram. */
export interface DiagramItem {
  readonly text: string;
  /** From 0. */
  readonly level: number;
}

/** What the relationships of a part lead to and drawings show, by the id of the relationship. */
export interface DrawingParts {
  readonly charts: ReadonlyMap<string, Chart>;
  readonly diagrams: ReadonlyMap<string, readonly DiagramItem[]>;
}

/**
 * A picture in one line: `[image: A cat (word/media/image1.png)]`.
 *
 * @param alt what is said of it; its name stands in for it.
 * @param part the entry of the document that it is, or the address that it is at.
 */
export function describeImage(alt: string, name = "", part = ""): string {
  const said = oneLine(alt.slice(0, MAX_ALT)) || oneLine(name.slice(0, MAX_PART));
  const file = oneLine(part.slice(0, MAX_PART));
  if (said === "") return file === "" ? "[image]" : `[image: ${file}]`;
  return file === "" || file === said ? `[image: ${said}]` : `[image: ${said} (${file})]`;
}

/** A file of another program in one line: `[embedded object: Excel.Sheet.12 (word/embeddings/sums.xlsx)]`. */
export function describeObject(kind: string, part: string): string {
  const said = oneLine(kind.slice(0, MAX_PART));
  const file = oneLine(part.slice(0, MAX_PART));
  return `[embedded object${said === "" ? "" : `: ${said}`}${file === "" ? "" : ` (${file})`}]`;
}

/** Reads the charts and diagrams of a part. Those that are missing or damaged are left out. Throws E_TOO_LARGE. */
export async function readDrawingParts(
  source: DocumentPackage,
  relations: ReadonlyMap<string, Relationship>,
): Promise<DrawingParts> {
  const charts = new Map<string, Chart>();
  const diagrams = new Map<string, readonly DiagramItem[]>();
  for (const [id, { type, target, isExternal }] of relations) {
    if (isExternal || charts.size + diagrams.size >= MAX_DRAWINGS || !source.has(target)) continue;
    if (type === "chart" || type === "chartEx") {
      const chart = await readUndamaged(() => readChart(source, target));
      if (chart !== undefined) charts.set(id, chart);
    } else if (type === "diagramData") {
      const diagram = await readUndamaged(() => readDiagram(source, target));
      if (diagram !== undefined) diagrams.set(id, diagram);
    }
  }
  return { charts, diagrams };
}

/** What is read, or undefined if it is damaged: a drawing does not keep people from the text around it. */
export async function readUndamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SluiceError && error.code === "E_DOCUMENT") return undefined;
    throw error;
  }
}

/** The points of a diagram (SmartArt; ECMA-376 part 1, 21.4), in order and by level. */
async function readDiagram(source: DocumentPackage, part: string): Promise<readonly DiagramItem[]> {
  const texts = new Map<string, string>();
  const children = new Map<string, [order: number, child: string][]>();
  let root = "";
  let point: string | undefined;
  let isText = false;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      isText = name === "t" && point !== undefined;
      if (name === "pt") {
        const id = attributes["modelId"] ?? "";
        const type = attributes["type"] ?? "node";
        if (type === "doc") root = id;
        point = (type === "node" || type === "asst") && texts.size < MAX_POINTS ? id : undefined;
        if (point !== undefined) texts.set(point, "");
      } else if (name === "cxn" && (attributes["type"] ?? "parOf") === "parOf" && children.size <= MAX_POINTS) {
        const siblings = children.get(attributes["srcId"] ?? "") ?? [];
        const order = readCount(attributes["srcOrd"], 0, MAX_POINTS, 0);
        if (siblings.length < MAX_POINTS) siblings.push([order, attributes["destId"] ?? ""]);
        children.set(attributes["srcId"] ?? "", siblings);
      }
    },
    close: (tag) => {
      const name = localName(tag);
      isText = false;
      if (name === "pt") point = undefined;
      else if (name === "p" && point !== undefined) addText(texts, point, " ");
    },
    text: (text) => {
      if (isText && point !== undefined) addText(texts, point, text);
    },
  });
  const items: DiagramItem[] = [];
  const visit = (id: string, level: number): void => {
    const text = texts.get(id);
    // Each is written once, whatever it is connected to.
    if (text !== undefined && texts.delete(id) && oneLine(text) !== "") items.push({ text: oneLine(text), level });
    else if (text === undefined && id !== root) return;
    if (level > 20) return;
    const next = (children.get(id) ?? []).toSorted(([one], [other]) => one - other);
    children.delete(id);
    for (const [, child] of next) visit(child, id === root ? 0 : level + 1);
  };
  visit(root, 0);
  for (const id of texts.keys()) visit(id, 0);
  return items;
}

function addText(texts: Map<string, string>, point: string, text: string): void {
  const before = texts.get(point) ?? "";
  if (before.length < MAX_POINT_CHARS) texts.set(point, before + text);
}
