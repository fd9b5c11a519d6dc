/**
 * Tables for the tests of queries, and their answers in one piece.
 * @module
 */
import { query } from "../../../web/src/query/query.js";
import type { QueryOptions, QueryTable } from "../../../web/src/query/types.js";

/** Text as bytes in pieces of some size. */
export async function* pieces(text: string, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.slice(from, from + size);
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
  const { columns, rows, notes } = await query(sql, table, options);
  const all: unknown[][] = [];
  for await (const row of rows) all.push([...row]);
  return { columns, rows: all, notes: [...notes] };
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
