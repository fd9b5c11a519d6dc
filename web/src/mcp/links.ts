/**
 * Links in results: added for clients that are known to take them, and told in words to those that fail at them
 * (design §4, `links`).
 * @module
 */
import { plainType } from "../core/media-type.js";
import type { AnswerRef, Transformed } from "../core/sluice.js";
import {
  appendEdit,
  applyEdits,
  parseJson,
  replaceEdit,
  sourceOf,
  valueAt,
  type Edit,
  type ObjectNode,
  type ValueNode,
} from "./json-text.js";
import { stringOr } from "./rpc.js";

/** Links in one result: some clients read each of them at once. */
const MAX_LINKS = 8;

const REFS = "sluice/refs";

/**
 * A reduced CallToolResult with a `resource_link` behind its blocks for each artifact. `restore` takes them out again.
 * What is no such result, or has nothing stored, stays as it is.
 */
export function withLinks(reduced: Transformed): string {
  return orAsItIs(reduced.text, () => linked(reduced));
}

/** A result that nests too deep to be looked into is passed without. */
function orAsItIs(text: string, edited: () => string): string {
  try {
    return edited();
  } catch {
    return text;
  }
}

function linked({ text, artifacts }: Transformed): string {
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
  const mimeType = plainType(mime_type);
  return {
    type: "resource_link",
    uri: `artifact://${id}`,
    name: filename ?? id,
    ...(mimeType !== undefined && { mimeType }),
    size: size_bytes,
  };
}

/** Characters of a name and of a URI that are told. */
const MAX_NAME = 60;
const MAX_URI = 2000;

/**
 * A CallToolResult whose `resource_link` blocks are sentences: one client throws at them. `restore` puts them back. A link
 * in which something was diverted stays.
 */
export function withLinksTold({ text }: Transformed): string {
  return text.includes("resource_link") ? orAsItIs(text, () => linksTold(text)) : text;
}

function linksTold(text: string): string {
  const result = parseJson(text);
  const content = valueAt(result, "content");
  if (result.type !== "Object" || content?.type !== "Array") return text;
  const edits: Edit[] = [];
  const entries: string[] = [];
  for (const [index, { value }] of content.elements.entries()) {
    const at = `/content/${index}`;
    if (textAt(value, "type") !== "resource_link" || text.includes(`"at":"${at}/`)) continue;
    edits.push(replaceEdit(value, JSON.stringify({ type: "text", text: sentenceFor(value) })));
    entries.push(`{"at":"${at}","was":${sourceOf(text, value)}}`);
  }
  return edits.length === 0 ? text : applyEdits(text, [...edits, noteEdit(result, entries)]);
}

/** Adds entries to the list that `restore` goes by, which may not be there yet. */
function noteEdit(result: ObjectNode, entries: readonly string[]): Edit {
  const meta = valueAt(result, "_meta");
  const refs = valueAt(meta, REFS);
  if (refs?.type === "Array") return appendEdit(refs, entries.join(","));
  const list = `"${REFS}":[${entries.join(",")}`;
  if (meta?.type === "Object") return appendEdit(meta, `${list}]`);
  return appendEdit(result, `"_meta":{${list},{"at":"/_meta","added":true}]}`);
}

function sentenceFor(link: ValueNode): string {
  const name = (textAt(link, "name") ?? "").replace(/[\p{C}\p{Z}]+/gu, " ").slice(0, MAX_NAME);
  const type = plainType(textAt(link, "mimeType") ?? null);
  const of = type === undefined ? "" : `, ${type}`;
  const uri = (textAt(link, "uri") ?? "").slice(0, MAX_URI);
  return `[sluice] Link to a resource of this server, without its content: ${JSON.stringify(name)}${of}: ${uri}`;
}

function textAt(node: ValueNode, name: string): string | undefined {
  const value = valueAt(node, name);
  return value?.type === "String" ? stringOr(value.value) : undefined;
}
