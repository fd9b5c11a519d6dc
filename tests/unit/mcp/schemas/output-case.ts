/**
 * Schemas of results, with values that they take before and after the gate.
 * @module
 */
import { REFERENCE, type Draft } from "./widened.js";

export const BYTES = "QUJD".repeat(400);

/** A schema of results, with values that fit it. */
export interface Case {
  readonly name: string;
  readonly schema: object;
  readonly valid: unknown;
  /** What may come of `valid`. */
  readonly reduced: readonly unknown[];
  /** What must still be refused. */
  readonly refused?: readonly unknown[];
  readonly draft?: Draft;
}

export const R = REFERENCE;
export const WHOLE = { artifact: R };
export const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });
