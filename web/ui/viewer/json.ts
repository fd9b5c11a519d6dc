/**
 * JSON: a table where it is an array of objects, or lines of them, and code otherwise.
 * @module
 */
import { renderCode } from "./code.js";
import { Elements, LONGEST_ELEMENT } from "./elements.js";
import { TABLE_LIMIT, type Drawn, type PreviewInput } from "./preview.js";
import { limitFor, textOf } from "./reading.js";
import { Table } from "./table.js";
import { TableView } from "./table-view.js";

/** Characters of a cell that is itself made of values. */
const LONGEST_CELL = 2000;

/** Finds the elements of what comes in pieces. */
interface Finder {
  readonly endless: boolean;
  push(piece: string): string[];
  end?(): string[];
}

/** Draws a table of objects, one column for each of their names; what is no such table is drawn as code. */
export async function renderJson(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  return (await renderObjects(host, input, signal)) ?? (await renderCode(host, input, signal));
}

// Null where it is no table after all; nothing is left in the host then.
async function renderObjects(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn | null> {
  const limit = limitFor(input, TABLE_LIMIT);
  const slices = textOf(input, limit, signal);
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
    if (objects.table.count > 0) view ??= new TableView(host, objects.table, `Table of ${input.name}`, signal);
    const over = done === true || broken || objects.table.full;
    view?.update(over);
    if (!over) continue;
    await slices.return(true);
    if (objects.table.count === 0) return null;
    const note = broken ? "What follows the last row is not JSON, and is left out." : objects.table.note;
    const isPart = (done === true && value) || objects.table.full;
    return { ...(isPart && { part: limit }), ...(note !== undefined && { note }) };
  }
}

async function leave(slices: AsyncGenerator<string, boolean>): Promise<null> {
  await slices.return(true);
  return null;
}

/** A table out of objects; other values have a column of their own. */
class Objects {
  readonly table = new Table();
  readonly #at = new Map<string, number>();

  /** Takes sources of values; false at the first that is no JSON. */
  take(sources: readonly string[]): boolean {
    return sources.every((source) => this.#add(source));
  }

  #add(source: string): boolean {
    let value: unknown;
    try {
      value = parsed(source);
    } catch {
      return false;
    }
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const members = isObject ? Object.entries(value as object) : [["value", value] as const];
    const cells: string[] = [];
    for (const [name, member] of members) {
      const at = this.#column(name);
      if (at !== undefined) cells[at] = written(member);
    }
    // Names may come in any order; what has no value is empty.
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

// Numbers that a double cannot hold stay as they are written, where the browser tells how that was.
function parsed(source: string): unknown {
  if (!/\d{16}|\d[eE]/.test(source)) return JSON.parse(source);
  return JSON.parse(source, (_name, value: unknown, ...context: unknown[]) => {
    const from = (context[0] as { source?: string } | undefined)?.source;
    return typeof value === "number" && from !== undefined && String(value) !== from ? from : value;
  });
}

function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value).slice(0, LONGEST_CELL);
}
