/**
 * What calling a tool gives.
 * @module
 */
import { Answer } from "../core/transformed.js";
import type { Clamp, Cut, Dialect, Sluice, Transformed } from "../core/sluice.js";
import type { TextResult } from "../mcp/reading/definition.js";
import type { ResultDisplay } from "./user-files/handling.js";

/**
 * A tool's result behind the gate. `text` is the observation, JSON that goes to the model, or the reduced result where the
 * source's `dialect` says `"mcp"`; `value` is the same parsed, and may be a string, a number, null, an array or an object.
 */
export interface ToolResult extends Transformed {
  /** Whether the source says that the tool failed; the text says how. */
  readonly isError: boolean;
  /** What the tool would have a viewer do with the files it made; left out where it says nothing. Never for a model. */
  readonly display?: ResultDisplay;
}

/** The one implementation. */
export class ToolAnswer extends Answer implements ToolResult {
  readonly isError: boolean;
  declare readonly display?: ResultDisplay;

  constructor(answer: Transformed, isError: boolean, display?: ResultDisplay) {
    const { text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs } = answer;
    super({ text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs });
    this.isError = isError;
    if (display !== undefined) this.display = display;
  }

  /** Of what we say ourselves in place of a tool: an observation passes the guardrail, and is short enough for nothing else. */
  static told(result: TextResult, sluice: Sluice, dialect: Dialect = "observation"): ToolAnswer {
    const isError = result.isError === true;
    const [{ text: said }] = result.content;
    const value = dialect === "mcp" ? result : isError ? { isError, content: said } : said;
    const whole = JSON.stringify(value);
    const clamp = dialect === "mcp" ? undefined : sluice.clamp(value);
    const text = clamp?.text ?? whole;
    const [bytesIn, bytesOut] = [utf8Length(whole), utf8Length(text)];
    const nothing = { artifacts: [], failures: [], changed: false, refs: undefined };
    return new ToolAnswer(new Answer({ ...nothing, text, cut: clamp && cutOf(clamp), bytesIn, bytesOut }), isError);
  }
}

/** What the guardrail took away; undefined where it took nothing. */
export function cutOf({ changed, originalChars, method }: Clamp): Cut | undefined {
  return changed ? { originalChars, method } : undefined;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
