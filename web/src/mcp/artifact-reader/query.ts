/**
 * Answers a question in SQL over the rows of an artifact. An answer that is long becomes an artifact of its own.
 * @module
 */
import { sha256 } from "#hash";
import type { StreamHash } from "../../artifacts/hash.js";
import type { ArtifactRef, ArtifactWriter } from "../../artifacts/store.js";
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import { joinPointer } from "../../json/pointer.js";
import { CsvRecords } from "../../query/csv.js";
import { csvCell, splitFields } from "../../query/csv-cells.js";
import { query } from "../../query/query.js";
import { findCellNames, findRows, type RowPlace } from "../../query/row-place.js";
import { findTotal } from "../../query/total-row.js";
import type { Cells, QueryAnswer, QueryTable, TableBytes } from "../../query/types.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { sheetTable } from "./cells.js";
import { artifactUri, quote } from "./definition.js";
import { findRecord } from "./derived-record.js";
import { holdBytes } from "./forms.js";
import { findEnd, HEAD_BYTES, type Inspection } from "./inspection.js";
import { noteBeside, noteForm } from "./records.js";
import { ArtifactTables, nameTables, type OpenOther, type OtherTable } from "./query-tables.js";
import type { Selection, Wanted } from "./request.js";
import { readFacts, findSheet, type Readable, readSpan, nameSubject } from "./source.js";

/** Most bytes of an answer that is stored. */
const MAX_STORED = 64 * 1024 * 1024;

const MIN_TIME_MS = 20_000;
const MAX_TIME_MS = 50_000;
const BYTES_PER_MS = 20_000;

/** Characters of lines that are written together. */
const PIECE = 64 * 1024;

/** What is known of the tables that a query names. */
export interface TablesOfQuery {
  /** What `rows` is, where that is not to be found out. */
  readonly known?: QueryTable;
  /** Opens another artifact, where the query may name one. */
  readonly others?: OpenOther | undefined;
}

/**
 * Answers in at most `most` characters. Throws E_INVALID_ARGUMENT, E_TOO_LARGE, E_JSON_…,
 * E_DOCUMENT, E_STORE_….
 */
export async function tellQuery(
  from: Readable,
  inspection: Inspection,
  { sql, tokens }: Extract<Wanted, { mode: "query" }>,
  { cells, table: options }: Selection,
  most: number,
  { known, others }: TablesOfQuery = {},
): Promise<AnswerParts> {
  const { signal } = from;
  const isSheet = cells !== undefined || findSheet(from) !== undefined;
  const table =
    known ??
    (isSheet
      ? await sheetTable(from, cells, sheetNote(from), options?.header || undefined)
      : await openTable(from, inspection, tokens));
  const own = nameTables(from, table, inspection.isJson, options?.header || undefined);
  const tables = others === undefined ? own : new ArtifactTables(own, others, openOtherTable);
  const answer = await query(
    sql,
    { ...table, names: listNames(from) },
    {
      ...(signal !== undefined && { signal }),
      ...(tables && { tables }),
      module: from.sluice?.tables,
      timeoutMs: limitTime(from.ref.size_bytes),
    },
  );
  const { shown, shownRows, rows, stored } = await writeRows(from, answer, most);
  const head = `${nameSubject(from)}, answer to the query: ${countNoun(rows, "row")} below the header`;
  const beginning =
    shownRows === 0 ? "of which the beginning is shown" : `of which the first ${groupDigits(shownRows)} are shown`;
  const part = shownRows < rows ? `, ${beginning}` : "";
  const notes = [...answer.notes, ...(part === "" ? [] : [describeRest(stored)])];
  return { head: `${head}${part}`, data: shown, notes };
}

/** Milliseconds that a query may take: 20 s, and more where the rows alone need them on a busy machine; less than hosts wait for a call. */
function limitTime(size: number): number {
  return Math.min(MAX_TIME_MS, Math.max(MIN_TIME_MS, Math.round(size / BYTES_PER_MS)));
}

