/**
 * Parts beside a sheet of a workbook of Excel: comments, threads of them, tables, and what is drawn over the cells.
 * @module
 */
import { columnName, MAX_COLUMNS, MAX_ROWS, parseRange, type CellRange } from "./cell-range.js";
import { describeChart, readChart, type Chart } from "./chart.js";
import { relationshipId, type DocumentPackage, type Relationship } from "./package.js";
import type { SheetNotes } from "./sheet-notes.js";
import { readCount, localName, readXml } from "./xml.js";

type Relationships = ReadonlyMap<string, Relationship>;
type Attributes = Readonly<Record<string, string>>;

/** Most people and tables that are known, and most authors of comments. */
const MAX_PEOPLE = 10_000;
const MAX_TABLES = 1000;

/** Longest text of a comment or a text box that is kept. */
const MAX_TEXT = 10_000;

/** Finds the text of a cell by its reference, `Sheet1!B1`. Undefined where it is not known. */
export type FindText = (reference: string) => string | undefined;

/** Reads what a sheet has in parts of its own. */
export async function readSheetParts(
  source: DocumentPackage,
  relations: Relationships,
  people: ReadonlyMap<string, string>,
  notes: SheetNotes,
  findText: FindText,
): Promise<void> {
  for (const part of findParts(source, relations, "threadedComment")) await readThreads(source, part, people, notes);
  for (const part of findParts(source, relations, "comments")) await readComments(source, part, notes);
  for (const part of findParts(source, relations, "drawing")) await readDrawing(source, part, notes, findText);
  for (const { name, ref } of await readTables(source, relations)) notes.range(name, ref);
}

function findParts(source: DocumentPackage, relations: Relationships, type: string): readonly string[] {
  return [...relations.values()]
    .filter((each) => each.type === type && !each.isExternal && source.has(each.target))
    .slice(0, MAX_TABLES)
    .map(({ target }) => target);
}

/** The names of the people who comment, by id. */
export async function readPeople(
  source: DocumentPackage,
  relations: Relationships,
): Promise<ReadonlyMap<string, string>> {
  const people = new Map<string, string>();
  for (const part of findParts(source, relations, "person")) {
    await readXml(source.read(part), {
      open: (tag, attributes) => {
        if (localName(tag) !== "person" || people.size >= MAX_PEOPLE) return;
        people.set(attributes["id"] ?? "", (attributes["displayName"] ?? "").slice(0, 255));
      },
    });
  }
  return people;
}

/** Comments with replies. Each is also a comment of the older kind, for programs that do not know them. */
async function readThreads(
  source: DocumentPackage,
  part: string,
  people: ReadonlyMap<string, string>,
  notes: SheetNotes,
): Promise<void> {
  let comment: { readonly attributes: Attributes; text: string } | undefined;
  let isText = false;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "threadedComment") comment = { attributes, text: "" };
      isText = name === "text";
    },
    close: (tag) => {
      isText = false;
      if (localName(tag) !== "threadedComment" || comment === undefined) return;
      const { ref = "", personId = "", parentId, done } = comment.attributes;
      const state = parentId === undefined ? (done === "1" ? "resolved" : "") : "reply";
      notes.comment(ref, people.get(personId) ?? "", comment.text, state);
    },
    text: (text) => {
      if (isText && comment !== undefined && comment.text.length < MAX_TEXT) comment.text += text;
    },
  });
}

async function readComments(source: DocumentPackage, part: string, notes: SheetNotes): Promise<void> {
  const authors: string[] = [];
  let comment: { readonly cell: string; readonly author: string; text: string } | undefined;
  let inside: "author" | "text" | undefined;
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name === "author") {
        inside = "author";
        if (authors.length < MAX_PEOPLE) authors.push("");
      } else if (name === "comment") {
        const author = authors[readCount(attributes["authorId"], 0, MAX_PEOPLE, MAX_PEOPLE)] ?? "";
        comment = { cell: attributes["ref"] ?? "", author, text: "" };
      } else inside = name === "t" ? "text" : undefined;
    },
    close: (tag) => {
      inside = undefined;
      // That of a thread says only that there is one.
      if (localName(tag) === "comment" && comment?.author.startsWith("tc=") === false)
        notes.comment(comment.cell, comment.author, comment.text);
    },
    text: (text) => {
      const last = authors.length - 1;
      if (inside === "author" && (authors[last]?.length ?? MAX_TEXT) < 255) authors[last] += text;
      else if (inside === "text" && comment !== undefined && comment.text.length < MAX_TEXT) comment.text += text;
    },
  });
}

