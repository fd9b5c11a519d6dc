/**
 * Links to what was stored, for clients that are known to take them (design §4, `links`).
 * @module
 */
import type { AnswerRef, Transformed } from "../core/sluice.js";
import { appendEdit, applyEdits, parseJson, valueAt } from "./json-text.js";

/** Links in one result: some clients read each of them at once. */
const MAX_LINKS = 8;

const REFS = "sluice/refs";

/**
 * A reduced CallToolResult with a `resource_link` behind its blocks for each artifact. `restore` takes them out again.
 * What is no such result, or has nothing stored, stays as it is.
 */
export function withLinks({ text, artifacts }: Transformed): string {
  const kept = artifacts.filter(({ source }) => source["truncated"] !== true);
  const stored = [...new Map(kept.map((ref) => [ref.id, ref])).values()].slice(0, MAX_LINKS);
  if (stored.length === 0) return text;
  const result = parseJson(text);
  const content = valueAt(result, "content");
  const refs = valueAt(valueAt(result, "_meta"), REFS);
  if (content?.type !== "Array" || refs?.type !== "Array") return text;
  const first = content.elements.length;
  const added = stored.map((_, index) => JSON.stringify({ at: `/content/${first + index}`, added: true }));
  return applyEdits(text, [
    appendEdit(content, stored.map((ref) => JSON.stringify(linkTo(ref))).join(",")),
    appendEdit(refs, added.join(",")),
  ]);
}

function linkTo({ id, filename, mime_type, size_bytes }: AnswerRef): object {
  return {
    type: "resource_link",
    uri: `artifact://${id}`,
    name: filename ?? id,
    ...(mime_type !== null && { mimeType: mime_type }),
    size: size_bytes,
  };
}
