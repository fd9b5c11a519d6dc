/**
 * What calling a tool gives.
 * @module
 */
import { Answer } from "../core/answer.js";
import type { Transformed } from "../core/sluice.js";

/** A tool's result behind the gate; `text` is the observation. */
export interface ToolResult extends Transformed {
  /** Whether the source says that the tool failed; the observation says how. */
  readonly isError: boolean;
}

/** The one implementation. */
export class ToolAnswer extends Answer implements ToolResult {
  readonly isError: boolean;

  constructor({ text, artifacts, failures, changed, clamped, bytesIn, bytesOut, refs }: Transformed, isError: boolean) {
    super({ text, artifacts, failures, changed, clamped, bytesIn, bytesOut, refs });
    this.isError = isError;
  }
}
