/**
 * The schemas of a tool behind the gate: what its results may become, and what its arguments may be (design §6).
 * @module
 */
import { removeEdits, valueAt, type Edit, type ObjectNode } from "./json-text.js";
import { outputEdits } from "./schemas/output.js";
import { Widening } from "./schemas/widening.js";

/** `widen`: references are let through; `keep`: nothing changes; `drop`: results have no schema any more. */
export type SchemaMode = "widen" | "keep" | "drop";

/**
 * The splices that make a tool's schemas fit what passes the gate. They depend on the text of the tool alone, and to
 * apply them twice changes nothing more.
 *
 * `widen` offers `{"type":"string","pattern":"^artifact://"}` at each position of `outputSchema` that may be diverted, and
 * at those strings of `inputSchema` that would refuse a reference; nothing that was valid becomes invalid. `drop` takes
 * `outputSchema` out and leaves `inputSchema` as it is.
 *
 * @param tool one element of `tools` in a `tools/list` result.
 * @param text the text that it was parsed from; offsets are those of this text.
 */
export function schemaEdits(tool: ObjectNode, text: string, mode: SchemaMode): Edit[] {
  if (mode === "keep") return [];
  if (mode === "drop") return removeEdits(tool, (name) => name === "outputSchema");
  const output = valueAt(tool, "outputSchema");
  const input = valueAt(tool, "inputSchema");
  return [
    ...(output?.type === "Object" ? outputEdits(output, text) : []),
    ...(input?.type === "Object" ? inputEdits(input, text) : []),
  ];
}

function inputEdits(root: ObjectNode, text: string): Edit[] {
  const widening = new Widening(text, root, "input");
  widening.run();
  // What is loosened for references is loosened only where there are any.
  return widening.hasOffers ? widening.edits() : [];
}
