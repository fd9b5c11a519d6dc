/**
 * Artifacts into the arguments of a source's tools (design §6 "Artifacts into arguments").
 * @module
 */
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { jsonOf } from "../../core/call.js";
import type { ShareRule } from "../../core/config.js";
import type { SluiceError } from "../../errors/error.js";
import { artifactsNamed, putArtifacts, type ArtifactForms, type Expansion } from "../../mcp/arguments.js";
import { MAX_EXPANDED } from "../../mcp/arguments/limits.js";
import { Turns } from "../../mcp/arguments/turns.js";
import { ArtifactSource } from "../../mcp/artifact-source.js";
import { sharedWith } from "../../mcp/door-config.js";
import type { TextResult } from "../../mcp/reading/wire.js";
import { ToolClientError } from "../errors.js";
import type { SourceTool } from "../source.js";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** What putting artifacts into arguments needs. */
export interface ArgumentTerms {
  readonly store: ArtifactStore;
  /** The source's name: whose artifacts its tools may be given. */
  readonly namespace: string;
  /** In which form artifacts go into arguments, by tool and place. */
  readonly forms: Readonly<Record<string, ArtifactForms>>;
  /** Which artifacts of other sources may go into them. */
  readonly share: readonly ShareRule[];
  /** Writes a copy for a tool that wants a path, and gives that; left out where there are no files. */
  readonly writeCopy?: ((ref: StoredArtifact, signal?: AbortSignal) => Promise<string>) | undefined;
}

/** What becomes of a call: it is made with these arguments, or answered without being made. */
export type Prepared =
  | { readonly kind: "call"; readonly args: Args; readonly expansions: readonly Expansion[] }
  | { readonly kind: "answer"; readonly result: TextResult; readonly failure?: SluiceError };

/** Of one source. Only so many calls hold artifacts in memory at a time. */
export class ArtifactArguments {
  readonly #terms: ArgumentTerms;
  readonly #turns = new Turns(MAX_EXPANDED);

  constructor(terms: ArgumentTerms) {
    this.#terms = terms;
  }

  /**
   * Puts in what a call's arguments name. What is called is what JSON says of them.
   *
   * @throws ToolClientError for what JSON cannot say; the signal's reason.
   */
  async put(
    tool: SourceTool,
    args: Args,
    scope: ArtifactScope,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Prepared> {
    const { name, input_schema: inputSchema, meta } = tool;
    const { text, plain } = written(args, name);
    const named = artifactsNamed(text, name);
    if (named === undefined) return { kind: "call", args: plain, expansions: [] };
    const { store, namespace, forms, share, writeCopy } = this.#terms;
    const context = {
      tool: { name, inputSchema, meta, forms: (Object.hasOwn(forms, name) ? forms[name] : undefined) ?? {} },
      source: new ArtifactSource(store, scope, ...sharedWith(share, namespace, name)),
      ...(writeCopy !== undefined && { writeCopy }),
      signal,
    };
    const put = await this.#turns.do(() => putArtifacts(named, context), signal);
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
