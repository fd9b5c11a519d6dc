/**
 * The result of a tool.
 * @module
 */
import type { Dialect, Transformed, AnswerRef, ArtifactToolResult, Clamp, ClampReport, Sluice } from "../core/types.js";
import type { ResultDisplay } from "./user-files.js";
import { Answer } from "../core/transform.js";

/**
 * The result of a tool. `text` is the observation for the model (JSON), or the reduced result if the source's
 * `dialect` is `"mcp"`. `value` is the parsed text: a string, a number, null, an array or an object. With `"mcp"` it is
 * typed as a CallToolResult, which is what MCP servers answer. What other sources and transformers give, and what the
 * tools for resources and artifacts answer, keeps its own form.
 */
export interface ToolResult<D extends Dialect = Dialect> extends Transformed<D> {
  /** Whether the tool reports a failure. The text says which. */
  readonly isError: boolean;
  /** What a viewer should do with the files that the tool made, if the tool says so. Never for a model. */
  readonly display?: ResultDisplay;
}

/** The result of a tool. */
export class ToolAnswer extends Answer implements ToolResult {
  readonly isError: boolean;
  declare readonly display?: ResultDisplay;

  constructor(answer: Transformed, isError: boolean, display?: ResultDisplay) {
    const { text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs } = answer;
    super({ text, artifacts, failures, changed, cut, bytesIn, bytesOut, refs });
    this.isError = isError;
    if (display !== undefined) this.display = display;
  }

  /** Creates a result from the JSON text of an error, which is short. */
  static failed(told: string, sluice: Sluice, dialect: Dialect): ToolAnswer {
    const clamp = dialect === "mcp" ? undefined : sluice.clampText(told);
    const text = clamp?.text ?? callToolResult(told, true);
    const bytes = utf8Length(text);
    const nothing = { artifacts: [], failures: [], changed: true, refs: undefined };
    const cut = clamp && readCut(clamp);
    return new ToolAnswer(new Answer({ ...nothing, text, cut, bytesIn: bytes, bytesOut: bytes }), true);
  }

  /**
   * Creates a result that Sluice gives in place of the tool. As an observation it passes the guardrail only. `artifacts` are those
   * that were stored for it.
   */
  static told(
    result: ArtifactToolResult,
    sluice: Sluice,
    dialect: Dialect = "observation",
    artifacts: readonly AnswerRef[] = [],
  ): ToolAnswer {
    const isError = result.isError === true;
    const [{ text: said }] = result.content;
    const value = dialect === "mcp" ? result : isError ? { isError, content: said } : said;
    const whole = JSON.stringify(value);
    const clamp = dialect === "mcp" ? undefined : sluice.clamp(value);
    const text = clamp?.text ?? whole;
    const [bytesIn, bytesOut] = [utf8Length(whole), utf8Length(text)];
    const nothing = { artifacts, failures: [], changed: false, refs: undefined };
    return new ToolAnswer(new Answer({ ...nothing, text, cut: clamp && readCut(clamp), bytesIn, bytesOut }), isError);
  }
}

/** Wraps JSON text in an MCP CallToolResult. */
export function callToolResult(json: string, isError: boolean): string {
  const content = JSON.stringify([{ type: "text", text: json }]);
  return `{"content":${content},"structuredContent":${json}${isError ? ',"isError":true' : ""}}`;
}

/** What the guardrail cut. Undefined if nothing. */
function readCut({ changed, originalChars, method }: Clamp): ClampReport | undefined {
  return changed ? { originalChars, method } : undefined;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Maximum size of a result that is kept in its original form. */
export const MAX_RAW: number = 8 * 1024 * 1024;
