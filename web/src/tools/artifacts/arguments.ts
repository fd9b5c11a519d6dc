/**
 * Artifacts into the arguments of a source's tools (design §6 "Artifacts into arguments").
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import { jsonOf } from "../../core/value.js";
import type { SluiceError } from "../../errors/error.js";
import type { Expansion } from "../../mcp/arguments.js";
import { Expander, type ArgumentTerms } from "../../mcp/arguments/expander.js";
import type { TextResult } from "../../mcp/reading/definition.js";
import { ToolClientError } from "../errors.js";
import type { SourceTool } from "../source.js";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** What becomes of a call: it is made with these arguments, or answered without being made. */
export type Prepared =
  | { readonly kind: "call"; readonly args: Args; readonly expansions: readonly Expansion[] }
  | { readonly kind: "answer"; readonly result: TextResult; readonly failure?: SluiceError };

/** What is known of the tool that is called. */
export type PutTool = Pick<SourceTool, "name" | "input_schema" | "meta">;

/** Of one source. */
export class ArtifactArguments {
  readonly #expander: Expander;

  constructor(terms: ArgumentTerms) {
    this.#expander = new Expander(terms);
  }

  /**
   * Puts in what a call's arguments name. What is called is what JSON says of them.
   *
   * @throws ToolClientError for what JSON cannot say; the signal's reason.
   */
  async put(tool: PutTool, args: Args, scope: ArtifactScope, signal: AbortSignal): Promise<Prepared> {
    const { name, input_schema: inputSchema, meta } = tool;
    const { text, plain } = written(args, name);
    // Most calls name none, and then what puts them in is not even loaded.
    if (!text.includes("artifact:")) return { kind: "call", args: plain, expansions: [] };
    const { artifactsNamed, putArtifacts } = await import("../../mcp/arguments.js");
    const named = artifactsNamed(text, name);
    if (named === undefined) return { kind: "call", args: plain, expansions: [] };
    const called = { name, inputSchema, meta };
    const put = await this.#expander.expand(
      () => called,
      { scope, signal },
      (context) => putArtifacts(named, context),
    );
    if (put.kind === "unchanged") return { kind: "call", args: plain, expansions: [] };
    if (put.kind === "expanded") {
      return { kind: "call", args: JSON.parse(put.text) as Args, expansions: put.expansions };
    }
    const { result, failure } = put;
    return { kind: "answer", result, ...(failure !== undefined && { failure }) };
  }
}

/** Arguments as JSON says them, which may be something else than they are. */
function written(args: Args, tool: string): { readonly text: string; readonly plain: Args } {
  const subject = `The arguments of ${JSON.stringify(tool.slice(0, 64))}`;
  let text: string;
  try {
    text = jsonOf(args);
  } catch (cause) {
    throw new ToolClientError(
      `${subject} cannot be written as JSON: give texts, numbers, booleans, null, lists and objects of these, without a cycle and not too deep.`,
      { cause },
    );
  }
  const plain: unknown = JSON.parse(text);
  if (typeof plain === "object" && plain !== null && !Array.isArray(plain)) return { text, plain: plain as Args };
  throw new ToolClientError(`${subject} are no object once they are written as JSON: give a plain object.`);
}
