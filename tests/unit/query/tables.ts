/**
 * Tables for the tests of queries, and their answers in one piece.
 * @module
 */
import { splitPointer } from "../../../web/src/json/pointer.js";
import { findDialect, type CsvDialect } from "../../../web/src/query/csv.js";
import { csvRecord } from "../../../web/src/query/csv-cells.js";
import { query } from "../../../web/src/query/query.js";
import { findRows } from "../../../web/src/query/row-place.js";
import type { QueryOptions, QueryTable, TableBytes } from "../../../web/src/query/types.js";

/** Text as bytes in pieces of some size. */
export function bytesOf(text: string | Uint8Array, size: number = 64 * 1024): TableBytes {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return {
    async *open(start) {
      for (let from = start; from < bytes.length; from += size) yield bytes.slice(from, from + size);
    },
  };
}

/** CSV as a table. What is left out of the dialect is told by its beginning. */
export function csvTable(text: string, size?: number, dialect: Partial<CsvDialect> = {}): QueryTable {
  return { form: { kind: "csv", start: 0, ...findDialect(text), ...dialect }, bytes: bytesOf(text, size) };
}

/** NDJSON as a table. */
export function ndjsonTable(text: string, size?: number): QueryTable {
  return { form: { kind: "ndjson" }, bytes: bytesOf(text, size) };
}

/** A JSON text as a table: the rows at a pointer, or those that are found. */
export function jsonTable(text: string, pointer?: string, size?: number): QueryTable {
  const bytes = bytesOf(text, size);
  if (pointer !== undefined) return { form: { kind: "rows", keys: splitPointer(pointer.slice(1)) }, bytes };
  const { is, tokens } = findRows(new TextEncoder().encode(text));
  return { form: { kind: is, keys: tokens }, bytes };
}

/** Cells as a table of CSV. */
export function cellTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): QueryTable {
  const lines = [columns, ...rows].map((row) => csvRecord(row.map((cell) => String(cell ?? ""))));
  return csvTable(lines.join("\n"), undefined, { delimiter: ",", newline: "\n" });
}

/** All rows of an answer. */
export async function rowsOf(sql: string, table: QueryTable, options: QueryOptions = {}): Promise<unknown[][]> {
  return (await answerOf(sql, table, options)).rows;
}

/** An answer with its rows. */
export async function answerOf(
  sql: string,
  table: QueryTable,
  options: QueryOptions = {},
): Promise<{ columns: readonly string[]; rows: unknown[][]; notes: readonly string[] }> {
  const answer = await query(sql, table, options);
  const rows: unknown[][] = [];
  for await (const row of answer.rows) rows.push([...row]);
  return { columns: answer.columns, rows, notes: [...answer.notes] };
}

/** How a query fails, or undefined. */
export async function failureOf(sql: string, table: QueryTable, options: QueryOptions = {}): Promise<unknown> {
  try {
    await rowsOf(sql, table, options);
    return undefined;
  } catch (error) {
    return error;
  }
}
