/**
 * Answers a question in SQL over the rows of an artifact. An answer that is long becomes an artifact of its own.
 * @module
 */
import { sha256 } from "#hash";
import type { StreamHash } from "../../artifacts/hash.js";
import type { ArtifactRef, ArtifactWriter } from "../../artifacts/store.js";
import { counted, grouped, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { pointerOf } from "../../json/pointer.js";
import { csvCell } from "../../query/csv-cells.js";
import { query } from "../../query/query.js";
import type { Cells, QueryAnswer, QueryTable } from "../../query/types.js";
import { csvTable, jsonTable, ndjsonTable, tableOf as tableOfRows } from "../../query/table.js";
import type { CellRange } from "../../documents/cell-range.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { sheetTable } from "./cells.js";
import { artifactUri, quote } from "./definition.js";
import { recordOf } from "./derived-record.js";
import { chunksOf } from "./forms.js";
import type { Inspection } from "./inspection.js";
import { noteAbove } from "./records.js";
import { namedTables } from "./query-tables.js";
import type { Wanted } from "./request.js";
import { factsOf, findSheet, type Readable, subjectOf } from "./source.js";

/** Most bytes of an answer that is stored. */
const MAX_STORED = 64 * 1024 * 1024;

/** Characters of lines that are written together. */
const PIECE = 64 * 1024;

/** Answers in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…, E_STORE_…. */
export async function tellQuery(
  from: Readable,
  inspection: Inspection,
  { sql, tokens }: Extract<Wanted, { mode: "query" }>,
  cells: CellRange | undefined,
  most: number,
): Promise<AnswerParts> {
  const { signal } = from;
  const { table, note } =
    cells === undefined && findSheet(from) === undefined
      ? await openTable(from, inspection, tokens)
      : { table: await sheetTable(from, cells), note: sheetNote(from) };
  const tables = namedTables(from, inspection.isJson);
  const answer = await query(sql, table, { ...(signal !== undefined && { signal }), ...(tables && { tables }) });
  const { shown, shownRows, rows, stored } = await writtenOf(from, answer, most);
  const head = `${subjectOf(from)}, answer to the query: ${counted(rows, "row")} below the header`;
  const beginning =
    shownRows === 0 ? "of which the beginning is shown" : `of which the first ${grouped(shownRows)} are shown`;
  const part = shownRows < rows ? `, ${beginning}` : "";
  const notes = [...note, ...answer.notes, ...(part === "" ? [] : [restOf(stored)])];
  return { head: `${head}${part}`, data: shown, notes };
}

/** Where the rows are that are not shown. */
function restOf(stored: ArtifactRef | undefined): string {
  if (stored === undefined) return "Ask for others with LIMIT and OFFSET.";
  const { id, size_bytes: size } = stored;
  return `All are ${artifactUri(id)} (CSV, ${humanSize(size)}): read on there, or pass that URI as a tool argument.`;
}

interface Asked {
  readonly table: QueryTable;
  /** What the rows are, where that is not plain. */
  readonly note: readonly string[];
}

async function openTable(
  from: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
): Promise<Asked> {
  const { layout, isJson } = inspection;
  if (tokens === undefined && layout.kind === "csv") {
    return { table: await csvTable(chunksOf(from, layout.start), layout), note: noteAbove(inspection) };
  }
  if (tokens === undefined && layout.kind === "ndjson") return { table: await ndjsonTable(chunksOf(from)), note: [] };
  if (isJson) {
    const table = await jsonTable(chunksOf(from), tokens === undefined ? {} : { pointer: pointerOf(tokens) });
    return { table, note: [] };
  }
  if (tokens === undefined) {
    return { table: lineTable(chunksOf(from)), note: ["The rows are lines, with the columns number and line."] };
  }
  throw new SluiceError("E_INVALID_ARGUMENT", "The artifact is not JSON: leave pointer out.", { path: "pointer" });
}

/** Which sheet it was, if nobody said. */
function sheetNote(from: Readable): readonly string[] {
  const { part, names = [] } = factsOf(from) ?? {};
  if (part !== "sheet" || names.length < 2 || from.ref.source["form"] !== "values") return [];
  return [`These are rows of the first sheet. The sheets are ${names.map(quote).join(", ")}: choose one with sheet.`];
}

/** Most characters of a line that are asked. */
const MAX_LINE = 64 * 1024;

/** The lines of a text as rows. What is longer than {@link MAX_LINE} is cut. */
function lineTable(bytes: AsyncIterable<Uint8Array>): QueryTable {
  return tableOfRows(["number", "line"], numbered(bytes));
}

async function* numbered(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Cells[]> {
  const decoder = new TextDecoder();
  let rest = "";
  let number = 0;
  const rowOf = (line: string): Cells => [(number += 1), line.replace(/\r$/, "").slice(0, MAX_LINE)];
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    yield lines.map(rowOf);
  }
  rest += decoder.decode();
  if (rest !== "") yield [rowOf(rest)];
}

interface Written {
  /** The header and the first rows, as CSV. */
  readonly shown: string;
  readonly shownRows: number;
  readonly rows: number;
  /** The whole answer, if it is not shown whole. */
  readonly stored: ArtifactRef | undefined;
}

async function writtenOf(from: Readable, { columns, rows }: QueryAnswer, most: number): Promise<Written> {
  const header = lineOf(columns);
  let shown = header;
  let shownRows = 0;
  let first = "";
  let only: string | undefined;
  let count = 0;
  await using answer = new StoredAnswer(from);
  for await (const row of rows) {
    count += 1;
    const line = `\n${lineOf(row)}`;
    only = count === 1 && row.length === 1 ? textOfCell(row[0]) : undefined;
    if (!answer.isOpen) {
      if (prefixWithin(shown + line, most).text.length === shown.length + line.length) {
        shown += line;
        shownRows += 1;
        continue;
      }
      if (shownRows === 0) first = shown + line;
      await answer.begin(shown);
    }
    await answer.add(line);
  }
  const stored = await answer.finish();
  if (stored !== undefined) from.onStored?.(stored);
  // Of a first row that is too long, its beginning is shown.
  if (count > 0 && shownRows === 0) shown = `${prefixWithin(first, most - 1).text}…`;
  // A single value needs no quotes, unless it would look quoted then.
  else if (only !== undefined && !only.startsWith('"')) shown = `${header}\n${only}`;
  return { shown, shownRows, rows: count, stored };
}

/** The whole of an answer that is too long to be shown. Disposing without `finish` leaves nothing behind. */
class StoredAnswer implements AsyncDisposable {
  readonly #from: Readable;
  #writer: ArtifactWriter | undefined;
  #hash: StreamHash | undefined;
  #pending = "";
  #size = 0;

  constructor(from: Readable) {
    this.#from = from;
  }

  get isOpen(): boolean {
    return this.#writer !== undefined;
  }

  async begin(text: string): Promise<void> {
    const { source, origin, ref } = this.#from;
    if (source.openWriter === undefined) throw tooLong("there is no store to keep it");
    this.#hash = await sha256.stream();
    this.#writer = await source.openWriter(origin ?? ref, { mime_type: "text/csv", filename: "answer.csv" });
    await this.add(text);
  }

  async add(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= PIECE) await this.#flush();
  }

  async finish(): Promise<ArtifactRef | undefined> {
    if (this.#writer === undefined || this.#hash === undefined) return undefined;
    this.#pending += "\n";
    await this.#flush();
    const { source, origin, ref: asked } = this.#from;
    const ref = await this.#writer.close(await recordOf(source, origin ?? asked, this.#hash.digest()));
    if (ref.source.truncated === true) throw tooLong("the store did not keep it");
    return ref;
  }

  async #flush(): Promise<void> {
    const bytes = new TextEncoder().encode(this.#pending);
    this.#pending = "";
    this.#size += bytes.length;
    if (this.#size > MAX_STORED) throw tooLong(`it has more than ${humanSize(MAX_STORED)}`);
    this.#hash?.update(bytes);
    await this.#writer?.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
  }
}

function tooLong(why: string): SluiceError {
  return new SluiceError(
    "E_TOO_LARGE",
    `The answer is too long, and ${why}: ask for fewer rows or columns, or use LIMIT.`,
    {
      path: "query",
    },
  );
}

function lineOf(cells: Cells): string {
  return cells.map((cell) => csvCell(textOfCell(cell))).join(",");
}

function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
