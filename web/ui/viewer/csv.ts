/**
 * Previews of CSV: values separated by commas, tabs, semicolons or bars.
 * @module
 */
import type * as PapaModule from "papaparse";
import { renderPlain } from "./code.js";
import { type Drawn, loadRenderer, type PreviewInput, TABLE_LIMIT } from "./preview.js";
import { limitFor, readText } from "./artifact-reader.js";
import { Table } from "./table.js";
import { TableView } from "./table-view.js";

type Papa = typeof PapaModule;

/** Characters of a row. An unclosed quote would make one row of all that follows. */
const LONGEST_ROW = 1024 ** 2;

/** Draws a table whose first row names the columns. */
export async function renderCsv(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const papa = (await loadRenderer("tables", import("papaparse"))).default;
  signal.throwIfAborted();
  const table = new Table();
  const view = new TableView(host, table, { label: `Table of ${input.name}` }, signal);
  const rows = new CsvRows(papa, input.type.includes("tab-separated") ? "\t" : undefined);
  const limit = limitFor(input, TABLE_LIMIT);
  const slices = readText(input, limit, signal);
  let named = false;
  const take = (found: readonly (readonly string[])[]): void => {
    for (const cells of found) {
      if (named) table.add(cells);
      else for (const name of cells) if (!table.column(name)) break;
      named = true;
    }
  };
  for (;;) {
    const { done, value } = await slices.next();
    if (!done) take(rows.push(value));
    else if (!value) take(rows.end());
    if (rows.endless && table.count === 0) {
      host.replaceChildren();
      return renderPlain(host, input, signal);
    }
    const over = done === true || table.full || rows.endless;
    view.update(over);
    if (!over) continue;
    await slices.return(true);
    const note = rows.endless ? "A row is too long to be shown: it and the rows after it are left out." : table.note;
    const isPart = done === true && value;
    return { ...(isPart && { part: limit }), ...(note !== undefined && { note }) };
  }
}

/** Parses rows from text in chunks. */
class CsvRows {
  readonly #papa: Papa;
  #config: { delimiter: string; newline: "\r\n" | "\n" | "\r" } | undefined;
  readonly #separator: string | undefined;
  #rest = "";

  constructor(papa: Papa, separator: string | undefined) {
    this.#papa = papa;
    this.#separator = separator;
  }

  /** Whether a row was too long. */
  get endless(): boolean {
    return this.#rest.length > LONGEST_ROW;
  }

  /** Adds a chunk and returns the complete rows. */
  push(piece: string): readonly (readonly string[])[] {
    return this.#parse(this.#rest + piece, true);
  }

  /** Returns the last row. */
  end(): readonly (readonly string[])[] {
    return this.#parse(this.#rest, false);
  }

  #parse(text: string, mayGoOn: boolean): readonly (readonly string[])[] {
    this.#config ??= this.#judge(text);
    const parser = new this.#papa.Parser(this.#config);
    const { data, meta } = parser.parse(text, 0, mayGoOn) as { data: string[][]; meta: { cursor: number } };
    this.#rest = mayGoOn ? text.slice(meta.cursor) : "";
    return data.filter((cells) => cells.length > 1 || cells[0] !== "");
  }

  #judge(text: string): { delimiter: string; newline: "\r\n" | "\n" | "\r" } {
    const { meta } = this.#papa.parse(text, { preview: 20, skipEmptyLines: true });
    return { delimiter: this.#separator ?? meta.delimiter, newline: meta.linebreak as "\r\n" | "\n" | "\r" };
  }
}