/** What a query may call a table: its file, with its extension and without. Undefined where it has no name. */
function listNames({ ref, origin = ref }: Readable): readonly string[] | undefined {
  if (origin.filename === null) return undefined;
  return [ref, origin].flatMap(({ filename, id }) => {
    const name = (filename ?? id).toLowerCase();
    return [id.toLowerCase(), name, name.replace(/\.[^.]*$/, "")];
  });
}

/** Where the rows are that are not shown. */
function describeRest(stored: ArtifactRef | undefined): string {
  if (stored === undefined) return "Ask for others with LIMIT and OFFSET.";
  const { id, size_bytes: size } = stored;
  return `All are ${artifactUri(id)} (CSV, ${humanSize(size)}): read on there, or pass that URI as a tool argument.`;
}

/** Bytes of a JSON document by which is told where its rows are. */
const BEGINNING_BYTES = 1024 * 1024;

/** The rows of another artifact, with notes that say which one they are about. */
async function openOtherTable({ form, inspection, notes }: OtherTable): Promise<QueryTable> {
  if (form.ref.size_bytes === 0)
    throw new SluiceError("E_INVALID_ARGUMENT", "It is empty, and has no rows.", { path: "query" });
  const isSheet = findSheet(form) !== undefined;
  const table = await (isSheet ? sheetTable(form, undefined, sheetNote(form)) : openTable(form, inspection, undefined));
  const about = [...(table.notes ?? []), ...notes].map((note) => `${nameSubject(form)}: ${note}`);
  return { ...table, notes: about };
}

async function openTable(
  from: Readable,
  inspection: Inspection,
  tokens: readonly string[] | undefined,
): Promise<QueryTable> {
  const { layout, isJson, markBytes } = inspection;
  const bytes = holdBytes(from);
  if (tokens === undefined && (layout.kind === "csv" || layout.kind === "ndjson")) {
    const { size_bytes: size } = from.ref;
    const end = await findEnd(from, inspection);
    const notes = [...noteBeside(inspection, size, end), ...noteForm(from)];
    const { start } = layout;
    if (layout.kind === "ndjson") return { form: { kind: "ndjson" }, bytes: holdBytes(from, start, end), notes };
    const { delimiter, newline } = layout;
    const form = { kind: "csv", start, delimiter, newline } as const;
    const [first = []] = await readCells(from, layout, start, Math.min(end, start + HEAD_BYTES));
    const last = Math.max(start, end - HEAD_BYTES);
    // What is read of the first row there may be a part of one.
    const rows = (await readCells(from, layout, last, end)).slice(1).slice(-LAST_ROWS);
    if (layout.hasHeader) return { form, bytes: holdBytes(from, 0, end), notes, total: findTotal(first, rows) };
    const names = first.map((_, at) => `c${at + 1}`);
    return {
      form: { ...form, start: 0 },
      bytes: prependHeader(`${names.join(delimiter)}${newline}`, holdBytes(from, start, end)),
      notes: [...notes, `The table has no header: its columns are ${listColumns(names)}.`],
      total: findTotal(names, rows),
    };
  }
  if (isJson && tokens !== undefined) return { form: { kind: "rows", keys: tokens }, bytes, notes: noteForm(from) };
  if (isJson) {
    const end = Math.min(from.ref.size_bytes, BEGINNING_BYTES);
    const beginning = await readSpan(from, { start: markBytes, end });
    const place = findRows(beginning);
    const notes = [...noteRows(place), ...noteCells(place, beginning), ...noteForm(from)];
    return { form: { kind: place.is, keys: place.tokens }, bytes, notes };
  }
  if (tokens === undefined) {
    return { form: { kind: "lines" }, bytes, notes: ["The rows are lines, with the columns number and line."] };
  }
  throw new SluiceError("E_INVALID_ARGUMENT", "The artifact is not JSON: leave pointer out.", { path: "pointer" });
}

/** Rows at the end by which is told whether the last one is a total. */
const LAST_ROWS = 5;

