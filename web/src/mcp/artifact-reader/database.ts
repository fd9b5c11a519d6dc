/**
 * Reads databases of SQLite: their tables, and the rows of one. GeoPackages and MBTiles are such databases.
 * @module
 */
import { countNoun, groupDigits } from "../../core/amounts.js";
import { plainType } from "../../core/media-type.js";
import { SluiceError } from "../../errors/error.js";
import { csvRecord } from "../../query/csv-cells.js";
import { listStoredTables, readStoredTable, type StoredTable } from "../../query/stored-database.js";
import type { Cells, QueryOptions, QueryTable } from "../../query/types.js";
import { type AnswerParts, prefixWithin } from "./answer.js";
import { describe, quote } from "./definition.js";
import { holdBytes } from "./forms.js";
import { type DatabaseFile, inspectBytes } from "./inspection.js";
import { tellQuery, writeCell } from "./query.js";
import { type RecordSpec, resolveRecords, type Selection, type Wanted } from "./request.js";
import { type Readable, nameSubject } from "./source.js";

/** Most characters of the columns of one table in a list, and of one row. */
const MAX_LISTED = 500;
const MAX_ROW = 2000;

const FIRST: RecordSpec = { first: 1, last: 20 };

/** Answers in at most `most` characters. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, E_STORE_…. */
export async function tellDatabase(
  from: Readable,
  wanted: Wanted,
  { sheet, cells, as, entry: _ }: Selection,
  most: number,
): Promise<AnswerParts> {
  if (as !== undefined) throw wrong("as", `A database is not read as ${quote(as)}: leave as out.`);
  if (cells !== undefined) {
    throw wrong("sheet", 'A database has tables, not cells: name a table in sheet, and give rows "1-20" or query.');
  }
  if (wanted.mode === "query") {
    if (wanted.tokens !== undefined)
      throw wrong("pointer", "A database has no pointers: leave pointer out, and name its tables in the query.");
    const table = openTable(from, sheet);
    return tellQuery(from, inspectBytes(new Uint8Array(0), "", ""), wanted, {}, most, { known: table });
  }
  if (wanted.mode === "info" || wanted.mode === "rows") {
    const range = wanted.mode === "rows" ? wanted.range : FIRST;
    if (sheet !== undefined) return tellRows(from, sheet, range, most);
    return tellTables(from, wanted.mode === "rows" ? range : undefined, most);
  }
  throw wrong(wanted.mode, `The artifact is a database: use rows, query, search or bytes instead of ${wanted.mode}.`);
}

/** Says what a file is that belongs to a database and is none, where it was asked as one. */
export function explainDatabaseFile(file: Exclude<DatabaseFile, "database">, mode: string): SluiceError {
  const sentence = {
    log: "The artifact is the write-ahead log (-wal) of a SQLite database, not the database: run PRAGMA wal_checkpoint where it comes from, and fetch the database itself.",
    journal:
      "The artifact is the rollback journal of a SQLite database, not the database: open the database once where it comes from, and fetch that.",
    unreadable:
      "The artifact is called a SQLite database and does not begin as one: it is encrypted or damaged. Decrypt it where its key is, or fetch it again.",
  }[file];
  return new SluiceError("E_DOCUMENT", sentence, { path: mode });
}

function openTable(from: Readable, rows: string | undefined): QueryTable {
  const { size_bytes: size, sha256 } = from.ref;
  return { form: { kind: "database", size, sha256, ...(rows !== undefined && { rows }) }, bytes: holdBytes(from) };
}

function optionsFor({ signal, sluice }: Readable): QueryOptions {
  return { ...(signal !== undefined && { signal }), module: sluice?.tables };
}

