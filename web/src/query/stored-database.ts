/**
 * Databases of SQLite: what is known of one, what its tables are, and their rows.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { quoteInSql } from "./suggestion.js";
import { readCells, type Outcome, type QueryFailure, type StoredTables, type TableColumns } from "./table-query.js";
import type { QueryThread } from "./thread.js";
import type { Cells, QueryOptions, QueryTable } from "./types.js";

/** Databases that are remembered. */
const MAX_KNOWN = 1000;

/** Milliseconds in which rows are counted. */
const COUNT_MS = 10_000;

/** The hashes of databases that were looked over to their end. */
const known = new Set<string>();

export function isKnownDatabase(sha256: string): boolean {
  return known.has(sha256);
}

/** Remembers that a database was looked over. */
export function rememberDatabase(sha256: string, { isChecked }: StoredTables): void {
  if (isChecked !== true) return;
  if (known.size >= MAX_KNOWN) known.clear();
  known.add(sha256);
}

/** What the reader of an answer should know of the database. */
export function noteDatabase({ isChecked, hadLog }: StoredTables): readonly string[] {
  return [
    ...(hadLog === true
      ? ["The database was written with a write-ahead log (-wal): changes that are only there are missing."]
      : []),
    ...(isChecked === true ? [] : ["The database is large: only a part of it was checked for damage."]),
  ];
}

/** The tables that a query names; all of them if it names none. */
export function listNamedTables(sql: string, { tables }: StoredTables): StoredTables["tables"] {
  const lower = sql.toLowerCase();
  const named = tables.filter(({ name }) => lower.includes(name.toLowerCase()));
  return named.length > 0 ? named : tables;
}

/** The columns that a query seems to read. */
export function listReadColumns(sql: string, stored: StoredTables): readonly TableColumns[] {
  const lower = sql.toLowerCase();
  return listNamedTables(sql, stored)
    .filter(({ name, refusal }) => refusal === undefined && lower.includes(name.toLowerCase()))
    .map(({ name, columns }) => ({
      name,
      columns: columns.map(({ name: column, type }) => ({
        name: column,
        type: /INT|REAL|FLOA|DOUB|BLOB/i.test(type) ? "REAL" : "TEXT",
        ...(lower.includes(column.toLowerCase()) && { isRead: true }),
      })),
    }));
}

/** Why a query that failed names a table that is not read, if it does. */
export function explainRefusal(message: string, sql: string, { tables }: StoredTables): string | undefined {
  const module = /^no such module: (\w{1,60})$/.exec(message)?.[1];
  if (module !== undefined) {
    return `A table that the query names is made by the extension ${module}, which is not here: ask other tables.`;
  }
  const lower = sql.toLowerCase();
  const view = tables.find((each) => each.refusal !== undefined && lower.includes(each.name.toLowerCase()));
  if (view?.isView !== true) return undefined;
  const name = JSON.stringify(view.name.slice(0, 100));
  return `The view ${name} ${view.refusal}: views in a file may call none. See what it selects with SELECT sql FROM sqlite_schema WHERE type = 'view', and ask that.`;
}

