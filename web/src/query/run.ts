/**
 * A query while it is answered.
 * @module
 */
import type { Limits } from "./limits.js";
import type { Cells } from "./types.js";
import type { Parsed } from "./statement.js";
import type { Tables } from "./tables.js";

/** A query while it is answered. */
export interface Run {
  readonly parsed: Parsed;
  readonly limits: Limits;
  readonly tables: Tables;
}

/** An answer inside: values are as they were computed, and rows come in batches. */
export interface Result {
  readonly columns: readonly string[];
  readonly batches: AsyncIterable<readonly Cells[]>;
}