async function tellTables(from: Readable, range: RecordSpec | undefined, most: number): Promise<AnswerParts> {
  const { ref } = from;
  const isInfo = range === undefined;
  const about = isInfo
    ? `: ${describe(ref)} (${plainType(ref.mime_type) ?? "unknown type"}, ${countNoun(ref.size_bytes, "byte")})`
    : "";
  const head = `${nameSubject(from)}${about}`;
  try {
    const { tables, notes } = await listStoredTables(openTable(from, undefined), optionsFor(from));
    const { first, last } = resolveRecords(range ?? { first: 1, last: Infinity }, tables.length);
    const wanted = tables.slice(first - 1, last);
    if (wanted.length === 0) {
      throw wrong("rows", `The database has ${countNoun(tables.length, "table")}: ask for "1-${tables.length}".`);
    }
    const { text, count } = fitLines(
      ["table,rows,columns", ...wanted.map(writeTable)].map((line) => prefixWithin(line, MAX_LISTED).text),
      most,
    );
    const end = first + count - 2;
    const more = end < tables.length ? [`The list goes on: rows "${end + 1}-".`] : [];
    return {
      head: `${head}${isInfo ? "." : ","} ${isInfo ? "Its" : "its"} ${countNoun(tables.length, "table")}`,
      data: text,
      notes: [...notes, ...more, 'Read one with rows "1-20" and its name in sheet, or query "SELECT … FROM TABLE".'],
    };
  } catch (error) {
    if (!isInfo || !(error instanceof SluiceError) || error.code === "E_STORE_READ") throw error;
    return { head, notes: [error.message, 'Read it with bytes "0-255" (hex) or search.'] };
  }
}

function writeTable({ name, rows, columns, refusal }: StoredTable): string {
  const told = refusal === undefined ? columns.map((each) => `${each.name} ${each.type}`.trim()).join(", ") : refusal;
  return csvRecord([name, rows === undefined ? "" : String(rows), told]);
}

async function tellRows(from: Readable, name: string, range: RecordSpec, most: number): Promise<AnswerParts> {
  const { columns, total, rows, notes } = await readStoredTable(
    openTable(from, undefined),
    name,
    range.first,
    optionsFor(from),
  );
  const { first, last } = resolveRecords(range, total);
  if (first > total) {
    await closeRows(rows);
    const there = total === 0 ? "has no rows" : `has ${countNoun(total, "row")}: ask for "1-${total}"`;
    throw wrong("rows", `The table ${quote(name)} ${there}.`);
  }
  const end = Math.min(last, total);
  const header = csvRecord(columns);
  const lines = [header];
  let left = most - header.length;
  let isCut = false;
  let hasBlobs = false;
  for await (const row of rows) {
    const line = csvRecord(row.map(writeCell));
    const fit = prefixWithin(line, lines.length === 1 ? Math.max(1, Math.min(MAX_ROW, left)) : MAX_ROW);
    left -= fit.chars + 2;
    if (left < 0 && lines.length > 1) break;
    isCut ||= fit.text.length < line.length;
    hasBlobs ||= row.some((cell) => typeof cell === "string" && /^x'[0-9a-f]{32}…' \(\d+ bytes\)$/.test(cell));
    lines.push(fit.text.length < line.length ? `${fit.text}…` : fit.text);
    if (lines.length > end - first + 1) break;
  }
  const to = first + lines.length - 2;
  return {
    head: `${nameSubject(from)}, table ${quote(name)}, row${to > first ? `s ${first}-${to}` : ` ${first}`} of ${groupDigits(total)}`,
    data: lines.join("\n"),
    notes: [
      ...notes,
      ...(to < end ? [`The answer is full: read on with rows "${to + 1}-${end}".`] : []),
      ...(isCut ? ['Rows are cut at "…": ask for fewer columns with a query.'] : []),
      ...(hasBlobs ? ["Of blobs the first bytes are shown: hex(substr(column, 1, 100)) in a query has more."] : []),
    ],
  };
}

async function closeRows(rows: AsyncIterable<Cells>): Promise<void> {
  const iterator = rows[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.return?.(undefined);
}

function fitLines(lines: readonly string[], most: number): { readonly text: string; readonly count: number } {
  let left = most;
  const fit: string[] = [];
  for (const line of lines) {
    left -= prefixWithin(line, Infinity).chars + 2;
    if (left < 0 && fit.length > 1) break;
    fit.push(line);
  }
  return { text: fit.join("\n"), count: fit.length };
}

function wrong(path: string, sentence: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}
