/**
 * The module that answers questions of tables, as JavaScript sees it; `wasm/bindings/tables.cpp` is its other side. Views die when
 * memory grows.
 */
import type { CoreModuleOptions } from "./core.mjs";

/** A question with its tables and buffers. Methods that give false have failed. */
export interface TableQuery {
  /** Room for what the next call reads, as UTF-8. */
  input(size: number): Uint8Array;
  output(): Uint8Array;
  /** The input is the table's name and the keys that lead to it, with NUL between them. */
  add(kind: number, artifact: number, start: number, delimiter: number, newline: number, hasCommas: boolean): boolean;
  /** The input is the name of the table that is called `rows`, too; empty for the only one. */
  openDatabase(artifact: number, size: number, isKnown: boolean): boolean;
  /** The input is members that rows of JSON may have behind the first thousand, with NUL between them. */
  wantMembers(): void;
  /** The input is the question. */
  prepare(): boolean;
  /** The output is cells, of about so many bytes. */
  readRows(bytes: number): boolean;
  isOver(): boolean;
  /** The output is the names of the columns of the answer, as JSON. */
  columns(): void;
  /** The output is the tables and their columns, as JSON. */
  describe(): void;
  /** The output is why it failed, as JSON. */
  failure(): void;
  /** Frees what it holds. */
  delete(): void;
}

/** Writes bytes of an artifact from an offset on, and gives their number: 0 at the end, -1 where they cannot be read. */
export type ReadArtifact = (artifact: number, offset: number, into: Uint8Array) => number;

export interface TablesModule {
  readonly TableQuery: new (read: ReadArtifact, milliseconds: number, memory: number, groups: number) => TableQuery;
  readonly HEAPU8: Uint8Array;
}

export default function createTablesModule(options: CoreModuleOptions): Promise<TablesModule>;
