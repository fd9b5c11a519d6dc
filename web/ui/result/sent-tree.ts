/**
 * What a server sent, rebuilt from the reduced result and the list of what was done to it. No bytes are needed: a hole stands
 * where they were.
 * @module
 */
import { Cutter } from "./cutter.js";
import { readEdits } from "./edits.js";
import { JsonNode } from "./json-node.js";
import type { MarkedText } from "./marked-text.js";

/** Where the list stands in `_meta`. */
const LIST = "sluice/refs";

/**
 * The JSON text that a server sent, with holes. `reduced` is a result of the `mcp` dialect; `refs` is its list as JSON text, for
 * a result that has no `_meta` to carry it. What is no JSON comes back as it is. Throws E_RESTORE_REFS when the list does not
 * fit the result.
 */
export function sentText(reduced: string, refs?: string): MarkedText {
  const plain: MarkedText = { text: reduced, holes: [] };
  const root = JsonNode.of(plain);
  if (root === null) return plain;
  const body = bodyOf(root);
  const meta = body.member("_meta");
  const own = meta?.member(LIST) ?? null;
  const list = own ?? (refs === undefined ? null : JsonNode.of({ text: refs, holes: [] }));
  if (list === null) return plain;
  const cutter = new Cutter(body);
  cutter.undo(readEdits(list));
  if (meta !== null && own !== null) cutter.takeListOut(meta, own);
  return cutter.finish(0, reduced.length);
}

/** The result itself: in a JSON-RPC response its `result`. */
export function bodyOf(root: JsonNode): JsonNode {
  const result = root.member("result");
  return root.member("jsonrpc") !== null && result !== null ? result : root;
}
