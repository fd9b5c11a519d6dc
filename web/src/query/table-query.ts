/**
 * One question in the thread that has the module: bytes are read when SQLite asks for the next row.
 * @module
 */
import createTablesModule from "../core/tables.mjs";
import type { ReadArtifact, TableQuery } from "../core/tables.mjs";
import { instantiate } from "../core/instantiate.js";
import type { Cells, QueryLimits, TableForm } from "./types.js";

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_GROUPS = 1_000_000;

/** Bytes of cells that are given together. */
const BATCH_BYTES = 64 * 1024;

/** A database as it was found. */
export interface StoredTables {
  /** Whether all of it was looked over. */
  readonly isChecked?: true;
  /** Whether it was written with a write-ahead log, where its last changes may be. */
  readonly hadLog?: true;
  readonly tables: readonly {
    readonly name: string;
    readonly isView?: true;
    /** Why it cannot be asked: "calls the function count". */
    readonly refusal?: string;
    /** Types are as they were declared. */
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  }[];
}

/** A table of a question: its artifact is a number that `read` is called with. */
export interface TableSpec {
  readonly name: string;
  readonly artifact: number;
  readonly form: TableForm;
  /** Whether it is a database that was looked over before. */
  readonly isKnown?: boolean;
}

/** What went wrong, in the order of `QueryFault` in C++. */
export const FAULTS = ["none", "query", "memory", "time", "row", "syntax", "place", "read", "database"] as const;

/** Why a question failed, and how far it had come. */
export interface QueryFailure {
  readonly fault: (typeof FAULTS)[number];
  readonly message: string;
  readonly table: string;
  /** The row at which it failed, from 1. */
  readonly row: number;
  /** Rows of all tables that were read. */
  readonly rowsRead: number;
  readonly groups: number;
}

/** A table as SQL sees it. */
export interface TableColumns {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: "TEXT" | "INTEGER" | "REAL" | "ANY";
    readonly commas?: true;
    /** How many texts were read so far in a column of numbers, and the first. */
    readonly texts?: number;
    readonly text?: string;
    /** The query reads it. */
    readonly isRead?: true;
  }[];
  /** How many of the first thousand rows have more cells than there are columns. */
  readonly longer?: number;
  /** Its last row ends within quotes. */
  readonly isUnclosed?: true;
  /** Its rows may have members that are no columns yet. */
  readonly isOpen?: true;
  /** The query reads it. */
  readonly isRead?: true;
}

/** What a step of a question gives: it failed, or it goes on. */
export type Outcome<T> = { readonly failure: QueryFailure } | { readonly value: T };

/** What is known of a question before its rows. */
export interface Prepared {
  readonly columns: readonly string[];
  readonly tables: readonly TableColumns[];
}

/** Some rows of an answer, as cells one after the other. */
export interface Batch {
  readonly cells: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

const KINDS: readonly TableForm["kind"][] = ["csv", "ndjson", "rows", "row", "lines"];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A question while it is answered. */
export class TableRun {
  readonly #query: TableQuery;
  #isDatabase = false;

  private constructor(query: TableQuery) {
    this.#query = query;
  }

  /** Begins one with an instance of its own: memory goes with it. `members` are those that later rows of JSON may have. */
  static async begin(
    module: object,
    read: ReadArtifact,
    limits: QueryLimits,
    members: readonly string[],
  ): Promise<TableRun> {
    const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, maxGroups = MAX_GROUPS } = limits;
    const instance = await instantiate(createTablesModule, module, "TableQuery");
    const run = new TableRun(new instance.TableQuery(read, timeoutMs, maxBytes, maxGroups));
    if (members.length > 0) {
      run.#give(members.join("\0"));
      run.#query.wantMembers();
    }
    return run;
  }

  /** Adds tables. The failure is that of the first one that has no rows. */
  add(tables: readonly TableSpec[]): QueryFailure | undefined {
    for (const { name, artifact, form, isKnown = false } of tables) {
      if (form.kind === "database") {
        this.#isDatabase = true;
        this.#give(form.rows ?? "");
        if (!this.#query.openDatabase(artifact, form.size, isKnown)) return this.#failure();
        continue;
      }
      const keys = "keys" in form ? form.keys : [];
      // NUL stands between them.
      if (keys.some((key) => key.includes("\0"))) {
        return { fault: "place", message: "", table: name, row: 0, rowsRead: 0, groups: 0 };
      }
      this.#give([name, ...keys].join("\0"));
      const { start, delimiter, newline } = form.kind === "csv" ? form : { start: 0, delimiter: ",", newline: "\n" };
      const isAdded = this.#query.add(
        KINDS.indexOf(form.kind),
        artifact,
        start,
        delimiter.charCodeAt(0),
        newline.charCodeAt(0),
        delimiter !== ",",
      );
      if (!isAdded) return this.#failure();
    }
    return undefined;
  }

  prepare(sql: string): Outcome<Prepared> {
    this.#give(sql);
    if (!this.#query.prepare()) return { failure: this.#failure() };
    this.#query.columns();
    const columns = this.#output() as readonly string[];
    return { value: { columns, tables: this.tables() } };
  }

  /** The tables that were added. */
  tables(): readonly TableColumns[] {
    if (this.#isDatabase) return [];
    this.#query.describe();
    return this.#output() as readonly TableColumns[];
  }

  /** The database that was added. */
  database(): StoredTables {
    this.#query.describe();
    return this.#output() as StoredTables;
  }

  next(): Outcome<Batch> {
    if (!this.#query.readRows(BATCH_BYTES)) return { failure: this.#failure() };
    return { value: { cells: this.#query.output().slice(), isLast: this.#query.isOver() } };
  }

  #give(text: string): void {
    const bytes = encoder.encode(text);
    this.#query.input(bytes.length).set(bytes);
  }

  #output(): unknown {
    return JSON.parse(decoder.decode(this.#query.output()));
  }

  #failure(): QueryFailure {
    this.#query.failure();
    const { fault, ...rest } = this.#output() as Omit<QueryFailure, "fault"> & { readonly fault: number };
    return { fault: FAULTS[fault] ?? "query", ...rest };
  }
}

/** The cells of a batch, in rows of `columns` each. */
export function* readCells(cells: Uint8Array<ArrayBuffer>, columns: number): Generator<Cells> {
  const view = new DataView(cells.buffer, cells.byteOffset, cells.byteLength);
  let row: unknown[] = [];
  for (let at = 0; at < cells.length;) {
    const tag = cells[at];
    at += 1;
    if (tag === NUMBER) {
      const number = view.getFloat64(at, true);
      // JSON has no such number, and a sum that is too large is not missing: it is written as SQLite writes it.
      row.push(Number.isFinite(number) ? number : number < 0 ? "-Inf" : "Inf");
      at += 8;
    } else if (tag === TEXT) {
      const end = at + 4 + view.getUint32(at, true);
      row.push(decoder.decode(cells.subarray(at + 4, end)));
      at = end;
    } else row.push(null);
    if (row.length < columns) continue;
    yield row;
    row = [];
  }
}

const NUMBER = "d".charCodeAt(0);
const TEXT = "t".charCodeAt(0);
