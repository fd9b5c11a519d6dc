/**
 * A source's artifacts: put into the arguments of its tools, and read and edited by tools of their own.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../config/types.js";
import type { ArtifactToolResult, Sluice } from "../core/types.js";
import { toJson } from "../core/value.js";
import type { SluiceError } from "../errors/error.js";
import type { Expansion } from "../mcp/arguments/arguments.js";
import { type ArgumentDeps, Expander } from "../mcp/arguments/expander.js";
import { ArtifactSource } from "../mcp/artifact-reader/source.js";
import { ARTIFACT_TOOLS } from "../mcp/artifact-tools.js";
import { ToolClientError } from "./errors.js";
import type { ToolSpec } from "./registry.js";
import type { SourceTool } from "./source-features.js";
import { ToolAnswer } from "./result.js";
import { isObject } from "../errors/arguments.js";

/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** What happens to a call: it is made with these arguments, or answered without being made. */
export type Prepared =
  | { readonly kind: "call"; readonly args: Args; readonly expansions: readonly Expansion[] }
  | { readonly kind: "answer"; readonly result: ArtifactToolResult; readonly failure?: SluiceError };

/** What is known of the called tool. */
type PutTool = Pick<SourceTool, "name" | "input_schema" | "meta">;

/** Puts artifacts into the arguments of one source's tools. */
export class ArtifactArguments {
  readonly #expander: Expander;

  constructor(deps: ArgumentDeps) {
    this.#expander = new Expander(deps);
  }

  /**
   * Replaces artifact URIs in arguments. The call gets the arguments as JSON represents them.
   *
   * @throws ToolClientError for values that JSON cannot represent.
   * @throws the signal's reason.
   */
  async put(tool: PutTool, args: Args, scope: ArtifactScope, signal: AbortSignal): Promise<Prepared> {
    const { name, input_schema: inputSchema, meta } = tool;
    const { text, plain } = writeArguments(args, name);
    // Loaded only if an artifact is named, which is rare.
    if (!text.includes("artifact:")) return { kind: "call", args: plain, expansions: [] };
    const { artifactsNamed, putArtifacts } = await import("../mcp/arguments/arguments.js");
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

/** The arguments as JSON represents them, which may differ from the given values. */
function writeArguments(args: Args, tool: string): { readonly text: string; readonly plain: Args } {
  const subject = `The arguments of ${JSON.stringify(tool.slice(0, 64))}`;
  let text: string;
  try {
    text = toJson(args);
  } catch (cause) {
    throw new ToolClientError(
      `${subject} cannot be written as JSON: use strings, numbers, booleans, null, lists and objects of these, without a cycle and not too deep.`,
      { cause },
    );
  }
  const plain: unknown = JSON.parse(text);
  if (isObject(plain)) return { text, plain };
  throw new ToolClientError(`${subject} are not an object when written as JSON: pass a plain object.`);
}

interface ArtifactToolDeps {
  /** Prefix of the tools' names and of the ids of the artifacts that they read. */
  readonly namespace: string;
  /** The transport. */
  readonly source: string;
  readonly store: ArtifactStore;
  readonly sluice: Sluice;
  /** The sluice's configuration: answers stay within its guardrail. */
  readonly config: Pick<SluiceConfig, "guardrail">;
  /** Called with each artifact that a tool stored, and the tool's name without the namespace. */
  readonly onStored?: (tool: string, ref: ArtifactRef) => void;
}

/** Creates the tools. They read and edit what was stored from this source in the caller's scope, and nothing else. */
export function artifactTools(deps: ArtifactToolDeps): readonly ToolSpec[] {
  const { namespace, source, store, sluice, config, onStored } = deps;
  const toToolName = (name: string): string => `${namespace}.${name}`;
  const maxChars = config.guardrail?.max_observation_chars;
  return ARTIFACT_TOOLS.map(({ name, define, open }) => {
    const { description, inputSchema } = define(namespace);
    return {
      name: toToolName(name),
      description:
        `${description} An id works as well as a URI. As an argument of another tool of ${namespace}, ` +
        "artifact://ID passes the artifact itself.",
      input_schema: inputSchema,
      // An edit is a new artifact of the caller's own, and changes nothing that is there.
      side_effects: "read",
      tags: [source, namespace, "artifacts"],
      extra: { source, namespace },
      call: async (args, { scope = {}, signal } = {}) => {
        const stored: ArtifactRef[] = [];
        const within = new ArtifactSource(store, scope, namespace);
        const tool = open({
          source: within,
          nameOf: toToolName,
          maxChars,
          sluice,
          onStored: (ref) => stored.push(ref),
        });
        const result = await tool.call(args, signal === undefined ? {} : { signal });
        for (const ref of stored) onStored?.(name, ref);
        return ToolAnswer.told(result, sluice, "observation", stored);
      },
    };
  });
}
