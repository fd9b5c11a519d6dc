/**
 * What callers get of a result.
 * @module
 */
import type { Cut, Transformed } from "./sluice.js";

type Parts = Omit<Transformed, "value" | "refs" | "clamped" | "cut"> & {
  readonly refs: string | undefined;
  readonly cut?: Cut | undefined;
};

/** The value is parsed when it is first asked for: many hosts only pass the text on. */
export class Answer implements Transformed {
  readonly text: string;
  readonly artifacts: Transformed["artifacts"];
  readonly failures: Transformed["failures"];
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly cut?: Cut;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly refs?: string;
  #value: unknown;
  #parsed = false;

  constructor({ text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs }: Parts) {
    this.text = text;
    this.artifacts = artifacts;
    this.failures = failures;
    this.changed = changed;
    this.clamped = cut !== undefined;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
    if (cut !== undefined) this.cut = cut;
    if (refs !== undefined) this.refs = refs;
  }

  get value(): unknown {
    if (!this.#parsed) this.#value = JSON.parse(this.text);
    this.#parsed = true;
    return this.#value;
  }
}

/** A result that needed nothing: what went in comes out, the very object. */
export class Unchanged implements Transformed {
  readonly text: string;
  readonly value: unknown;
  readonly artifacts: Transformed["artifacts"];
  readonly failures: Transformed["failures"];
  readonly changed = false;
  readonly clamped = false;
  readonly bytesIn: number;
  readonly bytesOut: number;

  constructor({ artifacts, failures, bytesIn, bytesOut }: Transformed, text: string, value: unknown) {
    this.text = text;
    this.value = value;
    this.artifacts = artifacts;
    this.failures = failures;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
  }
}
