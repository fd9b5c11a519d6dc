/**
 * A reduced result as hosts get it.
 * @module
 */
import type { ClampReport, Transformed } from "./sluice.js";

type Parts = Omit<Transformed, "value" | "refs" | "clamped" | "cut"> & {
  /** Parsed from the text if left out. */
  readonly value?: unknown;
  readonly refs?: string | undefined;
  readonly cut?: ClampReport | undefined;
};

/** A reduced result. Its value is parsed on first use, since many hosts only pass the text on. */
export class Answer implements Transformed {
  readonly text: string;
  readonly artifacts: Transformed["artifacts"];
  readonly failures: Transformed["failures"];
  readonly changed: boolean;
  readonly clamped: boolean;
  readonly cut?: ClampReport;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly refs?: string;
  #value: unknown;

  constructor({ text, value, artifacts, failures, changed, cut, bytesIn, bytesOut, refs }: Parts) {
    this.text = text;
    this.#value = value;
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
    return (this.#value ??= JSON.parse(this.text));
  }
}