/** The rows of a part of a text. */
async function readCells(
  from: Readable,
  layout: Extract<Inspection["layout"], { kind: "csv" }>,
  start: number,
  end: number,
): Promise<readonly (readonly string[])[]> {
  const text = new TextDecoder().decode(await readSpan(from, { start, end }));
  const records = new CsvRecords(layout).split(text.endsWith(layout.newline) ? text : text + layout.newline);
  return records
    .map((record) => record.replace(/\r?\n?$/, ""))
    .filter((record) => record !== "")
    .map((record) => splitFields(record, layout.delimiter).map(({ value }) => value));
}

/** Most columns that are named one by one. */
const MAX_COLUMNS = 3;

function listColumns(names: readonly string[]): string {
  return names.length > MAX_COLUMNS ? `c1 to ${names.at(-1)}` : names.join(", ");
}

function prependHeader(header: string, rows: TableBytes): TableBytes {
  const first = new TextEncoder().encode(header);
  return {
    open: async function* (start) {
      if (start < first.length) yield first.subarray(start);
      yield* rows.open(Math.max(0, start - first.length));
    },
  };
}

function noteRows({ tokens, is, others, isOfMembers }: RowPlace): readonly string[] {
  if (is === "row") return ["The document is one row: it has no array of objects."];
  if (isOfMembers === true)
    return [
      `The rows are the members of the object${tokens.length === 0 ? "" : ` at ${joinPointer(tokens)}`}, each with its key.`,
    ];
  if (tokens.length === 0) return [];
  const more = others.length === 0 ? "" : ` Others are at ${others.join(", ")}: ask for them by pointer.`;
  return [`The rows are those of the array at ${joinPointer(tokens)}.${more}`];
}

/** What the columns are of rows that are arrays. */
function noteCells(place: RowPlace, beginning: Uint8Array): readonly string[] {
  const found = findCellNames(place, beginning);
  if (found === undefined) return [];
  const shown = found.names.slice(0, MAX_NAMED).map((name, at) => `column_${at + 1} is ${quote(name)}`);
  const more = found.names.length > shown.length ? ", and so on" : "";
  const where = found.isFirstRow ? "Row 1 seems to name the columns, and is counted as a row: " : "Of these arrays ";
  return [`${where}${shown.join(", ")}${more}.`];
}

/** Columns of arrays that are named one by one. */
const MAX_NAMED = 12;

/** Which sheet it was, if the call did not say. */
function sheetNote(from: Readable): readonly string[] {
  const { part, names = [] } = readFacts(from) ?? {};
  if (part !== "sheet" || names.length < 2 || from.ref.source["form"] !== "values") return [];
  return [`These are rows of the first sheet. The sheets are ${names.map(quote).join(", ")}: choose one with sheet.`];
}

interface Written {
  /** The header and the first rows, as CSV. */
  readonly shown: string;
  readonly shownRows: number;
  readonly rows: number;
  /** The whole answer, if it is not shown whole. */
  readonly stored: ArtifactRef | undefined;
}

async function writeRows(from: Readable, { columns, rows }: QueryAnswer, most: number): Promise<Written> {
  const header = writeLine(columns);
  let shown = header;
  let shownRows = 0;
  let first = "";
  let only: string | undefined;
  let count = 0;
  await using answer = new StoredAnswer(from);
  for await (const row of rows) {
    count += 1;
    const line = `\n${writeLine(row)}`;
    only = count === 1 && row.length === 1 ? writeCell(row[0]) : undefined;
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
    const ref = await this.#writer.close(await findRecord(source, origin ?? asked, this.#hash.digest()));
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

function writeLine(cells: Cells): string {
  return cells.map((cell) => csvCell(writeCell(cell))).join(",");
}

/** A cell as a text. */
export function writeCell(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return cell;
  // Of more digits than a double has the last ones are zeros, and would look exact.
  return typeof cell === "number" && Math.abs(cell) >= 1e17 ? cell.toExponential() : JSON.stringify(cell);
}
