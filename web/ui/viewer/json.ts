/**
 * Previews of JSON: a table for an array or lines of objects, else code.
 * @module
 */
import { renderCode } from "./code.js";
import { type Drawn, type PreviewInput, TABLE_LIMIT } from "./preview.js";
import { limitFor, readText } from "./artifact-reader.js";
import { Table } from "./table.js";
import { TableView } from "./table-view.js";

/** Characters of a cell with a nested value. */
const LONGEST_CELL = 2000;

/** Finds the elements of text that arrives in chunks. */
interface Finder {
  readonly endless: boolean;
  push(piece: string): string[];
  end?(): string[];
}

/** Draws objects as a table with a column per key, or anything else as code. */
export async function renderJson(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  return (await renderObjects(host, input, signal)) ?? (await renderCode(host, input, signal));
}

// Null where it is no table after all; nothing is left in the host then.
async function renderObjects(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn | null> {
  const limit = limitFor(input, TABLE_LIMIT);
  const slices = readText(input, limit, signal);
  const areLines = !input.type.endsWith("json") || input.type.endsWith("ndjson");
  const finder: Finder = areLines ? new Lined() : new Elements();
  const objects = new Objects();
  let view: TableView | undefined;
  let begun = "";
  for (;;) {
    const { done, value } = await slices.next();
    const piece = done ? "" : value;
    begun = (begun + piece).slice(0, 1000).trimStart();
    if (begun !== "" && !areLines && !/^\[\s*(?:\{|$)/.test(begun)) return leave(slices);
    const isTable = objects.take(done ? (finder.end?.() ?? []) : finder.push(piece));
    const broken = !isTable || finder.endless;
    if (broken && objects.table.count === 0) {
      host.replaceChildren();
      return leave(slices);
    }
    if (objects.table.count > 0)
      view ??= new TableView(host, objects.table, { label: `Table of ${input.name}` }, signal);
    const over = done === true || broken || objects.table.full;
    view?.update(over);
    if (!over) continue;
    await slices.return(true);
    if (objects.table.count === 0) return null;
    const note = broken ? "The text after the last row is not JSON and is left out." : objects.table.note;
    const isPart = done === true && value;
    return { ...(isPart && { part: limit }), ...(note !== undefined && { note }) };
  }
}

async function leave(slices: AsyncGenerator<string, boolean>): Promise<null> {
  await slices.return(true);
  return null;
}

/** A table of objects. Other values get their own column. */
class Objects {
  readonly table = new Table();
  readonly #at = new Map<string, number>();

  /** Adds values by their source; false at the first invalid one. */
  take(sources: readonly string[]): boolean {
    return sources.every((source) => this.#add(source));
  }

  #add(source: string): boolean {
    let value: unknown;
    try {
      value = parseJson(source);
    } catch {
      return false;
    }
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const members = isObject ? Object.entries(value as object) : [["value", value] as const];
    const cells: string[] = [];
    for (const [name, member] of members) {
      const at = this.#column(name);
      if (at !== undefined) cells[at] = writeJson(member);
    }
    // Keys come in any order; missing values are empty.
    this.table.add(Array.from(cells, (cell: string | undefined) => cell ?? ""));
    return true;
  }

  #column(name: string): number | undefined {
    const known = this.#at.get(name);
    if (known !== undefined) return known;
    const at = this.table.columns.length;
    if (!this.table.column(name)) return undefined;
    this.#at.set(name, at);
    return at;
  }
}

/** Values that are a line each. */
class Lined implements Finder {
  #rest = "";

  get endless(): boolean {
    return this.#rest.length > LONGEST_ELEMENT;
  }

  push(piece: string): string[] {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.filter((line) => line.trim() !== "");
  }

  end(): string[] {
    return this.#rest.trim() === "" ? [] : [this.#rest];
  }
}

// Keep the source of numbers that a double cannot hold, if the browser reports it.
function parseJson(source: string): unknown {
  if (!/\d{16}|\d[eE]/.test(source)) return JSON.parse(source);
  return JSON.parse(source, (_name, value: unknown, ...context: unknown[]) => {
    const from = (context[0] as { source?: string } | undefined)?.source;
    return typeof value === "number" && from !== undefined && String(value) !== from ? from : value;
  });
}

function writeJson(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value).slice(0, LONGEST_CELL);
}

/** Characters of one element. */
const LONGEST_ELEMENT: number = 1024 ** 2;

/** Finds the elements of an array as source text, without validating them. */
export class Elements {
  #rest = "";
  /** Scanned characters of the rest; one more than its length if an escape continues in the next chunk. */
  #seen = 0;
  #depth = 0;
  #inString = false;

  /** Whether an element was too long. */
  get endless(): boolean {
    return this.#rest.length > LONGEST_ELEMENT;
  }

  /** Adds a chunk and returns the complete elements. */
  push(piece: string): string[] {
    const text = this.#rest + piece;
    const found: string[] = [];
    let start = 0;
    let at = this.#seen;
    for (;;) {
      const marks = this.#inString ? /["\\]/g : /["{}[\],]/g;
      marks.lastIndex = at;
      const index = marks.exec(text)?.index;
      if (index === undefined) break;
      const mark = text.charAt(index);
      at = index + (mark === "\\" ? 2 : 1);
      if (!this.#ends(mark)) continue;
      const element = text.slice(start, index).trim();
      if (element !== "") found.push(element);
      start = index + 1;
    }
    this.#rest = text.slice(start);
    this.#seen = Math.max(at, text.length) - start;
    return found;
  }

  // Whether an element ends with a mark, or, at the first bracket, begins behind it.
  #ends(mark: string): boolean {
    if (mark === '"') this.#inString = !this.#inString;
    if (this.#inString || mark === '"') return false;
    if (mark === ",") return this.#depth === 1;
    if (mark === "{" || mark === "[") {
      this.#depth += 1;
      return this.#depth === 1;
    }
    this.#depth -= 1;
    return this.#depth === 0;
  }
}
