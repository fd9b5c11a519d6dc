/**
 * A `tools/call` with artifacts put into its arguments.
 * @module
 */
import { MAX_MESSAGE } from "../transports/limits.js";
import { artifactsNamed, putArtifacts, type ArgumentsContext, type Expanded, type Expansion } from "./arguments.js";
import type { ClientRequest } from "./client-request.js";
import { applyEdits, parseJson, replaceEdit, sourceOf, valueAt, type ValueNode } from "./json-text.js";

/** What became of a call: `text` is the whole message. */
export type ExpandedCall = Exclude<Expanded, { readonly kind: "expanded" }> | ChangedCall;

/** A call with other arguments. */
export interface ChangedCall {
  readonly kind: "expanded";
  readonly text: string;
  readonly expansions: readonly Expansion[];
}

/** A call whose arguments name artifacts. */
export interface NamingCall {
  /** Puts them in. Throws what the signal gives. */
  readonly expand: (context: ArgumentsContext) => Promise<ExpandedCall>;
}

/** Looks at the arguments and nothing else of the message, without a store; undefined where nothing is named. */
export function callNaming({ text }: ClientRequest, tool: string): NamingCall | undefined {
  // Most calls name none, and are not even parsed; an escape may hide a letter.
  if (!/artifact:|\\u/.test(text)) return undefined;
  const node = argumentsIn(text);
  if (node === undefined) return undefined;
  const given = sourceOf(text, node);
  const named = artifactsNamed(given, tool);
  if (named === undefined) return undefined;
  return {
    expand: async (context) => {
      const rest = new TextEncoder().encode(text).length - new TextEncoder().encode(given).length;
      const expanded = await putArtifacts(named, { ...context, maxBytes: MAX_MESSAGE - rest });
      if (expanded.kind !== "expanded") return expanded;
      return { ...expanded, text: applyEdits(text, [replaceEdit(node, expanded.text)]) };
    },
  };
}

function argumentsIn(text: string): ValueNode | undefined {
  try {
    return valueAt(valueAt(parseJson(text), "params"), "arguments");
  } catch {
    // What is too deep or too large to be read goes on as it is.
    return undefined;
  }
}
