/**
 * A source's artifacts: put into the arguments of its tools (design §6 "Artifacts into arguments"), and read back by a tool of
 * their own (design §6 "Read-back").
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../core/config.js";
import type { Sluice } from "../core/sluice.js";
import { jsonOf } from "../core/value.js";
import type { SluiceError } from "../errors/error.js";
import type { Expansion } from "../mcp/arguments.js";
import { type ArgumentTerms, Expander } from "../mcp/arguments/expander.js";
import { ArtifactSource } from "../mcp/reading/source.js";
import { readTool, type TextResult } from "../mcp/reading/definition.js";
import { ToolClientError } from "./errors.js";
import type { ToolSpec } from "./registry.js";
import type { SourceTool } from "./source.js";
import { ToolAnswer } from "./tool-answer.js";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** What becomes of a call: it is made with these arguments, or answered without being made. */
export type Prepared =
  | { readonly kind: "call"; readonly args: Args; readonly expansions: readonly Expansion[] }
  | { readonly kind: "answer"; readonly result: TextResult; readonly failure?: SluiceError };

/** What is known of the tool that is called. */
type PutTool = Pick<SourceTool, "name" | "input_schema" | "meta">;

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
    const { artifactsNamed, putArtifacts } = await import("../mcp/arguments.js");
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

/** What the tool is made of. */
interface ReadToolTerms {
  /** Prefix of the tool's name, and of the ids of the artifacts that it reads. */
  readonly namespace: string;
  /** Where the tools come from: the transport. */
  readonly source: string;
  readonly store: ArtifactStore;
  readonly sluice: Sluice;
  /** The same configuration as the sluice's: answers stay within its guardrail. */
  readonly config: Pick<SluiceConfig, "guardrail">;
}

/** What the tool is called behind its source's name. */
const READ_TOOL: string = "artifact_read";

/** The tool. It reads what was stored from this source for the scope that asks, and nothing else. */
export function artifactReadTool({ namespace, source, store, sluice, config }: ReadToolTerms): ToolSpec {
  const name = `${namespace}.${READ_TOOL}`;
  const { description, inputSchema } = readTool(namespace);
  const most = config.guardrail?.max_observation_chars;
  const options = most === undefined ? {} : { maxChars: most };
  return {
    name,
    description:
      `${description} An id will do for the URI. Given as an argument of another tool of ${namespace}, ` +
      "artifact://ID passes the artifact itself.",
    input_schema: inputSchema,
    side_effects: "read",
    tags: [source, namespace, "artifacts"],
    extra: { source, namespace },
    call: async (args, { scope = {}, signal } = {}) => {
      // Whoever never reads anything back need not load what does.
      const { ArtifactReading } = await import("../mcp/reading/reading.js");
      const reading = new ArtifactReading(new ArtifactSource(store, scope, namespace), options);
      return ToolAnswer.told(await reading.call(args, signal === undefined ? {} : { signal }), sluice);
    },
  };
}
