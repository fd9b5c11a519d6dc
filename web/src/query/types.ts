/**
 * The types of a question of tabular data and of its answer.
 * @module
 */

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

/** Options for `query`. */
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
