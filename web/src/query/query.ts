/**
 * Asks a question of tabular data in SQL, while the rows stream.
 * @module
 */
import { SluiceError } from "../errors/error.js";

/** Cells of a row, in the order of its columns. */
export type Cells = readonly unknown[];

/** Rows to ask a question of. See `csvTable`, `ndjsonTable`, `jsonTable` and `tableOf`. */
export interface QueryTable {
  /** Names of the columns. No two are alike. */
  readonly columns: readonly string[];
  /** Whether rows may have columns that are not listed: those of JSON objects, which need not be alike. */
  readonly isOpen?: boolean;
  /** Reads the rows in batches, once: of each row the named columns, in that order. NULL is null. */
  rows(columns: readonly string[]): AsyncIterable<readonly Cells[]>;
  /** What the reader of the answer should know, complete when the rows are read. */
  readonly notes?: readonly string[];
  /** Gives up what is read of, also if no row was. `query` calls it when it fails, and when its rows are read or given up. */
  close?(): Promise<void>;
}

/** Tables beside `rows`, which a query can name. */
export interface NamedTables {
  /** Opens the table that a name means, as the query has it: the exact one, else one that differs in case alone. */
  open(name: string): Promise<QueryTable | undefined>;
  /** The names of the tables, of which an error lists some. */
  names(): Promise<readonly string[]>;
}

/** Options for {@link query}. */
export interface QueryOptions {
  /**
   * Longest time in milliseconds.
   * @default 20_000
   */
  readonly timeoutMs?: number;
  /** Aborts the query, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Tables that the query can name. Left out, `rows` is the only one. */
  readonly tables?: NamedTables;
  /**
   * Most rows that are kept in memory, of all tables together, for what cannot be answered row by row.
   * @default 200_000
   */
  readonly maxKeptRows?: number;
  /**
   * Most bytes that are kept in memory, estimated.
   * @default 67_108_864
   */
  readonly maxKeptBytes?: number;
  /**
   * Most groups of GROUP BY, and most different rows of SELECT DISTINCT.
   * @default 100_000
   */
  readonly maxGroups?: number;
}

/** An answer. */
export interface QueryAnswer {
  /** Names of the columns, in order. Two may be alike. */
  readonly columns: readonly string[];
  /** The rows, once: cells in the order of the columns. Values are those of JSON. */
  readonly rows: AsyncIterable<Cells>;
  /** What the reader of the answer should know, complete when the rows are read. */
  readonly notes: readonly string[];
}

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