/** A table of a database. */
export interface StoredTable {
  readonly name: string;
  /** Undefined where they were not counted. */
  readonly rows: number | undefined;
  readonly refusal: string | undefined;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** The tables of a database with their rows, as far as there is time to count them. Throws E_DOCUMENT, E_STORE_READ. */
export async function listStoredTables(
  table: QueryTable,
  options: QueryOptions,
): Promise<{ readonly tables: readonly StoredTable[]; readonly notes: readonly string[] }> {
  const { thread, stored } = await openDatabase(table, { ...options, timeoutMs: COUNT_MS });
  try {
    const tables: StoredTable[] = [];
    let isLate = false;
    for (const { name, columns, refusal } of stored.tables) {
      const counted: Outcome<number | undefined> =
        isLate || refusal !== undefined ? { value: undefined } : await countRows(thread, name);
      if ("value" in counted) tables.push({ name, columns, rows: counted.value, refusal });
      else if (counted.failure.fault === "database" || counted.failure.fault === "read") throw toError(counted.failure);
      else {
        isLate = counted.failure.fault === "time";
        tables.push({ name, columns, rows: undefined, refusal: isLate ? undefined : "cannot be read" });
      }
    }
    return { tables, notes: noteDatabase(stored) };
  } finally {
    thread.close();
  }
}

/** Rows of one table. */
export interface StoredRows {
  readonly columns: readonly string[];
  readonly total: number;
  /** The rows from `first` on, once; from -50 the last 50. */
  readonly rows: AsyncIterable<Cells>;
  readonly notes: readonly string[];
}

/** Reads a table from a row on, counted from 1. Throws E_INVALID_ARGUMENT with the names where there is none, E_DOCUMENT, E_TOO_LARGE. */
export async function readStoredTable(
  table: QueryTable,
  name: string,
  first: number,
  options: QueryOptions,
): Promise<StoredRows> {
  const { thread, stored } = await openDatabase(table, options);
  try {
    const meant = findTable(name, stored);
    const total = take(await countRows(thread, meant));
    const sql = `SELECT * FROM ${quoteInSql(meant)} NOT INDEXED LIMIT -1 OFFSET ${first < 0 ? Math.max(0, total + first) : first - 1}`;
    const { columns } = take(await thread.ask({ is: "prepare", sql }));
    return { columns, total, rows: readRows(thread, columns.length), notes: noteDatabase(stored) };
  } catch (error) {
    thread.close();
    throw error;
  }
}

function findTable(name: string, { tables }: StoredTables): string {
  const lower = name.toLowerCase();
  const found = tables.find((each) => each.name === name) ?? tables.find((each) => each.name.toLowerCase() === lower);
  if (found === undefined) {
    const names = tables.slice(0, 40).map((each) => JSON.stringify(each.name.slice(0, 100)));
    const more = tables.length > names.length ? ` and ${tables.length - names.length} more` : "";
    throw new SluiceError(
      "E_INVALID_ARGUMENT",
      `There is no table ${JSON.stringify(name)}: ${names.join(", ")}${more}.`,
      {
        path: "sheet",
      },
    );
  }
  if (found.refusal === undefined) return found.name;
  throw new SluiceError("E_INVALID_ARGUMENT", `${JSON.stringify(found.name)} ${found.refusal}: ask other tables.`, {
    path: "sheet",
  });
}

async function openDatabase(
  table: QueryTable,
  { signal, module, tables: _, ...limits }: QueryOptions,
): Promise<{ readonly thread: QueryThread; readonly stored: StoredTables }> {
  const { form, bytes } = table;
  const sha256 = form.kind === "database" ? form.sha256 : "";
  const { openThread } = await import("#query");
  const thread = await openThread(signal, module, limits);
  try {
    const artifact = await thread.hold(bytes);
    take(await thread.ask({ is: "add", tables: [{ name: "rows", artifact, form, isKnown: isKnownDatabase(sha256) }] }));
    const stored = await thread.ask({ is: "database" });
    rememberDatabase(sha256, stored);
    return { thread, stored };
  } catch (error) {
    thread.close();
    throw error;
  }
}

async function countRows(thread: QueryThread, name: string): Promise<Outcome<number>> {
  const prepared = await thread.ask({ is: "prepare", sql: `SELECT count(*) FROM ${quoteInSql(name)}` });
  if ("failure" in prepared) return prepared;
  const batch = await thread.ask({ is: "next" });
  if ("failure" in batch) return batch;
  for (const [count] of readCells(batch.value.cells, 1)) return { value: Number(count) };
  return { value: 0 };
}

async function* readRows(thread: QueryThread, columns: number): AsyncGenerator<Cells> {
  try {
    for (let isLast = false; !isLast;) {
      const batch = take(await thread.ask({ is: "next" }));
      isLast = batch.isLast;
      yield* readCells(batch.cells, columns);
    }
  } finally {
    thread.close();
  }
}

function take<T>(outcome: Outcome<T>): T {
  if ("value" in outcome) return outcome.value;
  throw toError(outcome.failure);
}

function toError({ fault, message }: QueryFailure): SluiceError {
  if (fault === "database") return new SluiceError("E_DOCUMENT", message, { path: "rows" });
  if (fault === "read") return new SluiceError("E_STORE_READ", "The artifact could not be read: try again.");
  if (fault === "time" || fault === "memory") {
    return new SluiceError("E_TOO_LARGE", "The table takes too long to read: ask a query with WHERE and LIMIT.", {
      path: "rows",
    });
  }
  return new SluiceError("E_DOCUMENT", "SQLite cannot read the table: ask other tables.", { path: "rows" });
}
