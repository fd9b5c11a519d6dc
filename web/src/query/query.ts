/**
 * Asks a question of tabular data in SQL, while the rows stream.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { QueryTable, QueryOptions, QueryAnswer } from "./types.js";

/** Longest query, in characters. */
const MAX_QUERY_CHARS = 10_000;

/**
 * Answers one SELECT over a table with the name `rows`, and over others that the query names. Where there is no more than one
 * table, it may have any name.
 *
 * WHERE, GROUP BY, aggregates, HAVING, DISTINCT and ORDER BY with LIMIT read each row once and keep only groups or the
 * best rows. Joins, set operations, window functions and subqueries in expressions keep the rows, within limits.
 *
 * @throws SluiceError E_INVALID_ARGUMENT with the path `query` for a query that is wrong, E_TOO_LARGE with the remedy for
 *   one that needs too much memory or time; both while the rows are read, too. Reading may throw what the table throws.
 */
export async function query(sql: string, table: QueryTable, options: QueryOptions = {}): Promise<QueryAnswer> {
  try {
    options.signal?.throwIfAborted();
    if (sql.length > MAX_QUERY_CHARS) {
      throw new SluiceError(
        "E_INVALID_ARGUMENT",
        `The query has ${sql.length} characters, and ${MAX_QUERY_CHARS} are the most.`,
        { path: "query" },
      );
    }
    // The SQL engine is loaded when the first question is asked.
    const { answer } = await import("./select.js");
    return await answer(sql, table, options);
  } catch (error) {
    await table.close?.();
    throw error;
  }
}
