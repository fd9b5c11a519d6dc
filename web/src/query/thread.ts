/**
 * A question apart from the thread that asks it: what is said between the two.
 * @module
 */
import type { WasmSource } from "../core/engine.js";
import type { ReadArtifact } from "../core/tables.mjs";
import {
  type Batch,
  type Outcome,
  type Prepared,
  type StoredTables,
  TableRun,
  type TableColumns,
  type TableSpec,
} from "./table-query.js";
import type { QueryLimits, TableBytes } from "./types.js";

/** What is asked of a question, one after the other. */
export type Request =
  | { readonly is: "begin"; readonly module: object; readonly limits: QueryLimits }
  /** Begins once more, without tables, and with members that rows of JSON may have behind the first thousand. */
  | { readonly is: "restart"; readonly members: readonly string[] }
  | { readonly is: "add"; readonly tables: readonly TableSpec[] }
  | { readonly is: "prepare"; readonly sql: string }
  | { readonly is: "tables" }
  | { readonly is: "database" }
  | { readonly is: "next" };

/** What it answers to each. */
export interface Answers {
  readonly begin: undefined;
  readonly restart: undefined;
  readonly add: Outcome<undefined>;
  readonly prepare: Outcome<Prepared>;
  readonly tables: readonly TableColumns[];
  readonly database: StoredTables;
  readonly next: Outcome<Batch>;
}

/** A question that is answered somewhere. */
export interface QueryThread {
  /** Takes a table's bytes, which then have the number that is given. */
  hold(bytes: TableBytes): Promise<number>;
  /** Throws what reading the bytes throws, the signal's reason, and E_TOO_LARGE. */
  ask<Asked extends Request>(request: Asked): Promise<Answers[Asked["is"]]>;
  /** Gives up the question, also while it is answered. */
  close(): void;
}

/** Opens one. Throws E_CORE_LOAD and the signal's reason. */
export type OpenThread = (
  signal: AbortSignal | undefined,
  module: WasmSource | undefined,
  limits: QueryLimits,
) => Promise<QueryThread>;

/** Answers what is asked, one after the other, where the module runs. */
export class QueryServant {
  readonly #read: ReadArtifact;
  #began: Extract<Request, { readonly is: "begin" }> | undefined;
  #run: TableRun | undefined;

  constructor(read: ReadArtifact) {
    this.#read = read;
  }

  async answer<Asked extends Request>(request: Asked): Promise<Answers[Asked["is"]]> {
    return (await this.#answer(request)) as Answers[Asked["is"]];
  }

  async #answer(request: Request): Promise<Answers[keyof Answers]> {
    if (request.is === "begin") this.#began = request;
    if (request.is === "begin" || request.is === "restart") {
      const { module, limits } = this.#began as Extract<Request, { readonly is: "begin" }>;
      // The memory of the last one goes first.
      this.#run = undefined;
      this.#run = await TableRun.begin(module, this.#read, limits, request.is === "begin" ? [] : request.members);
      return undefined;
    }
    const run = this.#run as TableRun;
    if (request.is === "add") {
      const failure = run.add(request.tables);
      return failure === undefined ? { value: undefined } : { failure };
    }
    if (request.is === "prepare") return run.prepare(request.sql);
    if (request.is === "database") return run.database();
    return request.is === "tables" ? run.tables() : run.next();
  }
}
