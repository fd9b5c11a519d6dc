/**
 * The types of a question of tabular data and of its answer.
 * @module
 */
import type { WasmSource } from "../core/engine.js";
import type { TotalRow } from "./total-row.js";

/** Cells of a row, in the order of its columns. */
export type Cells = readonly unknown[];

/** Bytes that can be read again, from any place on. */
export interface TableBytes {
  /** The bytes from an offset on, in pieces. */
  open(start: number): AsyncIterable<Uint8Array>;
}

/** How bytes are rows. */
export type TableForm =
  | {
      readonly kind: "csv";
      /** Where the header begins. */
      readonly start: number;
      /** One ASCII character. */
      readonly delimiter: string;
      /** `\n` stands for `\r\n` too. */
      readonly newline: "\n" | "\r";
    }
  | { readonly kind: "ndjson" }
  /** The elements of the array, or the members of the object, that the keys lead to. */
  | { readonly kind: "rows"; readonly keys: readonly string[] }
  /** The value that the keys lead to. */
  | { readonly kind: "row"; readonly keys: readonly string[] }
  /** Lines, with the columns `number` and `line`. */
  | { readonly kind: "lines" }
  /** A database of SQLite, whose tables have their own names. */
  | {
      readonly kind: "database";
      /** Its bytes. */
      readonly size: number;
      /** By which it is known again, so that it is looked over once. */
      readonly sha256: string;
      /** The table that is called `rows`, too. Left out, the only one is. */
      readonly rows?: string;
    };

/** Rows to ask a question of. */
export interface QueryTable {
  readonly form: TableForm;
  readonly bytes: TableBytes;
  /** What a query may call it besides `rows`, in lower case: the name of its file. */
  readonly names?: readonly string[] | undefined;
  /** What the reader of the answer should know. */
  readonly notes?: readonly string[];
  /** The row of totals at its end. */
  readonly total?: TotalRow | undefined;
}

/** Tables beside `rows`, which a query can name. */
export interface NamedTables {
  /** Opens the table of a name. Whether it has rows may be found when they are read. */
  open(name: string): Promise<QueryTable | undefined>;
  /** The names of all tables: for one that differs in case alone, and for errors, which list some. */
  names(): Promise<readonly string[]>;
}

/** What a query may take. */
export interface QueryLimits {
  /**
   * Longest time in milliseconds.
   * @default 20_000
   */
  readonly timeoutMs?: number;
  /**
   * Most bytes of memory, of rows that are kept and of groups each.
   * @default 268_435_456
   */
  readonly maxBytes?: number;
  /**
   * Most groups of GROUP BY, and most different rows of SELECT DISTINCT.
   * @default 1_000_000
   */
  readonly maxGroups?: number;
}

/** Options for `query`. */
export interface QueryOptions extends QueryLimits {
  /** Aborts the query, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Tables that the query can name. Left out, `rows` is the only one. */
  readonly tables?: NamedTables;
  /** The module that answers, where it is not the file beside the library. */
  readonly module?: WasmSource | undefined;
}

/** An answer. */
export interface QueryAnswer {
  /** Names of the columns, in order. Two may be alike. */
  readonly columns: readonly string[];
  /** The rows, once: cells in the order of the columns. Values are those of JSON. */
  readonly rows: AsyncIterable<Cells>;
  /** What the reader of the answer should know: all of it once the rows were read. */
  readonly notes: readonly string[];
}