/** A table of a sheet. */
interface SheetTable {
  readonly name: string;
  readonly ref: string;
  readonly range: CellRange | undefined;
}

/** The tables of a sheet. */
export async function readTables(source: DocumentPackage, relations: Relationships): Promise<readonly SheetTable[]> {
  const tables: SheetTable[] = [];
  for (const part of findParts(source, relations, "table")) {
    await readXml(source.read(part), {
      open: (tag, attributes) => {
        if (localName(tag) !== "table" || tables.length >= MAX_TABLES) return;
        const { displayName, name = "", ref = "" } = attributes;
        tables.push({ name: (displayName ?? name).slice(0, 255), ref, range: parseRange(ref) });
      },
    });
  }
  return tables;
}

/** Series by what stands in the cells that have their names, where the chart does not keep these. */
function nameSeries(chart: Chart, findText: FindText): Chart {
  return { ...chart, series: chart.series.map((each) => ({ ...each, name: findText(each.name) ?? each.name })) };
}

interface Anchor {
  column: string;
  row: string;
  name: string;
  text: string;
  chart: string | undefined;
}

/** Charts, images and text boxes, each with the cell at its corner. */
async function readDrawing(
  source: DocumentPackage,
  part: string,
  notes: SheetNotes,
  findText: FindText,
): Promise<void> {
  const charts: { readonly cell: string; readonly name: string; readonly id: string }[] = [];
  let anchor: Anchor = { column: "", row: "", name: "", text: "", chart: undefined };
  let corner = false;
  let inside: "column" | "row" | "text" | undefined;
  const findCell = (): string => {
    if (anchor.column === "" || anchor.row === "") return "";
    const column = readCount(anchor.column, 0, MAX_COLUMNS - 1, 0) + 1;
    return `${columnName(column)}${readCount(anchor.row, 0, MAX_ROWS - 1, 0) + 1}`;
  };
  await readXml(source.read(part), {
    open: (tag, attributes) => {
      const name = localName(tag);
      if (name.endsWith("Anchor")) anchor = { column: "", row: "", name: "", text: "", chart: undefined };
      else if (name === "from") corner = true;
      else if (corner && name === "col") inside = "column";
      else if (corner && name === "row") inside = "row";
      else if (name === "cNvPr") {
        const { name: own = "", descr = "", title = "" } = attributes;
        anchor.name = [own, descr === "" ? title : descr].filter(Boolean).join(": ").slice(0, MAX_TEXT);
      } else if (name === "chart") anchor.chart = relationshipId(attributes);
      else if (name === "t") inside = "text";
    },
    close: (tag) => {
      const name = localName(tag);
      inside = undefined;
      if (name === "from") corner = false;
      else if (name === "p" && anchor.text !== "") anchor.text += " ";
      else if (name === "pic") notes.drawing("image", findCell(), anchor.name);
      else if (name === "graphicFrame" && anchor.chart !== undefined && charts.length < MAX_TABLES)
        charts.push({ cell: findCell(), name: anchor.name, id: anchor.chart });
      else if (name === "sp") {
        if (anchor.text.trim() !== "") notes.drawing("text box", findCell(), anchor.text);
        anchor.text = "";
      }
    },
    text: (text) => {
      if (inside === "text") {
        if (anchor.text.length < MAX_TEXT) anchor.text += text;
      } else if (inside !== undefined && anchor[inside].length < 10) anchor[inside] += text;
    },
  });
  if (charts.length === 0) return;
  const relations = await source.relationships(part);
  for (const { cell, name, id } of charts) {
    const target = relations.get(id)?.target;
    // oxlint-disable-next-line no-await-in-loop -- parts of a package are read in order
    const chart = target === undefined || !source.has(target) ? undefined : await readChart(source, target);
    notes.drawing("chart", cell, chart === undefined ? name : describeChart(nameSeries(chart, findText)));
  }
}
